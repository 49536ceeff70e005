"""From a grant file to a plan: load, solve, explain."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from types import MappingProxyType

from advisor.costs.amount_words import seconds_words
from advisor.costs.cost_of_owning import CostTerms
from advisor.planning.grant.candidates.grant_machines import LeftOut
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.problem_of_grant import Loaded, load
from advisor.planning.grant.read_grant import read_grant
from advisor.planning.planned import Planned
from advisor.planning.runs_on_bought_machines import with_terms
from advisor.planning.sensitivity.changes import FREE, vary
from advisor.planning.sensitivity.explain import Explanation, explain
from advisor.planning.sensitivity.infeasible import first_run, relax
from advisor.planning.sensitivity.solved_amounts import Finding
from advisor.planning.solver.plan import Plan, gap_between, last_day
from advisor.planning.solver.problem import OBJECTIVES, PlanningProblem
from advisor.planning.solver.search_clock import Clock, NoPlan, OutOfTime, Progress, clock_of
from advisor.planning.solver.solve import DEFAULT_SECONDS, is_feasible, solve
from advisor.planning.solver_process import Search
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Reader, Store
from advisor.typed_input import InputError, parse_choice

EXPLAIN_SECONDS = 24.0
"""To try what else there is and what would change the decision, after the plan is there ..."""
EXPLAIN_SHARE = 0.2
"""... and this share of all the time is kept for it."""
Say = Callable[[Progress], None]
LEFT_OUT_SECONDS = 10.0
"""To see what one kind of thing that was left out would have saved."""
EXAMPLE = Path(__file__).parent / "grant" / "grant.toml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Explaining(Progress):
    """The plan is there; what else there is and what would change it is being tried."""

    so_far: Explanation | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible(Progress):
    """No plan meets every constraint; what to relax is being tried."""


def load_grant(store: Store, grant: Grant, today: date) -> Loaded:
    """Everything that a plan is made from. Raises InputError and StoreError."""
    with store.reading() as reader:
        return load(reader, take_snapshot(reader), grant, today)


def plan_with(
    reader: Reader, path: Path, *, objective: str | None, terms: CostTerms, today: date
) -> Loaded:
    """A grant from its file with what the store knows; a run is counted by ``terms`` where the
    file says nothing of them. Raises InputError."""
    grant = replace(_read(path, objective), assumed=terms)
    return load(reader, take_snapshot(reader), grant, today)


def _read(path: Path, objective: str | None) -> Grant:
    """A grant from its file, with another objective where one is named. Raises InputError."""
    grant = read_grant(path)
    if objective is None:
        return grant
    chosen = parse_choice(objective, OBJECTIVES, "the objective", last=", ")
    return replace(grant, objective=chosen)


def search_for(loaded: Loaded, seconds: float, *, quick: bool = False) -> Search[Planned]:
    """A plan in the making, which takes no longer than ``seconds`` and a few: the best one until
    then is the answer."""

    def keep(said: Progress) -> Planned | None:
        if isinstance(said, Impossible):
            at = loaded.as_of(said)
            return Planned(loaded=at, plan=None, explanation=None, out_of_time=True)
        if said.plan is None:
            return None
        plan = said.plan if said.settled else _unproven(said.plan, said.bound_usd)
        why = "the time was over before anything was tried"
        return stopped(loaded.as_of(said), plan, explained_so_far(said), why)

    return Search(PlanTask(loaded=loaded, seconds=seconds, quick=quick), keep)


def grant_at(
    store: Store,
    path: Path,
    *,
    objective: str | None,
    today: date,
    typed: Mapping[str, str | None] = MappingProxyType({}),
) -> Loaded:
    """A grant from its file with what the store knows; ``typed`` are what owning costs, by the
    names of `advisor.costs.cost_terms.TERMS`. Raises InputError and StoreError."""
    return load_grant(store, with_terms(_read(path, objective), typed), today)


def explained_so_far(said: Progress) -> Explanation | None:
    """What explains a plan already, while more is being tried."""
    return said.so_far if isinstance(said, Explaining) else None


def stopped(
    loaded: Loaded,
    plan: Plan,
    so_far: Explanation | None = None,
    why: str = "it was stopped before anything was tried",
) -> Planned:
    """The best plan when it was stopped, with what explains it so far."""
    found = _explained(why)
    if so_far is not None:
        found = replace(so_far, thresholds=found.thresholds)
    return Planned(loaded=loaded, plan=plan, explanation=found)


def _explained(why: str) -> Explanation:
    """Nothing, and why."""
    return Explanation(alternatives=(), binds=(), thresholds=(Finding(words=(why,)),), ask=())


def _unproven(plan: Plan, bound_usd: float | None) -> Plan:
    """A plan that was heard of while better ones were looked for."""
    gap = None if bound_usd is None else gap_between(plan.judged_cents, bound_usd * 100)
    return replace(plan, proven=False, gap=gap)


def plan_loaded(
    loaded: Loaded,
    seconds: float,
    *,
    quick: bool = False,
    say: Say = lambda _: None,
) -> Planned:
    """Solve and explain; ``quick`` leaves out what would change the decision.

    ``say`` hears how far it has come, and the plan as soon as it is settled. All of it is over
    in these ``seconds``; explaining takes at most `EXPLAIN_SECONDS` of them, or what is left
    where more time than usual was given. Raises InputError where the time is not enough.
    """
    whole = clock_of(seconds, on_progress=_with_last_plan(say))
    clock = whole.within(seconds - min(EXPLAIN_SECONDS, EXPLAIN_SHARE * seconds))
    say(Progress(trying="the plan"))
    asked = loaded
    try:
        loaded, plan = _solved(loaded, clock)
    except OutOfTime:
        raise InputError(
            f"no plan was found in {seconds_words(seconds)}: give it more with --seconds"
        ) from None

    told = len(asked.with_told) - len(loaded.with_told)
    loaded = _with_savings(loaded, plan, whole)
    if plan is None or not plan.runs:
        if told and _is_enough_on_sale(asked, whole.quiet()):
            loaded = asked
        none = plan is None
        say(Impossible(trying="what to relax" if none else "what the first run takes"))
        ways_out = relax if none else first_run
        ways = ways_out(loaded.problem, whole.quiet(), typed=loaded.grant.typed_cents)
        nothing = None if none else _explained("nothing was tried, since no run is done")
        also = _without_procurement(asked, whole.quiet()) if none else ()
        return Planned(loaded=loaded, plan=plan, explanation=nothing, ways_out=(*also, *ways))

    found: Explanation | None = None

    def tell(words: str) -> None:
        say(
            Explaining(
                trying=words,
                plan=plan,
                settled=True,
                told=told,
                of_all=not loaded.with_told,
                so_far=found,
            )
        )

    def keep(explanation: Explanation) -> None:
        nonlocal found
        found = explanation

    tell("alternatives")
    usual = seconds <= DEFAULT_SECONDS
    explaining = (whole.within(EXPLAIN_SECONDS) if usual else whole).quiet()
    explanation = explain(
        loaded.problem, plan, clock=explaining, thresholds=not quick, say=tell, so_far=keep
    )
    return Planned(loaded=loaded, plan=plan, explanation=explanation)


def _solved(loaded: Loaded, clock: Clock) -> tuple[Loaded, Plan | None]:
    """What the plan is made from, and the plan; None where there is none. Where nothing on sale
    does the work, machines that need a quote are planned with too. Raises OutOfTime."""
    while True:
        plan, wider = None, loaded.told_too()
        with suppress(NoPlan):
            plan = solve(loaded.problem, clock=clock)
        if wider is None or (plan is not None and plan.runs):
            return loaded, plan
        loaded = wider
        clock = replace(clock, on_progress=_of_told(clock.on_progress))
        clock.tell("machines that others only tell of")


def _is_enough_on_sale(loaded: Loaded, clock: Clock) -> bool:
    """Whether with more money the machines that are on sale do the work: then it is said what to
    relax for them, and not for those with only reported prices."""
    try:
        return is_feasible(vary(loaded.problem, FREE), clock=clock)
    except OutOfTime:
        return False


def _without_procurement(loaded: Loaded, clock: Clock) -> Iterator[Finding]:
    """That procurement's rules leave no plan, where there is one without them."""
    wider = loaded.unrestricted
    try:
        if wider is None or not is_feasible(wider, clock=clock.within(LEFT_OUT_SECONDS)):
            return
    except OutOfTime:
        return
    number = sum(each.by_procurement for each in loaded.left_out)
    yield Finding(
        words=(f"loosen [procurement]: what it leaves out, {number} in all, makes a plan possible",)
    )


