"""What was looked for in vain: prices with a seller and a day, and makers' documents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from price_catalog.csv_table import read_rows

_PATH = Path(__file__).with_name("not_found.csv")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotFound:
    """Something that the catalogue lacks because nobody was found who states it."""

    item: str
    looked_on: date
    found: str
    """What there was instead, and why it is not enough."""
    pages: tuple[str, ...]


def load_not_found() -> tuple[NotFound, ...]:
    """What is missing, in the order of the table. Raises ValueError."""
    return tuple(
        NotFound(
            item=row.text("item"),
            looked_on=row.day("looked_on"),
            found=row.text("found"),
            pages=tuple((row.optional_text("page") or "").split()),
        )
        for row in read_rows(_PATH, ("item", "looked_on", "found", "page"))
    )
