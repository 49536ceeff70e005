"""What to settle before money is asked for: prices, rents, times and rules, with commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from math import ceil
from typing import TYPE_CHECKING

from advisor.answers.checklist import Doubt, quoted
from advisor.answers.measure_commands import measure_command
from advisor.answers.plan.plan_sentence import written_cost
from advisor.answers.price_facts import as_quoted
from advisor.answers.wording import (
    PREDICTED_MARK,
    days_and_ends,
    list_words,
    middle_of,
    over_outlet,
)
from advisor.costs.rental import skypilot_names
from advisor.planning.currency import Currency
from advisor.planning.grant.candidates.prices_from_parts import less_as_sum, quoted_whole
from advisor.planning.grant.candidates.procurement import to_ask
from advisor.planning.grant.cautions import NEEDS_QUOTE, NO_QUOTE, cautions, what_it_would_do
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.planned_grant import bought_at_a_price
from advisor.planning.report.budget import eligibility, limits_told
from advisor.planning.sensitivity.explain import NO_LONGEST, Alternative, worse_by
from advisor.planning.sensitivity.solved_amounts import Finding, Money
from advisor.planning.solver.money.cents import whole_budget_cents
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import BUY_IN, Machine, PlanningProblem, PriceLine, Rental
from advisor.planning.solver.rentals import cents_at_lowest, rented_ways
from advisor.ranking.times import is_uneven, uneven_words
from bench_runner.typed_numbers import percent
from price_catalog.power import wall_w

if TYPE_CHECKING:
    from advisor.planning.planned_grant import Planned
    from advisor.ranking.times import Model

FAR_BELOW = Decimal(2) / 3
"""Of the median rate: a provider that asks less may have none left."""
WORTH_SAYING = 0.99
"""Of what the plan costs: what saves less is no line."""
FRESH_DAYS = 92
"""A rate of rent older than three months is said to be."""
CLOUD = "cloud-credit"
"""The kind of hours that a cloud gives: not on a cluster."""


def time_doubt(loaded: Loaded, plan: Plan) -> Doubt | None:
    """The run time that most of the plan rests on, if it is an estimate; else None."""
    options, most = loaded.problem.options(), _most_used(loaded.problem, plan)
    if most is None:
        return None
    option_id, model = most
    doubt = doubt_of(loaded.snapshot.model(model.partition("@")[0]), options[option_id], model)
    if doubt is None:
        return None
    if slow := loaded.problem.over_the_limit_days(options[option_id], model):
        limit = f"the limit of {loaded.problem.rules.longest_run_days:f} days"
        words = f"; a run may take {ceil(slow)} days of the calendar, over {limit}"
        doubt = doubt._replace(words=f"{doubt.words}{words}, and then the plan changes")
    if loaded.problem.objective == "soonest":
        return doubt
    return doubt._replace(words=doubt.words + _as_near(loaded.problem, options[option_id], model))


def _as_near(problem: PlanningProblem, option: Machine | Rental, model: str) -> str:
    """What would be rented if a run on ``option`` took as long as it may; nothing where that is
    dearer still, or nothing is rented."""
    if isinstance(option, Machine) or option.allocation is not None:
        return ""
    market = [each for each in problem.rentals if each.allocation is None]
    ours, near = (
        min(
            (each for each in ways if each.experiment.model == model),
            key=lambda each: each.cents,
            default=None,
        )
        for ways in (
            rented_ways(replace(problem, rentals=(option,))),
            rented_ways(
                replace(problem, rentals=tuple(x for x in market if x.gpu_id != option.gpu_id))
            ),
        )
    )
    if ours is None or near is None or not 0 < ours.cents < near.cents:
        return ""
    more, time = near.cents / ours.cents - 1, option.times[model]
    if 1 + more > (time.days_high or time.days) / time.days:
        return ""
    words = f"{near.rental.gpus} from {near.rental.who} costs {percent(more)} more a run"
    return f"; not certain to be the cheapest: {words}, within that interval"


def _most_used(
    problem: PlanningProblem, plan: Plan, rented: bool = False
) -> tuple[str, str] | None:
    """The machine or rental, and the model, that most days are trained; of what is ``rented`` from
    a provider alone. None where nothing is."""
    options, days = problem.options(), dict[tuple[str, str], float]()
    models = {each.experiment_id: each.model for each in problem.experiments}
    for each in plan.placed:
        option, model = options[each.machine_id], models[each.experiment_id]
        if not rented or (isinstance(option, Rental) and option.allocation is None):
            key = each.machine_id, model
            days[key] = days.get(key, 0.0) + option.times[model].days
    # What may take longer than a run may is doubted first.
    over = {x: not rented and problem.over_the_limit_days(options[x[0]], x[1]) for x in days}
    return max(days, key=lambda x: (over[x], days[x]), default=None)


def doubt_of(asked: Model, option: Machine | Rental, key: str | None = None) -> Doubt | None:
    """The same of one model there; ``key`` names its time where that is of other tokens."""
    time = option.times[key or asked.recipe_id]
    if time.basis != "predicted":
        return None
    low, high = time.days_low or time.days, time.days_high or time.days
    words = f"{PREDICTED_MARK}{days_and_ends(time.days, low, high)} a run, estimated: "
    words += f"{asked.name} was not measured on {gpus_of(option)}"
    if (uneven := uneven_words(asked, option.gpu_count)) is not None:
        words += f"; {uneven}"
    return Doubt(about="time", words=words, command=_measured_there(asked, option))


def _measured_there(asked: Model, option: Machine | Rental) -> str:
    """What measures it where it runs; where SkyPilot's name of a GPU is not known, what tells on
    what its time rests."""
    if isinstance(option, Machine):
        return measure_command(asked, option.gpu_id, option.gpu_count, option.nodes)
    command, gpu = measure_command(asked, option.gpu_id, option.gpu_count, 1), quoted(option.gpu_id)
    if asked.own_command or is_uneven(asked, option.gpu_count):
        return command  # it is kept first
    if option.allocation is not None and option.kind != CLOUD:
        return f"{command} --on slurm"
    if option.gpu_id in skypilot_names():
        return f"{command} --on sky --gpu {gpu}"
    there = f"--gpu {gpu} --count {option.gpu_count}"
    return f"advisor predict --model {quoted(asked.recipe_id)} {there} --details"


def gpus_of(option: Machine | Rental) -> str:
    """``4 × A6000``; over two machines ``2 machines of 4 × A6000``."""
    if isinstance(option, Rental):
        return option.gpus
    several = "" if option.nodes == 1 else f"{option.nodes} machines of "
    return f"{several}{option.gpu_count // option.nodes} × {option.gpu_name}"


def first_doubts(loaded: Loaded, plan: Plan) -> list[Doubt]:
    """Whether the funder pays, then prices and times: known before anything else is tried."""
    doubts, bought = list[Doubt](), bought_at_a_price(loaded.problem, plan)
    if says := eligibility(loaded, plan):
        doubts.append(Doubt("funder", says, ""))
    if bought:
        doubts.append(_price(loaded, max(bought, key=lambda each: each.price)))
    if ask := to_ask(loaded.grant.procurement, bought, loaded.quotes):
        doubts.append(Doubt("seller", " ".join(ask), ""))
    for machine in bought:
        build = loaded.builds.get(machine.machine_id)
        watts = None if build is None else wall_w(build)
        if power := over_outlet(watts or 0, loaded.grant.procurement.country):
            check = f"advisor prices builds --gpus {quoted(machine.gpu_id)}"
            doubts.append(Doubt("power", f"{machine.label}: {power}", check))
    doubts += rent_doubts(loaded.problem, loaded.grant.currency, loaded.today, plan)
    return [*doubts, *filter(None, [time_doubt(loaded, plan)])]


def told_besides(loaded: Loaded, plan: Plan, doubts: Sequence[Doubt]) -> list[str]:
    """What else to hear of limits and rules, less what the doubts say already."""
    said = " ".join(each.words for each in doubts)
    told = [*limits_told(loaded, plan), *cautions(loaded, plan)]
    return [x for x in told if x not in said and not (NO_QUOTE in x and NO_QUOTE in said)]


def plan_doubts(planned: Planned, command: str, *, quick: bool) -> list[Doubt]:
    """What to settle first; ``command`` is the one that was typed, with its file."""
    loaded, plan, found = planned.loaded, planned.plan, planned.explanation
    assert plan is not None and found is not None
    problem, money, details = loaded.problem, loaded.grant.currency, f"{command} --details"
    doubts = first_doubts(loaded, plan)

    def add(about: str, words: str, command: str = details) -> None:
        doubts.append(Doubt(about, words, command))

    if instead := _instead(loaded, plan, found.alternatives):
        add("instead", instead)
    little = Decimal(plan.cost_cents) / 100 * Decimal(1 - WORTH_SAYING)
    better = [
        each
        for each in loaded.left_out
        if each.needs_quote and (each.more_runs or (each.saves or 0) > little)
    ]
    if better:  # together they save it
        labels = list_words([each.label for each in better])
        would = f"it would {what_it_would_do(loaded.grant, better[0])}"
        add("quote", f"with {labels} {would}, but {better[0].reason}: ask for a quote")
    longer = next((each for each in found.binds if each.change == NO_LONGEST), None)
    if longer is not None and (plan.cost_cents or problem.objective != "cheapest"):
        limit = "longest_run_days under [running] is the limit, 90 unless the grant has another"
        add("limit", f"{longer.text(money.in_prose)}; {limit}")
    if quick:
        add("change", "not tried yet: which price, time or rule would change the decision", command)
    elif found.thresholds:
        bought = bought_at_a_price(problem, plan)
        add("change", _change(found.thresholds, bought, problem.objective, money.in_prose))
    if told := [x for x in told_besides(loaded, plan, doubts) if NEEDS_QUOTE not in x]:
        add("office", told[0] + (f" ({len(told) - 1} more)" if len(told) > 1 else ""))
    return doubts


def _change(
    found: Sequence[Finding], bought: Sequence[Machine], objective: str, written: Money
) -> str:
    """What flips the plan: the price of what it buys, which may rise before it is ordered; else
    what is nearest."""
    mine = {line.quote_id for each in bought for line in each.lines}
    for each in found:
        if each.change is not None and each.change.get("price", ("",))[0] in mine:
            dearer = percent(each.weight, 0 if each.weight >= 0.01 else 1)
            best = "cheapest" if objective == "cheapest" else "best"
            words = each.text(written).replace(": at ", " at ", 1)
            return f"{dearer} dearer, and another plan is {best}: {words}"
    words = found[0].text(written)  # why there is none, where nothing flips
    return words if found[0].change is None else f"the decision changes with {words}"


def _instead(loaded: Loaded, plan: Plan, others: Sequence[Alternative]) -> str | None:
    """The next best way; first, that there is no plan where hours are not awarded."""
    for each in others:
        if "without_allocation" in each.change and each.plan is None:
            budget = whole_budget_cents(loaded.problem)
            of = "" if budget is None else f" for {written_cost(loaded.grant, budget)}"
            return f"{each.label}: there is no plan{of}"
    for each in others:
        if each.plan is not None and each.plan.runs:
            words = f"{each.label}: {written_cost(loaded.grant, each.plan.cost_cents)}"
            if each.plan.runs < plan.runs:
                words += f", {each.plan.runs} of {plan.runs} runs"
            note = note_of(loaded, plan, each)
            return f"{words}, {note}" if note else words
    return None


def _price(loaded: Loaded, machine: Machine) -> Doubt:
    told = [each for each in machine.lines if each.quote_kind in ("secondary", "used")]
    line = max(told or machine.lines, key=lambda each: each.unit_price * each.quantity)
    quote, month = loaded.quotes.get(line.quote_id), f"{line.quoted_on:%B %Y}"
    own = "" if quote is None or as_quoted(quote) is None else f" ({as_quoted(quote)})"
    words = f"{machine.label} is priced by {line.vendor} of {month}{own}: ask again"
    if told and not machine.on_sale:
        words = f"only others tell of the price of {machine.label}, of {month}: ask for a quote"
        if quote is not None and quote.note:
            words += f" (its source: {quote.note.partition('. ')[0]})"
    elif line.quote_kind == "parts-list" and len(machine.lines) == 1:
        words = f"{NO_QUOTE} {machine.label}: a sum of {line.vendor}'s options of {month}; "
        words += "ask for a quote"
    elif line.quote_kind == BUY_IN:
        words = f"{line.vendor} named the price of a share in {month}: ask again"
    written = loaded.grant.currency.written
    if (today := loaded.ordered_today(machine)) is not None:
        low, high = (written(Decimal(f"{end:.3g}")) for end in today)
        before = " before VAT" if loaded.problem.rules.vat else ""
        words += f"; {low} to {high}{before} if ordered today, in 9 of 10 cases"
    # The same cards as a sum, where a quote of hardly more is bought; or quoted whole, where the
    # sum is bought, which rankings by days put behind that.
    if (less := less_as_sum(machine, loaded.sums)) is not None:
        words += f"; {less.label} is {written(less.price)}, a sum without a quote"
    elif (whole := quoted_whole(loaded.problem.machines, machine)) is not None:
        words += f"; {whole.label} is quoted whole for {written(whole.price)}"
    return Doubt("price", words, price_command(line))


def price_command(line: PriceLine) -> str:
    """Lists what is known of a price, or of shares of condos."""
    if line.quote_kind == BUY_IN:
        return "advisor plan --allocations condo"
    return f"advisor prices list --item {quoted(line.item_id)}"


def rent_doubts(problem: PlanningProblem, money: Currency, today: date, plan: Plan) -> list[Doubt]:
    """Of what is rented most: how old its rate is, and what others ask for the same."""
    if (most := _most_used(problem, plan, rented=True)) is None:
        return []
    rental, model = problem.options()[most[0]], most[1]
    assert isinstance(rental, Rental)
    low, number, vat = rental.lowest, len(rental.offers), problem.rules.vat
    before, taxed = (" before VAT", f" with {100 * float(vat):g} % VAT") if vat else ("", "")
    words = f"{rental.gpus} costs {money.exactly(rental.price_per_hour)} an hour{before} at "
    words += f"{rental.who} ({rental.priced_on:%B %Y}), "
    if number == 1:
        words += "and no other provider is known"
    else:
        words += middle_of(number)
        if (least := cents_at_lowest(problem, plan)) < plan.cost_cents * WORTH_SAYING:
            words += f"; the whole plan is {money.written(Decimal(least) / 100)}{taxed} at the "
            words += f"cheapest rates, here {money.exactly(low.price_per_hour)} of {low.who} "
            words += f"({low.priced_on:%B %Y})"
        if low.price_per_hour < rental.price_per_hour * FAR_BELOW:
            words += ", far below the others: see that it has any"
    if rental.row_of_one:
        words += f"; {rental.who} names no price of {rental.gpu_count} in one machine, so that it "
        words += f"is {rental.gpu_count} times the price of one"
    old = (today - rental.priced_on).days > FRESH_DAYS
    words += "; older than 3 months: ask again" if old else "; ask again"
    command = f"advisor prices rent --model {quoted(model)} --gpu {quoted(rental.gpu_id)}"
    return [Doubt("rent", words, f"{command} --count {rental.gpu_count} --details")]


def note_of(loaded: Loaded, plan: Plan, other: Alternative) -> str:
    """What speaks against another way, where its cost alone does not."""
    notes = ["over the budget"] if other.over_budget else []
    if not other.over_budget and other.plan is not None:
        by = worse_by(loaded.problem, plan, other.plan)
        if by and other.plan.cost_cents < plan.cost_cents:
            notes.append(f"dearer {' and '.join(by)}")
    if other.plan is not None and not other.proven:
        notes.append("the best found, not proven")
    return ", ".join(notes)
