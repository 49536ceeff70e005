"""What a fit leaves behind: a few hundred numbers, versioned, as JSON.

`tools/fit/refit.py` makes it with scipy; reading it needs none (`shipped_fit`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.physics.memory import MemoryCosts
from bench_runner.recipes import IMAGE_FAMILIES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from advisor.prediction.model.workload import Alike

    Floats = NDArray[np.float64]

VERSION = 22
"""Counts up when the factors or effects change their meaning: an older fit is out of date."""
COVARIANCE = 1e-6
"""What covariances are counted in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """One measured model or GPU, as the distance from the evidence is reckoned."""

    kind: str
    """A family (with what sets a model apart from it), ``gpu``, or ``watts`` with a generation of
    GPUs."""
    coordinates: tuple[float, ...]


LINKS = "links"
"""The kind of effect that moves the exchange alone: how a machine is wired."""
NAIVE = "model x naive"
"""What physics misses of a model's naive settings alone: how its code is cut into kernels, which a
compiler cuts in its own way."""
OF_LEAN = {"decoder": "lean", "encoder": "lean otherwise", "ssm": "lean otherwise"}
"""What settings beyond the paper's gain, by family: little among decoders, much among encoders,
whose loss asks for few of the words."""
OF_SOFTWARE = ("source", "source x method")
KNOWN = (
    *("family", "model", "image model", "generation", "gpu", LINKS, *OF_SOFTWARE, NAIVE),
    *("lean", "lean otherwise"),
)
"""Kinds of effects. Models of images lie otherwise from what physics says of them than models of
text (docs/prediction.md). Of a prediction the source is our own stack: what `advisor bench`
measures and `bench_runner export` writes out."""
OWN_STACK = "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One cell of the evidence: what was timed, on what, by whom."""

    model: str
    family: str
    parameters: int
    timm: bool
    """Whether the code of its layers is timm's."""
    half: bool
    """Whether it was trained in half precision."""
    gpu: str
    """Its type: an A100 whatever its memory."""
    count: int
    by: str
    """``own`` or ``others``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Width:
    """How far effects of a kind lie from none: standard deviation, and how well that is known."""

    sd: float
    dof: float
    new: float
    """By what ``sd`` is multiplied for a time on what is new, so that 9 in 10 such times are inside
    (`tools/fit/calibrate.py`). A comparison of two times uses ``sd`` alone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tail:
    """How left-out cells scatter, in standard deviations as the widths have them: Student's t."""

    scale: float
    dof: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fitted:
    """Everything a prediction needs in addition to the catalogue and the recipe."""

    version: int
    fingerprint: str
    """Of the evidence that was fitted: the same evidence gives the same one."""
    observations: int
    own_observations: int
    """How many of them are the user's own."""
    costs: MemoryCosts
    """The memory model's constants."""
    factors: tuple[float, ...]
    """Logarithms, in the order of `factors.NAMES`."""
    effects: tuple[str, ...]
    """``kind:id`` of each effect that the evidence knows."""
    effect_means: tuple[float, ...]
    effect_covariance: tuple[tuple[int, ...], ...]
    """In millionths, each row up to its diagonal: `lower_triangle`."""
    widths: tuple[Width, ...]
    """Of the kinds of effects, for those that the evidence does not know, in the order of KNOWN."""
    factors_sd: float
    """Standard deviation of log times that the factors' own uncertainty makes, about."""
    noise: float
    """Scatter of single times of our own stack."""
    tail: Tail
    highest_share: float
    """The highest share of what matrix products alone reach that any training was measured at: no
    prediction is faster."""
    tuned_share: float
    """The same of programs with kernels of their own."""
    reach: tuple[Reach, ...]
    pieces: tuple[Piece, ...]
    """What a prediction rests on, each cell once."""

    def covariance(self) -> Floats:
        """Of the effects, whole."""
        import numpy as np

        size = len(self.effects)
        result = np.zeros((size, size))
        for i, row in enumerate(self.effect_covariance):
            result[i, : i + 1] = result[: i + 1, i] = row
        return result * COVARIANCE


def lower_triangle(matrix: Floats) -> tuple[tuple[int, ...], ...]:
    """The rows of a covariance up to its diagonal, in millionths: a quarter of what a fit would
    take to keep, of effects that vary by hundredths, whose variances are some ten thousandths."""
    return tuple(
        tuple(round(float(value) / COVARIANCE) for value in row[: i + 1])
        for i, row in enumerate(matrix)
    )


def effect_name(kind: str, *key: str) -> str:
    """As `Fitted.effects` has it."""
    return f"{kind}:{'|'.join(key)}"


def model_effect(family: str, model: str) -> str:
    """The effect of one model, which is of another kind where it learns from images."""
    return effect_name("image model" if family in IMAGE_FAMILIES else "model", model)


def known_models(fitted: Fitted) -> dict[Alike, str]:
    """Models with an effect of their own by what makes others alike (`Workload.alike`), where only
    one is so (of those that we timed, if any): the same layers under another name, batch or length
    gain or lose what those did."""
    known = set(fitted.effects)
    ours: dict[Alike, set[str]] = {}
    others: dict[Alike, set[str]] = {}
    for piece in fitted.pieces:
        if model_effect(piece.family, piece.model) in known:
            alike = (piece.family, piece.parameters, piece.timm, piece.half)
            found = ours if piece.by == "own" else others
            found.setdefault(alike, set()).add(piece.model)
    both = others | ours
    return {shape: min(names) for shape, names in both.items() if len(names) == 1}
