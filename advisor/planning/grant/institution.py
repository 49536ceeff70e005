"""The money rules of an institution: a small TOML file in which each setting has its source.

They are settings with their meaning, none of them is advice.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Struct, structs

from advisor.planning.currency import shipped_rates
from advisor.planning.grant.funder import FunderForm
from advisor.planning.grant.grant_keys import CloudAs, Procurement, Rate, UsdPerUnit
from advisor.planning.grant.toml_reader import Limits, Line, read_toml, wrong
from advisor.typed_input import shown
from price_catalog.csv_table import nearest
from price_catalog.currencies import rate_problem

EquipmentAs = Literal["bought", "depreciated"]
FOLDER = Path(__file__).with_name("institutions")


@cache
def rows_of(name: str) -> list[Mapping[str, str]]:
    """A table of this folder, such as ``bid_thresholds.csv``."""
    with (FOLDER.parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def meanings(table: str) -> dict[str, tuple[str, str]]:
    """What the settings of a table of the grant mean, by key: unit and words."""
    return {
        row["key"].removeprefix(f"{table}."): (row["unit"], row["meaning"])
        for row in rows_of("setting_words.csv")
        if row["key"].startswith(table)
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Institution:
    """How one institution charges a grant."""

    name: str
    file: str
    note: str | None
    equipment_threshold: Decimal
    """In ``threshold_in``; of the institution of a grant in the grant's currency."""
    overhead_rate: Decimal
    equipment_in_base: bool
    fabrication_is_equipment: bool
    cloud_as: CloudAs
    electricity_in_base: bool
    fiscal_year_start: tuple[int, int]
    """Month and day."""
    currency: str
    usd_per_unit: Decimal
    usd_per_unit_on: date | None = None
    threshold_in: str = "USD"
    threshold_valid_from: date | None = None
    overhead_rate_cloud: Decimal | None = None
    overhead_rate_electricity: Decimal | None = None
    overhead_rate_by_year: tuple[Decimal, ...] | None = None
    """Of each award year; ``overhead_rate`` is then their mean."""
    equipment_as: EquipmentAs = "bought"
    life_months: int | None = None
    use_share: Decimal = Decimal(1)
    rent_up_to_depreciation: bool = False
    procurement: Procurement = field(default_factory=Procurement)
    sources: dict[str, str] = field(default_factory=dict)
    """Where each setting comes from."""

    @property
    def charges_overhead(self) -> bool:
        """Whether any of its rates is above 0."""
        rates = (self.overhead_rate, self.overhead_rate_cloud, self.overhead_rate_electricity)
        return any((*rates, *(self.overhead_rate_by_year or ())))

    @property
    def cloud_in_base(self) -> bool:
        """Whether overhead is charged on rented computers."""
        return self.cloud_as == "service"


