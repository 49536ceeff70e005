"""What else there is, what binds, and what would change the decision (by solving again)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from advisor.plan.findings import Finding, Solved
from advisor.plan.model import Program, undominated
from advisor.plan.problem import Machine, Plan, Problem, RunTime
from advisor.plan.solve import NoPlan, OutOfTime, solve
from advisor.plan.vary import Change, vary

MOST_COLUMNS = 2500
"""Larger programs are explained without thresholds, which take a hundred solves."""
ALTERNATIVES = 4
STEPS = 5
"""Halvings of a threshold's interval. What is reported lies on the far side of the threshold, at
most a thirty-second of the interval beyond it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alternative:
    """Another way to do it, and what speaks against it."""

    label: str
    change: Change
    plan: Plan | None
    """None where there is no plan of this kind."""
    over_budget: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Everything beside the plan itself."""

    alternatives: tuple[Alternative, ...]
    binds: tuple[Finding, ...]
    flips: tuple[Finding, ...]
    ask: tuple[Finding, ...]
    """The cheapest measurements and quotes that could change the decision."""


def decision(plan: Plan) -> tuple[Any, ...]:
    """What a plan decides: what is bought and, where nothing is, what is rented."""
    bought = tuple(sorted((p.machine_id, p.count) for p in plan.purchases))
    rented = tuple(sorted({r.rental_id for r in plan.rented}))
    return bought or rented


def explain(
    problem: Problem, plan: Plan, seconds: float = 30.0, *, thresholds: bool = True
) -> Explanation:
    """Alternatives, binding constraints and, unless left out, thresholds and what to ask for."""
    small = len(Program(problem).cost) <= MOST_COLUMNS
    others = _alternatives(problem, plan, seconds)
    flips, ask = _flips(problem, plan, others, seconds) if small and thresholds else ([], [])
    if not small and thresholds:
        words = ("the plan is too large to try what would change the decision",)
        flips = [Finding(topic="flips", words=words)]
    return Explanation(
        alternatives=tuple(others),
        binds=tuple(_binds(problem, plan, seconds)),
        flips=tuple(flips),
        ask=tuple(ask),
    )


def _try(problem: Problem, change: Change, seconds: float) -> Plan | None:
    try:
        return solve(vary(problem, change), seconds)
    except (NoPlan, OutOfTime):
        return None


def _alternatives(problem: Problem, plan: Plan, seconds: float) -> list[Alternative]:
    chosen = {
        m.gpu_id
        for m in problem.machines
        if any(p.machine_id == m.machine_id for p in plan.purchases)
    }
    kinds: list[tuple[str, Change]] = []
    if plan.purchases and problem.rentals:
        kinds.append(("buy nothing, rent instead", {"no_purchases": True}))
    if plan.rented:
        kinds.append(("rent nothing", {"no_rentals": True}))
    machines = {m.machine_id: m for m in problem.machines}
    for purchase in plan.purchases:
        label = machines[purchase.machine_id].label
        kinds.append((f"without {label}", {"without": purchase.machine_id}))
    seen = set(chosen)
    for machine in undominated(problem):
        if machine.gpu_id not in seen:
            seen.add(machine.gpu_id)
            kinds.append((f"with {machine.gpu_name}", {"require_gpu": machine.gpu_id}))
    found: list[Alternative] = []
    for label, change in kinds:
        other = _try(problem, change, seconds)
        over = False
        if other is None:
            free: dict[str, Any] = {"budget_cents": None, "no_year_budget": True}
            if problem.objective != "cheapest":
                free["objective"] = "cheapest"
            other = _try(problem, {**change, **free}, seconds)
            over = other is not None
            change = {**change, **free} if over else change
        found.append(Alternative(label=label, change=change, plan=other, over_budget=over))
    found.sort(key=lambda a: (a.plan is None, a.over_budget, a.plan.judged_cents if a.plan else 0))
    unique: dict[Any, Alternative] = {}
    for each in found:
        key = (each.label,) if each.plan is None else (each.plan.purchases, each.plan.rented)
        unique.setdefault(key, each)
    return list(unique.values())[:ALTERNATIVES]


def _usd(cents: int) -> Decimal:
    return Decimal(cents) / 100


def _binds(problem: Problem, plan: Plan, seconds: float) -> list[Finding]:
    found: list[Finding] = []
    if problem.objective == "most-runs":
        found += _more_runs(problem, plan, seconds)
    changes: list[tuple[tuple[str, ...], Change]] = []
    for e in problem.experiments:
        if e.due_day < problem.year_days[-1] and e.due_day not in problem.year_days:
            changes.append(((f"without the date of {e.name}",), {"no_due": e.experiment_id}))
    changes.append((("with every date 30 days later",), {"later_days": 30}))
    if problem.rules.lead_days and plan.purchases:
        changes.append((("with machines delivered at once",), {"lead_days": 0}))
    if problem.rules.utilisation < 1:
        changes.append((("with machines that train without a break",), {"utilisation": 1}))
    if problem.max_machines is not None:
        changes.append((("with as many machines as one likes",), {"max_machines": None}))
    if problem.year_budget_cents is not None:
        changes.append((("with money that may be spent in any year",), {"no_year_budget": True}))
    for words, change in changes:
        other = _try(problem, change, seconds)
        if other is None:
            continue
        if problem.objective == "most-runs" and other.value > plan.value:
            more = Solved(
                value=other.runs - plan.runs, unit="runs", change=change, reads="more-runs"
            )
            found.append(Finding(topic="binds", words=(*words, ": ", more, " more")))
        elif problem.objective == "soonest" and other.finish_day < plan.finish_day - 1:
            sooner = Solved(
                value=round(plan.finish_day - other.finish_day),
                unit="days",
                change=change,
                reads="sooner",
            )
            found.append(Finding(topic="binds", words=(*words, ": over ", sooner, " sooner")))
        elif problem.objective == "cheapest" and other.judged_cents < plan.judged_cents:
            less = plan.judged_cents - other.judged_cents
            saves = Solved(value=_usd(less), unit="usd", change=change, reads="saves")
            found.append(Finding(topic="binds", words=(*words, ": ", saves, " less"), weight=-less))
    found.sort(key=lambda finding: finding.weight)
    return found


def _more_runs(problem: Problem, plan: Plan, seconds: float) -> list[Finding]:
    found: list[Finding] = []
    most = sum(e.runs * e.value for e in problem.experiments)
    for more in (1, 3):
        if plan.value + more > most:
            break
        change: Change = {
            "objective": "most-runs",
            "min_runs": plan.value + more,
            "budget_cents": None,
            "no_year_budget": True,
        }
        # The cheapest way to so many runs: value is fixed, so what is left is the money.
        other = _cheapest_for(problem, change, seconds)
        if other is None or problem.budget_cents is None:
            continue
        extra = other.cost_cents - problem.budget_cents
        if extra <= 0:
            continue
        found.append(
            Finding(
                topic="binds",
                words=(
                    "the budget: ",
                    Solved(value=_usd(extra), unit="usd", change=change, reads="over-budget"),
                    " more would add ",
                    Solved(
                        value=other.runs - plan.runs,
                        unit="runs",
                        change=change,
                        reads="more-runs",
                    ),
                ),
                weight=-1e12 + more,
            )
        )
    return found


def _cheapest_for(problem: Problem, change: Change, seconds: float) -> Plan | None:
    from advisor.plan.solve import cheapest_with_runs

    try:
        return cheapest_with_runs(vary(problem, change), seconds)
    except (NoPlan, OutOfTime):
        return None


def _flips(
    problem: Problem, plan: Plan, others: Sequence[Alternative], seconds: float
) -> tuple[list[Finding], list[Finding]]:
    """Where the decision changes when one input does, nearest first; and what to ask for."""
    here = decision(plan)
    found: list[Finding] = []
    ask: list[Finding] = []
    machines = {m.machine_id: m for m in problem.machines}
    bought = {p.machine_id for p in plan.purchases}

    def other(change: Change) -> bool:
        changed = _try(problem, change, seconds)
        return changed is None or decision(changed) != here

    seen: set[str] = set()
    rivals = {p.machine_id for each in others if each.plan for p in each.plan.purchases}
    for machine in problem.machines:
        if machine.machine_id not in bought | rivals:
            continue
        for line in machine.lines:
            if line.quote_id in seen:
                continue
            seen.add(line.quote_id)
            mine = any(line.quote_id == own.quote_id for m in bought for own in machines[m].lines)
            price = line.unit_usd
            low, high = (price, price * 2) if mine else (price, price / 2)
            at = _threshold(other, _priced(line.quote_id), low, high)
            if at is None:
                continue
            usd = at.quantize(Decimal("0.01"))
            share = abs(float(usd / price) - 1)
            change: Change = {"price": (line.quote_id, str(usd))}
            number = Solved(value=usd, unit="usd", change=change, reads="threshold")
            now = Solved(value=price, unit="usd", change={"quote": line.quote_id}, reads="direct")
            side = "more" if mine else "less"
            words = (
                f"price of {line.label}: at ",
                number,
                f" or {side} instead of ",
                now,
                f" ({line.vendor}, {line.quoted_on})",
            )
            found.append(Finding(topic="flips", words=words, weight=share))
            ask.append(
                Finding(
                    topic="ask",
                    words=(
                        f"a quote for {line.label}: it costs nothing, and ",
                        number,
                        f" or {side} changes the decision",
                    ),
                    weight=share,
                )
            )
    found += _rule_flips(problem, other)
    _time_flips(problem, plan, machines, other, found, ask)
    found.sort(key=lambda finding: finding.weight)
    ask.sort(key=lambda finding: finding.weight)
    return found, ask[:3]


def _priced(quote_id: str) -> Callable[[Decimal], Change]:
    return lambda value: {"price": (quote_id, str(value.quantize(Decimal("0.01"))))}


def _threshold(
    other: Callable[[Change], bool],
    change: Callable[[Decimal], Change],
    here: Decimal,
    far: Decimal,
) -> Decimal | None:
    """The value nearest to ``here`` with another decision, or None before ``far``."""
    if not other(change(far)):
        return None
    same, different = here, far
    for _ in range(STEPS):
        middle = (same + different) / 2
        if other(change(middle)):
            different = middle
        else:
            same = middle
    return different


def _rule_flips(problem: Problem, other: Callable[[Change], bool]) -> list[Finding]:
    found: list[Finding] = []
    rules = problem.rules
    tries: list[tuple[str, str, Decimal, Decimal, str]] = [
        ("utilisation", "utilisation", rules.utilisation, rules.utilisation / 2, "share"),
    ]
    if rules.utilisation < 1:
        tries.append(("utilisation", "utilisation", rules.utilisation, Decimal(1), "share"))
    if rules.usd_per_kwh is not None:
        tries.append(
            ("usd_per_kwh", "electricity per kWh", rules.usd_per_kwh, rules.usd_per_kwh * 3, "usd")
        )
    if rules.lifetime_years is not None:
        tries.append(
            ("lifetime_years", "lifetime in years", rules.lifetime_years, Decimal(1), "years")
        )
    for name, label, here, far, unit in tries:
        at = _threshold(
            other,
            lambda value, name=name: {name: str(value.quantize(Decimal("0.0001")))},  # type: ignore[misc]
            here,
            far,
        )
        if at is None:
            continue
        value = at.quantize(Decimal("0.0001"))
        number = Solved(value=value, unit=unit, change={name: str(value)}, reads="threshold")
        now = Solved(value=here, unit=unit, change={"rule": name}, reads="direct")
        side = "less" if far < here else "more"
        found.append(
            Finding(
                topic="flips",
                words=(f"{label}: at ", number, f" or {side} instead of ", now),
                weight=abs(float(at / here) - 1),
            )
        )
    return found


def _time_flips(
    problem: Problem,
    plan: Plan,
    machines: dict[str, Machine],
    other: Callable[[Change], bool],
    found: list[Finding],
    ask: list[Finding],
) -> None:
    used: dict[str, tuple[str, RunTime]] = {}
    models = {e.experiment_id: e.model for e in problem.experiments}
    for work in plan.work:
        machine = machines[work.machine_id]
        time = machine.times[models[work.experiment_id]]
        used.setdefault(
            time.measurement_id, (f"{models[work.experiment_id]} on {machine.label}", time)
        )
    for measurement_id, (label, time) in used.items():
        days = Decimal(str(time.days))

        def change(value: Decimal, which: str = measurement_id) -> Change:
            return {"days": (which, str(value.quantize(Decimal("0.01"))))}

        at = _threshold(other, change, days, days * 2)
        if at is None:
            continue
        value = at.quantize(Decimal("0.01"))
        number = Solved(value=value, unit="days", change=change(at), reads="threshold")
        now = Solved(
            value=days, unit="days", change={"measurement": measurement_id}, reads="direct"
        )
        weight = float(at / days) - 1
        high = time.days_high
        inside = high is not None and other(change(Decimal(str(high))))
        found.append(
            Finding(
                topic="flips",
                words=(
                    f"time of {label}: at ",
                    number,
                    " or more instead of ",
                    now,
                    ", which lies within what is known of it" if inside else "",
                ),
                weight=weight,
            )
        )
        doubt = "a prediction" if time.basis == "predicted" else f"{time.timing} timing"
        ask.append(
            Finding(
                topic="ask",
                words=(
                    f"a measurement of {label} (advisor bench takes minutes): it rests on {doubt}, "
                    "and ",
                    number,
                    " or more changes the decision",
                ),
                # A measurement takes a machine; a quote at the same distance is asked for first.
                weight=weight + 0.01,
            )
        )
