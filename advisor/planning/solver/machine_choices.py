"""How many machines, and parts of them, a plan may have: those choices first on which runs in parts
cost least, and what no plan is below.

Where machines are settled, what runs cost on them in parts is a small linear program, with every
window as it is. Its price of each run bounds all other choices too, since no machine earns more
than the runs that it has time for are worth (Lagrangian relaxation): that is one row of a program
that counts machines alone (Benders, 1962). So only few choices are looked at. What the best of them
costs with whole runs is bounded by branch and cut, where time is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from advisor.planning.solver.dividing import NamedNumbers, named_numbers
from advisor.planning.solver.first_plans import INFEASIBLE
from advisor.planning.solver.machine_days import UpperRows
from advisor.planning.solver.machine_kind import MachineKind
from advisor.planning.solver.milp import Program
from advisor.planning.solver.relaxation import Relaxation
from advisor.planning.solver.search_clock import Clock

MASTER_GAP = 1e-4
SAFE = 1e-6
"""The share by which a bound is taken lower, since a solver rounds."""
DEAR = 1e6
"""Dollars, for a run that could be nowhere else: any amount bounds, some better than others."""
FULL = 0.85
"""Days that are less full than this hold back no run, about."""
MOST_COLUMNS = 4000
"""With more of them, machines that are alike are not told apart."""
SHARPEN_SECONDS = 8.0
LONGER = 4
"""For whole runs at first; so many times as long each time after."""
Numbers = tuple[tuple[tuple[str, int], int], ...]
"""How many there are of each group that there are any of."""


@dataclass(slots=True)
class _Settled:
    """A choice whose cost in parts is known, and no plan with these machines is below."""

    numbers: Numbers
    purchase: float
    bound: float
    seconds: float
    """For the next try to bound it better; 0 where there is none."""


@dataclass(frozen=True, slots=True)
class _Shared:
    """Runs on the machines of a choice in parts: the columns are those of each kind (times), then
    those of rent, then what runs that are nowhere cost."""

    kinds: Sequence[tuple[MachineKind, int]]
    first: Sequence[int]
    costs: Any
    most: Any


class Choices:
    """The search; ``bound`` rises as it goes."""

    def __init__(self, program: Program, few: Program, below: float, clock: Clock) -> None:
        """``few`` is the program of wider windows, which is changed; plans that are dearer than
        ``below`` are not looked at."""
        import numpy as np

        self._few, self._below = few, below
        problem = program.problem
        only = Relaxation(few, few.judged, clock).promising(below, clock)
        self._without = few.outside(only)
        out = set(self._without)
        self._number = {
            group.key: few.wholes.get(group.key, few.count[group.key])
            for group in few.groups
            if group.key in few.count and few.count[group.key] not in out
        }
        self._kinds = {
            g.key: MachineKind(program, g) for g in program.groups if g.key in self._number
        }
        self._runs = np.array([e.runs for e in problem.experiments], dtype=float)
        number = {e.experiment_id: n for n, e in enumerate(problem.experiments)}
        keys = list(program.rent)
        self._rented = np.array([number[e] for e, _, _ in keys], dtype=int)
        self._rent = np.array([program.judged[program.rent[key]] for key in keys])
        hours: dict[tuple[str, int], dict[int, float]] = {}
        for at, key in enumerate(keys):
            way = program.ways[key]
            if way.rental.allocation is not None:
                hours.setdefault((way.rental.allocation, way.year), {})[at] = way.gpu_hours
        granted = {a.allocation_id: a for a in problem.allocations}
        self._hours = [
            (used, float(limit))
            for (allocation, year), used in hours.items()
            if (limit := granted[allocation].hours_in(year)) is not None
        ]
        # Beyond what is bought and run, dollars that a row asks for.
        few.column(inf, cost=1.0, whole=False)
        few.changed()
        self._flags: set[int] = set()
        self._priced: set[Numbers] = set()
        self._settled: list[_Settled] = []
        self._rest = -inf
        """What no plan with other machines than those of the settled choices is below."""
        self.bound = -inf
        self.best: NamedNumbers | None = None
        """The choice on which runs in parts cost least, once that is known."""

    def is_chosen(self) -> bool:
        """Whether it is known on which machines runs in parts cost least."""
        return self.best is not None

    def search(self, clock: Clock, enough: Callable[[], bool]) -> None:
        """Until it is enough, or nothing more is found out in the time."""
        while clock.left > 0 and not enough():
            weakest = min(self._settled, key=lambda each: each.bound, default=None)
            if weakest is not None and weakest.bound <= self._rest:
                more = self._sharpen(weakest, clock)
            else:
                more = self._look(clock)
            least = min((each.bound for each in self._settled), default=inf)
            self.bound = max(self.bound, min(self._rest, least, self._below))
            if not more:
                break

    def _look(self, clock: Clock) -> bool:
        """At the cheapest choice that is left."""
        few = self._few
        answer = few.solve(
            few.judged,
            clock.left,
            without=self._without,
            below=self._below,
            gap=MASTER_GAP,
            whole=few.numbers | self._flags,
        )
        if answer.status == INFEASIBLE:
            self._rest = inf
            return bool(self._settled)
        if answer.mip_dual_bound is not None:
            self._rest = max(self._rest, float(answer.mip_dual_bound))
        if answer.x is None or clock.left <= 0:
            return False
        found = ((key, round(answer.x[column])) for key, column in self._number.items())
        numbers = tuple((key, number) for key, number in found if number)
        if numbers in self._priced:
            return self._settle(numbers, answer.x)
        self._priced.add(numbers)
        _, worth = self._in_parts(numbers)
        if worth is None:
            return False
        here = dict(numbers)
        # What runs cost, by what they are worth: at least this, less what each machine earns.
        row = {c: each for c, each in enumerate(few.judged) if each and c not in few.machines}
        for key, column in self._number.items():
            earns = self._kinds[key].earns(worth, exactly=key in here) if key in self._kinds else 0
            row[column] = row.get(column, 0.0) + earns * (1 + SAFE)
        least = self._elsewhere(worth)
        few.rows.append((row, least - SAFE * abs(least), inf))
        few.changed()
        return True

    def _settle(self, numbers: Numbers, x: Any) -> bool:
        """From now on other choices are looked at beside."""
        few, here = self._few, dict(numbers)
        runs, _ = self._in_parts(numbers)
        if runs is None:
            return False
        if self.best is None:
            self.best = named_numbers(few, x)
        price = [each if c in few.machines else 0.0 for c, each in enumerate(few.judged)]
        fixed = {column: float(here.get(key, 0)) for key, column in self._number.items()}
        bought = few.solve(price, inf, without=self._without, whole=few.machines, fixed=fixed)
        if bought.status != 0:
            return False
        purchase = float(bought.fun)
        bound = max(purchase + runs - SAFE * abs(purchase + runs), self._rest)
        self._settled.append(_Settled(numbers, purchase, bound, SHARPEN_SECONDS))
        flags: dict[int, float] = {}
        for key, column in self._number.items():
            number, most = here.get(key, 0), few.upper[column]
            more = few.column(1)
            few.rows.append(({column: 1.0, more: -(number + 1.0)}, 0.0, inf))
            flags[more] = 1.0
            if number:
                less = few.column(1)
                few.rows.append(({column: 1.0, less: most - number + 1.0}, -inf, most))
                flags[less] = 1.0
        few.rows.append((flags, 1.0, inf))
        few.changed()
        self._flags |= flags.keys()
        return True

    def _in_parts(self, numbers: Numbers) -> tuple[float | None, Any]:
        """What runs cost on these machines, in parts, and what each is worth there."""
        shared = self._shared(numbers, apart=False)
        answer = self._solved(shared)
        while answer is not None and any(
            [
                kind.learnt(answer.x[first : first + len(kind.cost)] / number)
                for (kind, number), first in zip(shared.kinds, shared.first, strict=True)
            ]
        ):
            answer = self._solved(shared)
        return (None, None) if answer is None else (float(answer.fun), answer.eqlin.marginals)

    def _shared(self, numbers: Numbers, *, apart: bool) -> _Shared:
        import numpy as np

        kinds = [
            (kind, number)
            for key, number in numbers
            if (kind := self._kinds.get(key)) is not None and kind.days is not None
        ]
        if apart:
            kinds = [(kind, 1) for kind, number in kinds for _ in range(number)]
        first = [0, *np.cumsum([len(kind.cost) for kind, _ in kinds]).tolist()]
        dear = np.full(len(self._runs), DEAR)
        costs = np.concatenate([*(kind.cost for kind, _ in kinds), self._rent, dear])
        most = [np.minimum(k.most * number, self._runs[k.experiments]) for k, number in kinds]
        rents = [self._runs[self._rented], self._runs]
        return _Shared(kinds, first[:-1], costs, np.concatenate([*most, *rents]))

    def _rows(self, shared: _Shared, x: Any = None) -> tuple[Any, Any]:
        """Of these machines, and what each may be at most; given what is on them in parts, those
        that matter about there."""
        import numpy as np
        from scipy.sparse import block_diag

        rest = len(self._runs) + len(self._rent)
        blocks: list[Any] = []
        most: list[Any] = []
        for (kind, number), first in zip(shared.kinds, shared.first, strict=True):
            matrix, days = kind.rows.matrix(), np.array(kind.rows.most) * number
            if x is not None:
                near = matrix @ x[first : first + len(kind.cost)] >= FULL * days
                matrix, days = matrix[near], days[near]
            blocks.append(matrix)
            most.append(days)
        hours = UpperRows(rest)
        for used, limit in self._hours:
            hours.add(np.array(list(used)), np.array(list(used.values())), limit)
        every = block_diag([*blocks, hours.matrix()], format="csr")
        return every, np.concatenate([*most, np.array(hours.most)])

    def _each_once(self, shared: _Shared) -> Any:
        import numpy as np
        from scipy.sparse import csr_array

        number = len(self._runs)
        at = [*(kind.experiments for kind, _ in shared.kinds), self._rented, np.arange(number)]
        columns = np.arange(len(shared.costs))
        entries = np.ones(len(columns)), (np.concatenate(at), columns)
        return csr_array(entries, shape=(number, len(columns)))

    def _solved(self, shared: _Shared) -> Any:
        from scipy.optimize import linprog

        rows, most = self._rows(shared)
        answer = linprog(
            shared.costs,
            A_ub=rows,
            b_ub=most,
            A_eq=self._each_once(shared),
            b_eq=self._runs,
            bounds=(0, None),  # what is more than a run's number is held by its row alone
            method="highs",
        )
        return answer if answer.status == 0 else None

    def _elsewhere(self, worth: Any) -> float:
        """What runs that are worth so much cost at least, where no machine is."""
        import numpy as np
        from scipy.optimize import linprog
        from scipy.sparse import csr_array, vstack

        gain = self._rent - worth[self._rented]
        total = float(self._runs @ worth)
        if not self._hours:
            least = np.zeros(len(self._runs))
            np.minimum.at(least, self._rented, gain)
            return total + float(self._runs @ least)
        columns = np.arange(len(gain))
        once = csr_array((np.ones(len(gain)), (self._rented, columns)), (len(worth), len(gain)))
        rows = UpperRows(len(gain))
        for used, limit in self._hours:
            rows.add(np.array(list(used)), np.array(list(used.values())), limit)
        answer = linprog(
            gain,
            A_ub=vstack([once, rows.matrix()]),
            b_ub=np.concatenate([self._runs, rows.most]),
            bounds=(0, None),
            method="highs",
        )
        if answer.status != 0:
            return total + float(self._runs[self._rented] @ np.minimum(gain, 0.0))
        return total + float(answer.fun)

    def _sharpen(self, settled: _Settled, clock: Clock) -> bool:
        """Bound a choice by whole runs on its machines."""
        import numpy as np
        from scipy.optimize import Bounds, LinearConstraint, milp

        if not settled.seconds:
            return False
        together = self._shared(settled.numbers, apart=False)
        answer = self._solved(together)
        if answer is None:
            return False
        apart = self._shared(settled.numbers, apart=True)
        shared, x = together, answer.x
        if len(apart.costs) <= MOST_COLUMNS:
            shared = apart
            every = zip(together.kinds, together.first, strict=True)
            parts = [
                x[first : first + len(kind.cost)] / number
                for (kind, number), first in every
                for _ in range(number)
            ]
            x = np.concatenate([*parts, x[len(x) - len(self._rent) - len(self._runs) :]])
        rows, most = self._rows(shared, x)
        found = milp(
            shared.costs,
            constraints=[
                LinearConstraint(rows, -inf, most),
                LinearConstraint(self._each_once(shared), self._runs, self._runs),
            ],
            bounds=Bounds(0, shared.most),
            integrality=np.ones(len(shared.costs)),
            options={"time_limit": min(settled.seconds, max(clock.left, 0.1))},
        )
        if found.mip_dual_bound is not None:
            least = settled.purchase + float(found.mip_dual_bound)
            settled.bound = max(settled.bound, least - SAFE * abs(least))
        settled.seconds = 0.0 if found.status == 0 else settled.seconds * LONGER
        return True