def shipped() -> list[str]:
    """The names of the rules that come with the program."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def rules_in(currency: str) -> list[Institution]:
    """The shipped rules whose amounts are in a currency."""
    every = (read_institution(FOLDER / f"{name}.toml") for name in shipped())
    return [house for house in every if house.currency == currency]


def find_institution(name: str, grant: Path) -> Institution:
    """Shipped rules by name, or a file (relative to the grant's). Raises InputError."""
    if name.endswith(".toml"):
        return read_institution(grant.parent / name)
    if name not in shipped():
        raise wrong(
            grant.name,
            "institution.rules",
            f"{shown(name)} is neither a .toml file nor shipped; {nearest(name, shipped())}",
        )
    return read_institution(FOLDER / f"{name}.toml")


class _RulesFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of the file."""

    name: Line
    note: Line | None = None
    equipment_threshold_usd: Annotated[Decimal, Limits(0, 1_000_000)] | None = None
    equipment_threshold: Annotated[Decimal, Limits(0, 100_000_000)] | None = None
    overhead_rate: Rate
    equipment_in_base: bool = False
    fabrication_is_equipment: bool = True
    cloud_as: CloudAs = "service"
    threshold_valid_from: date | None = None
    overhead_rate_cloud: Rate | None = None
    overhead_rate_electricity: Rate | None = None
    equipment_as: EquipmentAs = "bought"
    life_months: Annotated[int, Limits(1, 600, unit="months")] | None = None
    use_share: Annotated[Decimal, Limits(0, 1, above=True)] = Decimal(1)
    rent_up_to_depreciation: bool = False
    electricity_in_base: bool = True
    fiscal_year_start: Line = Line("01-01")
    currency: Line = Line("USD")
    procurement: Procurement = Procurement()
    usd_per_unit: UsdPerUnit | None = None
    usd_per_unit_on: date | None = None
    sources: dict[str, Any] = {}


def read_institution(path: Path) -> Institution:
    """Rules from a file. Raises InputError."""
    instead = f"give rules as a file beside the grant, or shipped ones: {', '.join(shipped())}"
    file = read_toml(path, _RulesFile, instead)
    sources: dict[str, str] = {}
    for key, source in file.sources.items():
        key = "equipment_threshold" if key == "equipment_threshold_usd" else key
        if key not in meanings("institution"):
            problem = f"this key is not known; {nearest(key, meanings('institution'))}"
            raise wrong(path.name, f"sources.{key}", problem)
        try:
            sources[key] = Line.read(source)
        except ValueError as error:
            raise wrong(path.name, f"sources.{key}", str(error)) from None
    currency, rate = file.currency.upper(), file.usd_per_unit
    known = None if rate is not None else shipped_rates().get(currency)
    if currency != "USD" and known is None and (rate is None or file.usd_per_unit_on is None):
        problem = f"amounts in {shown(currency)} need usd_per_unit and usd_per_unit_on"
        raise wrong(path.name, "currency", problem)
    per_unit = rate or Decimal(1)
    if known is not None:
        per_unit = known.usd_per_unit
        if known.source is not None:
            sources.setdefault("usd_per_unit", known.source)
    if rate is not None and (slip := rate_problem(currency, rate)):
        raise wrong(path.name, "usd_per_unit", slip)
    if currency == "USD" and rate is not None:
        problem = "US dollars need no exchange rate: remove this key"
        raise wrong(path.name, "usd_per_unit", problem)
    if file.equipment_as == "depreciated" and file.life_months is None:
        problem = "equipment that is depreciated needs it: write life_months = 60"
        raise wrong(path.name, "life_months", problem)
    if (file.equipment_threshold_usd is None) == (file.equipment_threshold is None):
        problem = "write it, or equipment_threshold in the currency of these rules, one of the two"
        raise wrong(path.name, "equipment_threshold_usd", problem)
    threshold, code = file.equipment_threshold, currency
    if threshold is None:
        threshold, code = file.equipment_threshold_usd, "USD"
    of_file = structs.asdict(file)
    del of_file["equipment_threshold_usd"]
    of_file |= {
        "fiscal_year_start": month_and_day(path.name, "fiscal_year_start", file.fiscal_year_start),
        "currency": currency,
        "equipment_threshold": threshold,
        "threshold_in": code,
        "usd_per_unit": per_unit,
        "usd_per_unit_on": file.usd_per_unit_on if known is None else known.on,
        "sources": sources,
    }
    return Institution(file=path.name, **of_file)


def month_and_day(file: str, key: str, text: str) -> tuple[int, int]:
    """A day of every year. Raises InputError."""
    try:
        day = date.fromisoformat(f"2027-{text}")
    except ValueError:
        problem = f"{shown(text)} is not a day of the year: write 07-01"
        raise wrong(file, key, problem) from None
    return day.month, day.day


NO_RULES = Institution(
    name="no rules given",
    file="",
    note="No overhead is charged.",
    equipment_threshold=Decimal(0),
    overhead_rate=Decimal(0),
    equipment_in_base=False,
    fabrication_is_equipment=True,
    cloud_as="service",
    electricity_in_base=True,
    fiscal_year_start=(1, 1),
    currency="USD",
    usd_per_unit=Decimal(1),
)
"""What holds where a grant names no institution."""


def without_rules(form: FunderForm) -> Institution:
    """What holds for a funder then; a threshold of its regulations counts."""
    if form.threshold_usd is None:
        return NO_RULES
    return replace(
        NO_RULES,
        equipment_threshold=form.threshold_usd,
        sources={"equipment_threshold": str(form.sources["threshold"])},
    )
