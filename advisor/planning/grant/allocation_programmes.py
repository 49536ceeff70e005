"""What is known of allocations: programmes that a grant may name, and facts to copy into it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from advisor.costs.amount_words import day_words
from advisor.planning.grant.grant_keys import AllocationTable, GrantAllocation
from advisor.planning.grant.toml_reader import Amount, exact, missing_text, read_table, wrong
from advisor.typed_input import shown
from bench_runner.typed_numbers import plain
from price_catalog.csv_table import nearest

_NEEDED = {
    "buy_in_on": "must be the day of that price: write buy_in_on = 2026-11-02",
    "lasts_years": "must be the years that the share is served: write lasts_years = 5",
    "max_gpus": "must be the GPUs in one share: write max_gpus = 8",
}
_OF_HOURS = (
    *("programme", "gpu_hours_a_year", "gpu_hours", "usd_per_gpu_hour", "price_per_gpu_hour"),
    *("credit", "odds", "queue_days", "max_job_days", "starts", "ends"),
)
_SHARE_KEYS = ("gpu", "kind", "max_gpus", "buy_in", "buy_in_on", "lasts_years", "overhead")
"""What a share is planned with."""


def _check_buy_in(file: str, place: str, asked: AllocationTable) -> None:
    """What a share that is bought must say, and must not. Raises InputError."""
    for key in _OF_HOURS:
        if getattr(asked, key) is not None:
            problem = "stands beside buy_in, which buys machines and not hours"
            raise wrong(file, f"{place}.{key}", f"{problem}: remove one of the two")
    if asked.kind not in (None, "condo"):
        raise wrong(file, f"{place}.kind", 'must be "condo", of which a share can be bought')
    for key, problem in _NEEDED.items():
        if getattr(asked, key) is None:
            raise wrong(file, f"{place}.{key}", problem)


def known_allocations(word: str = "") -> list[dict[str, str]]:
    """Every fact in which a word is found, whatever its case; all of them without one."""
    path = Path(__file__).with_name("known_allocations.csv")
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    facts = programmes().get((word.lower(), ""))
    # The name of a programme, as the command lists them, is another than its provider's.
    words = [word.lower()] if facts is None else [facts["name"].value.lower(), word.lower()]
    words += [] if facts is None else [word.lower().partition("-")[0]]
    every = ([row for row in rows if each in " ".join(row.values()).lower()] for each in words)
    return next(filter(None, every), [])


ASSUMED = "not known: assumed"
FACTS = Path(__file__).with_name("allocation_programmes.csv")
HOURS, PRICE = "gpu_hours", "usd_per_gpu_hour"
EITHER = {"gpu_hours_a_year", HOURS}
"""How many are granted: every year, or in all."""
CREDIT = ("credit", "price_per_gpu_hour", PRICE)
OWN_WORD = "the grant's own word"
"""Of a value that the grant gives without a source."""
NOT_PLANNED = {"programme", "resource", "credit", "source"}
VALUES = tuple(k for k in AllocationTable.__struct_fields__ if k not in NOT_PLANNED)


class Fact(NamedTuple):
    """One value of a programme."""

    value: str
    source: str
    """With its date."""


Facts = Mapping[str, Fact]


class AllocationValue(NamedTuple):
    """What an allocation is planned with, and who says so."""

    allocation: str
    key: str
    value: str
    source: str


@cache
def programmes() -> dict[tuple[str, str], dict[str, Fact]]:
    """Every fact by programme and resource; no resource where it holds for all of them."""
    found: dict[tuple[str, str], dict[str, Fact]] = {}
    with FACTS.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            fact = Fact(value=row["value"], source=f"{row['source']}, {_day_words(row['as_of'])}")
            found.setdefault((row["programme"], row["resource"]), {})[row["key"]] = fact
    return found


def _day_words(as_of: str) -> str:
    """A day or a month in words; a year, or a note that it is not stated, as it is."""
    year, *rest = as_of.split("-")
    if not rest or not year.isdigit():
        return as_of
    day = date(int(year), int(rest[0]), int(rest[1]) if len(rest) > 1 else 1)
    return f"{day.day} {day:%B %Y}" if len(rest) > 1 else f"{day:%B %Y}"


def programme_names() -> list[str]:
    """The names that ``programme`` may have."""
    families = {facts["resources_of"].value for facts in programmes().values() if _many(facts)}
    return [name for name, resource in programmes() if not resource and name not in families]


def resolved(
    file: str, number: int, asked: AllocationTable, year_dates: Sequence[date]
) -> tuple[GrantAllocation, list[AllocationValue]]:
    """An allocation with what its programme is known for, and each value's source.

    The years of the grant begin on the ``year_dates`` (the last is the day after the grant).
    Raises InputError.
    """
    place = f"allocations[{number}]"
    if asked.buy_in is not None:
        _check_buy_in(file, place, asked)
    facts = _facts(file, place, asked)
    own: dict[str, Any] = {
        key: value
        for key in asked.__struct_fields__
        if key not in ("programme", "resource") and (value := getattr(asked, key)) is not None
    }
    known = {key: fact for key, fact in facts.items() if key in VALUES and key not in own}
    if own.keys() & {*EITHER, "credit"}:
        known = {key: fact for key, fact in known.items() if key not in EITHER}
    values: dict[str, Any] = {key: _typed(fact.value) for key, fact in known.items()} | own
    if "award_days" in facts and "ends" not in own:
        first = own.get("starts", year_dates[0])
        last = min(first + timedelta(days=int(facts["award_days"].value)), year_dates[-1])
        values["ends"], known["ends"] = last, facts["award_days"]
    if facts and not EITHER & values.keys() and (hours := _hours(file, place, facts)) is not None:
        known[HOURS] = hours
        values[HOURS] = _typed(hours.value)
    if "price_per_gpu_hour" in own:
        for told in (values, known):
            told.pop("usd_per_gpu_hour", None)
    if asked.buy_in is not None:
        values = {"overhead": "equipment"} | values | {"kind": "condo"}
    if "credit" in values:
        known |= _credit(file, place, values)
        values |= {key: _typed(known[key].value) for key in (HOURS, PRICE)}
        own = {key: value for key, value in own.items() if key not in CREDIT}
    for key in ("name", "gpu"):
        if key not in values:
            hint = "" if asked.programme is None else f", and {asked.programme} does not say it"
            raise wrong(file, f"{place}.{key}", missing_text(key, hint))
    if asked.buy_in is None and not values.keys() & {*EITHER, PRICE, "price_per_gpu_hour"}:
        problem = "is missing: write it, or the price of an hour, as usd_per_gpu_hour = 1.20"
        raise wrong(file, f"{place}.gpu_hours_a_year", f"{problem} (0: free and without limit)")
    allocation, errors = read_table(GrantAllocation, values)
    if allocation is None:
        raise wrong(file, *next(iter(errors.items())))
    return allocation, _said(allocation, own, known, asked.source)


def _said(
    allocation: GrantAllocation, own: Mapping[str, Any], known: Facts, source: str | None
) -> list[AllocationValue]:
    found = []
    keys = set(VALUES if allocation.buy_in is None else _SHARE_KEYS) - {"name"}
    keys -= set() if allocation.price_per_gpu_hour is None else {PRICE}
    for key in VALUES:
        value = getattr(allocation, key)
        if key not in keys or value is None:
            continue
        where = known[key].source if key in known else ASSUMED
        if key in own:
            where = source or OWN_WORD
        found.append(AllocationValue(allocation.name, key, _written(value), where))
    return found


def _written(value: Any) -> str:
    """A value as a person reads it."""
    if isinstance(value, date):
        return day_words(value)
    if isinstance(value, Amount):
        return f"{value:,f}"
    return plain(float(value), 6) if isinstance(value, Decimal) else str(value)


def _many(facts: Facts) -> bool:
    return "resources_of" in facts


def _facts(file: str, place: str, asked: AllocationTable) -> dict[str, Fact]:
    """What is known of the programme and of its resource. Raises InputError."""
    if asked.programme is None:
        return {}
    name = asked.programme.lower().replace(" ", "-")
    if name not in programme_names():
        problem = f"{shown(asked.programme)} is not known; {nearest(name, programme_names())}"
        raise wrong(file, f"{place}.programme", problem)
    facts = programmes()[name, ""]
    if not _many(facts):
        if asked.resource is not None:
            raise wrong(file, f"{place}.resource", f"{name} has no list of them: remove this key")
        return facts
    family = facts["resources_of"].value
    resources = {res: its for (of, res), its in programmes().items() if of == family and res}
    its = resources[_resource(file, place, asked, name, resources)]
    title = Fact(value=f"{facts['name'].value}, {its['name'].value}", source=its["name"].source)
    return {**facts, **its, "name": title}


def _resource(
    file: str, place: str, asked: AllocationTable, name: str, resources: Mapping[str, Facts]
) -> str:
    if asked.resource is not None:
        resource = asked.resource.lower()
        if resource not in resources:
            problem = f"{shown(asked.resource)} is not known; {nearest(resource, resources)}"
            raise wrong(file, f"{place}.resource", problem)
        return resource
    gpu = "" if asked.gpu is None else asked.gpu.lower()
    gpus = {each: facts["gpu"].value.lower().split(" nvl")[0] for each, facts in resources.items()}
    fit = [each for each in resources if gpu in gpus[each]] or [*resources]
    if gpu and len(fit) == 1 and gpu in gpus[fit[0]]:
        return fit[0]
    problem = f"{name} has several machines: write one of {', '.join(fit)}"
    raise wrong(file, f"{place}.resource", problem)


def year_shares(year_dates: Sequence[date]) -> list[Decimal]:
    """How much of a year each award year is: 1, or its days over 365 where it is cut short."""
    return [min(Decimal((b - a).days) / 365, Decimal(1)) for a, b in pairwise(year_dates)]


def _hours(file: str, place: str, facts: Facts) -> Fact | None:
    """GPU-hours of a whole award, where they can be told. Raises InputError."""
    if "hours_asked" in facts:
        why = facts["hours_asked"]
        problem = f"must be what you ask for: {why.value} ({why.source})"
        raise wrong(file, f"{place}.gpu_hours_a_year", problem)
    if "credits" not in facts:
        return None
    award, rate = facts["credits"], facts["credits_per_gpu_hour"]
    source = (
        f"{float(award.value):,.0f} credits ({award.source}) at {rate.value} a GPU-hour "
        f"({rate.source})"
    )
    return Fact(value=f"{float(award.value) / float(rate.value):.0f}", source=source)


def _credit(file: str, place: str, values: dict[str, Any]) -> dict[str, Fact]:
    """The hours of a credit, which the grant does not pay. Raises InputError."""
    credit = values.pop("credit")
    mine, dollars = values.pop("price_per_gpu_hour", 0), values.pop(PRICE, 0)
    price = mine or dollars
    if mine and credit.in_dollars:
        problem = "is in dollars: write usd_per_gpu_hour, not price_per_gpu_hour"
        raise wrong(file, f"{place}.credit", problem)
    if not price:
        problem = "needs the price of an hour: write usd_per_gpu_hour, what the cloud asks"
        raise wrong(file, f"{place}.credit", problem)
    hours = float(credit) / float(price)
    if not 1 <= hours <= 1e9:
        problem = f"is {plain(hours)} GPU-hours at that price: must be from 1 to 1000000000"
        raise wrong(file, f"{place}.credit", problem)
    said = f"a credit of {credit:,} at {plain(float(price), 6)} a GPU-hour"
    return {
        HOURS: Fact(value=f"{hours:.0f}", source=said),
        PRICE: Fact(value="0", source="the credit pays"),
    }


def _typed(text: str) -> Any:
    """A number where it is one."""
    try:
        number = float(text)
    except ValueError:
        return text
    return int(number) if number.is_integer() else exact(number)


def values_of(
    file: str, asked: Sequence[AllocationTable], year_dates: Sequence[date]
) -> tuple[tuple[GrantAllocation, ...], tuple[AllocationValue, ...]]:
    """Every allocation, and where each of its values is from. Raises InputError."""
    both = [resolved(file, number, each, year_dates) for number, each in enumerate(asked, start=1)]
    return tuple(each for each, _ in both), tuple(value for _, said in both for value in said)
