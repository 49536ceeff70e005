"""What a grant says of its institution: a file of rules, and what is another in this grant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any

from advisor.planning.grant.checked_toml import exact, wrong
from advisor.planning.grant.currency import Currency
from advisor.planning.grant.grant_file import AwardYears, OwnRules
from advisor.planning.grant.institution import Institution, month_and_day
from advisor.planning.grant.together import one_for_each

_NUMBERS = (
    "overhead_rate",
    "overhead_rate_cloud",
    "overhead_rate_electricity",
    "use_share",
)
_EACH_HOUSE = {"life_months", "use_share", "fiscal_year_start"}
"""What a funder's rules leave to each house: with these the rules are still the funder's."""
_AS_THEY_ARE = ("cloud_as", "equipment_in_base", "electricity_in_base", "life_months")


def with_own_rules(file: str, house: Institution, own: OwnRules, currency: Currency) -> Institution:
    """An institution with what the grant itself says of it. Raises InputError."""
    changes: dict[str, Any] = {}
    for key in _NUMBERS:
        if (number := getattr(own, key)) is not None:
            changes[key] = exact(number)
    for key in _AS_THEY_ARE:
        if (value := getattr(own, key)) is not None:
            changes[key] = value
    if own.fiscal_year_start is not None:
        key = "institution.fiscal_year_start"
        changes["fiscal_year_start"] = month_and_day(file, key, own.fiscal_year_start)
    if own.overhead_rate_by_year is not None:
        if own.overhead_rate is not None:
            problem = "stands beside overhead_rate, and only one can count: remove one of the two"
            raise wrong(file, "institution.overhead_rate_by_year", problem)
        if house.equipment_as == "depreciated":
            problem = "a machine that is written off over years has one rate: write overhead_rate"
            raise wrong(file, "institution.overhead_rate_by_year", problem)
        rates = tuple(exact(rate) for rate in own.overhead_rate_by_year)
        changes["overhead_rate_by_year"] = rates
    if own.equipment_threshold is not None:
        amount = Decimal(own.equipment_threshold)
        changes["equipment_threshold_usd"] = currency.to_usd(amount)
        changes["equipment_threshold"] = amount if currency.code == house.currency else None
        changes["threshold_valid_from"] = None
    if not changes and own.name is None:
        return house
    charged = {"overhead_rate", "overhead_rate_by_year"} & changes.keys()
    if not house.file and charged and own.equipment_threshold is None:
        problem = (
            "overhead needs it, or rules: write from which price a machine is equipment, in "
            f"{currency.code}"
        )
        raise wrong(file, "institution.equipment_threshold", problem)
    if own.life_months is not None and house.equipment_as != "depreciated":
        problem = 'is for equipment that is written off: write rules = "horizon-europe" as well'
        raise wrong(file, "institution.life_months", problem)
    source = own.source or "the grant's own word"
    theirs = house.name if changes.keys() <= _EACH_HOUSE else "our institution"
    return replace(
        house,
        **changes,
        name=own.name or theirs,
        note=None,
        sources={**house.sources, **dict.fromkeys(changes, source)},
    )


def with_mean_rate(
    file: str, house: Institution, year_dates: Sequence[date], cut: AwardYears
) -> Institution:
    """``overhead_rate`` is the mean over the days of the years, where each year has its own; it
    counts for what has no year, electricity. Raises InputError."""
    rates = house.overhead_rate_by_year
    if rates is None:
        return house
    spans = [(b - a).days for a, b in pairwise(year_dates)]
    if len(rates) != len(spans):
        problem = one_for_each(len(rates), "rate", len(spans), cut)
        raise wrong(file, "institution.overhead_rate_by_year", problem)
    total = sum((r * d for r, d in zip(rates, spans, strict=True)), Decimal(0))
    mean = (total / sum(spans)).quantize(Decimal("0.000001")).normalize()
    said = "the mean of overhead_rate_by_year, for what has no year of its own: electricity"
    return replace(house, overhead_rate=mean, sources={**house.sources, "overhead_rate": said})
