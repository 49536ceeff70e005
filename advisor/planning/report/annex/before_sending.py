"""What the lab should look at before it sends a form; the funder never reads it."""

from __future__ import annotations

from advisor.costs.amount_words import age_words, day_words
from advisor.planning.grant.cautions import ordered_cautions
from advisor.planning.report.budget import WhoPays, beyond_limits
from advisor.planning.report.budget_entries import entries
from advisor.planning.report.funder.compute_and_carbon import carbon_gaps
from advisor.planning.report.funder.computing_hours import not_bought, not_rented
from advisor.planning.report.phrases import cost_of_other, ends_today, listed
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.report import Section
from advisor.planning.report.templates import filled_lines
from advisor.planning.solver.money.charges import purchase_charge
from advisor.planning.solver.problem import Machine
from advisor.ranking.build_prices import ABOUT

FRESH_DAYS = 92
"""Of a quote that may be sent as it is; it is asked for again after three months."""


def _old_prices(given: Material) -> list[str]:
    """Machines whose price was quoted more than three months ago."""
    found, today = [], given.loaded.today
    for machine in {e.machine.machine_id: e.machine for e in given.costs.equipment}.values():
        day = min(line.quoted_on for line in machine.lines)
        if (today - day).days <= FRESH_DAYS:
            continue
        words = f"The price of {machine.label} is {age_words(day, today)} old"
        if (ends := given.loaded.ordered_today(machine)) is not None:
            low, high = ends_today(given, machine, ends)
            words += f", and {low} to {high} if it is ordered today, in 9 of 10 cases"
        found.append(f"{words}: ask for a new quote before you send this.")
    return found


def _not_compared(given: Material) -> list[str]:
    """Questions of a reviewer that the justification leaves open, because nothing was compared."""
    grant, market, buying, renting = given.loaded.grant, _market(given), "", ""
    tried = any(other.change.get("no_purchases") for other in given.explanation.alternatives)
    if not grant.buy and any(r.charge.direct.value for r in given.costs.running if r.rented):
        buying = "ruled out"
    elif grant.buy and market and not not_bought(given):
        buying = "no time"
    if not grant.rent:
        renting = "ruled out"
    elif tried and not market and not not_rented(given):
        renting = "no time"
    shares = any(e.machine.share_of is not None for e in given.costs.equipment)
    return filled_lines(
        "not_compared.txt",
        grant=grant,
        buying=buying,
        renting=renting,
        share_alone=shares and not grant.buy,
    )


def _bought_at_once(given: Material) -> list[str]:
    """What the machines would cost from the first order on: where depreciation is paid, the
    cheapest plan buys late, and has them for few months."""
    problem, ledger = given.loaded.problem, given.ledger
    first = problem.orders[0]
    late = [e for e in given.costs.equipment if problem.orders[e.order] > first]
    if problem.rules.life_months is None or not late:
        return []
    more = []
    for e in late:
        charge = purchase_charge(ledger, e.machine, problem.rules, e.count, first)
        label = f"{e.machine.label}, ordered at first"
        both = ledger.total([charge.direct, charge.indirect], f"cost of {label}")
        now = ledger.total([e.charge.direct, e.charge.indirect], f"cost of {e.machine.label}")
        more.append(ledger.compute("difference", [both, now], "money", f"{label}: more"))
    extra = ledger.total(more, "machines ordered at first: more")
    if extra.value <= 0:
        return []
    what, it, its = "the machines that this plan buys later cost", "they are", "their"
    if len(late) == 1 and late[0].count.value == 1:
        label = late[0].machine.label
        what, it, its = f"{'' if label[:1].isdigit() else 'the '}{label} costs", "it is", "its"
    return [
        f"Bought on {day_words(given.book.day(first))} instead, {what} {extra} more, overhead "
        f"included: {it} charged for more months of {its} life, and less is left for others to pay."
    ]


def _quoted_instead(given: Material) -> list[str]:
    """Where a machine is bought at a sum that no seller quoted, the nearest plan at prices that its
    sellers ask."""
    if not any(_nobody_quoted(e.machine) for e in given.costs.equipment):
        return []
    most = given.plan.cost_cents * ABOUT
    near = [
        (other, other.plan)
        for other in given.explanation.alternatives
        if other.plan is not None
        and not other.over_budget
        and other.plan.runs == given.plan.runs
        and given.plan.cost_cents < other.plan.cost_cents <= most
        and other.plan.purchases
        and not any(_nobody_quoted(given.book.machines[p.machine_id]) for p in other.plan.purchases)
    ]
    if not near:
        return []
    other, plan = min(near, key=lambda each: each[1].cost_cents)
    both = [cost_of_other(given.ledger, other), given.costs.total]
    more = given.ledger.compute("difference", both, "money", f"{other.label}: difference in cost")
    labels = listed(given.book.machines[p.machine_id].label for p in plan.purchases)
    return [f"For {more} more the whole plan is at prices that sellers ask: it buys {labels}."]


def _nobody_quoted(machine: Machine) -> bool:
    return any(line.quote_kind in ("parts-list", "secondary") for line in machine.lines)


def _of_this(given: Material) -> list[str]:
    """What the funder asks of such a request: of machines where some are bought."""
    grant, form = given.loaded.grant, given.form
    has: set[str] = {entry.line for entry in entries(given) if entry.direct.value}
    has |= {"owned"} if grant.owned else set()
    has |= {"tax"} if grant.vat else set()
    used = {r.provider for r in map(given.book.rentals.get, _rented(given)) if r is not None}
    has |= {each.kind for each in grant.allocations if each.name in used}
    return [
        str(text)
        for key, text in form.before_you_send.items()
        if key not in form.only_with or has.intersection(form.only_with[key])
    ]


def _market(given: Material) -> bool:
    """Whether anything is rented that everybody may rent."""
    rentals = map(given.book.rentals.get, _rented(given))  # electricity is of no rental
    return any(rental is not None and rental.allocation is None for rental in rentals)


def _rented(given: Material) -> list[str]:
    return [r.placed[0].machine_id for r in given.costs.running if r.charge.direct.value]


def to_check_section(given: Material, paid: WhoPays) -> Section:
    """For the lab, not for the funder: what to look at before the form is sent."""
    form, grant, rules = given.form, given.loaded.grant, given.loaded.problem.rules
    items = [
        *beyond_limits(given, paid),
        *_of_this(given),
        *(each.says for each in ordered_cautions(given.loaded, given.plan)),
    ]
    if form.depreciates and rules.life_months is None:
        whole = (
            "Equipment stands here at its whole price, which this funder pays only where the call "
            "says so: rules that write machines off count their depreciation instead."
        )
        items.insert(0, whole)
    items += [*_quoted_instead(given), *_bought_at_once(given), *carbon_gaps(given)]
    items += [*_old_prices(given), *_not_compared(given)]
    if rules.cost_share and not form.names_cost_share:
        by = grant.cost_share_by
        items.append(f"That {by} pays a part of the machines stands nowhere in what is sent.")
    return Section(title="Before you send it", blocks=(tuple(items),))
