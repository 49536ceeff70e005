"""From a grant file to a plan: load, solve, explain."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from advisor.parse import InputError, parse_choice
from advisor.planning.grant.grant import Grant, read_grant
from advisor.planning.grant.problem_of_grant import Loaded, load
from advisor.planning.sensitivity.explain import Explanation, explain
from advisor.planning.sensitivity.infeasible import relax
from advisor.planning.sensitivity.solved_amounts import Finding
from advisor.planning.solver.clock import NoPlan, OutOfTime, clock_of
from advisor.planning.solver.problem import OBJECTIVES, Plan
from advisor.planning.solver.solve import solve
from advisor.planning.solver_process import Search
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Reader, Store

EXAMPLE = Path(__file__).parent / "grant" / "grant.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A grant with its plan, or with the ways out where there is none."""

    loaded: Loaded
    plan: Plan | None
    explanation: Explanation | None
    ways_out: tuple[Finding, ...] = ()


def load_grant(store: Store, grant: Grant, today: date) -> Loaded:
    """Everything that a plan is made from. Raises InputError and StoreError."""
    with store.reading() as reader:
        return load(reader, take_snapshot(reader), grant, today)


def plan_with(reader: Reader, path: Path, *, objective: str | None, today: date) -> Loaded:
    """A grant from its file with what the store knows. Raises InputError."""
    return load(reader, take_snapshot(reader), _read(path, objective), today)


def _read(path: Path, objective: str | None) -> Grant:
    grant = read_grant(path)
    if objective is None:
        return grant
    chosen = parse_choice(objective, OBJECTIVES, "the objective", last=", ")
    return replace(grant, objective=chosen)


def plan_grant(
    store: Store,
    path: Path,
    *,
    today: date,
    objective: str | None = None,
    seconds: float,
    quick: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Planned:
    """Read, solve, explain. Raises InputError and StoreError."""
    loaded = load_grant(store, _read(path, objective), today)
    return Search(PlanTask(loaded=loaded, seconds=seconds, quick=quick)).run(say)


def plan_loaded(
    loaded: Loaded,
    seconds: float,
    *,
    quick: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Planned:
    """Solve and explain; ``quick`` leaves out what would change the decision.

    Raises InputError where the time is not enough.
    """
    clock = clock_of(seconds)
    say("the plan")
    try:
        # Half of the time at most, so that there is some left to say what binds.
        plan = solve(loaded.problem, clock=clock.within(seconds / 2))
    except NoPlan:
        say("what to relax")
        ways = tuple(relax(loaded.problem, clock))
        return Planned(loaded=loaded, plan=None, explanation=None, ways_out=ways)
    except OutOfTime:
        raise InputError(
            f"no plan was found in {seconds / 2:g} seconds: give it more with --seconds"
        ) from None
    explanation = explain(loaded.problem, plan, clock=clock, thresholds=not quick, say=say)
    return Planned(loaded=loaded, plan=plan, explanation=explanation)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTask:
    """A plan, for a process of its own."""

    loaded: Loaded
    seconds: float
    quick: bool = False

    def run(self, say: Callable[[str], None]) -> Planned:
        """As `plan_loaded`."""
        return plan_loaded(self.loaded, self.seconds, quick=self.quick, say=say)
