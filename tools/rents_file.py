"""Writes today's rates of the clouds as rows that ship, a file a month.

    python -m tools.rents_file          price_catalog/rentals/rents-YYYY-MM.csv

The newest rate of each product of the month stays; what was held back or refused is printed and not
written. .github/workflows/rents.yml runs it once a day.
"""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from advisor.costs.rental_feed import SOURCE, fetch_rentals
from price_catalog.load import CATALOG_FOLDER, RENTAL_COLUMNS, load_catalog
from price_catalog.model import Rental

FIRST_LETTERS = "rents-"


def merged(before: Iterable[Rental], today: Iterable[Rental]) -> list[Rental]:
    """The rates of a month with those of a day: of each product the newest."""
    found = {}
    for rental in sorted([*before, *today], key=lambda rental: rental.priced_on):
        product = (rental.provider, rental.instance, rental.gpu_id, rental.gpu_count, rental.kind)
        found[product] = rental
    return sorted(found.values(), key=lambda rental: rental.rental_id)


def table(rentals: Iterable[Rental]) -> str:
    """The rows as the catalogue has them."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(RENTAL_COLUMNS)
    for rental in rentals:
        cells = [getattr(rental, name) for name in RENTAL_COLUMNS[:-1]]
        writer.writerow(["" if cell is None else cell for cell in cells] + [_yes(rental.outlier)])
    return out.getvalue()


def _yes(is_so: bool) -> str:
    return "yes" if is_so else "no"


def main(folder: Path = CATALOG_FOLDER) -> int:
    today, catalog = date.today(), load_catalog(folder)
    found = fetch_rentals(catalog.gpus, catalog.rentals, today=today)
    told = [f"held back: {words}" for words in found.held_back]
    told += [f"changed: {words}" for words in found.changed]
    told += [f"refused: {words}" for words in found.refused]
    told += [f"not read: {name}: {why}" for name, why in found.failed.items()]
    sys.stdout.write("".join(f"- {line}\n" for line in told))
    month = f"{today:%Y-%m}"
    held = [
        rental
        for rental in catalog.rentals
        if rental.source_id == SOURCE.source_id and f"{rental.priced_on:%Y-%m}" == month
    ]
    if not found.rentals:
        return 1
    if SOURCE.source_id not in {source.source_id for source in catalog.sources}:
        with (folder / "sources.csv").open("a", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerow("" if c is None else c for c in SOURCE)
    path = folder / "rentals" / f"{FIRST_LETTERS}{month}.csv"
    path.write_text(table(merged(held, found.rentals)), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
