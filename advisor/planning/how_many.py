"""The reverse question: what can this budget train by this date?"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from advisor.costs.amount_words import seconds_words
from advisor.planning.grant.grant_keys import GrantExperiment
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.problem_of_grant import load
from advisor.planning.grant.toml_reader import Line
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem
from advisor.planning.solver.search_clock import NoPlan, OutOfTime, Progress
from advisor.planning.solver.solve import solve
from advisor.ranking.snapshot import Snapshot
from advisor.ranking.times import Model
from advisor.store import Reader
from advisor.typed_input import InputError

MOST_RUNS = 100
"""More runs than this are not counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reach:
    """How many runs of one model are possible, and what they take."""

    model: Model
    problem: PlanningProblem
    plan: Plan | None
    """None where not even one run is possible."""

    @property
    def runs(self) -> int:
        return 0 if self.plan is None else self.plan.runs


def problem_of(
    reader: Reader,
    snapshot: Snapshot,
    grant: Grant,
    model: Model,
    *,
    by: date | None,
    today: date,
) -> PlanningProblem:
    """As many runs of one model as can be asked for, with the grant's money and rules.

    The experiments that the grant itself asks for are left aside.
    """
    most = GrantExperiment(
        name=Line(model.name), model=Line(model.recipe_id), runs=MOST_RUNS, by=by
    )
    alone = replace(grant, experiments=(most,), objective="most-runs")
    return load(reader, snapshot, alone, today).problem


def reach(model: Model, problem: PlanningProblem, seconds: float) -> Reach:
    """The most runs of one model, and the cheapest way to them. Raises OutOfTime."""
    plan = None
    with suppress(NoPlan):
        plan = solve(problem, seconds)
    return Reach(model=model, problem=problem, plan=plan if plan and plan.runs else None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachTask:
    """The question for several models, for a process of its own."""

    problems: tuple[tuple[Model, PlanningProblem], ...]
    each_s: float
    """Seconds for each."""

    @property
    def seconds(self) -> float:
        """For all of it."""
        return self.each_s * len(self.problems)

    def run(self, say: Callable[[Any], None]) -> list[Reach]:
        """One answer a model. Raises InputError."""
        found = []
        for model, problem in self.problems:
            say(Progress(trying=f"how many runs of {model.name}"))
            try:
                found.append(reach(model, problem, self.each_s))
            except OutOfTime:
                be = "was" if self.each_s == 1 else "were"
                raise InputError(
                    f"{seconds_words(self.each_s)} {be} not enough for {model.name}: give it more "
                    "with --seconds"
                ) from None
        return found


def timed_models(reader: Reader, snapshot: Snapshot, grant: Grant) -> list[Model]:
    """The models that have been measured or, if the grant takes predictions, that have one;
    largest first."""
    timed = set(reader.measured_models())
    if grant.predictions and grant.evidence == "sound":
        timed |= reader.predicted_models()
    models = [model for model in snapshot.models if model.recipe_id in timed]
    return sorted(models, key=lambda model: (-model.parameters, model.recipe_id))
