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
from advisor.planning.grant.institution import NO_RULES, Institution, find_institution
from advisor.planning.solver.problem import Objective
from advisor.ranking.times import EvidenceRule

MAX_YEARS = 15
RentalKind = Literal["on-demand", "spot"]
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


class _Budget(_Table, frozen=True):
    total: Amount | None = None
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


class _Rentals(_Table, frozen=True):
    allowed: bool = True
    gpus: Names | None = None
    kinds: Annotated[tuple[RentalKind, ...], Meta(min_length=1)] = ("on-demand",)
    providers: Names | None = None


class _Running(_Table, frozen=True):
    utilisation: Annotated[float, Meta(gt=0, le=1)] = 1.0
    queue_days: QueueDays = QueueDays(0)


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

    @property
    def year_dates(self) -> tuple[date, ...]:
        """The first day of each year of the grant, and the day after the last."""
        return tuple(_later(self.start, years) for years in range(self.years + 1))


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
    budget, per_year = file.budget.total, file.budget.per_year
    found = Grant(
        file=path.name,
        title=path.stem if general.title is None else general.title,
        start=general.start,
        years=general.years,
        objective=general.objective,
        budget_usd=None if budget is None else _to_usd(budget, institution),
        year_budget_usd=None
        if per_year is None
        else tuple(_to_usd(amount, institution) for amount in per_year),
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
        utilisation=exact(file.running.utilisation),
        queue_days=exact(file.running.queue_days),
        usd_per_kwh=_electricity(path.name, power),
        pue=exact(power.pue),
        host_watts=exact(power.host_watts),
        electricity_source=power.source,
        institution=institution,
    )
    _check(found)
    return found


def _to_usd(amount: Decimal, institution: Institution) -> Decimal:
    return (amount * institution.usd_per_unit).quantize(Decimal("0.01"))


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
    if amounts is not None and len(amounts) != grant.years:
        raise wrong(
            grant.file,
            "budget.per_year",
            f"has {len(amounts)} amounts for {grant.years} years: write one for each",
        )
    if grant.buy_years and grant.buy_years[-1] >= grant.years:
        raise wrong(
            grant.file,
            "purchases.years",
            f"must be a list of whole numbers from 1 to {grant.years}",
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
