"""What else there is and what binds, by solving again; `thresholds.py` adds what would change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import floor
from typing import Any

from advisor.planning.sensitivity.changes import FREE, Change, vary
from advisor.planning.sensitivity.solved_amounts import Finding, Solved, money
from advisor.planning.sensitivity.thresholds import find_thresholds
from advisor.planning.sensitivity.trials import Trials
from advisor.planning.solver.machines import undominated
from advisor.planning.solver.money.cents import whole_budget_cents, within_budgets
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import PlanningProblem, Rental
from advisor.planning.solver.program.integer_program import Program
from advisor.planning.solver.search_clock import Clock, clock_of

MOST_COLUMNS = 4000
"""Larger programs are not explained, which takes dozens of solves."""
ALTERNATIVES = 4
NEAR = 0.1
"""A plan of another kind within this share of the best says what such plans cost."""
NOTHING = "buy nothing"
NO_LONGEST: Change = {"longest_run_days": None}
MOST_GPUS = 6
"""How many other GPUs are tried where no bound says that the rest are worse."""
UNTRIED = Finding(words=("no price, time or rule was tried",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another way to do it, and what speaks against it."""

    name: str
    change: Change
    plan: Plan | None
    """None where there is no plan of this kind."""
    over_budget: bool
    soonest: bool = False
    """Whether it is planned for the earliest end, as the plan itself: it may be dearer than it need
    be."""
    proven: bool = True
    """False: of a large grant, the best plan of its kind that was found in time."""

    @property
    def label(self) -> str:
        return f"{self.name}, as soon as possible" if self.soonest else self.name

    @property
    def least_cents(self) -> int | None:
        """What every plan of its kind costs at least; None where that is not known. Only of plans
        that are compared by what is paid."""
        if self.plan is None or self.plan.cost_cents != self.plan.judged_cents:
            return None
        if self.proven:
            return self.plan.cost_cents
        gap = self.plan.gap
        return None if gap is None else floor(self.plan.cost_cents * (1 - gap))

    @property
    def is_near(self) -> bool:
        """Whether what it costs says what such plans cost: it is the best, or nearly so."""
        gap = None if self.plan is None else self.plan.gap
        return self.proven or (gap is not None and gap <= NEAR)


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything but the plan itself."""

    alternatives: tuple[Alternative, ...]
    binds: tuple[Finding, ...]
    thresholds: tuple[Finding, ...]
    """Where a price, a time or a rule would change the decision."""
    ask: tuple[Finding, ...]
    """The cheapest measurements and quotes that could change the decision."""


def worse_by(problem: PlanningProblem, plan: Plan, other: Plan) -> list[str]:
    """By what a plan is worse though it may cost less: plans may be compared by more than what is
    paid. Empty where they are not, or it is no worse."""
    worse = problem.objective == "cheapest" and other.judged_cents > plan.judged_cents
    return _judged_by(problem) if worse else []


def _judged_by(problem: PlanningProblem) -> list[str]:
    """By what plans are compared besides what is paid."""
    by = []
    if any(each.odds < 1 for each in problem.allocations):
        by.append("by the odds of award")
    if problem.rules.lifetime_years is not None:
        by.append("by what machines lose in value")
    return by


def explain(
    problem: PlanningProblem,
    plan: Plan,
    seconds: float = 30.0,
    *,
    thresholds: bool = True,
    clock: Clock | None = None,
    say: Callable[[str], None] = lambda _: None,
    so_far: Callable[[Explanation], None] = lambda _: None,
) -> Explanation:
    """Alternatives, binding constraints and, unless left out, thresholds and what to ask for.

    ``say`` hears how far it has come, ``so_far`` what is there until now.
    """
    trials = Trials(problem, plan, clock or clock_of(seconds), (plan,), say)
    nothing = Explanation(alternatives=(), binds=(), thresholds=(), ask=())
    if len(Program(problem).cost) > MOST_COLUMNS:
        fewer = "" if len(problem.orders) <= problem.years else " or order less often"
        large = "the plan is too large to try what else there is and what would change it"
        words = (f"{large}: name fewer GPUs under [purchases]{fewer} to have that",)
        found = replace(nothing, thresholds=(Finding(words=words),))
        so_far(found)
        return replace(found, alternatives=tuple(_why_not(trials)))
    others = _alternatives(trials)
    plans = [other.plan for other in others if other.plan is not None]
    trials.learn(plans)
    found = replace(nothing, alternatives=tuple(others))
    so_far(found)
    found = replace(found, binds=tuple(_binds(trials)))
    so_far(found)
    if not thresholds:
        return replace(found, thresholds=(UNTRIED,))
    changes, ask = find_thresholds(trials, plans)
    return replace(found, thresholds=tuple(changes), ask=tuple(ask))


def _freely(problem: PlanningProblem, change: Change) -> Change:
    """A change, with money no object."""
    free = {**change, **FREE}
    return free if problem.objective == "cheapest" else {**free, "objective": "cheapest"}


def _alternative(trials: Trials, label: str, change: Change, *, sure: bool = True) -> Alternative:
    """The best plan with a change. Raises OutOfTime."""
    plan = trials.solve(change, sure=sure)
    if "no_purchases" in change:
        label = _buys_nothing({r.rental_id: r for r in trials.problem.rentals}, plan)
    # It may only be later than any plan that is looked for.
    over = plan is not None and not within_budgets(trials.problem, plan)
    proven = plan is None or plan.proven
    soonest = vary(trials.problem, change).objective == "soonest"
    return Alternative(
        name=label, change=change, plan=plan, over_budget=over, soonest=soonest, proven=proven
    )


def _alternatives(trials: Trials) -> list[Alternative]:
    problem, plan = trials.problem, trials.plan
    machines = {m.machine_id: m for m in problem.machines}
    rentals = {r.rental_id: r for r in problem.rentals}
    counted = {rentals[name].allocation for name in plan.rented}
    kinds: list[tuple[str, Change]] = [
        (f"{a.name} is not awarded", {"without_allocation": a.allocation_id})
        for a in problem.allocations
        if a.allocation_id in counted
    ]
    if plan.purchases and problem.rentals:
        kinds.append((NOTHING, {"no_purchases": True}))
    if None in counted:
        kinds.append(("rent nothing", {"no_rentals": True}))
    for purchase in plan.purchases:
        label = machines[purchase.machine_id].label
        kinds.append((f"without {label}", {"without": purchase.machine_id}))

    def affordable(kind: tuple[str, Change]) -> Alternative:
        return _alternative(trials, *kind)

    def dearer(alternative: Alternative) -> Alternative:
        change = _freely(problem, alternative.change)
        other = _alternative(trials, alternative.name, change)
        return alternative if other.plan is None else other

    def is_hope(other: Alternative) -> bool:
        return "without_allocation" in other.change

    def is_asked(other: Alternative) -> bool:
        """What happens where an allocation is not awarded, and why not to rent, or not to buy, is
        said in any case."""
        return bool({"without_allocation", "no_purchases", "no_rentals"} & other.change.keys())

    tried = trials.every(affordable, kinds, "alternatives")
    others = _other_gpus(trials, {machines[p.machine_id].gpu_id for p in plan.purchases})
    tried += trials.every(affordable, others, "other GPUs")
    found = [a for a in tried if a.plan is not None or is_hope(a)]
    failed = [a for a in tried if a.plan is None and not is_hope(a)]
    if len(found) >= ALTERNATIVES:
        failed = [a for a in failed if is_asked(a)]
    found += trials.every(dearer, failed, "dearer alternatives")
    found.sort(key=lambda a: (a.plan is None, a.over_budget, a.plan.judged_cents if a.plan else 0))
    unique: dict[Any, Alternative] = {}
    for each in found:
        key: tuple[Any, ...] = (each.label,)
        if each.plan is not None:
            rented = sorted(p.place for p in each.plan.placed if p.rented)
            key = each.plan.purchases, tuple(rented)
        unique.setdefault(key, each)
    ordered = sorted(unique.values(), key=lambda other: not is_asked(other))
    return ordered[: max(ALTERNATIVES, sum(map(is_asked, ordered)) + 2)]


def _why_not(trials: Trials) -> list[Alternative]:
    """Of a large grant what every funder asks: why not buy what it rents, why not rent. Where it
    buys as well, only the runs that it rents are looked at: the whole takes too long. The best that
    is found in the time there is, proven or not."""
    problem, plan = trials.problem, trials.plan
    market = {r.rental_id for r in problem.rentals if r.allocation is None}
    rented: dict[str, int] = {}
    for each in plan.placed:
        if each.machine_id in market:
            rented[each.experiment_id] = rented.get(each.experiment_id, 0) + 1
    label, change = NOTHING, dict[str, Any](no_purchases=True)
    if rented:
        label, change = "rent nothing", {"no_rentals": True}
        if plan.purchases:
            label = "buy for the runs that are rented"
            change |= {"only_runs": tuple(rented.items())}
    elif not (plan.purchases and market):
        return []
    alone = replace(trials, known=())
    return alone.every(
        lambda change: _alternative(alone, label, change, sure=False),
        [_freely(problem, change)],
        "why not",
    )


def _buys_nothing(rentals: Mapping[str, Rental], plan: Plan | None) -> str:
    """What a plan without purchases does instead; where there is none, that it was tried."""
    used = [rentals[name] for name in plan.rented] if plan is not None else []
    if plan is None and all(each.allocation is not None for each in rentals.values()):
        used = list(rentals.values())  # the grant rents nothing else
    elif plan is None or any(each.allocation is None for each in used):
        return f"{NOTHING}, rent instead"
    hours = dict.fromkeys(each.provider for each in used)
    return f"{NOTHING}, use {' and '.join(hours)} instead" if hours else NOTHING


def _other_gpus(trials: Trials, chosen: set[str]) -> list[tuple[str, Change]]:
    """The other GPUs that a machine could be bought with, the most promising ones.

    Which they are is said by the relaxation, in which parts of machines may be bought: no plan
    with that GPU costs less.
    """
    problem = trials.problem
    names = {m.gpu_id: m.gpu_name for m in undominated(problem) if m.gpu_id not in chosen}

    def bound(gpu_id: str) -> float | None:
        program = Program(vary(problem, {"require_gpu": gpu_id}))
        answer = program.solve(program.judged, trials.clock.left, whole=())
        return None if answer.x is None else answer.value

    bounds = zip(names, trials.each(bound, list(names), "bounds of other GPUs"), strict=True)
    ordered = sorted((dollars, gpu_id) for gpu_id, dollars in bounds if dollars is not None)
    return [(f"with {names[gpu_id]}", {"require_gpu": gpu_id}) for _, gpu_id in ordered[:MOST_GPUS]]


def _binds(trials: Trials) -> list[Finding]:
    """What makes the plan better where it is changed."""
    problem, plan = trials.problem, trials.plan
    found = _more_runs(trials) if problem.objective == "most-runs" else []
    longest = problem.rules.longest_run_days or 0
    one_total: Change = {"no_year_budget": True, "budget_cents": whole_budget_cents(problem)}
    table: list[tuple[str, Change]] = [
        (f"without the date of {e.name}", {"no_due": e.experiment_id})
        for e in problem.experiments
        if e.due_day not in problem.year_days
    ]
    table += [
        ("with every date 30 days later", {"later_days": 30}),
        ("with machines delivered at once", {"lead_days": 0}),
        ("with machines that train without a break", {"utilisation": 1}),
        (f"without the limit of {longest:f} days on a run", NO_LONGEST),
        ("with no days kept free before deadlines", {"slack": 0}),
        ("with as many machines as one likes", {"max_machines": None}),
        ("with money that may be spent in any year", one_total),
    ]
    changes = [each for each in table if vary(problem, each[1]) != problem]
    answers = trials.each(lambda each: trials.solve(each[1]), changes, "what binds")
    for (words, change), other in zip(changes, answers, strict=True):
        if other is None:
            continue
        less = plan.judged_cents - other.judged_cents
        if problem.objective == "most-runs" and other.value > plan.value:
            more = _solved(other.runs - plan.runs, "runs", change, "more-runs")
            found.append(Finding(words=(words, ": ", more, " more")))
        elif problem.objective == "soonest" and other.finish_day < plan.finish_day - 1:
            days = round(plan.finish_day - other.finish_day)
            sooner = _solved(days, "days", change, "sooner")
            found.append(Finding(words=(words, ": over ", sooner, " sooner")))
        elif problem.objective == "cheapest" and less > 0:
            by = "".join(f", {each}" for each in _judged_by(problem))
            saves = money(less, change, "saves")
            found.append(Finding(words=(words, ": ", saves, f" less{by}"), weight=-less))
    found.sort(key=lambda finding: finding.weight)
    return found


def _solved(value: int, unit: str, change: Change, reads: str) -> Solved:
    return Solved(value=value, unit=unit, change=change, reads=reads)


def _more_runs(trials: Trials) -> list[Finding]:
    """What one run more, and three, would cost beyond the budget."""
    problem, plan = trials.problem, trials.plan
    most = sum(e.runs * e.value for e in problem.experiments)
    if problem.budget_cents is None:
        return []
    changes: list[Change] = [
        {"objective": "most-runs", "min_runs": plan.value + more, **FREE}
        for more in (1, 3)
        if plan.value + more <= most
    ]
    costs = sorted({other.cost_cents for other in trials.every(trials.solve, changes, "more runs")})
    changes = [{**FREE, "budget_cents": cents} for cents in costs if cents > problem.budget_cents]
    found: list[Finding] = []
    # The least money for one run more may do several.
    for change, other in zip(changes, trials.each(trials.solve, changes, "more runs"), strict=True):
        if other is None:
            continue
        extra = money(change["budget_cents"] - problem.budget_cents, change, "over-budget")
        more = _solved(other.runs - plan.runs, "runs", change, "more-runs")
        words = ("the budget: ", extra, " more would add ", more)
        found.append(Finding(words=words, weight=-1e12 + other.runs))
    return found
