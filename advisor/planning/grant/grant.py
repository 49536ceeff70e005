"""Reads grant.toml: what is wanted, by when, with which money and under which rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

from advisor.parse import InputError, PriceRule, parse_price_rule
from advisor.planning.grant.checked_toml import Amount, exact, read_toml, wrong
from advisor.planning.grant.currency import CALLED_DOLLARS, DOLLARS, Currency, find_currency
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_file import (
    AwardYears,
    BudgetTable,
    CostLine,
    ElectricityTable,
    Funder,
    GrantAllocation,
    GrantExperiment,
    GrantFile,
    Owned,
    RentalKind,
)
from advisor.planning.grant.institution import NO_RULES, Institution, find_institution
from advisor.planning.grant.own_rules import with_mean_rate, with_own_rules
from advisor.planning.grant.programmes import AllocationValue, values_of
from advisor.planning.solver.problem import Objective
from advisor.ranking.times import EvidenceRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A grant as its file has it; amounts in US dollars."""

    file: str
    title: str
    start: date
    years: int
    objective: Objective
    budget_usd: Decimal | None
    year_budget_usd: tuple[Decimal, ...] | None
    carry_over: bool
    evidence: EvidenceRule
    predictions: bool
    """Whether times that nobody measured may be planned with."""
    prices: PriceRule
    experiments: tuple[GrantExperiment, ...]
    owned: tuple[Owned, ...]
    buy: bool
    buy_gpus: tuple[str, ...] | None
    buy_years: tuple[int, ...] | None
    max_machines: int | None
    lead_days: int
    lifetime_years: Decimal | None
    rent: bool
    rent_gpus: tuple[str, ...] | None
    rent_kinds: tuple[RentalKind, ...]
    rent_providers: tuple[str, ...] | None
    utilisation: Decimal
    queue_days: Decimal
    usd_per_kwh: Decimal | None
    pue: Decimal
    host_watts: Decimal
    electricity_source: str | None
    institution: Institution
    funder: Funder = "plain"
    award_years: AwardYears = "start"
    currency: Currency = DOLLARS
    """Of the grant's own amounts."""
    vat: Decimal = Decimal(0)
    """Value-added tax on hardware and rent, as a share of the price without it."""
    order_every_months: int = 12
    """Orders may be placed on the first day of a year, or every so many months."""
    price_change: Decimal = Decimal(0)
    """Of hardware a year, as a share."""
    rent_change: Decimal = Decimal(0)
    electricity_change: Decimal = Decimal(0)
    order_on: tuple[date, ...] | None = None
    """The days on which machines may be ordered, where they are given one by one."""
    educational_discount: Decimal = Decimal(0)
    cost_share: Decimal = Decimal(0)
    """Share of every machine that ``cost_share_by`` pays."""
    cost_share_by: str | None = None
    utilisation_by_year: tuple[Decimal, ...] | None = None
    """``utilisation`` is then their mean."""
    slack: Decimal = Decimal(0)
    """Share of the days before every deadline that is kept free of runs."""
    longest_run_days: Decimal | None = None
    failures: Decimal = Decimal(0)
    """Share of a run that is trained again."""
    share_gpus: bool = False
    """Whether a run may take some of a machine's GPUs, and leave the others to another run."""
    network_gbit: Decimal | None = None
    """Between two machines; given, a run may take two, by a predicted scaling."""
    allocations: tuple[GrantAllocation, ...] = ()
    allocation_values: tuple[AllocationValue, ...] = ()
    """What they are planned with, each with its source."""
    costs: tuple[CostLine, ...] = ()
    pays_electricity: bool = False
    shared_usd: Decimal = Decimal(0)
    """What ``shared_by`` pays of all costs."""
    shared_by: str | None = None
    shared_year_usd: tuple[Decimal, ...] | None = None
    """The same of each award year, where the years have money of their own."""
    stated: Mapping[str, Decimal] = field(default_factory=dict)
    """Amounts and the price of a kWh as the file has them, in the grant's currency, by their place:
    in US dollars and back they could be another."""

    @property
    def charges_overhead(self) -> bool:
        """Whether anything of it bears overhead, by the institution's rates or a line's own."""
        return self.institution.charges_overhead or any(c.overhead.rate for c in self.costs)

    @property
    def shared_reach(self) -> Decimal:
        """How much further the budget reaches with each dollar that others pay: not where they pay
        the institution's part, and further where the funder adds to what it pays."""
        form = funder_form(self.funder)
        if form.pays is not None:
            return Decimal(0)
        return 1 + self.institution.overhead_rate if form.adds_indirect else Decimal(1)

    @property
    def end(self) -> date:
        """The day after the last."""
        return _later(self.start, self.years)

    @property
    def anniversaries(self) -> tuple[date, ...]:
        """The first day of each twelve months of the grant, and the day after the last."""
        return tuple(_later(self.start, years) for years in range(self.years + 1))

    @property
    def year_dates(self) -> tuple[date, ...]:
        """The first day of each award year, and the day after the last."""
        if self.award_years == "start":
            return self.anniversaries
        month, day = (1, 1)
        if self.award_years == "fiscal":
            month, day = self.institution.fiscal_year_start
        cuts = [date(year, month, day) for year in range(self.start.year, self.end.year + 1)]
        return (self.start, *(cut for cut in cuts if self.start < cut < self.end), self.end)


