"""What a unit of other currencies is in US dollars: a rate with its day and its source for each."""

from __future__ import annotations

import csv
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

RATES = Path(__file__).with_name("exchange_rates.csv")


class ExchangeRate(NamedTuple):
    """One currency."""

    code: str
    """As ISO 4217 has it."""
    usd_per_unit: Decimal
    on: date
    source: str


def exchange_rates() -> dict[str, ExchangeRate]:
    """The rates that come with the program, by code."""
    with RATES.open(encoding="utf-8", newline="") as file:
        return {
            row["currency"]: ExchangeRate(
                code=row["currency"],
                usd_per_unit=Decimal(row["usd_per_unit"]),
                on=date.fromisoformat(row["on"]),
                source=row["source"],
            )
            for row in csv.DictReader(file)
        }
