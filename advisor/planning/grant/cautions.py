"""What a PI and a grants office should hear about a grant and its plan, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from decimal import Decimal
from itertools import combinations
from pathlib import Path

from advisor.costs.amount_words import day_words
from advisor.planning.grant.allocation_programmes import ASSUMED, OWN_WORD
from advisor.planning.grant.candidates.cost_lines import not_asked_for
from advisor.planning.grant.candidates.grant_machines import LeftOut, unquoted
from advisor.planning.grant.candidates.prices_from_parts import is_summed
from advisor.planning.grant.candidates.procurement import seller_of, to_ask
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.institution import NO_RULES, find_institution, rules_in, shipped
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.solver.money.cents import paid_and_charged
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Machine, PlanningProblem, Rules
from price_catalog.gpu_names import instruction_set

NEEDS_QUOTE = "A price that needs a quote"
NO_QUOTE = "there is no quote for"
"""In every sentence about a sum of options, so that an answer says it once."""


Cautions = Iterator[tuple[str, str]]
"""A sentence or two for anybody, and what the grant's writer may change in its file, or nothing."""


def _past(loaded: Loaded) -> Cautions:
    start, today = loaded.grant.start, day_words(loaded.today)
    if start < loaded.today:
        says = f"The grant began on {day_words(start)}: nothing is ordered or run before today"
        yield f"{says}, {today}.", ""


def _hours(grant: Grant, problem: PlanningProblem, plan: Plan) -> Cautions:
    for allocation in problem.allocations:
        own = [r for r in problem.rentals if r.allocation == allocation.allocation_id]
        runs = sum(p.machine_id in {r.rental_id for r in own} for p in plan.placed)
        if not runs:
            continue
        name = allocation.name
        if allocation.odds < 1:
            rest, odds = "run rests" if runs == 1 else "runs rest", f"{allocation.odds * 100:.0f} %"
            yield f"{runs} {rest} on {name}, which is awarded with odds of {odds}.", ""
        yield from _programme(grant, name)
        free = not any(rental.price_per_hour for rental in own)
        if free and allocation.gpu_hours_a_year is None and allocation.gpu_hours is None:
            says = f"No source states how many free hours {name} has: no limit is counted."
            yield says, "Write gpu_hours_a_year in its [[allocations]]."


def _programme(grant: Grant, name: str) -> Cautions:
    """Where its hours are from, and that the odds of award or the wait are not known."""
    signs = {"usd_per_gpu_hour": "$", "price_per_gpu_hour": grant.currency.sign}
    mine = [each for each in grant.allocation_values if each.allocation == name]
    for each in mine:
        if each.source in (OWN_WORD, ASSUMED):
            continue
        if each.key in ("gpu_hours_a_year", "gpu_hours"):
            when = "in all" if each.key == "gpu_hours" else "a year"
            yield f"{name}: {each.value} GPU-hours {when}, from {each.source}.", ""
        elif each.key in signs and each.value != "0":
            yield f"{name}: {signs[each.key]}{each.value} a GPU-hour, from {each.source}.", ""
    if price_not_said(grant, name):
        yield (
            f"The grant does not say what an hour of {name} costs: it counts as free. Ask the "
            "campus for its rate before you submit.",
            "Write usd_per_gpu_hour in its [[allocations]], 0 where it is free.",
        )
    unknown = [each.key for each in mine if each.source == ASSUMED]
    gaps = [
        (key, known, counted)
        for key, known, counted in (
            ("odds", "the odds of award", "it counts as awarded"),
            ("queue_days", "how long jobs wait", "no day of waiting is counted"),
        )
        if key in unknown and (key != "odds" or competed_for(grant, name))
    ]
    if gaps:
        keys, known, counted = zip(*gaps, strict=True)
        says = f"No source states {' or '.join(known)} for {name}: {' and '.join(counted)}."
        yield says, f"Write {' and '.join(keys)} in its [[allocations]]."