def _later(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February
        return date(day.year + years, 3, 1)


def read_grant(path: Path, today: date | None = None) -> Grant:
    """A grant from its file; with ``today``, none whose prices or rates are of a day to come.
    Raises InputError, in one line with file and key."""
    instead = "give the path of a grant file, or write one: advisor plan --example > grant.toml"
    grant = grant_of(read_toml(path, GrantFile, instead), path)
    if today is not None:
        check_days(grant, today)
    return grant


def check_days(grant: Grant, today: date) -> None:
    """Nobody knows a rate or a price of a day to come. Raises InputError."""
    days = [("budget.usd_per_unit_on", grant.currency.on, "rate")]
    for n, asked in enumerate(grant.allocations, start=1):
        days.append((f"allocations[{n}].buy_in_on", asked.buy_in_on, "price"))
    for place, day, what in days:
        if day is not None and day > today:
            problem = f"{day} is in the future: write the day of a {what} that is known"
            raise wrong(grant.file, place, problem)


def grant_of(file: GrantFile, path: Path) -> Grant:
    """A grant from the tables of its file. Raises InputError."""
    general, buy, rent, power = file.grant, file.purchases, file.rentals, file.electricity
    # A funder with a flat rate of its own is asked by it where nobody names other rules.
    rules = file.institution.rules or funder_form(general.funder).rules
    institution = NO_RULES if rules is None else find_institution(rules, path)
    currency = _currency(path.name, file.budget, institution)
    asked = file.budget.currency is not None or file.institution.rules is not None
    if not asked and any(amount.in_dollars for _, amount in _amounts(file)):
        currency = DOLLARS  # whatever the funder's own rules are in
    institution = with_own_rules(path.name, institution, file.institution, currency)
    if institution.equipment_threshold is not None and currency.code == institution.currency:
        threshold = currency.to_usd(institution.equipment_threshold)
        institution = replace(institution, equipment_threshold_usd=threshold)
    budget, per_year = file.budget.total, file.budget.per_year
    _check_signs(path.name, file, currency)
    running = file.running
    found = Grant(
        file=path.name,
        title=path.stem if general.title is None else general.title,
        start=general.start,
        years=general.years,
        objective=general.objective,
        budget_usd=None if budget is None else currency.to_usd(budget),
        year_budget_usd=None
        if per_year is None
        else tuple(currency.to_usd(amount) for amount in per_year),
        carry_over=file.budget.carry_over,
        evidence=file.evidence.times,
        predictions=file.evidence.predictions,
        prices=parse_price_rule(file.evidence.prices),
        experiments=file.experiments,
        owned=file.owned,
        buy=buy.allowed,
        buy_gpus=buy.gpus,
        buy_years=None if buy.years is None else tuple(year - 1 for year in sorted(set(buy.years))),
        max_machines=buy.max_machines,
        lead_days=int(buy.lead_days),
        lifetime_years=None if buy.lifetime_years is None else exact(buy.lifetime_years),
        rent=rent.allowed,
        rent_gpus=rent.gpus,
        rent_kinds=rent.kinds,
        rent_providers=rent.providers,
        utilisation=exact(running.utilisation),
        queue_days=exact(running.queue_days),
        usd_per_kwh=_electricity(path.name, power, currency),
        pue=exact(power.pue),
        host_watts=exact(power.host_watts),
        electricity_source=power.source,
        institution=institution,
        funder=general.funder,
        award_years=general.award_years,
        currency=currency,
        vat=exact(file.budget.vat),
        order_every_months=buy.order_every_months,
        price_change=exact(buy.price_change),
        rent_change=exact(rent.price_change),
        electricity_change=exact(power.price_change),
        order_on=None if buy.order_on is None else tuple(sorted(set(buy.order_on))),
        educational_discount=exact(buy.educational_discount),
        cost_share=exact(buy.cost_share),
        cost_share_by=buy.cost_share_by,
        utilisation_by_year=None
        if running.utilisation_by_year is None
        else tuple(exact(share) for share in running.utilisation_by_year),
        slack=exact(running.slack),
        longest_run_days=exact(running.longest_run_days),
        failures=exact(running.failures),
        share_gpus=running.share_gpus,
        network_gbit=None if running.network_gbit is None else exact(running.network_gbit),
        costs=file.costs,
        pays_electricity=power.paid_by != "institution" and power != ElectricityTable(),
        shared_usd=_shared_usd(path.name, file.budget, currency),
        shared_year_usd=None
        if file.budget.shared_per_year is None
        else tuple(currency.to_usd(amount) for amount in file.budget.shared_per_year),
        shared_by=file.budget.shared_by,
        stated={} if currency.code == "USD" else _stated(file),
    )
    _check(found)
    house = with_mean_rate(path.name, institution, found.year_dates)
    found = replace(found, institution=house)
    allocations, values = values_of(path.name, file.allocations, found.year_dates)
    found = replace(found, allocations=allocations, allocation_values=values)
    _check_terms(found)
    return replace(found, utilisation=_mean_utilisation(found))


def _shared_usd(file: str, budget: BudgetTable, currency: Currency) -> Decimal:
    """What others pay in all years. Raises InputError."""
    by_year = budget.shared_per_year
    if by_year is None:
        return currency.to_usd(budget.shared or Decimal(0))
    if budget.shared is not None:
        raise wrong(file, "budget.shared_per_year", "is there with shared: remove one of the two")
    return sum((currency.to_usd(amount) for amount in by_year), Decimal(0))


def _mean_utilisation(grant: Grant) -> Decimal:
    """The one there is, or the mean over the days of the years."""
    shares = grant.utilisation_by_year
    if shares is None:
        return grant.utilisation
    spans = [(b - a).days for a, b in pairwise(grant.year_dates)]
    total = sum((s * d for s, d in zip(shares, spans, strict=True)), Decimal(0))
    return (total / sum(spans)).quantize(Decimal("0.000001")).normalize()


def _currency(file: str, budget: BudgetTable, institution: Institution) -> Currency:
    """The grant's own, or its institution's. Raises InputError."""
    rate = None if budget.usd_per_unit is None else exact(budget.usd_per_unit)
    if budget.currency is not None:
        return find_currency(
            file, budget.currency, rate, budget.usd_per_unit_on, budget.rate_source
        )
    if rate is not None:
        raise wrong(file, "budget.usd_per_unit", 'needs a currency: write currency = "EUR"')
    if institution.currency == "USD":
        return DOLLARS
    return Currency(
        code=institution.currency,
        usd_per_unit=institution.usd_per_unit,
        on=institution.usd_per_unit_on,
        source=institution.sources.get("usd_per_unit", institution.file),
    )


def _check_signs(name: str, file: GrantFile, currency: Currency) -> None:
    """A dollar sign in a grant in euros is a mistake of somebody's. Raises InputError."""
    for place, amount in _amounts(file):
        if amount.in_dollars and currency.code not in CALLED_DOLLARS:
            problem = f"is in dollars, and the grant is in {currency.code}: write the number alone"
            raise wrong(name, place, problem)


def _amounts(file: GrantFile) -> list[tuple[str, Amount]]:
    """What is in the grant's currency, each with its place."""
    years = enumerate(file.budget.per_year or (), start=1)
    theirs = enumerate(file.budget.shared_per_year or (), start=1)
    allocations = enumerate(file.allocations, start=1)
    amounts = [
        ("budget.total", file.budget.total),
        ("budget.shared", file.budget.shared),
        *((f"budget.per_year[{n}]", amount) for n, amount in years),
        *((f"budget.shared_per_year[{n}]", amount) for n, amount in theirs),
        *((f"costs[{n}].amount", cost.amount) for n, cost in enumerate(file.costs, start=1)),
        *((f"allocations[{n}].buy_in", each.buy_in) for n, each in allocations),
        ("institution.equipment_threshold", file.institution.equipment_threshold),
    ]
    return [(place, amount) for place, amount in amounts if amount is not None]


def _stated(file: GrantFile) -> dict[str, Decimal]:
    stated = {place: Decimal(amount) for place, amount in _amounts(file)}
    if file.electricity.price_per_kwh is not None:
        stated["electricity.usd_per_kwh"] = exact(file.electricity.price_per_kwh)
    if "institution.equipment_threshold" in stated:
        stated["institution.equipment_threshold_usd"] = stated["institution.equipment_threshold"]
    return stated


def _electricity(file: str, power: ElectricityTable, currency: Currency) -> Decimal | None:
    """Price per kWh, None where the grant is not charged."""
    if power.paid_by == "institution" or power == ElectricityTable():
        return None
    if power.price_per_kwh is not None:
        if power.usd_per_kwh is not None:
            problem = "is there with usd_per_kwh: remove one of the two"
            raise wrong(file, "electricity.price_per_kwh", problem)
        return currency.rate_usd(power.price_per_kwh)
    if power.usd_per_kwh is None:
        raise wrong(file, "electricity.usd_per_kwh", "must be a number above 0 and at most 10")
    return exact(power.usd_per_kwh)


def _check(grant: Grant) -> None:
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
            _one_for_each(len(amounts), "amount", years),
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


def _one_for_each(number: int, what: str, years: int) -> str:
    has = f"{number} {what}{'' if number == 1 else 's'}"
    return f"has {has} for {years} year{'' if years == 1 else 's'}: write one for each"


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
        problem = "is there with order_every_months: remove one of the two"
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
    if grant.shared_by is not None and not grant.shared_usd:
        problem = "is there without a sum: write shared, what they pay in all"
        raise wrong(grant.file, "budget.shared_by", problem)
    if not grant.shared_usd:
        return
    if grant.shared_by is None:
        problem = "must say who pays the sum in shared: write their name"
        raise wrong(grant.file, "budget.shared_by", problem)
    if not funder_form(grant.funder).names_cost_share:
        problem = (
            f"{grant.funder} prohibits voluntary cost sharing, so no budget of it may name this "
            "sum: remove it, or write purchases.cost_share, which stays out of what is sent"
        )
        raise wrong(grant.file, "budget.shared", problem)
    years = len(grant.year_dates) - 1
    if grant.shared_year_usd is not None and len(grant.shared_year_usd) != years:
        problem = _one_for_each(len(grant.shared_year_usd), "amount", years)
        raise wrong(grant.file, "budget.shared_per_year", problem)
    if grant.year_budget_usd is not None and grant.shared_year_usd is None:
        problem = (
            "does not say in which year it is paid, and per_year gives each year money of its "
            "own: write shared_per_year, one sum for each year"
        )
        raise wrong(grant.file, "budget.shared", problem)


def _check_terms(grant: Grant) -> None:
    """Raises InputError."""
    years = len(grant.year_dates) - 1
    _check_orders(grant)
    by_year = grant.utilisation_by_year
    if by_year is not None and len(by_year) != years:
        problem = _one_for_each(len(by_year), "share", years)
        raise wrong(grant.file, "running.utilisation_by_year", problem)
    if by_year is not None and grant.utilisation != 1:
        problem = "is there with utilisation: remove one of the two"
        raise wrong(grant.file, "running.utilisation_by_year", problem)
    if grant.cost_share_by is not None and not grant.cost_share:
        problem = "pays nothing: write cost_share, as 0.5 for half of every machine"
        raise wrong(grant.file, "purchases.cost_share_by", problem)
    if grant.cost_share and grant.cost_share_by is None:
        problem = "somebody must pay it: write cost_share_by with their name"
        raise wrong(grant.file, "purchases.cost_share_by", problem)
    _check_shared(grant)
    names: set[str] = set()
    for number, cost in enumerate(grant.costs, start=1):
        place = f"costs[{number}]"
        if (cost.amount is None) == (cost.share_of_price is None):
            raise wrong(grant.file, place, "needs either amount or share_of_price")
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
