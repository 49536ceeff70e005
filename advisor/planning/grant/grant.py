"""Reads grant.toml: what is wanted, by when, with which money and under which rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct
from msgspec.structs import force_setattr

from advisor.parse import InputError, PriceRule, parse_price_rule
from advisor.planning.grant.checked_toml import (
    Amount,
    AmountOrZero,
    LeadDays,
    LifetimeYears,
    Line,
    QueueDays,
    exact,
    read_toml,
    wrong,
)
from advisor.planning.grant.currency import DOLLARS, Currency, find_currency
from advisor.planning.grant.grant_checks import check_terms
from advisor.planning.grant.institution import NO_RULES, Institution, find_institution
from advisor.planning.solver.problem import Objective
from advisor.ranking.times import EvidenceRule

MAX_YEARS = 15
RentalKind = Literal["on-demand", "spot"]
Funder = Literal["nsf", "nih", "horizon", "dfg", "ukri", "nserc", "plain"]
"""Whose form the report has; ``plain`` is nobody's."""
AwardYears = Literal["start", "calendar", "fiscal"]
"""Years of the grant: from its first day, or cut where a calendar or a fiscal year begins."""
AllocationKind = Literal["campus", "condo", "national", "cloud-credit"]
AllocationOverhead = Literal["none", "service", "rental", "equipment"]
CostKind = Literal["storage", "network", "racks", "warranty", "staff", "other"]
Per = Literal["grant", "year", "machine"]
LONGEST_RUN_DAYS = 90.0
SLACK = 0.15
Share = Annotated[float, Meta(ge=0, le=1)]
Names = Annotated[tuple[Line, ...], Meta(min_length=1)]


class _Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of the file; its fields are the keys that it may have."""


class GrantExperiment(_Table, frozen=True):
    """Runs of one model that somebody wants."""

    model: Line
    name: Line = Line()
    """The model's, unless it has one of its own."""
    runs: Annotated[int, Meta(ge=1, le=10_000)] = 1
    not_before: date | None = None
    by: date | None = None
    each_year: bool = False
    who: Line | None = None
    value: Annotated[int, Meta(ge=1, le=1000)] = 1

    def __post_init__(self) -> None:
        if not self.name:
            force_setattr(self, "name", self.model)


class Owned(_Table, frozen=True):
    """Machines that the lab has."""

    gpu: Line
    gpu_count: Annotated[int, Meta(ge=1, le=64)]
    machines: Annotated[int, Meta(ge=1, le=1000)] = 1
    usable_from: date | None = None
    free_slots: Annotated[int, Meta(ge=0, le=64)] = 0
    """How many more GPUs of the same kind fit into each: its slots, power supply and cooling."""


class _General(_Table, frozen=True):
    start: date
    years: Annotated[int, Meta(ge=1, le=MAX_YEARS)]
    title: Line | None = None
    objective: Objective = "cheapest"
    funder: Funder = "plain"
    award_years: AwardYears = "start"


class CostLine(_Table, frozen=True):
    """What the grant pays beside machines and rent: storage, staff."""

    name: Line
    kind: CostKind
    amount: AmountOrZero | None = None
    """In the grant's currency; or ..."""
    share_of_price: Annotated[float, Meta(gt=0, le=2)] | None = None
    """... of every machine that is bought."""
    per: Per = "grant"
    year: Annotated[int, Meta(ge=1, le=MAX_YEARS)] = 1
    """In which year of the grant, where it is paid once."""
    overhead: bool = True
    source: Line | None = None


class GrantAllocation(_Table, frozen=True):
    """Hours on somebody else's machines that may be used, or may be awarded."""

    name: Line
    gpu: Line
    kind: AllocationKind = "campus"
    max_gpus: Annotated[int, Meta(ge=1, le=1024)] = 8
    """Of one job."""
    gpu_hours_a_year: Annotated[float, Meta(gt=0, le=1e9)] | None = None
    usd_per_gpu_hour: Annotated[float, Meta(ge=0, le=1000)] = 0.0
    max_job_days: Annotated[float, Meta(gt=0, le=365)] | None = None
    queue_days: Annotated[float, Meta(ge=0, le=365)] = 0.0
    """Before each job."""
    odds: Annotated[float, Meta(gt=0, le=1)] = 1.0
    """That it is awarded."""
    overhead: AllocationOverhead = "none"
    starts: date | None = None
    ends: date | None = None
    source: Line | None = None


class _Budget(_Table, frozen=True):
    total: Amount | None = None
    currency: Line | None = None
    usd_per_unit: Annotated[float, Meta(gt=0, le=1_000_000)] | None = None
    usd_per_unit_on: date | None = None
    rate_source: Line | None = None
    vat: Annotated[float, Meta(ge=0, le=0.5)] = 0.0
    per_year: tuple[AmountOrZero, ...] | None = None
    carry_over: bool = True


