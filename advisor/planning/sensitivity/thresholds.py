"""What would change the decision: prices, times and rules, and what is cheapest to ask for."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from advisor.costs.amount_words import day_words
from advisor.planning.sensitivity.change_point import Input, change_point
from advisor.planning.sensitivity.solved_amounts import Finding, Solved, Words
from advisor.planning.sensitivity.trials import Trials
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Machine, PlanningProblem, PriceLine, RunTime

FINE = Decimal("0.0001")
HALF = Decimal("0.5")
ASKED = 3
NOT_TRIED = "not tried in the time that is kept for it"


def inputs_of(problem: PlanningProblem, plan: Plan, others: Sequence[Plan]) -> list[Input]:
    """The numbers that may change the decision."""
    return [
        *_prices(problem, plan, others),
        *_rents(problem, plan, others),
        *_rules(problem),
        *_times(problem, plan, others),
    ]


def find_thresholds(trials: Trials, others: Sequence[Plan]) -> tuple[list[Finding], list[Finding]]:
    """Where the decision changes when one input does, nearest first; and what to ask for."""
    problem, plan = trials.problem, trials.plan
    inputs = inputs_of(problem, plan, others)
    answers = trials.each(
        lambda each: (change_point(trials, each),), inputs, "what would change it"
    )
    found: list[Finding] = []
    ask: list[tuple[float, Decimal, Finding]] = []
    for each, answer in zip(inputs, answers, strict=True):
        at = answer[0] if answer else None
        if at is None:
            continue
        number = Solved(value=at, unit=each.unit, change=each.change(at), reads="threshold")
        now = Solved(value=each.here, unit=each.unit, change={each.kind: each.row}, reads="direct")
        side = "more" if each.far > each.here else "less"
        words: Words = (f"{each.words}: at ", number, f" or {side} instead of ", now)
        words += (each.after,)
        inside = each.timed is not None and _is_known_to(each.timed[2], at)
        if inside:
            words += (", which lies within what is known of it",)
        distance = abs(float(at / each.here) - 1)
        found.append(Finding(words=words, weight=distance))
        asked = _ask(problem, each, (number, f" or {side} changes the decision"))
        if asked is not None:
            # What may well be so comes before what would surprise.
            ask.append((distance / 4 if inside else distance, *asked))
    found.sort(key=lambda finding: finding.weight)
    if missed := answers.count(None):
        rest = f"{missed} of {len(inputs)} prices, times and rules were {NOT_TRIED}"
        found.append(Finding(words=(rest,)))
    nearest = sorted(ask, key=lambda each: each[0])[:ASKED]
    return found, [finding for *_, finding in sorted(nearest, key=lambda each: (each[1], each[0]))]


def _fastest(time: RunTime) -> Decimal:
    days = Decimal(str(time.days))
    low = days if time.days_low is None else Decimal(str(time.days_low))
    return min(low, days * 3 / 4)


def _is_known_to(time: RunTime, days: Decimal) -> bool:
    """Whether a time is within its interval."""
    low, high = time.days_low, time.days_high
    return low is not None and high is not None and low <= float(days) <= high


def _machines_of(problem: PlanningProblem, plans: Sequence[Plan]) -> list[Machine]:
    wanted = {p.machine_id for plan in plans for p in plan.purchases}
    return [m for m in problem.machines if m.machine_id in wanted]


def _prices(problem: PlanningProblem, plan: Plan, others: Sequence[Plan]) -> list[Input]:
    """Quotes of what is bought, which may rise, and of what the runners-up buy, which may fall."""
    mine = {line.quote_id for m in _machines_of(problem, [plan]) for line in m.lines}
    lines: dict[str, PriceLine] = {}
    for machine in _machines_of(problem, [plan, *others]):
        for line in machine.lines:
            lines.setdefault(line.quote_id, line)
    return [
        Input(
            words=f"price of {line.label}",
            kind="quote",
            row=line.quote_id,
            here=line.unit_price,
            far=line.unit_price * (2 if line.quote_id in mine else HALF),
            unit="money",
            after=f" ({line.vendor}, {day_words(line.quoted_on)})",
            line=line,
        )
        for line in lines.values()
        if line.unit_price > 0
    ]


def _rents(problem: PlanningProblem, plan: Plan, others: Sequence[Plan]) -> list[Input]:
    mine = plan.rented
    wanted = {name for each in (plan, *others) for name in each.rented}
    return [
        Input(
            words=f"rent of {rental.label}",
            kind="rental",
            row=rental.rental_id,
            here=rental.price_per_hour,
            far=rental.price_per_hour * (2 if rental.rental_id in mine else HALF),
            unit="money-per-hour",
            quantum=FINE,
            after=f" ({day_words(rental.priced_on)})",
        )
        for rental in problem.rentals
        if rental.rental_id in wanted
    ]


def _rules(problem: PlanningProblem) -> list[Input]:
    rules = problem.rules
    tries = [("utilisation", "utilisation", rules.utilisation, rules.utilisation / 2, "share")]
    if rules.utilisation < 1:
        tries.append(("utilisation", "utilisation", rules.utilisation, Decimal(1), "share"))
    if rules.price_per_kwh is not None:
        price = rules.price_per_kwh
        tries.append(("price_per_kwh", "electricity", price, price * 3, "money-per-kwh"))
    if rules.lifetime_years is not None:
        years = rules.lifetime_years
        tries.append(("lifetime_years", "lifetime in years", years, years / 2, "years"))
        tries.append(("lifetime_years", "lifetime in years", years, years * 2, "years"))
    return [
        Input(words=words, kind="rule", row=name, here=here, far=far, unit=unit, quantum=FINE)
        for name, words, here, far, unit in tries
    ]


def _times(problem: PlanningProblem, plan: Plan, others: Sequence[Plan]) -> list[Input]:
    """Times of the runs in the plan, which may be longer, and in the runners-up, or shorter."""
    options = problem.options()
    models = {e.experiment_id: e.model for e in problem.experiments}
    names = {e.model: e.model_name or e.model for e in problem.experiments}
    found: dict[str, Input] = {}
    for each in (plan, *others):
        for placed in each.placed:
            option, model = options[placed.machine_id], models[placed.experiment_id]
            time = option.times[model]
            if time.whole is not None:
                continue  # its own days are those of another number of tokens
            days = Decimal(str(time.days))
            found.setdefault(
                time.measurement_id,
                Input(
                    words=f"time of {names[model]} on {option.label}",
                    kind="measurement",
                    row=time.measurement_id,
                    here=days,
                    # A runner-up may be as fast as is known of it, or by a quarter faster.
                    far=days * Decimal("1.5") if each is plan else _fastest(time),
                    unit="days",
                    timed=(names[model], option, time),
                ),
            )
    return list(found.values())


def _ask(problem: PlanningProblem, each: Input, changes: Words) -> tuple[Decimal, Finding] | None:
    """What asking costs, and how to say it; None where there is no one to ask."""
    if each.line is not None:
        words: Words = (f"a quote for {each.line.label}: it costs nothing, and ", *changes)
        return Decimal(0), Finding(words=words)
    if each.timed is None:
        return None
    model, option, time = each.timed
    # A measurement is not planned on hours that may not be awarded.
    hoped = {a.allocation_id for a in problem.allocations if a.odds < 1}
    same = [
        r
        for r in problem.rentals
        if (r.gpu_id, r.gpu_count) == (option.gpu_id, option.gpu_count)
        and r.allocation not in hoped
    ]
    rental = min(same, key=lambda r: (r.price_per_hour, r.rental_id), default=None)
    takes = "(advisor bench takes minutes)"
    where: Words
    if isinstance(option, Machine) and option.owned:
        price, where = Decimal(0), (f"{option.label}, minutes with advisor bench",)
    elif rental is None:
        # Whoever asks a favour pays nothing; it comes after what one can do alone.
        price, where = Decimal("0.01"), (f"{option.label}, by somebody who has one {takes}",)
    elif not rental.price_per_hour:
        price, where = Decimal(0), (f"{rental.label}, whose hours cost nothing {takes}",)
    else:
        price, change = rental.price_per_hour, {"rental": rental.rental_id}
        hour = Solved(value=price, unit="money-per-hour", change=change, reads="direct")
        where = (f"{rental.label}, rented at ", hour, f" {takes}")
    doubt = "a prediction" if time.basis == "predicted" else f"{time.timing} timing"
    words = (f"a measurement of {model} on ", *where, f": it rests on {doubt}, and ", *changes)
    return price, Finding(words=words)
