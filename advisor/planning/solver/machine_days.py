"""The days that one machine has, from every release to every due day of the runs that could be on
it: it has time for runs if, of every such pair of days, those that must lie between take no
longer. There are very many pairs; those that a solution breaks are found one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from advisor.planning.solver.schedule import Job

FIRST_MOMENTS = 8
MOST_PAIRS = 20
"""Between so many days before the first solution, and so many after each."""
SMALL = 1e-6
"""Days."""


class MachineDays:
    """Of one machine: the days that are left, from every release to every due day."""

    def __init__(self, jobs: Sequence[Job], stay: Sequence[Job] = ()) -> None:
        """``stay``: runs that are on it, whatever a solution puts there."""
        import numpy as np

        both = [*jobs, *stay]
        lows = np.unique([float(job.low) for job in both])
        dues = np.unique([float(job.due) for job in both])
        self._low = np.searchsorted(lows, [job.low for job in jobs])
        self._due = np.searchsorted(dues, [job.due for job in jobs])
        self._days = np.array([job.days for job in jobs])
        self._left = dues[None, :] - lows[:, None]
        self._left[self._left <= 0] = inf
        for job in stay:
            first = np.searchsorted(lows, job.low, "right")
            self._left[:first, np.searchsorted(dues, job.due) :] -= job.days

    def first(self) -> list[tuple[int, int]]:
        """Some pairs of days, at even steps."""
        rows, columns = self._left.shape
        return [
            (row, column)
            for row in range(0, rows, max(1, rows // FIRST_MOMENTS))
            for column in range(columns - 1, -1, -max(1, columns // FIRST_MOMENTS))
            if self._left[row, column] < inf
        ]

    def broken(self, x: Any) -> list[tuple[int, int]]:
        """The pairs of days that so much of the runs overfills most."""
        import numpy as np

        load = np.zeros(self._left.shape)
        np.add.at(load, (self._low, self._due), self._days * x)
        over = load[::-1].cumsum(0)[::-1].cumsum(1) - self._left
        most = np.argpartition(-over, min(MOST_PAIRS, over.size - 1), axis=None)[:MOST_PAIRS]
        found = [np.unravel_index(at, over.shape) for at in most if over.flat[at] > SMALL]
        return [(int(row), int(column)) for row, column in found]

    def row(self, pair: tuple[int, int]) -> tuple[Any, Any, float]:
        """The runs that lie between, their days, and the days that there are for them."""
        row, column = pair
        within = ((self._low >= row) & (self._due <= column)).nonzero()[0]
        return within, self._days[within], max(float(self._left[row, column]), 0.0)


class UpperRows:
    """The rows of a program, each an upper bound."""

    def __init__(self, columns: int) -> None:
        self._columns = columns
        self._at: list[Any] = []
        self._values: list[Any] = []
        self.most: list[float] = []
        """What each may be at most."""
        self._matrix: Any = None

    def add(self, at: Any, values: Any, most: float) -> None:
        """One more."""
        self._at.append(at)
        self._values.append(values)
        self.most.append(most)
        self._matrix = None

    def matrix(self) -> Any:
        """Their factors."""
        import numpy as np
        from scipy.sparse import csr_matrix

        if self._matrix is None:
            ends = np.cumsum([0, *map(len, self._at)])
            values = np.concatenate(self._values) if self._values else np.zeros(0)
            at = np.concatenate(self._at) if self._at else np.zeros(0, dtype=int)
            self._matrix = csr_matrix((values, at, ends), (len(self.most), self._columns))
        return self._matrix

    def constraint(self) -> Any:
        """As `scipy.optimize.milp` takes them."""
        from scipy.optimize import LinearConstraint

        return LinearConstraint(self.matrix(), -inf, self.most)
