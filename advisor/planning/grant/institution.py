"""The money rules of an institution: a small TOML file in which each setting has its source.

They are settings with their meaning, none of them is advice.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from pathlib import Path

from advisor.parse import shown
from advisor.planning.grant.toml_table import TomlTable, read_toml
from price_catalog.table import nearest

FOLDER = Path(__file__).with_name("institutions")

MEANINGS = {
    "equipment_threshold_usd": "A machine of at least this price counts as equipment.",
    "overhead_rate": "Indirect cost on each dollar of the base (0.55 is 55 %).",
    "equipment_in_base": "Whether overhead is charged on equipment as well.",
    "fabrication_is_equipment": "Whether a machine put together from parts is judged whole: "
    "true, its total price meets the threshold or not; false, each part by its own price.",
    "cloud_in_base": "Whether overhead is charged on rented computers.",
    "electricity_in_base": "Whether overhead is charged on electricity that the grant pays.",
    "fiscal_year_start": "Month and day on which the fiscal year begins.",
    "currency": "The currency of the grant's amounts.",
    "usd_per_unit": "US dollars for one unit of it.",
    "usd_per_unit_on": "The day of that exchange rate.",
}
_KEYS = ("name", "note", "sources", *MEANINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Institution:
    """How one institution charges a grant."""

    name: str
    file: str
    note: str | None
    equipment_threshold_usd: Decimal
    overhead_rate: Decimal
    equipment_in_base: bool
    fabrication_is_equipment: bool
    cloud_in_base: bool
    electricity_in_base: bool
    fiscal_year_start: tuple[int, int]
    """Month and day."""
    currency: str
    usd_per_unit: Decimal
    usd_per_unit_on: date | None = None
    sources: dict[str, str] = field(default_factory=dict)
    """Where each setting comes from."""


def shipped() -> list[str]:
    """The names of the rules that come with the program."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find_institution(name: str, beside: Path, where: TomlTable) -> Institution:
    """Shipped rules by name, or a file (relative to the grant). Raises InputError."""
    if name.endswith(".toml"):
        return read_institution(beside / name)
    if name not in shipped():
        raise where.error(
            "rules",
            f"{shown(name)} is neither a .toml file nor shipped; {nearest(name, shipped())}",
        )
    return read_institution(FOLDER / f"{name}.toml")


def read_institution(path: Path) -> Institution:
    """Rules from a file. Raises InputError."""
    instead = f"give rules as a file beside the grant, or shipped ones: {', '.join(shipped())}"
    table = read_toml(path, instead).only(_KEYS)
    sources = table.table("sources", list(MEANINGS))
    start = table.text("fiscal_year_start", "01-01")
    currency = table.text("currency", "USD").upper()
    if currency != "USD" and not (table.has("usd_per_unit") and table.has("usd_per_unit_on")):
        raise table.error(
            "currency", f"amounts in {shown(currency)} need usd_per_unit and usd_per_unit_on"
        )
    if currency == "USD" and table.has("usd_per_unit"):
        raise table.error("usd_per_unit", "US dollars need no exchange rate: remove this key")
    return Institution(
        name=table.text("name"),
        file=path.name,
        note=table.optional_text("note"),
        equipment_threshold_usd=table.number("equipment_threshold_usd", "0", "1000000"),
        overhead_rate=table.number("overhead_rate", "0", "2"),
        equipment_in_base=table.flag("equipment_in_base", False),
        fabrication_is_equipment=table.flag("fabrication_is_equipment", True),
        cloud_in_base=table.flag("cloud_in_base", True),
        electricity_in_base=table.flag("electricity_in_base", True),
        fiscal_year_start=_month_and_day(table, start),
        currency=currency,
        usd_per_unit=table.number("usd_per_unit", "0", "1000000", "1", above=True),
        usd_per_unit_on=table.optional_day("usd_per_unit_on"),
        sources={key: sources.text(key) for key in sources.values},
    )


def _month_and_day(table: TomlTable, text: str) -> tuple[int, int]:
    try:
        day = date.fromisoformat(f"2027-{text}")
    except ValueError:
        raise table.error(
            "fiscal_year_start", f"{shown(text)} is not a day of the year: write 07-01"
        ) from None
    return day.month, day.day


NO_RULES = Institution(
    name="no rules given",
    file="",
    note="No overhead is charged and nothing counts as equipment or not.",
    equipment_threshold_usd=Decimal(0),
    overhead_rate=Decimal(0),
    equipment_in_base=False,
    fabrication_is_equipment=True,
    cloud_in_base=True,
    electricity_in_base=True,
    fiscal_year_start=(1, 1),
    currency="USD",
    usd_per_unit=Decimal(1),
)
"""What holds where a grant names no institution."""
