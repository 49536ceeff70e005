"""What the keys of a grant must be to each other; one key alone is checked as it is read."""

from __future__ import annotations

from datetime import date

from advisor.parse import InputError
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_file import AwardYears, GrantExperiment
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.toml_reader import wrong


def check_days(grant: Grant, today: date) -> None:
    """Nobody knows a rate or a price of a day to come. Raises InputError."""
    days = [("budget.usd_per_unit_on", grant.currency.on, "rate")]
    for n, asked in enumerate(grant.allocations, start=1):
        days.append((f"allocations[{n}].buy_in_on", asked.buy_in_on, "price"))
    for place, day, what in days:
        if day is not None and day > today:
            problem = f"{day} is in the future: write the day of a {what} that is known"
            raise wrong(grant.file, place, problem)


def check(grant: Grant) -> None:
    """What one key alone does not show. Raises InputError."""
    if not 2000 <= grant.start.year <= 2200:
        raise wrong(
            grant.file, "grant.start", f"{grant.start} is not between the years 2000 and 2200"
        )
    amounts = grant.year_budget_usd
    years = len(grant.year_dates) - 1
    if amounts is not None and len(amounts) != years:
        raise wrong(
            grant.file,
            "budget.per_year",
            one_for_each(len(amounts), "amount", years, grant.award_years),
        )
    if grant.buy_years and grant.buy_years[-1] >= years:
        raise wrong(
            grant.file,
            "purchases.years",
            f"must be a list of whole numbers from 1 to {years}",
        )
    if not grant.experiments:
        raise InputError(
            f"{grant.file} asks for no experiment: write [[experiments]] with a model at least"
        )
    names: set[str] = set()
    for number, experiment in enumerate(grant.experiments, start=1):
        _check_experiment(grant, f"experiments[{number}]", experiment)
        if experiment.name in names:
            raise wrong(
                grant.file,
                f"experiments[{number}].name",
                f"'{experiment.name}' is there twice: give each its own name",
            )
        names.add(experiment.name)


def one_for_each(number: int, what: str, years: int, cut: AwardYears) -> str:
    """That a list has more or fewer than the award years, which may be cut into more than the
    grant has."""
    has = f"{number} {what}{'' if number == 1 else 's'}"
    kind = "" if cut == "start" else f"{cut} "
    told = "" if cut == "start" else f' (award_years = "{cut}")'
    said = f"{years} {kind}year{'' if years == 1 else 's'}{told}"
    return f"has {has} for {said}: write one for each"


def _check_experiment(grant: Grant, place: str, experiment: GrantExperiment) -> None:
    by, not_before, end = experiment.by, experiment.not_before, grant.year_dates[-1]
    for key, day in (("by", by), ("not_before", not_before)):
        if day is not None and not grant.start <= day <= end:
            raise wrong(
                grant.file,
                f"{place}.{key}",
                f"{day} is outside the grant, which runs from {grant.start} to {end}",
            )
        if day is not None and experiment.each_year:
            raise wrong(
                grant.file,
                f"{place}.{key}",
                "an experiment of each year ends with its year: remove one of the two",
            )
    if by and not_before and by <= not_before:
        raise wrong(grant.file, f"{place}.by", f"{by} is not after not_before, {not_before}")


def _check_orders(grant: Grant) -> None:
    """The days of orders, and whether the threshold of the rules holds on them by then."""
    for day in grant.order_on or ():
        if not grant.start <= day < grant.end:
            problem = f"{day} is outside the grant, from {grant.start} to {grant.end}"
            raise wrong(grant.file, "purchases.order_on", problem)
    if grant.order_on is not None and grant.order_every_months != 12:
        problem = "stands beside order_every_months, and only one can count: remove one of the two"
        raise wrong(grant.file, "purchases.order_on", problem)
    since = grant.institution.threshold_valid_from
    first = grant.start if grant.order_on is None else grant.order_on[0]
    if grant.buy and since is not None and first < since:
        usd = grant.institution.equipment_threshold_usd
        problem = (
            f"its equipment threshold of ${usd:,.0f} holds from {since}, and machines may be "
            f"ordered from {first}: name rules whose threshold holds then, or your own file"
        )
        raise wrong(grant.file, "institution.rules", problem)


