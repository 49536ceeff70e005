"""What to settle before money is asked for: prices, rents, times and rules, with commands."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from decimal import Decimal
from operator import itemgetter
from typing import TYPE_CHECKING

from advisor.answers.checklist import Doubt, quoted
from advisor.answers.measure_commands import measure_command
from advisor.answers.plan.plan_sentence import written_cost
from advisor.answers.price_facts import as_quoted
from advisor.answers.wording import PREDICTED_MARK, days_and_ends
from advisor.costs.rental import skypilot_names
from advisor.planning.currency import Currency
from advisor.planning.grant.candidates.sums import less_as_sum, quoted_whole
from advisor.planning.grant.cautions import NEEDS_QUOTE, NO_QUOTE, cautions, what_it_would_do
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.budget import limits_told
from advisor.planning.sensitivity.explain import NO_LONGEST, Alternative, worse_by
from advisor.planning.solver.money.cents import whole_budget_cents
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import BUY_IN, Machine, PlanningProblem, PriceLine, Rental
from advisor.planning.solver.rentals import cents_at_lowest, ruled_out_by_days
from advisor.ranking.times import is_uneven, uneven_words

if TYPE_CHECKING:
    from advisor.planning.planned import Planned
    from advisor.ranking.times import Model

FAR_BELOW = Decimal(2) / 3
"""Of the median rate: a provider that asks less may have none left."""
FRESH_DAYS = 92
"""A rate of rent older than three months is said to be."""
CLOUD = "cloud-credit"
"""The kind of hours that a cloud gives: not on a cluster."""


def time_doubt(loaded: Loaded, plan: Plan) -> Doubt | None:
    """The run time that most of the plan rests on, if it is an estimate; else None."""
    options = loaded.problem.options()
    models = {each.experiment_id: each.model for each in loaded.problem.experiments}
    days: dict[tuple[str, str], float] = {}
    for each in plan.placed:
        model = models[each.experiment_id]
        key = each.machine_id, model
        days[key] = days.get(key, 0.0) + options[each.machine_id].times[model].days
    if not days:
        return None
    (option_id, model), _ = max(days.items(), key=itemgetter(1))
    return doubt_of(loaded.snapshot.model(model.partition("@")[0]), options[option_id], model)


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
    command = measure_command(asked, option.gpu_id, option.gpu_count, 1)
    if asked.own_command or is_uneven(asked, option.gpu_count):
        return command  # it is kept first
    if option.allocation is not None and option.kind != CLOUD:
        return f"{command} --on slurm"
    if option.gpu_id in skypilot_names():
        return f"{command} --on sky --gpu {quoted(option.gpu_id)}"
    return (
        f"advisor predict --model {quoted(asked.recipe_id)} --gpu {quoted(option.gpu_id)} "
        f"--count {option.gpu_count} --details"
    )


def gpus_of(option: Machine | Rental) -> str:
    """``4 × A6000``; over two machines ``2 machines of 4 × A6000``."""
    if isinstance(option, Rental):
        return option.gpus
    several = "" if option.nodes == 1 else f"{option.nodes} machines of "
    return f"{several}{option.gpu_count // option.nodes} × {option.gpu_name}"


SHARES = "advisor plan --allocations condo"
"""Lists what is known of shares of condos."""


def plan_doubts(planned: Planned, command: str, *, quick: bool) -> list[Doubt]:
    """What to settle first; ``command`` is the one that was typed, with its file."""
    loaded, plan, found = planned.loaded, planned.plan, planned.explanation
    assert plan is not None and found is not None
    problem, money, details = loaded.problem, loaded.grant.currency, f"{command} --details"
    names = {each.machine_id for each in plan.purchases}
    bought = [each for each in problem.machines if each.machine_id in names and each.lines]
    doubts = []
    if bought:
        dearest = max(bought, key=lambda each: each.price)
        doubts.append(_price(loaded, dearest, [each.text(money.in_prose) for each in found.ask]))
    doubts += rent_doubts(problem, money, loaded.today, plan)
    doubts += filter(None, [time_doubt(loaded, plan)])
    # What does no run at all is no other way.
    ways = (each for each in found.alternatives if each.plan is not None and each.plan.runs)
    instead = next(ways, None)
    # Hours that may not be awarded, without which there is no plan, are the first thing to know.
    vital = [x for x in found.alternatives if "without_allocation" in x.change and x.plan is None]
    if vital:
        budget = whole_budget_cents(problem)
        of = "" if budget is None else f" for {written_cost(loaded, budget)}"
        words = f"{vital[0].label}: there is no plan{of}"
        doubts.append(Doubt("instead", words, details))
    elif instead is not None and instead.plan is not None:
        words = f"{instead.label}: {written_cost(loaded, instead.plan.cost_cents)}"
        if instead.plan.runs < plan.runs:
            words += f", {instead.plan.runs} of {plan.runs} runs"
        note = note_of(loaded, plan, instead)
        doubts.append(Doubt("instead", f"{words}, {note}" if note else words, details))
    better = (x for x in loaded.left_out if x.needs_quote and (x.saves or x.more_runs))
    if (asked := next(better, None)) is not None:
        words = f"with {asked.label} it would {what_it_would_do(loaded.grant, asked)}"
        doubts.append(
            Doubt("quote", f"{words}, at a price that needs a quote: ask for one", details)
        )
    longer = [each for each in found.binds if each.change == NO_LONGEST]
    slow = list(dict.fromkeys(each.gpus for each in ruled_out_by_days(problem)))
    limited = ""
    if problem.objective == "cheapest" and not plan.cost_cents:
        pass  # nothing is cheaper
    elif slow and (longer or not found.alternatives):
        more = f" and {len(slow) - 1} more" if len(slow) > 1 else ""
        limited = f"{slow[0]}{more} would be cheaper to rent, but a run there takes longer than "
        limited += f"{problem.rules.longest_run_days:g} days:"
    elif longer:
        limited = f"{longer[0].text(money.in_prose)};"
    if limited:
        limited += " longest_run_days under [running] is the limit, 90 unless the grant has another"
        doubts.append(Doubt("limit", limited, details if longer else ""))
    if quick:
        words = "not tried yet: which price, time or rule would change the decision"
        doubts.append(Doubt("change", words, command))
    elif found.thresholds:
        flips = [each.text(money.in_prose) for each in found.thresholds if len(each.words) > 1]
        flips.sort(key=lambda text: text.startswith("price of "))
        words = found.thresholds[0].text(money.in_prose)  # why there is none, where nothing flips
        words = f"the decision changes with {flips[0]}" if flips else words
        doubts.append(Doubt("change", words, details))
    # What is said above is not said again.
    said = (NEEDS_QUOTE, NO_QUOTE) if any(NO_QUOTE in x.words for x in doubts) else (NEEDS_QUOTE,)
    told = [*limits_told(loaded, plan), *cautions(loaded, plan)]
    told = [text for text in told if not any(words in text for words in said)]
    if told:
        more = f" ({len(told) - 1} more)" if len(told) > 1 else ""
        doubts.append(Doubt("office", f"{told[0]}{more}", details))
    return doubts


def _price(loaded: Loaded, machine: Machine, asks: Iterable[str]) -> Doubt:
    told = [each for each in machine.lines if each.quote_kind in ("secondary", "used")]
    line = max(told or machine.lines, key=lambda each: each.unit_price * each.quantity)
    quote, month = loaded.quotes.get(line.quote_id), f"{line.quoted_on:%B %Y}"
    own = "" if quote is None or as_quoted(quote) is None else f" ({as_quoted(quote)})"
    words = f"{machine.label} is priced by {line.vendor} of {month}{own}: ask again"
    if told and not machine.on_sale:
        words = f"only others tell of the price of {machine.label}, of {month}: ask for a quote"
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
        words += f"; {whole.label} is quoted whole for {written(whole.price)}: rankings by days "
        words += "put it before this sum"
    flip = next((text for text in asks if text.startswith(f"a quote for {machine.label}:")), "")
    flip = flip.partition("it costs nothing, and ")[2]
    return Doubt("price", f"{words}; {flip}" if flip else words, price_command(line))


def price_command(line: PriceLine) -> str:
    """Lists what is known of a price."""
    if line.quote_kind == BUY_IN:
        return SHARES
    return f"advisor prices list --item {quoted(line.item_id)}"


def rent_doubts(problem: PlanningProblem, money: Currency, today: date, plan: Plan) -> list[Doubt]:
    """Of what is rented most: how old its rate is, and what others ask for the same."""
    rentals = {r.rental_id: r for r in problem.rentals if r.allocation is None}
    models = {each.experiment_id: each.model for each in problem.experiments}
    days: dict[tuple[str, str], float] = {}
    for each in plan.placed:
        if each.machine_id in rentals:
            key = each.machine_id, models[each.experiment_id]
            days[key] = days.get(key, 0.0) + each.pieces[-1][1] - each.pieces[0][0]
    if not days:
        return []
    rental_id, model = max(days, key=days.__getitem__)
    rental = rentals[rental_id]
    low, number = rental.lowest, len(rental.offers)
    vat = problem.rules.vat
    before, taxed = (" before VAT", f" with {100 * float(vat):g} % VAT") if vat else ("", "")
    words = f"{rental.gpus} costs {money.exactly(rental.price_per_hour)} an hour{before} at "
    words += f"{rental.who} ({rental.priced_on:%B %Y})"
    if number > 1:
        least = money.written(Decimal(cents_at_lowest(problem, plan)) / 100)
        far = low.price_per_hour < rental.price_per_hour * FAR_BELOW
        words += (
            f", the median of {number} providers; all is {least}{taxed} at the cheapest, {low.who} "
        )
        words += f"at {money.exactly(low.price_per_hour)} ({low.priced_on:%B %Y})"
        words += ", far below the others: see that it has any" if far else ""
    else:
        words += ", and no other provider is known"
    old = (today - rental.priced_on).days > FRESH_DAYS
    which = "these rates are" if number > 1 else "this rate is"
    words += f"; {which} older than 3 months: ask again" if old else "; ask again"
    command = f"advisor prices rent --model {quoted(model)} --gpu {quoted(rental.gpu_id)}"
    command += f" --count {rental.gpu_count} --details"
    return [Doubt(about="rent", words=words, command=command)]


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
