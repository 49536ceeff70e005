"""What the keys of a grant must be to each other; one key alone is checked as it is read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal

from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_keys import AwardYears, CostLine, GrantAllocation, GrantExperiment
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.toml_reader import wrong
from advisor.typed_input import InputError
from bench_runner.typed_numbers import plain

Problems = Iterator[tuple[str, str]]
"""The key that is wrong, and what is wrong with it."""
ONE_OF_TWO = "and only one can count: remove one of the two"


def check(grant: Grant) -> None:
    """What can be checked before its allocations and rates are worked out. Raises InputError."""
    if not grant.experiments:
        raise InputError(
            f"{grant.file} asks for no experiment: write [[experiments]] with a model at least"
        )
    for place, problem in _dates(grant):
        raise wrong(grant.file, place, problem)


def check_terms(grant: Grant) -> None:
    """The rest. Raises InputError."""
    for problems in (_orders(grant), _terms(grant), _shared(grant), _lines(grant)):
        for place, problem in problems:
            raise wrong(grant.file, place, problem)


def check_days(grant: Grant, today: date) -> None:
    """Nobody knows a rate or a price of a day to come. Raises InputError."""
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


def one_for_each(number: int, what: str, years: int, cut: AwardYears) -> str:
    """That a list has more or fewer than the award years, which may be cut into more than the
    grant has."""
    has = f"{number} {what}{'' if number == 1 else 's'}"
    kind = "" if cut == "start" else f"{cut} "
    told = "" if cut == "start" else f' (award_years = "{cut}")'
    said = f"{years} {kind}year{'' if years == 1 else 's'}{told}"
    return f"has {has} for {said}: write one for each"


def _dates(grant: Grant) -> Problems:
    start = grant.start
    if not 2000 <= start.year <= 2200:  # before any later day is worked out
        yield "grant.start", f"{start} is not between the years 2000 and 2200"
    end, years = grant.year_dates[-1], len(grant.year_dates) - 1
    amounts = grant.year_budget
    if amounts is not None and len(amounts) != years:
        problem = one_for_each(len(amounts), "amount", years, grant.award_years)
        yield "budget.per_year", problem
    if grant.buy_years and grant.buy_years[-1] >= years:
        yield "purchases.years", f"must be a list of whole numbers from 1 to {years}"
    names: set[str] = set()
    if amounts is not None and grant.budget not in (None, sum(amounts)):
        both = grant.currency.exactly(sum(amounts, Decimal(0)))
        problem = f"is not what per_year has together, {both}: remove one of the two, or mend it"
        yield "budget.total", problem
    for n, each in enumerate(grant.experiments, start=1):
        place = f"experiments[{n}]"
        if each.min_runs > each.runs:
            yield f"{place}.min_runs", f"is more than its runs, {each.runs}"
        for key, day in (("by", each.by), ("not_before", each.not_before)):
            if day is not None and not start <= day <= end:
                problem = f"{day} is outside the grant, which runs from {start} to {end}"
                yield f"{place}.{key}", problem
            if day is not None and each.each_year:
                problem = "an experiment of each year ends with its year: remove one of the two"
                yield f"{place}.{key}", problem
        yield from _fine_tuned(place, each)
        if each.by and each.not_before and each.by <= each.not_before:
            yield f"{place}.by", f"{each.by} is not after not_before, {each.not_before}"
        if each.name in names:
            yield f"{place}.name", f"'{each.name}' is there twice: give each its own name"
        names.add(each.name)


def _fine_tuned(place: str, each: GrantExperiment) -> Problems:
    """What fine-tuning has and training from nothing has not, and the reverse."""
    of_tuning = ("adapter_rank", "data_tokens", "examples", "length", "epochs")
    given = [key for key in of_tuning if getattr(each, key) is not None]
    if each.train == "pretrain":
        for key in given:
            yield f"{place}.{key}", 'is of fine-tuning: add train = "full", "lora" or "qlora"'
        return
    if each.tokens is not None:
        yield f"{place}.tokens", "is of training from nothing: write data_tokens and epochs"
    if each.adapter_rank is not None and each.train == "full":
        yield f"{place}.adapter_rank", 'is of adapters: write train = "lora" or "qlora"'
    if each.data_tokens is not None and each.examples is not None:
        yield f"{place}.examples", f"stands beside data_tokens, {ONE_OF_TWO}"
    if each.length is not None and each.examples is None:
        yield f"{place}.length", "is the tokens of each example: write examples, too"


def _orders(grant: Grant) -> Problems:
    """The days of orders, and whether the threshold of the rules holds on them by then."""
    place = "purchases.order_on"
    for day in grant.order_on or ():
        if not grant.start <= day < grant.end:
            yield place, f"{day} is outside the grant, from {grant.start} to {grant.end}"
    if grant.order_on is not None and grant.order_every_months != 12:
        yield place, f"stands beside order_every_months, {ONE_OF_TWO}"
    since = grant.institution.threshold_valid_from
    first = grant.start if grant.order_on is None else grant.order_on[0]
    if grant.buy and since is not None and first < since:
        least = grant.currency.written(grant.institution.equipment_threshold)
        yield (
            "institution.rules",
            f"its equipment threshold of {least} holds from {since}, and machines may be "
            f"ordered from {first}: name rules whose threshold holds then, or your own file",
        )


def _terms(grant: Grant) -> Problems:
    by_year, years = grant.utilisation_by_year, len(grant.year_dates) - 1
    place = "running.utilisation_by_year"
    if by_year is not None and len(by_year) != years:
        yield place, one_for_each(len(by_year), "share", years, grant.award_years)
    if by_year is not None and grant.utilisation != 1:
        yield place, f"stands beside utilisation, {ONE_OF_TWO}"
    if grant.lifetime_years is not None and grant.institution.equipment_as == "depreciated":
        yield (
            "purchases.lifetime_years",
            f"the rules of {grant.institution.name} pay what machines lose in value, which is all "
            "that counts: remove this key, and write life_months under [institution]",
        )
    place = "purchases.cost_share_by"
    if grant.cost_share_by is not None and not grant.cost_share:
        yield place, "pays nothing: write cost_share, as 0.5 for half of every machine"
    if grant.cost_share and grant.cost_share_by is None:
        yield place, "somebody must pay it: write cost_share_by with their name"
    for n, owned in enumerate(grant.owned, start=1):
        if owned.usable_from is not None and owned.usable_from >= grant.end:
            yield (
                f"owned[{n}].usable_from",
                f"{owned.usable_from} is after the grant, which ends on {grant.end}: mend the day, "
                "or leave these machines out",
            )


def _shared(grant: Grant) -> Problems:
    """A sum that others pay of the whole cost."""
    sums, years = grant.shared_by_year, len(grant.year_dates) - 1
    if sums is not None and len(sums) != years:
        problem = one_for_each(len(sums), "amount", years, grant.award_years)
        yield "budget.shared_per_year", problem
    if grant.shared_by is not None and not grant.shared:
        problem = "names who pays, but no sum is there: write shared, what they pay in all"
        yield "budget.shared_by", problem
    if not grant.shared:
        return
    if grant.shared_by is None:
        yield "budget.shared_by", "must say who pays the shared sum: write their name"
    if not funder_form(grant.funder).names_cost_share:
        yield (
            "budget.shared",
            f"{grant.funder} prohibits voluntary cost sharing, so no budget of it may name this "
            "sum: remove it, or write purchases.cost_share, which stays out of what is sent",
        )
    if grant.year_budget is not None and sums is None:
        yield (
            "budget.shared",
            "does not say in which year it is paid, and per_year gives each year money of its "
            "own: write shared_per_year, one sum for each year",
        )


def _lines(grant: Grant) -> Problems:
    """Each line of costs, and each allocation."""
    years, names = len(grant.year_dates) - 1, set[str]()
    for n, cost in enumerate(grant.costs, start=1):
        for key, problem in _cost(cost, years):
            yield f"costs[{n}]{key}", problem
    for n, allocation in enumerate(grant.allocations, start=1):
        place = f"allocations[{n}]"
        if allocation.name in names:
            yield f"{place}.name", f"'{allocation.name}' is there twice: give each its own name"
        names.add(allocation.name)
        for key, problem in _allocation(grant, allocation):
            yield f"{place}.{key}", problem


def _cost(cost: CostLine, years: int) -> Problems:
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
    if cost.year > years:
        yield ".year", f"must be a whole number from 1 to {years}"


def _allocation(grant: Grant, allocation: GrantAllocation) -> Problems:
    lasts, first, last = allocation.lasts_years, allocation.starts, allocation.ends
    if lasts is not None and lasts * 12 < grant.months:
        least = plain(grant.months / 12, 3)
        problem = "a share that ends before the grant is not planned with"
        yield "lasts_years", f"must be at least {least}: {problem}"
    for key, day in (("starts", first), ("ends", last)):
        if day is not None and not grant.start <= day <= grant.end:
            yield key, f"{day} is outside the grant, from {grant.start} to {grant.end}"
    if first and last and last <= first:
        yield "ends", f"{last} is not after starts, {first}"
