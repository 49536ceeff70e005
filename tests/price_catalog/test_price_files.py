"""The file that developers write of the catalogue: today's rates."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

from price_catalog.load import load_catalog
from price_catalog.model import Rental
from tools import rents_file


def rate(price: str, day: int, provider: str = "aws") -> Rental:
    return Rental(
        rental_id=f"gpuhunt:{day}:{provider}",
        provider=provider,
        instance="p5",
        gpu_id="h100-sxm5-80gb",
        gpu_count=8,
        price_per_hour_usd=Decimal(price),
        kind="on-demand",
        region="us, east",
        priced_on=date(2026, 11, day),
        source_id="aws-list-prices",
        url=None,
        note=None,
    )


def test_a_month_s_file_has_the_newest_rate_of_each_product(
    folder: Path,
) -> None:
    kept = rents_file.merged([rate("30", 1), rate("9", 2, "gcp")], [rate("31.5", 3)])
    shipped = len(load_catalog(folder).rentals)
    (folder / "rentals" / "rents.csv").write_text(rents_file.table(kept))
    assert load_catalog(folder).rentals[shipped:] == tuple(kept)
    assert [(r.provider, r.price_per_hour_usd) for r in kept] == [
        ("gcp", 9),
        ("aws", Decimal("31.5")),
    ]
