"""Reads grant.toml: what is asked, by when, with which money and under which rules."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path

from advisor.parse import InputError, PriceRule, parse_price_rule
from advisor.planning.grant.institution import NO_RULES, Institution, find_institution
from advisor.planning.grant.toml_table import TomlTable, read_toml
from advisor.planning.solver.problem import OBJECTIVES
from advisor.ranking.times import EVIDENCE_RULES

MAX_YEARS = 15
RENTAL_KINDS = ("on-demand", "spot")

_TABLES = (
    "grant",
    "budget",
    "evidence",
    "experiments",
    "owned",
    "purchases",
    "rentals",
    "running",
    "electricity",
    "institution",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantExperiment:
    """Runs of one model that somebody wants."""

    name: str
    model: str
    runs: int
    not_before: date | None
    by: date | None
    each_year: bool
    who: str | None
    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Owned:
    """Machines that the lab has."""

    gpu: str
    gpu_count: int
    machines: int
    usable_from: date | None
    free_slots: int
    """How many more GPUs of the same kind fit into each: its slots, power supply and cooling."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A grant as its file has it; amounts in US dollars."""

    file: str
    title: str
    start: date
    years: int
    objective: str
    budget_usd: Decimal | None
    year_budget_usd: tuple[Decimal, ...] | None
    carry_over: bool
    evidence: str
    predictions: bool
    """Whether times that nobody measured may be planned with."""
    prices: str
    asked: tuple[GrantExperiment, ...]
    owned: tuple[Owned, ...]
    buy: bool
    buy_gpus: tuple[str, ...] | None
    buy_years: tuple[int, ...] | None
    max_machines: int | None
    lead_days: int
    lifetime_years: Decimal | None
    rent: bool
    rent_gpus: tuple[str, ...] | None
    rent_kinds: tuple[str, ...]
    rent_providers: tuple[str, ...] | None
    utilisation: Decimal
    queue_days: Decimal
    usd_per_kwh: Decimal | None
    pue: Decimal
    host_watts: Decimal
    electricity_source: str | None
    institution: Institution

    @property
    def price_rule(self) -> PriceRule:
        """The rule that chooses among quotes."""
        return parse_price_rule(self.prices)

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
    root = read_toml(path, instead).only(_TABLES)
    grant = root.table("grant", ("title", "start", "years", "objective"))
    budget = root.table("budget", ("total", "per_year", "carry_over"))
    evidence = root.table("evidence", ("times", "predictions", "prices"))
    buy = root.table(
        "purchases",
        ("allowed", "gpus", "years", "max_machines", "lead_days", "lifetime_years"),
    )
    rent = root.table("rentals", ("allowed", "gpus", "kinds", "providers"))
    running = root.table("running", ("utilisation", "queue_days"))
    power = root.table("electricity", ("usd_per_kwh", "pue", "host_watts", "paid_by", "source"))
    house = root.table("institution", ("rules",))
    institution = (
        find_institution(house.text("rules"), path.parent, house)
        if house.has("rules")
        else NO_RULES
    )
    years = grant.count("years", 1, MAX_YEARS)
    buy_years = buy.wholes("years", 1, years)
    kinds = rent.texts("kinds") or ("on-demand",)
    for kind in kinds:
        if kind not in RENTAL_KINDS:
            raise rent.error("kinds", f"'{kind}' is not known; known: {', '.join(RENTAL_KINDS)}")
    found = Grant(
        file=path.name,
        title=grant.text("title", path.stem),
        start=_start(grant),
        years=years,
        objective=grant.choice("objective", OBJECTIVES, "cheapest"),
        budget_usd=_to_usd(budget.money("total"), institution) if budget.has("total") else None,
        year_budget_usd=_year_budget(budget, years, institution),
        carry_over=budget.flag("carry_over", True),
        evidence=evidence.choice("times", EVIDENCE_RULES, "sound"),
        predictions=evidence.flag("predictions", True),
        prices=_prices(evidence),
        asked=_asked(root),
        owned=_owned(root),
        buy=buy.flag("allowed", True),
        buy_gpus=buy.texts("gpus"),
        buy_years=None if buy_years is None else tuple(year - 1 for year in buy_years),
        max_machines=buy.whole("max_machines", 0, 10_000, needed=False),
        lead_days=buy.count("lead_days", 0, 1000, 0),
        lifetime_years=buy.optional_number("lifetime_years", "0", "50"),
        rent=rent.flag("allowed", True),
        rent_gpus=rent.texts("gpus"),
        rent_kinds=kinds,
        rent_providers=rent.texts("providers"),
        utilisation=running.number("utilisation", "0", "1", "1", above=True),
        queue_days=running.number("queue_days", "0", "365", "0"),
        usd_per_kwh=_electricity(power),
        pue=power.number("pue", "1", "5", "1"),
        host_watts=power.number("host_watts", "0", "20000", "0"),
        electricity_source=power.optional_text("source"),
        institution=institution,
    )
    _check_dates(root, found)
    return found


