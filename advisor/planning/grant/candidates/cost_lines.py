"""What a grant pays besides machines, rent and power, and on which days it may order."""

from __future__ import annotations

from itertools import pairwise

from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_record import Grant, months_later
from advisor.planning.solver.money.charges import DAYS_PER_YEAR
from advisor.planning.solver.problem import FixedCost, MachineExtra

KINDS = {
    "storage": "storage",
    "network": "network",
    "racks": "racks and cooling",
    "warranty": "warranty and support",
    "staff": "staff",
}
"""What a grants office asks about, in words; what is not there is stated as not asked for."""

_PLAIN = {word for words in KINDS.values() for word in words.split()} - {"and"} | {"rack"}
"""Words that begin with a capital only where a sentence does."""


def line_words(kind: str, name: str) -> str:
    """A line of costs within a sentence: its kind, and the name that the grant gives it. A name
    keeps its capitals, which may be a proper name's, unless it begins with what its kind says."""
    words = KINDS.get(kind, "other costs")
    first, _, rest = name.partition(" ")
    if first.lower().strip(",;:") in _PLAIN and first[1:].islower():
        return f"{first.lower()} {rest}".strip()
    return f"{words} ({name})"


def fixed_costs(grant: Grant) -> tuple[FixedCost, ...]:
    """The lines that are paid once or every year, whatever is bought; of a year that the turn of
    a calendar or fiscal year cuts, its share is paid."""
    found = []
    days = [(b - a).days for a, b in pairwise(grant.year_dates)]
    years = len(days)
    for n, cost in enumerate(grant.costs, start=1):
        if cost.per == "machine" or cost.amount is None:
            continue
        amount = cost.amount
        for year in range(years) if cost.per == "year" else [cost.year - 1]:
            cut = cost.per == "year" and days[year] < DAYS_PER_YEAR
            found.append(
                FixedCost(
                    key=f"costs[{n}].amount",
                    name=cost.name,
                    kind=cost.kind,
                    year=year,
                    amount=grant.currency.rounded(amount),
                    # An amount of every year changes by the year, not by the day.
                    change=cost.price_change,
                    days=days[year] if cut else None,
                    in_base=cost.overhead.charged,
                    rate=cost.overhead.rate,
                    rate_key=f"costs[{n}].overhead" if cost.overhead.rate is not None else "",
                    day=(grant.year_dates[year] - grant.start).days,
                )
            )
    return tuple(found)


def machine_extras(grant: Grant) -> tuple[MachineExtra, ...]:
    """The lines that are paid with every machine that is bought."""
    apart = funder_form(grant.funder).apart
    return tuple(
        MachineExtra(
            key=f"costs[{n}].{'amount' if cost.amount is not None else 'share_of_price'}",
            name=cost.name,
            kind=cost.kind,
            amount=None if cost.amount is None else grant.currency.rounded(cost.amount),
            share_of_price=None if cost.share_of_price is None else cost.share_of_price,
            apart=cost.kind in apart,
        )
        for n, cost in enumerate(grant.costs, start=1)
        if cost.per == "machine"
    )


def not_asked_for(grant: Grant) -> list[str]:
    """What a grants office asks about and the grant has no line for, in words."""
    asked = {cost.kind for cost in grant.costs if cost.amount != 0}
    return [words for kind, words in KINDS.items() if kind not in asked]


def order_days(grant: Grant) -> tuple[int, ...] | None:
    """The days on which machines may be ordered; None: the first of every year."""
    if grant.purchases.order_on is not None:
        return tuple((day - grant.start).days for day in sorted({*grant.purchases.order_on}))
    months = grant.purchases.order_every_months
    if months == 12:
        return None
    days: list[int] = []
    for first, last in pairwise(grant.year_dates):
        for step in range(0, 12, months):
            day = months_later(first, step)
            if day < last:
                days.append((day - grant.start).days)
    return tuple(days)
