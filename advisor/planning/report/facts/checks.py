"""Facts of what the lab should look at before it sends a form; the funder never reads it."""

from __future__ import annotations

from typing import Any

from advisor.costs.amount_words import age_words
from advisor.planning.grant.cautions import ordered_cautions
from advisor.planning.report.budget import WhoPays, beyond_limits, of_this, paid_rentals
from advisor.planning.report.facts.carbon import carbon_gaps
from advisor.planning.report.facts.hours import not_bought, not_rented
from advisor.planning.report.plan_costs import Material

FRESH_DAYS = 92
"""Of a quote that may be sent as it is; it is asked for again after three months."""


def before_you_send(given: Material, paid: WhoPays) -> dict[str, Any]:
    """What to look at before the form is sent."""
    form, grant, rules = given.form, given.grant, given.problem.rules
    return {
        "whole_price": form.depreciates and rules.life_months is None,
        "beyond": [
            *beyond_limits(given, paid),
            *of_this(given).values(),
            *(says for says, _ in ordered_cautions(given.loaded, given.plan)),
        ],
        "carbon": carbon_gaps(given),
        "old": _old_prices(given),
        **_not_compared(given),
        "unnamed": grant.purchases.cost_share_by
        if rules.cost_share and not form.names_cost_share
        else None,
    }


def _old_prices(given: Material) -> list[tuple[str, str]]:
    """Machines whose price was quoted more than three months ago."""
    found, today = dict[str, str](), given.loaded.today
    for machine in (e.machine for e in given.costs.equipment):
        day = min(line.quoted_on for line in machine.lines)
        if (today - day).days > FRESH_DAYS:
            found[machine.label] = age_words(day, today)
    return list(found.items())


def _not_compared(given: Material) -> dict[str, Any]:
    """Questions of a reviewer that the justification leaves open, because nothing was compared."""
    grant, buying, renting = given.grant, "", ""
    market = any(rental.allocation is None for rental in paid_rentals(given))
    tried = any(other.change.get("no_purchases") for other in given.explanation.alternatives)
    if not grant.purchases.allowed and any(
        r.charge.direct.value for r in given.costs.running if r.rented
    ):
        buying = "ruled out"
    elif grant.purchases.allowed and market and not_bought(given) is None:
        buying = "no time"
    if not grant.rentals.allowed:
        renting = "ruled out"
    elif tried and not market and not_rented(given) is None:
        renting = "no time"
    shares = any(e.machine.share_of is not None for e in given.costs.equipment)
    return {
        "buying": buying,
        "renting": renting,
        "share_alone": shares and not grant.purchases.allowed,
        "no_allocations": not grant.allocations,
    }