def _check_shared(grant: Grant) -> None:
    """A sum that others pay stands against the whole cost. Raises InputError."""
    years = len(grant.year_dates) - 1
    if grant.shared_year_usd is not None and len(grant.shared_year_usd) != years:
        problem = one_for_each(len(grant.shared_year_usd), "amount", years, grant.award_years)
        raise wrong(grant.file, "budget.shared_per_year", problem)
    if grant.shared_by is not None and not grant.shared_usd:
        problem = "names who pays, but no sum is there: write shared, what they pay in all"
        raise wrong(grant.file, "budget.shared_by", problem)
    if not grant.shared_usd:
        return
    if grant.shared_by is None:
        problem = "must say who pays the shared sum: write their name"
        raise wrong(grant.file, "budget.shared_by", problem)
    if not funder_form(grant.funder).names_cost_share:
        problem = (
            f"{grant.funder} prohibits voluntary cost sharing, so no budget of it may name this "
            "sum: remove it, or write purchases.cost_share, which stays out of what is sent"
        )
        raise wrong(grant.file, "budget.shared", problem)
    if grant.year_budget_usd is not None and grant.shared_year_usd is None:
        problem = (
            "does not say in which year it is paid, and per_year gives each year money of its "
            "own: write shared_per_year, one sum for each year"
        )
        raise wrong(grant.file, "budget.shared", problem)


def check_terms(grant: Grant) -> None:
    """Raises InputError."""
    years = len(grant.year_dates) - 1
    _check_orders(grant)
    by_year = grant.utilisation_by_year
    if by_year is not None and len(by_year) != years:
        problem = one_for_each(len(by_year), "share", years, grant.award_years)
        raise wrong(grant.file, "running.utilisation_by_year", problem)
    if by_year is not None and grant.utilisation != 1:
        problem = "stands beside utilisation, and only one can count: remove one of the two"
        raise wrong(grant.file, "running.utilisation_by_year", problem)
    if grant.lifetime_years is not None and grant.institution.equipment_as == "depreciated":
        problem = (
            f"the rules of {grant.institution.name} pay what machines lose in value, which is all "
            "that counts: remove this key, and write life_months under [institution]"
        )
        raise wrong(grant.file, "purchases.lifetime_years", problem)
    if grant.cost_share_by is not None and not grant.cost_share:
        problem = "pays nothing: write cost_share, as 0.5 for half of every machine"
        raise wrong(grant.file, "purchases.cost_share_by", problem)
    if grant.cost_share and grant.cost_share_by is None:
        problem = "somebody must pay it: write cost_share_by with their name"
        raise wrong(grant.file, "purchases.cost_share_by", problem)
    for number, owned in enumerate(grant.owned, start=1):
        if owned.usable_from is not None and owned.usable_from >= grant.end:
            problem = (
                f"{owned.usable_from} is after the grant, which ends on {grant.end}: mend the day, "
                "or leave these machines out"
            )
            raise wrong(grant.file, f"owned[{number}].usable_from", problem)
    _check_shared(grant)
    names: set[str] = set()
    for number, cost in enumerate(grant.costs, start=1):
        place = f"costs[{number}]"
        if (cost.amount is None) == (cost.share_of_price is None):
            has = "has both" if cost.amount is not None else "has neither"
            problem = f"needs either amount or share_of_price, and {has}"
            raise wrong(grant.file, place, problem)
        if cost.share_of_price is not None and cost.per != "machine":
            problem = 'a share of the price is paid for each machine: write per = "machine"'
            raise wrong(grant.file, f"{place}.per", problem)
        if cost.price_change and cost.per != "year":
            problem = 'is for an amount of every year: write per = "year"'
            raise wrong(grant.file, f"{place}.price_change", problem)
        if cost.per == "machine" and (cost.overhead.rate is not None or not cost.overhead.charged):
            problem = "what is paid with a machine bears overhead as that does: remove this key"
            raise wrong(grant.file, f"{place}.overhead", problem)
        if cost.per != "grant" and cost.year != 1:
            problem = 'is for what is paid once: write per = "grant"'
            raise wrong(grant.file, f"{place}.year", problem)
        if cost.year > years:
            raise wrong(grant.file, f"{place}.year", f"must be a whole number from 1 to {years}")
    for number, allocation in enumerate(grant.allocations, start=1):
        place = f"allocations[{number}]"
        if allocation.name in names:
            problem = f"'{allocation.name}' is there twice: give each its own name"
            raise wrong(grant.file, f"{place}.name", problem)
        names.add(allocation.name)
        lasts = allocation.lasts_years
        if lasts is not None and lasts < grant.years:
            problem = f"must be at least {grant.years}: a share that ends before the grant is not "
            raise wrong(grant.file, f"{place}.lasts_years", f"{problem}planned with")
        first, last = allocation.starts, allocation.ends
        for key, day in (("starts", first), ("ends", last)):
            if day is not None and not grant.start <= day <= grant.end:
                problem = f"{day} is outside the grant, from {grant.start} to {grant.end}"
                raise wrong(grant.file, f"{place}.{key}", problem)
        if first and last and last <= first:
            raise wrong(grant.file, f"{place}.ends", f"{last} is not after starts, {first}")