def price_not_said(grant: Grant, name: str) -> bool:
    """Whether hours that often have a rate count as free only because no rate is known."""
    often = any(a.name == name and a.kind in ("campus", "condo") for a in grant.allocations)
    return often and any(
        (each.allocation, each.key, each.source) == (name, "usd_per_gpu_hour", ASSUMED)
        for each in grant.allocation_values
    )


def competed_for(grant: Grant, name: str) -> bool:
    """Whether others apply for the same hours."""
    return any(a.name == name and a.kind == "national" for a in grant.allocations)


USUAL_PUE = 1.54
"""Power with cooling over power without: the mean of the Uptime Institute's survey of 2025."""
HARDWARE = ("storage", "network", "racks")
"""Kinds of costs that may be things, which a threshold is held against."""
MANY, MANY_GPUS = 8, 16
"""Rented machines at once, or GPUs in several of them, that not every provider has free."""


def cautions(loaded: Loaded, plan: Plan) -> list[str]:
    """For who writes the grant's file: what to hear, and which of its keys changes it."""
    return [f"{says} {mend}".rstrip() for says, mend in ordered_cautions(loaded, plan)]


def ordered_cautions(loaded: Loaded, plan: Plan) -> Cautions:
    """The weightiest first."""
    grant, problem = loaded.grant, loaded.problem
    names = {p.machine_id for p in plan.purchases}
    bought = [m for m in problem.machines if m.machine_id in names]
    yield from _past(loaded)
    yield from _idle(grant, problem, plan)
    yield from _not_asked(grant, problem, plan)
    yield from _bought(grant, bought)
    yield from _ended(loaded, plan)
    yield from _left_out(grant, loaded.left_out)
    yield from _hours(grant, problem, plan)
    yield from _rented_at_once(problem, plan)
    yield from _hosts_counted_twice(problem, plan)
    yield from _limited_rent(grant, problem, plan)
    if grant.shared_by is not None:
        by = f"{grant.shared_by[:1].upper()}{grant.shared_by[1:]}"
        money = grant.currency.in_prose(grant.shared)
        yield f"{by} pays up to {money} of all costs: have it in writing before you submit.", ""
    yield from _rules(grant)
    yield from _overhead_lines(grant, problem, plan)
    yield from _items(grant, problem.rules)
    for says in to_ask(grant.procurement, bought, loaded.quotes):
        yield says, ""
    yield from _settings(grant, plan)


def _ended(loaded: Loaded, plan: Plan) -> Cautions:
    """Quotes that end before their order."""
    machines = {m.machine_id: m for m in loaded.problem.machines}
    for p in plan.purchases:
        day = loaded.grant.start + timedelta(days=loaded.problem.orders[p.order])
        for line in machines[p.machine_id].lines:
            quote = loaded.quotes.get(line.quote_id)
            if quote is not None and quote.valid_until and quote.valid_until < day:
                says = f"The quote of {seller_of(line.vendor)} for {machines[p.machine_id].label}"
                says += f" ends on {day_words(quote.valid_until)}, before the order of"
                yield f"{says} {day_words(day)}: ask for one that holds until then.", ""


def _left_out(grant: Grant, left_out: Sequence[LeftOut]) -> Cautions:
    """What procurement's rules cost, and what a quote would save."""
    better = [each for each in left_out if each.saves or each.more_runs]
    for by_procurement, says, mend in (
        (True, "Your procurement rules leave out what", "[procurement] has the rules."),
        (False, NEEDS_QUOTE, "Ask for that quote first."),
    ):
        mine = [each for each in better if each.by_procurement is by_procurement]
        if mine:
            names = "; ".join(f"{each.label}: {each.reason}" for each in mine)
            yield f"{says} would {what_it_would_do(grant, mine[0])} ({names}).", mend


def what_it_would_do(grant: Grant, each: LeftOut) -> str:
    """``cost $3,870 less`` or ``do 3 runs more``."""
    if each.more_runs is not None:
        return f"do {each.more_runs} {'run' if each.more_runs == 1 else 'runs'} more"
    assert each.saves is not None
    return f"cost {grant.currency.written(each.saves)} less"


