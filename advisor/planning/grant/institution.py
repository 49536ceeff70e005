"""The money rules of an institution: a small TOML file in which each setting has its source.

They are settings with their meaning, none of them is advice.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Literal

from msgspec import Struct, structs

from advisor.planning.currency import DOLLARS, Currency, shipped_rates
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
        for row in rows_of("grant_key_meanings.csv")
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
    sources: dict[str, Line] = {}
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


def read_currency(
    file: str, table: str, name: str, rate: Decimal | None, on: date | None, source: str | None
) -> Currency:
    """A currency with a rate of one's own and its day, or a shipped one. Raises InputError."""
    code, known, place = name.upper(), shipped_rates(), f"{table}usd_per_unit"
    if not (len(code) == 3 and code.isascii() and code.isalpha()):
        raise wrong(file, f"{table}currency", f"{shown(code)} is not a code: write EUR or GBP")
    if code == "USD":
        if rate not in (None, 1):
            raise wrong(file, place, "US dollars need no rate: remove this key")
        return DOLLARS
    if rate is None:
        if code in known:
            return known[code]
        ships = f"no rate of {code} ships (only {', '.join(sorted(known))})"
        mend = "write usd_per_unit and usd_per_unit_on"
        raise wrong(file, f"{table}currency", f"{ships}: {mend}")
    if on is None:
        raise wrong(file, f"{place}_on", "a rate needs its day: write 2026-09-25")
    if (slip := rate_problem(code, rate)) is not None:
        raise wrong(file, place, slip)
    return Currency(code=code, usd_per_unit=rate, on=on, source=source)


def read_institution(path: Path) -> Institution:
    """Rules from a file. Raises InputError."""
    instead = f"give rules as a file beside the grant, or shipped ones: {', '.join(shipped())}"
    file = read_toml(path, RulesFile, instead)
    usd = file.equipment_threshold_usd
    sources = dict(file.sources)
    if "equipment_threshold_usd" in sources:
        sources["equipment_threshold"] = sources.pop("equipment_threshold_usd")
    for key in sources.keys() - meanings("institution").keys():
        problem = f"this key is not known; {nearest(key, meanings('institution'))}"
        raise wrong(path.name, f"sources.{key}", problem)
    rate, on = file.usd_per_unit, file.usd_per_unit_on
    money = read_currency(path.name, "", file.currency, rate, on, sources.get("usd_per_unit"))
    if file.equipment_as == "depreciated" and file.life_months is None:
        problem = "equipment that is depreciated needs it: write life_months = 60"
        raise wrong(path.name, "life_months", problem)
    if (usd is None) == (file.equipment_threshold is None):
        problem = "write it, or equipment_threshold in the currency of these rules, one of the two"
        raise wrong(path.name, "equipment_threshold_usd", problem)
    if money.source is not None:
        sources.setdefault("usd_per_unit", Line(money.source))
    found = structs.asdict(file) | {
        "file": path.name,
        "currency": money.code,
        "equipment_threshold": file.equipment_threshold if usd is None else usd,
        "threshold_in": money.code if usd is None else "USD",
        "usd_per_unit": money.usd_per_unit,
        "usd_per_unit_on": money.on,
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
