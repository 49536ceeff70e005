"""What the lab should look at before it sends a form; the funder never reads it."""

from __future__ import annotations

from advisor.costs.amounts import age_words
from advisor.planning.grant.cautions import told
from advisor.planning.grant.funder import FunderForm
from advisor.planning.grant.problem_of_grant import STALE_DAYS
from advisor.planning.report.material import Material
from advisor.planning.report.report import Bullets, Section, Words


def _old_prices(given: Material) -> list[str]:
    """What was quoted more than a year ago."""
    lines = {p.line.label: p.line for e in given.costs.equipment for p in e.lines}
    today = given.loaded.today
    return [
        f"The price of {label} is {age_words(line.quoted_on, today)} old: ask for a new quote "
        "before you send this."
        for label, line in lines.items()
        if (today - line.quoted_on).days > STALE_DAYS
    ]


def _not_compared(given: Material) -> list[str]:
    """Questions of a reviewer that the justification leaves open, because nothing was compared."""
    grant = given.loaded.grant
    found = []
    if not grant.buy and any(r.charge.direct.value for r in given.costs.running if r.rented):
        found.append(
            "Buying was not compared, because your grant rules it out, so the justification does "
            "not say why you rent: allow it, or write your reason."
        )
    if not grant.rent:
        found.append(
            "Renting was not compared, because your grant rules it out, so the justification does "
            "not say why you do not rent: allow it, or write your reason."
        )
    if not grant.allocations:
        found.append(
            "No campus cluster or national programme was compared, and reviewers ask for it: "
            "advisor plan --allocations lists known ones."
        )
    return found


def to_check_section(given: Material, form: FunderForm) -> Section:
    """For the lab, not for the funder: what to look at before the form is sent."""
    items: list[Words] = [
        *((str(text),) for text in form.before_you_send.values()),
        *((c.says,) for c in told(given.loaded.grant, given.loaded.problem, given.plan)),
    ]
    if form.depreciates and given.loaded.problem.rules.life_months is None:
        whole = (
            "Equipment stands here at its whole price, which this funder pays only where the call "
            "says so: rules that write machines off count their depreciation instead.",
        )
        items.insert(0, whole)
    items += [(text,) for text in (*_old_prices(given), *_not_compared(given))]
    if given.loaded.problem.rules.cost_share and not form.names_cost_share:
        by = given.loaded.grant.cost_share_by
        items.append((f"That {by} pays a part of the machines stands nowhere in what is sent.",))
    return Section(title="Before you send it", blocks=(Bullets(items=tuple(items)),))