def _idle(grant: Grant, problem: PlanningProblem, plan: Plan) -> Cautions:
    """What is bought without a run."""
    used = {(problem.whole(p.machine_id), p.order) for p in plan.placed}
    idle = {p.machine_id for p in plan.purchases if (p.machine_id, p.order) not in used}
    if idle:
        labels = "; ".join(m.label for m in problem.machines if m.machine_id in idle)
        mend = "More --seconds may find a plan without it."
        if grant.purchases.lifetime_years is not None:
            mend = "Leave lifetime_years out under [purchases] and plan again."
        yield f"No run is done on some of what this plan buys: {labels}. Do not ask for it.", mend


def _bought(grant: Grant, machines: Sequence[Machine]) -> Cautions:
    """What is bought without a seller or a quote, and what is unusual of it."""
    for label in dict.fromkeys(m.label for m in machines if not m.on_sale):
        says = f"No seller is known that sells this new at its price: {label}. "
        yield f"{says}Ask for a quote before you submit.", ""
    for line in dict.fromkeys(filter(None, map(unquoted, machines))):
        yield (
            f"The price of the {line.label} is added up from {line.vendor}'s options: {NO_QUOTE} "
            "it. Ask for a quote before you submit.",
            "",
        )
    for machine in machines:
        if len(machine.lines) > 1 and is_summed(machine):
            yield (
                f"The {machine.label} is put together from parts: {NO_QUOTE} it as a whole. Ask a "
                "builder of such machines for one before you submit.",
                "whole_machines = true under [procurement] plans without such machines.",
            )
    for gpu_id, name in {m.gpu_id: m.gpu_name for m in machines}.items():
        if (processor := instruction_set(gpu_id)) is not None:
            yield (
                f"The {name} comes with an {processor} processor: programs and containers for "
                "x86-64 do not run on it. See that yours are built for it before you order.",
                "",
            )
    for machine in (m for m in machines if m.share_of is not None):
        day = day_words(machine.lines[0].quoted_on)
        yield (
            f"The {machine.label} is planned at the price of {day}. "
            "Ask the campus for a written quote, when the next shares are sold, and whether your "
            "office charges them as equipment or as a service.",
            "",
        )


def _limited_rent(grant: Grant, problem: PlanningProblem, plan: Plan) -> Cautions:
    """Up to what is paid for rent, where that is limited."""
    rented = plan.rented
    market = [r for r in problem.rentals if r.rental_id in rented and r.allocation is None]
    if not grant.institution.rent_up_to_depreciation:
        return
    limits = {limit.gpu_id: limit for limit in problem.rent_limits}
    for gpu_id, name in {r.gpu_id: r.gpus.partition("× ")[2] for r in market}.items():
        if (limit := limits.get(gpu_id)) is None:
            yield (
                "Rent is paid up to the depreciation of similar equipment, and no price of a "
                f"machine with {name} is known: show your office what one would lose in value.",
                "",
            )
            continue
        most = grant.currency.written(Decimal(limit.cents) / 100)
        yield (
            f"Rent of {name} is held to {most}, what the {limit.machine} would lose in value "
            "within the grant.",
            "Where your office counts rented computers as a service: rent_up_to_depreciation = "
            "false under [institution].",
        )


def _rented_at_once(problem: PlanningProblem, plan: Plan) -> Cautions:
    """Machines that a provider may not have in that number, or with that number of GPUs."""
    rentals = {r.rental_id: r for r in problem.rentals}
    for name in dict.fromkeys(p.machine_id for p in plan.placed if p.machine_id in rentals):
        at_once = plan.at_once(name)
        gpus = at_once * rentals[name].gpu_count
        if at_once >= MANY or (at_once > 1 and gpus >= MANY_GPUS):
            verb = "rented" if rentals[name].allocation is None else "used"
            says = f"{at_once} × ({rentals[name].label}) are {verb} at once"
            yield f"{says}: ask {rentals[name].who} whether it has that many.", ""
        if rentals[name].row_of_one:
            says = f"{rentals[name].who} names no price of {rentals[name].gpus} in one machine: the"
            yield f"{says} rate is {rentals[name].gpu_count} times that of one. Ask for it.", ""


