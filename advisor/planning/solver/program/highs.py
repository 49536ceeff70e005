"""A linear or mixed-integer program: its columns and rows, and its answer by HiGHS."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

Row = tuple[dict[int, float], float, float]
"""A sum of columns, each with its factor; what it must be at least, and at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What HiGHS found."""

    x: Sequence[float] | None
    """The best value of each column that was found, whole where it must be; None where none was."""
    value: float
    """What it costs."""
    bound: float
    """No solution costs less; infinite where there is none."""
    is_best: bool
    """Whether no other costs less, up to the gap that was allowed."""

    @property
    def is_infeasible(self) -> bool:
        """Whether it is proven that nothing keeps to every row."""
        return self.bound == inf


class HighsProgram:
    """Columns and rows, filled one by one."""

    def __init__(self) -> None:
        self.lower: list[float] = []
        self.upper: list[float] = []
        self.cost: list[float] = []
        self.whole: list[bool] = []
        """Whether a column counts whole things."""
        self.rows: list[Row] = []

    def column(self, upper: float, *, cost: float = 0.0, whole: bool = True) -> int:
        """A new column from 0 to ``upper``: its number."""
        self.lower.append(0.0)
        self.upper.append(upper)
        self.cost.append(cost)
        self.whole.append(whole)
        return len(self.cost) - 1

    def solve(
        self,
        goal: Sequence[float],
        time_limit_s: float,
        *,
        below: float = inf,
        also: Sequence[Row] = (),
        gap: float = 0.0,
        whole: Collection[int] | None = None,
        most_nodes: int | None = None,
    ) -> Answer:
        """The answer with the least ``goal``, which gives the cost of each column.

        ``below``: nothing dearer than this; ``also``: more rows; ``gap``: as near to the best is
        good enough; ``whole``: of the columns that count whole things only these must be whole;
        ``most_nodes``: of the search, so that its end does not depend on the computer.
        """
        import highspy
        import numpy as np

        rows = [*self.rows, *also]
        if below < inf:
            rows.append(({n: cost for n, cost in enumerate(goal) if cost}, -inf, below))
        integral = self.whole if whole is None else [n in whole for n in range(len(goal))]
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(goal), len(rows)
        lp.col_cost_ = np.array(goal, dtype=float)
        lp.col_lower_ = np.array(self.lower, dtype=float)
        lp.col_upper_ = np.array(self.upper, dtype=float)
        lp.row_lower_ = np.array([low for _, low, _ in rows], dtype=float)
        lp.row_upper_ = np.array([high for _, _, high in rows], dtype=float)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.cumsum([0, *(len(row) for row, _, _ in rows)])
        lp.a_matrix_.index_ = np.array([n for row, _, _ in rows for n in row], dtype=np.int32)
        lp.a_matrix_.value_ = np.array([v for row, _, _ in rows for v in row.values()], dtype=float)
        if any(integral):
            kinds = highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger
            lp.integrality_ = [kinds[each] for each in integral]
        highs: Any = highspy._core._Highs()  # without the part that prints
        options: dict[str, Any] = {
            "output_flag": False,
            "threads": 1,
            "time_limit": max(time_limit_s, 0.1),
            "mip_rel_gap": gap,
        }
        if most_nodes is not None:
            options["mip_max_nodes"] = most_nodes
        for name, value in options.items():
            highs.setOptionValue(name, value)
        highs.passModel(lp)
        highs.run()
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kUnboundedOrInfeasible:  # nothing here is unbounded
            status = highspy.HighsModelStatus.kInfeasible
        info, found = highs.getInfo(), highs.getSolution()
        best = status in (highspy.HighsModelStatus.kOptimal, highspy.HighsModelStatus.kModelEmpty)
        bound = info.mip_dual_bound if any(integral) else info.objective_function_value
        if status == highspy.HighsModelStatus.kInfeasible:
            bound = inf
        elif not best and not any(integral):
            bound = -inf
        feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
        x: list[float] | None = None
        if feasible and bound < inf:
            both = zip(found.col_value, integral, strict=True)
            x = [float(round(value)) if whole else value for value, whole in both]
        return Answer(
            x=x,
            value=info.objective_function_value,
            bound=bound,
            is_best=best,
        )
