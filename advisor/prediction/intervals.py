"""Intervals with tails: how far from the middle 9 in 10 of the times lie.

A normal distribution with the fitted widths promises too much, for two reasons that the evidence
shows. Single measurements scatter with heavy tails. And a width that a few groups gave (seven GPU
types, a dozen software stacks) is itself uncertain: what is new is drawn from Student's t with as
many degrees of freedom as the likelihood of the width is sharp. Sums of such parts are taken as
Student's t with Satterthwaite's degrees of freedom (1946).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NORMAL_90 = 1.645
"""Standard deviations either side of the middle that hold 90 % of a normal distribution."""
FEWEST = 2.5
MOST = 30.0
"""Bounds of the degrees of freedom: beyond them nothing changes, or nothing can be estimated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """How left-out cells scatter, in standard deviations as the widths have them: Student's t."""

    scale: float
    dof: float


def half_of(total: Floats, pooled: Floats) -> Floats:
    """The same from the sum of the variances, and of their squares over the degrees of freedom."""
    import numpy as np

    dof = np.maximum(total**2 / np.maximum(pooled, 1e-300), FEWEST)
    result: Floats = np.sqrt(total) * quantile(dof)
    return result


def quantile(dof: Floats) -> Floats:
    """The 95th percentile of Student's t, from 2.5 degrees of freedom within 1 % (Cornish and
    Fisher's expansion: no scipy when somebody only asks)."""
    z, one = NORMAL_90, 1.0 / dof
    first = (z**3 + z) / 4.0
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96.0
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384.0
    result: Floats = z + one * (first + one * (second + one * third))
    return result