def _hosts_counted_twice(problem: PlanningProblem, plan: Plan) -> Cautions:
    """Machines in which runs are beside each other, each charged for all of the host."""
    parts = {m.machine_id: m.part_of for m in problem.machines if m.part_of is not None}
    placed = [p for p in plan.placed if p.machine_id in parts and problem.rules.price_per_kwh]
    beside = {
        parts[a.machine_id]
        for a, b in combinations(placed, 2)
        if (parts[a.machine_id], a.order) == (parts[b.machine_id], b.order)
        and a.pieces[0][0] < b.pieces[-1][1]
        and b.pieces[0][0] < a.pieces[-1][1]
    }
    for label in dict.fromkeys(m.label for m in problem.machines if m.machine_id in beside):
        says = f"Runs beside each other on GPUs of {label} are each charged for its whole host"
        yield f"{says}: their electricity will be less than planned.", ""


def _not_asked(grant: Grant, problem: PlanningProblem, plan: Plan) -> Cautions:
    """What machines cost beyond what the grant is charged, which somebody must have."""
    rules, rest = problem.rules, Decimal(0)
    machines = {m.machine_id: m for m in problem.machines}
    for p in plan.purchases:
        paid, charged = paid_and_charged(machines[p.machine_id], rules, problem.orders[p.order])
        rest += p.count * (paid - charged)
    if not rest or not (rules.cost_share or rules.life_months):
        return
    money = grant.currency.written(rest)  # to the cent it is the report's, which converts lines
    if rules.life_months is None:
        by = grant.purchases.cost_share_by or ""
        says = f"{by[:1].upper()}{by[1:]} pays {money} of the machines"
        yield f"{says}: have it in writing before you order.", ""
        return
    late = any(problem.orders[p.order] > problem.orders[0] for p in plan.purchases)
    wait = " A machine that is bought later is charged for fewer months."
    also = "" if not rules.cost_share else f", {grant.purchases.cost_share_by} its share among it"
    yield (
        f"The machines cost {money} more than is asked for: the grant pays their depreciation "
        f"within it alone, month by month, and somebody must pay the rest{also}. Their whole "
        f"price is due when they are bought.{wait * late}",
        "purchases.years = [1] buys in the first year." * late,
    )


def _rules(grant: Grant) -> Cautions:
    """Whose money rules count where they are the funder's own, or another country's."""
    house, own = grant.institution, funder_form(grant.funder).rules
    if not house.file and not grant.charges_overhead:
        yield _no_overhead(grant)
    elif own is not None and house.file.startswith("us-") and house.file[:-5] in shipped():
        funder = find_institution(own, Path(grant.file)).name.partition(" (")[0]
        kind = house.name.partition(",")[0]
        says = f"Counted by the rules of a {kind}, and {funder} has rules of its own."
        yield says, f'If they hold, write rules = "{own}" under [institution], or your own file.'
    elif house.file == f"{own}.toml":
        rate = f"{float(house.overhead_rate) * 100:.3g} %"
        life = house.life_months if house.equipment_as == "depreciated" else None
        how = "" if life is None else f", machines written off over {life} months"
        says = f"Counted by the rules of {house.name}: overhead of {rate}{how}. {house.note or ''}"
        mend = "life_months and use_share under [institution] are yours to set."
        yield says.strip(), mend * bool(how)


