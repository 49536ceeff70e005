"""How far the search for a plan has come, in one line."""

from __future__ import annotations

from decimal import Decimal

from advisor.planning.grant.currency import Currency
from advisor.planning.solver.search_clock import Progress


def progress_text(at: Progress, currency: Currency) -> str:
    """What has been found, its cost, the bound, and what is being tried."""
    words = ["no plan yet"]
    if at.plan is not None:
        words = [f"a plan for {currency.written(Decimal(at.plan.cost_cents) / 100)}"]
        if at.settled:
            words = [f"the plan costs {currency.written(Decimal(at.plan.cost_cents) / 100)}"]
        elif at.bound_usd is not None:
            least = currency.written(Decimal(str(round(max(at.bound_usd, 0.0), 2))))
            words.append(f"none below {least}")
    return " · ".join([*words, f"trying {at.trying}"])
