"""Which machines can be in a plan that costs no more than a known one: mostly a handful.

The relaxation of the program gives each run a price (its dual). Priced so, a machine earns what
the runs on it are worth; what it still lacks to earn its own price is a bound on how much dearer
than the relaxation every plan is that buys it (Lagrangian relaxation: Geoffrion, 1974). One linear
program says this for all groups at once. As what a group earns is concave in its machines, one
machine of it is the cheapest case.
"""

from __future__ import annotations

from collections.abc import Sequence

from advisor.planning.solver.milp import Program
from advisor.planning.solver.search_clock import Clock

SOLVED = 0
"""Status of scipy's linprog."""
ROUNDS = 2
TOLERANCE = 1e-6
RELATIVE = 1e-9


def promising_groups(
    program: Program, goal: Sequence[float], below: float, clock: Clock
) -> set[tuple[str, int]]:
    """The groups that a plan at most so dear can buy from, as far as there is time to see."""
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import vstack

    matrix, low, high = program.constraints()
    equal = low == high
    most, least = ~equal & np.isfinite(high), ~equal & np.isfinite(low)
    unequal = vstack([matrix[most], -matrix[least]]).tocsr()
    at_most = np.concatenate([high[most], -low[least]])
    inner = np.zeros(len(low), dtype=bool)
    inner[sorted(program.inner)] = True
    inner = np.concatenate([inner[most], np.zeros(int(least.sum()), dtype=bool)])
    costs, lower = np.array(goal), np.array(program.lower)
    upper = np.array(program.upper, dtype=float)
    keys = list(dict.fromkeys(program.block.values()))
    number = {key: at for at, key in enumerate(keys)}
    owner = np.full(len(costs), -1)
    for column, key in program.block.items():
        owner[column] = number[key]
    counts = np.array([program.count[key] for key in keys], dtype=int)
    live = upper[counts] > 0
    # A group with a row that it shares (an upgrade) is not judged by its own rows alone.
    judged = np.array([key in program.separate for key in keys], dtype=bool)
    for _ in range(ROUNDS):
        if not live.any() or clock.left <= 0:
            break
        answer = linprog(
            costs,
            A_ub=unequal,
            b_ub=at_most,
            A_eq=matrix[equal],
            b_eq=low[equal],
            bounds=np.column_stack([lower, upper]),
            method="highs",
            options={"time_limit": max(clock.left, 0.1)},
        )
        if answer.status != SOLVED:
            break
        duals = np.where(inner, 0.0, answer.ineqlin.marginals)
        priced = costs - unequal.T @ duals - matrix[equal].T @ answer.eqlin.marginals
        columns = np.flatnonzero((owner >= 0) & (upper > 0))
        one, one_at_most = lower.copy(), upper.copy()
        one[counts] = one_at_most[counts] = 1.0
        each = linprog(
            priced[columns],
            A_ub=unequal[inner][:, columns],
            b_ub=at_most[inner],
            bounds=np.column_stack([one[columns], one_at_most[columns]]),
            method="highs",
            options={"time_limit": max(clock.left, 0.1)},
        )
        if each.status != SOLVED:
            break
        lacks = np.bincount(owner[columns], priced[columns] * each.x, len(keys))
        slack = TOLERANCE + RELATIVE * abs(answer.fun)
        dead = live & judged & (answer.fun + np.maximum(lacks, 0.0) > below + slack)
        if not dead.any():
            break
        live &= ~dead
        upper[np.isin(owner, np.flatnonzero(dead))] = 0.0
    return {key for key, alive in zip(keys, live, strict=True) if alive}
