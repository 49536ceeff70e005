"""What the keys of a grant must be to each other; one key alone is checked as it is read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from typing import Any

from msgspec import Struct, structs

from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_keys import CostLine, GrantExperiment, GrantFile
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.toml_reader import wrong
from advisor.typed_input import InputError
from bench_runner.typed_numbers import plain

Problems = Iterator[tuple[str, str]]
"""The key that is wrong, and what is wrong with it."""
ONE_OF_TWO = (
    ("grant", "months", "years"),
    ("budget", "shared_per_year", "shared"),
    ("institution", "overhead_rate_by_year", "overhead_rate"),
    ("electricity", "price_per_kwh", "usd_per_kwh"),
    ("purchases", "order_on", "order_every_months"),
    ("running", "utilisation_by_year", "utilisation"),
    ("experiments", "examples", "data_tokens"),
    ("allocations", "price_per_gpu_hour", "usd_per_gpu_hour"),
    ("allocations", "gpu_hours", "gpu_hours_a_year"),
    ("allocations", "credit", "gpu_hours_a_year"),
    ("allocations", "credit", "gpu_hours"),
)
"""Of a table: a key that cannot stand beside another."""
_RATE = "says something of a rate that is not there: write usd_per_unit, or remove it"
_BOUGHT = "belongs to a share that is bought: write buy_in"
NEEDS = (
    ("budget", "usd_per_unit_on", ("usd_per_unit",), _RATE),
    ("budget", "rate_source", ("usd_per_unit",), _RATE),
    (
        *("budget", "shared_by", ("shared", "shared_per_year")),
        "names who pays, but no sum is there: write shared, what they pay in all",
    ),
    (
        *("purchases", "cost_share_by", ("cost_share",)),
        "pays nothing: write cost_share, as 0.5 for half of every machine",
    ),
    (
        *("experiments", "length", ("examples",)),
        "is the tokens of each example: write examples, too",
    ),
    (
        *("experiments", "epochs", ("data_tokens", "examples")),
        "is how often the data are seen: write data_tokens, too",
    ),
    ("allocations", "buy_in_on", ("buy_in",), _BOUGHT),
    ("allocations", "lasts_years", ("buy_in",), _BOUGHT),
    (
        *("allocations", "resource", ("programme",)),
        "belongs to a programme: write programme as well",
    ),
)
"""Of a table: a key, and those of which it needs one."""


def check_tables(name: str, file: GrantFile) -> None:
    """What the tables of a file say by themselves. Raises InputError."""
    if not file.experiments:
        raise InputError(
            f"{name} asks for no experiment: write [[experiments]] with a model at least"
        )
    for place, problem in _tables(file):
        raise wrong(name, place, problem)


def _said(file: GrantFile, table: str) -> Iterator[tuple[str, Any, set[str]]]:
    """Each table of a kind with its place and the keys in it that are another than left out."""
    found = getattr(file, table)
    many = [(table, found)] if isinstance(found, Struct) else []
    many += [(f"{table}[{n}]", each) for n, each in enumerate(() if many else found, start=1)]
    for place, each in many:
        fields = structs.fields(type(each))
        said = {f.name for f in fields if f.required or getattr(each, f.name) != f.default}
        yield place, each, said


def _tables(file: GrantFile) -> Problems:
    start = file.grant.start
    if not 2000 <= start.year <= 2200:  # before any later day is worked out
        yield "grant.start", f"{start} is not between the years 2000 and 2200"
    if (file.grant.years or file.grant.months) is None:
        yield "grant.years", "is missing: write years = 3, or months = 18"
    for table, key, other in ONE_OF_TWO:
        for place, _, said in _said(file, table):
            if {key, other} <= said:
                problem = f"stands beside {other}, and only one can count: remove one of the two"
                yield f"{place}.{key}", problem
    names: set[str] = set()
    for place, experiment, said in _said(file, "experiments"):
        if experiment.min_runs > experiment.runs:
            yield f"{place}.min_runs", f"is more than its runs, {experiment.runs}: ask for fewer"
        yield from _fine_tuned(place, experiment, said)
        if experiment.name in names:
            yield f"{place}.name", f"'{experiment.name}' is there twice: give each its own name"
        names.add(experiment.name)
    for table, key, needed, problem in NEEDS:
        for place, _, said in _said(file, table):
            if key in said and not {*needed} & said:
                yield f"{place}.{key}", problem
    for n, cost in enumerate(file.costs, start=1):
        for key, problem in _cost(cost):
            yield f"costs[{n}]{key}", problem


def _fine_tuned(place: str, each: GrantExperiment, said: set[str]) -> Problems:
    """What fine-tuning has and training from nothing has not, and the reverse."""
    if each.train == "pretrain":
        for key in ("adapter_rank", "data_tokens", "examples", "length", "epochs"):
            if key in said:
                yield f"{place}.{key}", 'is of fine-tuning: add train = "full", "lora" or "qlora"'
        return
    if each.tokens is not None:
        yield f"{place}.tokens", "is of training from nothing: write data_tokens and epochs"
    if each.adapter_rank is not None and each.train == "full":
        yield f"{place}.adapter_rank", 'is of adapters: write train = "lora" or "qlora"'


def _cost(cost: CostLine) -> Problems:
    if (cost.amount is None) == (cost.share_of_price is None):
        has = "has both" if cost.amount is not None else "has neither"
        yield "", f"needs either amount or share_of_price, and {has}"
    if cost.share_of_price is not None and cost.per != "machine":
        yield ".per", 'a share of the price is paid for each machine: write per = "machine"'
    if cost.price_change and cost.per != "year":
        yield ".price_change", 'is for an amount of every year: write per = "year"'
    if cost.per == "machine" and (cost.overhead.rate is not None or not cost.overhead.charged):
        problem = "what is paid with a machine bears overhead as that does: remove this key"
        yield ".overhead", problem
    if cost.per != "grant" and cost.year != 1:
        yield ".year", 'is for what is paid once: write per = "grant"'


def check(grant: Grant) -> None:
    """What depends on its days, years, rules and funder. Raises InputError."""
    for problems in (_years(grant), _days(grant), _rules(grant), _allocations(grant)):
        for place, problem in problems:
            raise wrong(grant.file, place, problem)


def check_days(grant: Grant, today: date) -> None:
    """A rate or a price of a day to come is not known. Raises InputError."""
    if grant.end <= today:
        problem = f"the grant ended on {grant.end}: write the day from which money can be spent"
        raise wrong(grant.file, "grant.start", problem)
    days = [("budget.usd_per_unit_on", grant.currency.on, "rate")]
    for n, asked in enumerate(grant.allocations, start=1):
        days.append((f"allocations[{n}].buy_in_on", asked.buy_in_on, "price"))
    for place, day, what in days:
        if day is not None and day > today:
            problem = f"{day} is in the future: write the day of a {what} that is known"
            raise wrong(grant.file, place, problem)


def _years(grant: Grant) -> Problems:
    """One of each for each award year, which may be cut into more than the grant has."""
    years, cut = len(grant.year_dates) - 1, grant.award_years
    kind, told = ("", "") if cut == "start" else (f"{cut} ", f' (award_years = "{cut}")')
    for place, what, each in (
        ("budget.per_year", "amount", grant.year_budget),
        ("budget.shared_per_year", "amount", grant.shared_by_year),
        ("running.utilisation_by_year", "share", grant.running.utilisation_by_year),
        ("institution.overhead_rate_by_year", "rate", grant.institution.overhead_rate_by_year),
    ):
        if each is not None and len(each) != years:
            has = f"{len(each)} {what}{'' if len(each) == 1 else 's'}"
            said = f"{years} {kind}year{'' if years == 1 else 's'}{told}"
            yield place, f"has {has} for {said}: write one for each"
    if grant.buy_years and grant.buy_years[-1] >= years:
        yield "purchases.years", f"must be a list of whole numbers from 1 to {years}"
    for n, cost in enumerate(grant.costs, start=1):
        if cost.year > years:
            yield f"costs[{n}].year", f"must be a whole number from 1 to {years}"
    if grant.year_budget is not None and grant.budget not in (None, sum(grant.year_budget)):
        both = grant.currency.exactly(sum(grant.year_budget, Decimal(0)))
        problem = f"is not what per_year has together, {both}: remove one of the two, or mend it"
        yield "budget.total", problem


def _days(grant: Grant) -> Problems:
    """Days of runs, orders, machines and hours, which lie within the grant."""
    within = [
        *((f"experiments[{n}]", "by", "not_before", e) for n, e in enumerate(grant.experiments, 1)),
        *((f"allocations[{n}]", "ends", "starts", a) for n, a in enumerate(grant.allocations, 1)),
    ]
    start, end = grant.start, grant.end
    for place, last, first, each in within:
        for key in (last, first):
            day = getattr(each, key)
            if day is not None and not start <= day <= end:
                problem = f"{day} is outside the grant, which runs from {start} to {end}"
                yield f"{place}.{key}", problem
            if day is not None and getattr(each, "each_year", False):
                problem = "an experiment of each year ends with its year: remove one of the two"
                yield f"{place}.{key}", problem
        low, high = getattr(each, first), getattr(each, last)
        if low is not None and high is not None and high <= low:
            yield f"{place}.{last}", f"{high} is not after {first}, {low}"
    for day in grant.purchases.order_on or ():
        if not start <= day < end:
            yield "purchases.order_on", f"{day} is outside the grant, from {start} to {end}"
    for n, owned in enumerate(grant.owned, start=1):
        if owned.usable_from is not None and owned.usable_from >= end:
            yield (
                f"owned[{n}].usable_from",
                f"{owned.usable_from} is after the grant, which ends on {end}: mend the day, or "
                "leave these machines out",
            )


def _rules(grant: Grant) -> Problems:
    """Money rules of the institution, and what others pay."""
    house = grant.institution
    since = house.threshold_valid_from
    first = min(grant.purchases.order_on or (grant.start,))
    if grant.purchases.allowed and since is not None and first < since:
        least = grant.currency.written(house.equipment_threshold)
        yield (
            "institution.rules",
            f"its equipment threshold of {least} holds from {since}, and machines may be "
            f"ordered from {first}: name rules whose threshold holds then, or your own file",
        )
    if grant.purchases.lifetime_years is not None and house.equipment_as == "depreciated":
        yield (
            "purchases.lifetime_years",
            f"the rules of {house.name} pay what machines lose in value, which is all that "
            "counts: remove this key, and write life_months under [institution]",
        )
    if grant.purchases.cost_share and grant.purchases.cost_share_by is None:
        problem = "somebody must pay it: write cost_share_by with their name"
        yield "purchases.cost_share_by", problem
    if grant.shared and grant.shared_by is None:
        yield "budget.shared_by", "must say who pays the shared sum: write their name"
    if grant.shared and not funder_form(grant.funder).names_cost_share:
        yield (
            "budget.shared",
            f"{grant.funder} prohibits voluntary cost sharing, so no budget of it may name this "
            "sum: remove it, or write purchases.cost_share, which stays out of what is sent",
        )
    if grant.shared and grant.year_budget is not None and grant.shared_by_year is None:
        yield (
            "budget.shared",
            "does not say in which year it is paid, and per_year gives each year money of its "
            "own: write shared_per_year, one sum for each year",
        )


def _allocations(grant: Grant) -> Problems:
    names = set[str]()
    for n, allocation in enumerate(grant.allocations, start=1):
        place, lasts = f"allocations[{n}]", allocation.lasts_years
        if allocation.name in names:
            yield f"{place}.name", f"'{allocation.name}' is there twice: give each its own name"
        names.add(allocation.name)
        if lasts is not None and lasts * 12 < grant.months:
            least = plain(grant.months / 12, 3)
            problem = "a share that ends before the grant is not planned with"
            yield f"{place}.lasts_years", f"must be at least {least}: {problem}"