def _with_savings(loaded: Loaded, plan: Plan | None, clock: Clock) -> Loaded:
    """What was not planned with, with what that would have saved, or how many runs more it would
    do: what procurement leaves out, and what needs a quote."""
    if plan is None:
        return loaded
    if loaded.unrestricted is not None:
        loaded = _compared(
            loaded, plan, loaded.unrestricted, clock, lambda each: each.by_procurement
        )
    if not loaded.with_told:
        return loaded
    wider = replace(loaded.problem, machines=loaded.with_told[-1])
    return _compared(loaded, plan, wider, clock, lambda each: each.needs_quote)


def _compared(
    loaded: Loaded,
    plan: Plan,
    wider: PlanningProblem,
    clock: Clock,
    is_one: Callable[[LeftOut], bool],
) -> Loaded:
    """The plan against the best one of a problem with more to choose from."""
    try:
        other = solve(wider, clock=clock.within(LEFT_OUT_SECONDS).quiet(), known=(plan,))
    except (NoPlan, OutOfTime):
        return loaded
    by_quotes = wider is not loaded.unrestricted
    if by_quotes and other.proven and _rank(wider, other) >= _rank(wider, plan):
        return replace(loaded, with_told=())
    options = wider.options()
    used = {options[wider.whole(p.machine_id)].label for p in other.placed}
    more, less = other.runs - plan.runs, Decimal(plan.cost_cents - other.cost_cents) / 100
    if more <= 0 and (more < 0 or less <= 0):
        return loaded
    found = {"more_runs": more} if more else {"saves": less}
    left_out = (
        replace(each, **found) if is_one(each) and each.label in used else each
        for each in loaded.left_out
    )
    return replace(loaded, left_out=tuple(left_out))


def _rank(problem: PlanningProblem, plan: Plan) -> tuple[int, int, int]:
    """By what plans of one grant are compared; the best is least."""
    day = last_day(plan.finish_day) if problem.objective == "soonest" else 0
    return -plan.value, day, plan.judged_cents


def _with_last_plan(say: Say) -> Say:
    """Reports of a search that starts again still carry the plan found before."""
    last: Plan | None = None

    def told(said: Progress) -> None:
        nonlocal last
        last = said.plan or last
        say(replace(said, plan=last))

    return told


def _of_told(hear: Say | None) -> Say | None:
    if hear is None:
        return None
    return lambda said: hear(replace(said, told=said.told + 1))


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTask:
    """A plan, for a process of its own."""

    loaded: Loaded
    seconds: float
    quick: bool = False

    def run(self, say: Say) -> Planned:
        """As `plan_loaded`."""
        return plan_loaded(self.loaded, self.seconds, quick=self.quick, say=say)
