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
from advisor.planning.planned_grant import Planned
from advisor.planning.runs_on_bought_machines import with_terms
from advisor.planning.sensitivity.explain import Explanation, explain
from advisor.planning.sensitivity.infeasible import first_run, relax
from advisor.planning.sensitivity.solved_amounts import Finding, money
from advisor.planning.solver.plan import Plan, gap_between
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
    left_out: tuple[LeftOut, ...] = ()
    """Of the grant, with what it would have saved."""


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
            return Planned(loaded=loaded, plan=None, explanation=None, out_of_time=True)
        if said.plan is None:
            return None
        plan = said.plan if said.settled else _unproven(said.plan, said.bound_usd)
        why = "the time was over before anything was tried"
        return stopped(loaded, plan, explained_so_far(said), why)

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
    plan: Plan | None = None
    try:
        with suppress(NoPlan):
            plan = solve(loaded.problem, clock=clock)
    except OutOfTime:
        raise InputError(
            f"no plan was found in {seconds_words(seconds)}: give it more with --seconds"
        ) from None

    loaded, with_quotes = _with_savings(loaded, plan, whole)
    if plan is None or not plan.runs:
        none = plan is None
        say(Impossible(trying="what to relax" if none else "what the first run takes"))
        ways_out = relax if none else first_run
        ways = ways_out(loaded.problem, whole.quiet(), typed=loaded.grant.typed_cents)
        nothing = None if none else _explained("nothing was tried, since no run is done")
        also = [*(_without_procurement(loaded, whole.quiet()) if none else ()), *with_quotes]
        return Planned(loaded=loaded, plan=plan, explanation=nothing, ways_out=(*also, *ways))

    found: Explanation | None = None

    def tell(words: str) -> None:
        say(
            Explaining(
                trying=words,
                plan=plan,
                settled=True,
                so_far=found,
                left_out=loaded.left_out,
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


def _with_savings(
    loaded: Loaded, plan: Plan | None, clock: Clock
) -> tuple[Loaded, tuple[Finding, ...]]:
    """What was not planned with, with what that would have saved, or how many runs more it would
    do: what procurement leaves out, and what needs a quote. Where no run is done without it, whose
    quote to ask for."""
    if loaded.unrestricted is not None and plan is not None:
        wider = loaded.unrestricted
        loaded, _ = _compared(loaded, plan, wider, clock, lambda each: each.by_procurement)
    if not loaded.with_told:
        return loaded, ()
    every = (loaded.unrestricted or loaded.problem).machines
    made = {m.gpu_id for m in every if m.lines and m.on_sale}
    # A GPU that somebody sells first: whoever is asked can quote it.
    planned_with = {m.machine_id for m in loaded.problem.machines}
    likely = tuple(m for m in loaded.with_told if m.gpu_id in made or m.machine_id in planned_with)
    for machines in (likely,) if likely == loaded.with_told else (likely, loaded.with_told):
        wider = replace(loaded.problem, machines=machines)
        loaded, other = _compared(loaded, plan, wider, clock, lambda each: each.needs_quote)
        if any(x.needs_quote and (x.saves or x.more_runs) for x in loaded.left_out):
            loaded = replace(loaded, with_told=machines)
            break
    ask = "; ".join(x.label for x in loaded.left_out if x.needs_quote and x.more_runs)
    if other is None or not ask or (plan is not None and plan.runs):
        return loaded, ()
    cost = money(loaded.grant.typed_cents(other.cost_cents), {"needs_quote": True}, "cost")
    runs = f"{other.runs} of {sum(e.runs for e in loaded.problem.experiments)} runs"
    words = (f"get a quote for {ask}: {runs} for ", cost, " by prices that no seller quotes")
    return loaded, (Finding(words=words),)


def _compared(
    loaded: Loaded,
    plan: Plan | None,
    wider: PlanningProblem,
    clock: Clock,
    is_one: Callable[[LeftOut], bool],
) -> tuple[Loaded, Plan | None]:
    """The plan against the best one of a problem with more to choose from, which is None where
    none is found in time."""
    known = () if plan is None else (plan,)
    try:
        other = solve(wider, clock=clock.within(LEFT_OUT_SECONDS).quiet(), known=known)
    except (NoPlan, OutOfTime):
        return loaded, None
    options = wider.options()
    used = {options[wider.whole(p.machine_id)].label for p in other.placed}
    more = other.runs - (0 if plan is None else plan.runs)
    less = Decimal(0 if plan is None else plan.cost_cents - other.cost_cents) / 100
    if more <= 0 and (more < 0 or less <= 0):
        return loaded, other
    found = {"more_runs": more} if more else {"saves": less}
    left_out = (
        replace(each, **found) if is_one(each) and each.label in used else each
        for each in loaded.left_out
    )
    return replace(loaded, left_out=tuple(left_out)), other


def _with_last_plan(say: Say) -> Say:
    """Reports of a search that starts again still carry the plan found before."""
    last: Plan | None = None

    def told(said: Progress) -> None:
        nonlocal last
        last = said.plan or last
        say(replace(said, plan=last))

    return told


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanTask:
    """A plan, for a process of its own."""

    loaded: Loaded
    seconds: float
    quick: bool = False

    def run(self, say: Say) -> Planned:
        """As `plan_loaded`."""
        return plan_loaded(self.loaded, self.seconds, quick=self.quick, say=say)
