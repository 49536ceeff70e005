"""Which machines can be in a plan that costs no more than a known one: mostly a handful.

The relaxation of the program gives each run a price (its dual). Priced so, a machine earns what
the runs on it are worth; what it still lacks to earn its own price is a bound on how much dearer
than the relaxation every plan is that buys it (Lagrangian relaxation: Geoffrion, 1974). One linear
program says this for all groups at once. As what a group earns is concave in its machines, one
machine of it is the cheapest case.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from advisor.planning.solver.milp import Program
from advisor.planning.solver.search_clock import Clock

SOLVED = 0
"""Status of scipy's linprog."""
ROUNDS = 2
TOLERANCE = 1e-6
RELATIVE = 1e-9


class Relaxation:
    """A program in which parts of machines and of runs are allowed, solved while the clock runs."""

    def __init__(self, program: Program, goal: Sequence[float], clock: Clock) -> None:
        import numpy as np
        from scipy.sparse import vstack

        matrix, low, high = program.constraints()
        equal = low == high
        most, least = ~equal & np.isfinite(high), ~equal & np.isfinite(low)
        self.program = program
        self.clock = clock
        self._answer: Any = None
        self.costs = np.array(goal)
        self.lower, self.upper = np.array(program.lower), np.array(program.upper, dtype=float)
        self.equal, self.equal_to = matrix[equal], low[equal]
        self.unequal = vstack([matrix[most], -matrix[least]]).tocsr()
        self.at_most = np.concatenate([high[most], -low[least]])
        inner = np.zeros(len(low), dtype=bool)
        inner[sorted(program.inner)] = True
        self.whole = True
        """Whether nothing has been ruled out yet."""
        self.inner = np.concatenate([inner[most], np.zeros(int(least.sum()), dtype=bool)])

    def solve(self) -> Any:
        """The answer of scipy's linprog, without an ``x`` where the time was over; the same one
        until something is ruled out."""
        if self._answer is None:
            self._answer = self._solve()
        return self._answer

    def _solve(self) -> Any:
        import numpy as np
        from scipy.optimize import linprog

        return linprog(
            self.costs,
            A_ub=self.unequal,
            b_ub=self.at_most,
            A_eq=self.equal,
            b_eq=self.equal_to,
            bounds=np.column_stack([self.lower, self.upper]),
            method="highs",
            options={"time_limit": max(self.clock.left, 0.1)},
        )

    def promising(self, below: float, clock: Clock) -> set[tuple[str, int]]:
        """The groups that a plan at most so dear can buy from, as far as there is time to see."""
        import numpy as np
        from scipy.optimize import linprog

        program = self.program
        keys = list(dict.fromkeys(program.block.values()))
        number = {key: at for at, key in enumerate(keys)}
        owner = np.full(len(self.costs), -1)
        for column, key in program.block.items():
            owner[column] = number[key]
        counts = np.array([program.count[key] for key in keys], dtype=int)
        live = self.upper[counts] > 0
        # A group with a row that it shares (an upgrade) is not judged by its own rows alone.
        judged = np.array([key in program.separate for key in keys], dtype=bool)
        for _ in range(ROUNDS):
            answer = self.solve()
            if answer.x is None or not live.any() or clock.left <= 0:
                break
            duals = np.where(self.inner, 0.0, answer.ineqlin.marginals)
            priced = self.costs - self.unequal.T @ duals - self.equal.T @ answer.eqlin.marginals
            columns = np.flatnonzero((owner >= 0) & (self.upper > 0))
            lower, upper = self.lower.copy(), self.upper.copy()
            lower[counts] = upper[counts] = 1.0
            each = linprog(
                priced[columns],
                A_ub=self.unequal[self.inner][:, columns],
                b_ub=self.at_most[self.inner],
                bounds=np.column_stack([lower[columns], upper[columns]]),
                method="highs",
                options={"time_limit": max(clock.left, 0.1)},
            )
            if each.status != SOLVED or each.x is None:
                break
            lacks = np.bincount(owner[columns], priced[columns] * each.x, len(keys))
            slack = TOLERANCE + RELATIVE * abs(answer.fun)
            dead = live & judged & (answer.fun + np.maximum(lacks, 0.0) > below + slack)
            if not dead.any():
                break
            live &= ~dead
            self._answer = None
            self.whole = False
            self.upper[np.isin(owner, np.flatnonzero(dead))] = 0.0
        return {key for key, alive in zip(keys, live, strict=True) if alive}
