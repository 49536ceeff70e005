"""What one machine of a group, or one part of it, could run, and what it would earn by that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from advisor.planning.solver.groups import Group, runs_that_fit
from advisor.planning.solver.machine_days import MachineDays, UpperRows
from advisor.planning.solver.milp import Program
from advisor.planning.solver.problem import Experiment
from advisor.planning.solver.schedule import Job


class MachineKind:
    """One machine of a group, or one part: what runs it could do, and what each costs there."""

    def __init__(self, program: Program, group: Group) -> None:
        import numpy as np

        problem, share = program.problem, program.problem.usable(1.0)
        jobs: list[Job] = []
        at: list[int] = []
        cost: list[float] = []
        most: list[float] = []
        for number, e in enumerate(problem.experiments):
            column = program.work.get((e.experiment_id, *group.key))
            if column is None:
                continue
            at.append(number)
            cost.append(program.judged[column])
            most.append(runs_that_fit(problem, group, e))
            jobs.append(_job(program, group, e, share))
        self.experiments = np.array(at, dtype=int)
        self.cost, self.most = np.array(cost), np.array(most, dtype=float)
        self.days = MachineDays(jobs) if jobs else None
        self._known: set[tuple[int, int]] = set()
        self.rows = UpperRows(len(jobs))
        """Of the pairs of days that were broken until now."""
        if self.days is not None:
            self._learn(self.days.first())

    def _learn(self, pairs: Sequence[tuple[int, int]]) -> bool:
        assert self.days is not None
        new = [pair for pair in pairs if pair not in self._known]
        for pair in new:
            self.rows.add(*self.days.row(pair))
        self._known.update(new)
        return bool(new)

    def learnt(self, x: Any) -> bool:
        """Whether so much of the runs breaks rows that were not known."""
        assert self.days is not None
        return self._learn(self.days.broken(x))

    def earns(self, worth: Any, *, exactly: bool) -> float:
        """Dollars that one makes at most, where each run is worth so much; parts of runs count.

        Not ``exactly``: with the rows that are known."""
        import numpy as np
        from scipy.optimize import linprog

        if self.days is None:
            return 0.0
        gain = worth[self.experiments] - self.cost
        some = np.flatnonzero(gain > 0)
        if not len(some):
            return 0.0
        bounds = np.column_stack([np.zeros(len(some)), self.most[some]])
        while True:
            answer = linprog(
                -gain[some],
                A_ub=self.rows.matrix()[:, some],
                b_ub=self.rows.most,
                bounds=bounds,
                method="highs",
            )
            if answer.status != 0:
                return float(gain[some] @ self.most[some])
            x = np.zeros(len(gain))
            x[some] = answer.x
            if not exactly or not self.learnt(x):
                return float(-answer.fun)


def _job(program: Program, group: Group, e: Experiment, share: float) -> Job:
    problem = program.problem
    return Job(
        low=problem.worked(max(e.release_day, group.from_day)),
        due=problem.worked(problem.due(e)),
        days=problem.elapsed(group.machine.times[e.model]) / share,
        experiment_id=e.experiment_id,
        run=1,
    )