def _start(grant: TomlTable) -> date:
    start = grant.day("start")
    if not 2000 <= start.year <= 2200:
        raise grant.error("start", f"{start} is not between the years 2000 and 2200")
    return start


def _to_usd(amount: Decimal, institution: Institution) -> Decimal:
    return (amount * institution.usd_per_unit).quantize(Decimal("0.01"))


def _year_budget(
    budget: TomlTable, years: int, institution: Institution
) -> tuple[Decimal, ...] | None:
    if not budget.has("per_year"):
        return None
    amounts = budget.moneys("per_year")
    if len(amounts) != years:
        raise budget.error(
            "per_year", f"has {len(amounts)} amounts for {years} years: write one for each"
        )
    return tuple(_to_usd(amount, institution) for amount in amounts)


def _prices(evidence: TomlTable) -> str:
    value = evidence.values.get("prices", "latest")
    text = value.isoformat() if isinstance(value, date) else evidence.text("prices", "latest")
    try:
        parse_price_rule(text)
    except InputError as error:
        raise evidence.error("prices", str(error)) from None
    return text


def _electricity(power: TomlTable) -> Decimal | None:
    """Price per kWh, None where the grant is not charged."""
    if not power.values:
        return None
    payer = power.choice("paid_by", ("grant", "institution"), "grant")
    if payer == "institution":
        return None
    return power.number("usd_per_kwh", "0", "10", above=True)


def _asked(root: TomlTable) -> tuple[GrantExperiment, ...]:
    found: list[GrantExperiment] = []
    keys = ("name", "model", "runs", "by", "not_before", "each_year", "who", "value")
    for table in root.tables("experiments", keys):
        model = table.text("model")
        name = table.text("name", model)
        if any(other.name == name for other in found):
            raise table.error("name", f"'{name}' is there twice: give each its own name")
        found.append(
            GrantExperiment(
                name=name,
                model=model,
                runs=table.count("runs", 1, 10_000, 1),
                not_before=table.optional_day("not_before"),
                by=table.optional_day("by"),
                each_year=table.flag("each_year", False),
                who=table.optional_text("who"),
                value=table.count("value", 1, 1000, 1),
            )
        )
    if not found:
        raise InputError(
            f"{root.file} asks for no experiment: write [[experiments]] with a model at least"
        )
    return tuple(found)


def _owned(root: TomlTable) -> tuple[Owned, ...]:
    return tuple(
        Owned(
            gpu=table.text("gpu"),
            gpu_count=table.count("gpu_count", 1, 64),
            machines=table.count("machines", 1, 1000, 1),
            usable_from=table.optional_day("usable_from"),
            free_slots=table.count("free_slots", 0, 64, 0),
        )
        for table in root.tables(
            "owned", ("gpu", "gpu_count", "machines", "usable_from", "free_slots")
        )
    )


def _check_dates(root: TomlTable, grant: Grant) -> None:
    end = grant.year_dates[-1]
    for number, asked in enumerate(grant.asked, start=1):
        table = TomlTable(root.file, f"experiments[{number}]", {})
        for key, day in (("by", asked.by), ("not_before", asked.not_before)):
            if day is not None and not grant.start <= day <= end:
                raise table.error(
                    key, f"{day} is outside the grant, which runs from {grant.start} to {end}"
                )
            if day is not None and asked.each_year:
                raise table.error(
                    key, "an experiment of each year ends with its year: remove one of the two"
                )
        if asked.by and asked.not_before and asked.by <= asked.not_before:
            raise table.error("by", f"{asked.by} is not after not_before, {asked.not_before}")