def _no_overhead(grant: Grant) -> tuple[str, str]:
    """With the rules that ship in its currency: another country's say nothing."""
    house, code = grant.institution, grant.currency.code
    lacks = "rules" if house.name == NO_RULES.name else "rate of it"
    none = f"No overhead is counted, since the grant names no {lacks}."
    if house.equipment_threshold and lacks == "rules":
        least = grant.currency.written(house.equipment_threshold)
        none += f" A machine counts as equipment from {least} on: yours may begin below that."
    known = [] if code == "USD" else rules_in(code)
    if not known:
        keys = "overhead_rate and equipment_threshold"
        if code == "USD":
            keys = 'rules = "us-equipment-10000" and overhead_rate'
        return none, f"If your institution charges it, write {keys} under [institution]."
    rates = [f"{x.name.partition(' (')[0]}, {float(x.overhead_rate) * 100:.3g} %" for x in known]
    names = " or ".join(f'rules = "{x.file[:-5]}"' for x in known)
    return (
        f"{none} Known rules in {code}: {'; '.join(rates)}.",
        f"If they hold, write {names} under [institution]; else overhead_rate and "
        "equipment_threshold of your own.",
    )


def _overhead_lines(grant: Grant, problem: PlanningProblem, plan: Plan) -> Cautions:
    """Electricity and racks, which are usually part of overhead."""
    rented = {r.rental_id for r in problem.rentals}
    all_rented = plan.placed and rented >= {p.machine_id for p in plan.placed}
    if grant.pays_electricity and not all_rented:
        rule = " (2 CFR 200.413, 200.414)" if grant.currency.code == "USD" else ""
        yield (
            "Electricity is usually part of overhead, and a funder may refuse it as a direct cost"
            f"{rule}. Ask your office.",
            'paid_by = "institution" leaves it out.',
        )
        if grant.electricity.pue == 1:
            yield (
                f"No power for cooling is counted. Data centres take {USUAL_PUE} times the power "
                "of their machines, on average (Uptime Institute, 2025).",
                f"electricity.pue = {USUAL_PUE} counts it.",
            )
    none_bought = plan.runs and not plan.purchases
    if any(
        cost.kind == "racks" and cost.amount != 0 and not (cost.per == "machine" and none_bought)
        for cost in grant.costs
    ):
        yield (
            "Rack space and cooling are usually part of overhead, as electricity is. Ask your "
            "office whether they may stand as a direct cost.",
            "",
        )


def _items(grant: Grant, rules: Rules) -> Cautions:
    """Other things that are bought once, at a price from which one item is equipment."""
    least, line = rules.equipment_threshold, funder_form(grant.funder).lines.equipment
    for cost in grant.costs:
        amount = cost.amount
        if amount is None or cost.kind not in HARDWARE or cost.per != "grant":
            continue
        if not least or amount < least:
            continue
        bears = cost.overhead.charged and grant.charges_overhead and not rules.equipment_in_base
        yield (
            f"{cost.name} costs {grant.currency.sign}{Decimal(amount):,}, and one item is "
            f"equipment from {grant.currency.in_prose(least)} on. If it is one item, move it to "
            f'the line "{line}"{", which bears no overhead." if bears else "."}',
            "overhead = false in its [[costs]] takes that off." * bears,
        )


def _settings(grant: Grant, plan: Plan) -> Cautions:
    """What the grant sets aside, or does not."""
    if grant.running.failures:
        share = f"{float(grant.running.failures) * 100:.3g} %"
        yield f"Every run has {share} more time for failures and checkpoints.", ""
    else:
        none = "No time is set aside for failures and checkpoints."
        yield none, "failures = 0.05 under [running] adds 5 %."
    if not grant.purchases.lead_days and plan.purchases:
        none = "No days are kept for delivery: what is bought runs from the day of its order."
        yield none, "purchases.lead_days = 45 keeps 45 days."
    if missing := not_asked_for(grant):
        yield f"Not asked for: {', '.join(missing)}.", "A line of [[costs]] adds each."
    note = grant.currency.note
    if note is not None and grant.currency.source is not None:
        yield note, ""
    elif note is not None:
        says = f"{note} The grant does not say whose rate that is."
        yield says, "rate_source under [budget] does."