class _Prices(Line):
    """A price rule; a day may be written without quotes."""

    @classmethod
    def read(cls, value: Any) -> _Prices:
        """Raises ValueError."""
        text = value.isoformat() if isinstance(value, date) else Line.read(value)
        parse_price_rule(text)
        return cls(text)


class _Evidence(_Table, frozen=True):
    times: EvidenceRule = "sound"
    predictions: bool = True
    prices: _Prices = _Prices("latest")


class _Purchases(_Table, frozen=True):
    allowed: bool = True
    gpus: Names | None = None
    years: tuple[Annotated[int, Meta(ge=1, le=MAX_YEARS)], ...] | None = None
    max_machines: Annotated[int, Meta(ge=0, le=10_000)] | None = None
    lead_days: LeadDays = LeadDays(0)
    lifetime_years: LifetimeYears | None = None
    order_every_months: Literal[1, 3, 12] = 12
    price_change: Annotated[float, Meta(ge=-0.9, le=1)] = 0.0
    educational_discount: Annotated[float, Meta(ge=0, le=0.9)] = 0.0
    cost_share: Annotated[float, Meta(ge=0, le=0.99)] = 0.0
    cost_share_by: Line | None = None


class _Rentals(_Table, frozen=True):
    allowed: bool = True
    gpus: Names | None = None
    kinds: Annotated[tuple[RentalKind, ...], Meta(min_length=1)] = ("on-demand",)
    providers: Names | None = None
    price_change: Annotated[float, Meta(ge=-0.9, le=1)] = 0.0


class _Running(_Table, frozen=True):
    utilisation: Annotated[float, Meta(gt=0, le=1)] = 1.0
    utilisation_by_year: tuple[Annotated[float, Meta(gt=0, le=1)], ...] | None = None
    queue_days: QueueDays = QueueDays(0)
    slack: Annotated[float, Meta(ge=0, le=0.9)] = SLACK
    longest_run_days: Annotated[float, Meta(gt=0, le=5475)] = LONGEST_RUN_DAYS
    failures: Share = 0.0
    share_gpus: bool = True
    network_gbit: Annotated[float, Meta(gt=0, le=10_000)] | None = None


class _Electricity(_Table, frozen=True):
    paid_by: Literal["grant", "institution"] = "grant"
    usd_per_kwh: Annotated[float, Meta(gt=0, le=10)] | None = None
    pue: Annotated[float, Meta(ge=1, le=5)] = 1.0
    host_watts: Annotated[float, Meta(ge=0, le=20_000)] = 0.0
    source: Line | None = None


class _Rules(_Table, frozen=True):
    rules: Line | None = None


class _GrantFile(_Table, frozen=True):
    grant: _General
    budget: _Budget = _Budget()
    evidence: _Evidence = _Evidence()
    experiments: tuple[GrantExperiment, ...] = ()
    owned: tuple[Owned, ...] = ()
    purchases: _Purchases = _Purchases()
    rentals: _Rentals = _Rentals()
    running: _Running = _Running()
    electricity: _Electricity = _Electricity()
    institution: _Rules = _Rules()
    allocations: tuple[GrantAllocation, ...] = ()
    costs: tuple[CostLine, ...] = ()


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
    costs: tuple[CostLine, ...] = ()
    pays_electricity: bool = False

    @property
    def end(self) -> date:
        """The day after the last."""
        return _later(self.start, self.years)

    @property
    def year_dates(self) -> tuple[date, ...]:
        """The first day of each award year, and the day after the last."""
        if self.award_years == "start":
            return tuple(_later(self.start, years) for years in range(self.years + 1))
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


def read_grant(path: Path) -> Grant:
    """A grant from its file. Raises InputError, in one line with file and key."""
    instead = "give the path of a grant file, or write one: advisor plan --example > grant.toml"
    file = read_toml(path, _GrantFile, instead)
    general, buy, rent, power = file.grant, file.purchases, file.rentals, file.electricity
    rules = file.institution.rules
    institution = NO_RULES if rules is None else find_institution(rules, path)
    currency = _currency(path.name, file.budget, institution)
    budget, per_year = file.budget.total, file.budget.per_year
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
        usd_per_kwh=_electricity(path.name, power),
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
        allocations=file.allocations,
        costs=file.costs,
        pays_electricity=power.paid_by == "grant" and power != _Electricity(),
    )
    _check(found)
    check_terms(found)
    return found


def _currency(file: str, budget: _Budget, institution: Institution) -> Currency:
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


def _electricity(file: str, power: _Electricity) -> Decimal | None:
    """Price per kWh, None where the grant is not charged."""
    if power.paid_by == "institution" or power == _Electricity():
        return None
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
            f"has {len(amounts)} amounts for {years} years: write one for each",
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
