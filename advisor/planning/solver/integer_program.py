"""Columns with bounds and costs, rows over them, and what scipy's milp answers for them.

It knows nothing of grants: what the columns and rows stand for, `milp.py` says.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import Any

Row = tuple[dict[int, float], float, float]
"""A sum of columns, each with its factor; what it must be at least, and at most."""


class IntegerProgram:
    """Columns and rows, filled one by one."""

    def __init__(self) -> None:
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.cost: list[float] = []
        self.judged: list[float] = []
        self.whole: list[bool] = []
        """Whether a column counts whole things."""
        self.rows: list[Row] = []
        self._matrix: Any = None

    def column(
        self, upper: float, *, cost: float = 0.0, judged: float | None = None, whole: bool = True
    ) -> int:
        """A new column from 0 to ``upper``: its number."""
        self.lower.append(0.0)
        self.upper.append(upper)
        self.cost.append(cost)
        self.judged.append(cost if judged is None else judged)
        self.whole.append(whole)
        return len(self.cost) - 1

    def changed(self) -> None:
        """To be said where rows come after an answer."""
        self._matrix = None

    def constraints(self) -> Any:
        """Matrix and bounds of the rows, made once."""
        import numpy as np
        from scipy.sparse import csr_array

        if self._matrix is None:
            starts = [0]
            columns: list[int] = []
            values: list[float] = []
            for row, _, _ in self.rows:
                columns.extend(row)
                values.extend(row.values())
                starts.append(len(columns))
            shape = (len(self.rows), len(self.cost))
            self._matrix = (
                csr_array((values, columns, starts), shape=shape),
                np.array([low for _, low, _ in self.rows]),
                np.array([high for _, _, high in self.rows]),
            )
        return self._matrix

    def solve(
        self,
        goal: Sequence[float],
        time_limit_s: float,
        *,
        without: Sequence[int] = (),
        below: float | None = None,
        also: Sequence[Row] = (),
        gap: float = 0.0,
        presolve: bool = True,
        whole: Collection[int] | None = None,
        fixed: Mapping[int, float] | None = None,
    ) -> Any:
        """The answer of scipy's milp for the given costs of the columns.

        ``without``: columns that are 0; ``below``: nothing dearer than this; ``also``: more rows;
        ``gap``: as near to the best is good enough; ``whole``: of the columns that count whole
        things only these must be whole; ``fixed``: what columns are.
        """
        import numpy as np
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import csr_array, vstack

        matrix, low, high = self.constraints()
        costs, upper = np.array(goal), np.array(self.upper, dtype=float)
        lower = np.array(self.lower)
        upper[list(without)] = 0.0
        if fixed:
            lower[list(fixed)] = upper[list(fixed)] = list(fixed.values())
        if below is not None:
            matrix = vstack([matrix, csr_array(costs[np.newaxis, :])])
            low, high = np.append(low, -inf), np.append(high, below)
        for row, least, most in also:
            line = np.zeros((1, len(costs)))
            line[0, list(row)] = list(row.values())
            matrix = vstack([matrix, csr_array(line)])
            low, high = np.append(low, least), np.append(high, most)
        integral = np.array(self.whole, dtype=int)
        if whole is not None:
            integral[np.setdiff1d(np.arange(len(integral)), sorted(whole))] = 0
        return milp(
            costs,
            integrality=integral,
            bounds=Bounds(lower, upper),
            constraints=LinearConstraint(matrix, low, high),
            options={
                "time_limit": max(time_limit_s, 0.1),
                "mip_rel_gap": gap,
                "presolve": presolve,
            },
        )
