"""The money rules of an institution: a small TOML file in which each setting has its source.

They are settings with their meaning, none of them is advice.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal

from msgspec import Struct, structs

from advisor.planning.currency import shipped_rates
from advisor.planning.grant.funder import FunderForm
from advisor.planning.grant.grant_keys import CloudAs, Procurement, Rate, UsdPerUnit, YearStart
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


class RulesFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The keys of a file of rules."""

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
    fiscal_year_start: YearStart = YearStart((1, 1))
    currency: Line = Line("USD")
    procurement: Procurement = Procurement()
    usd_per_unit: UsdPerUnit | None = None
    usd_per_unit_on: date | None = None
    sources: dict[str, Any] = {}
    """Where each setting comes from."""


class Institution(RulesFile, frozen=True, kw_only=True):
    """How one institution charges a grant."""

    file: str = ""
    equipment_threshold: Decimal = Decimal(0)
    """In ``threshold_in``; of the institution of a grant in the grant's currency."""
    threshold_in: str = "USD"
    overhead_rate: Decimal = Decimal(0)
    overhead_rate_by_year: tuple[Decimal, ...] | None = None
    """Of each award year; ``overhead_rate`` is then their mean."""
    usd_per_unit: Decimal = Decimal(1)

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


def _problems(file: RulesFile, currency: str) -> Iterator[tuple[str, str]]:
    """The keys that do not go with others, and what is wrong."""
    rate = file.usd_per_unit
    if rate is not None and (slip := rate_problem(currency, rate)):
        yield "usd_per_unit", slip
    if currency == "USD" and rate is not None:
        yield "usd_per_unit", "US dollars need no exchange rate: remove this key"
    if file.equipment_as == "depreciated" and file.life_months is None:
        yield "life_months", "equipment that is depreciated needs it: write life_months = 60"
    if (file.equipment_threshold_usd is None) == (file.equipment_threshold is None):
        problem = "write it, or equipment_threshold in the currency of these rules, one of the two"
        yield "equipment_threshold_usd", problem


def read_institution(path: Path) -> Institution:
    """Rules from a file. Raises InputError."""
    instead = f"give rules as a file beside the grant, or shipped ones: {', '.join(shipped())}"
    file = read_toml(path, RulesFile, instead)
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
    for key, problem in _problems(file, currency):
        raise wrong(path.name, key, problem)
    threshold, code = file.equipment_threshold, currency
    if threshold is None:
        threshold, code = file.equipment_threshold_usd, "USD"
    found = structs.asdict(file) | {
        "file": path.name,
        "currency": currency,
        "equipment_threshold": threshold,
        "threshold_in": code,
        "usd_per_unit": per_unit,
        "usd_per_unit_on": file.usd_per_unit_on if known is None else known.on,
        "sources": sources,
    }
    return Institution(**found)


NO_RULES = Institution(name=Line("no rules given"), note=Line("No overhead is charged."))
"""What holds where a grant names no institution."""


def without_rules(form: FunderForm) -> Institution:
    """What holds for a funder then; a threshold of its regulations counts."""
    if form.threshold_usd is None:
        return NO_RULES
    source = {"equipment_threshold": str(form.sources["threshold"])}
    return structs.replace(NO_RULES, equipment_threshold=form.threshold_usd, sources=source)
