"""The page of shipped prices is what the command makes of the tables."""

from __future__ import annotations

from pathlib import Path

from advisor.cli.main import main
from advisor.store import Store

PAGE = Path(__file__).parents[2] / "docs" / "prices.md"


def test_the_page_is_up_to_date_and_short(store_path: Path, tmp_path: Path) -> None:
    page = tmp_path / "prices.md"
    assert main(["prices", "check", "--store", str(store_path), "--out", str(page)]) == 0
    assert PAGE.read_text(encoding="utf-8") == page.read_text(encoding="utf-8"), (
        "run: advisor prices check --out docs/prices.md"
    )
    assert page.stat().st_size <= 30_000


def test_a_price_that_another_stands_in_for_is_never_the_newest(store_path: Path) -> None:
    with Store(store_path).reading() as reader:
        quotes = reader.quotes()
    corrected = {quote.corrects for quote in quotes}
    standing = {
        (f"${quote.price_usd:,.0f}", str(quote.quoted_on), quote.kind, quote.vendor)
        for quote in quotes
        if quote.item_kind == "gpu" and quote.quote_id not in corrected
    }
    table = PAGE.read_text(encoding="utf-8").partition("## If you order")[0]
    lines = [line for line in table.splitlines() if line.startswith("| ")][2:]
    assert len(lines) >= 35
    for line in lines:
        _, price, day, kind, vendor, _ = (
            cell.strip() for cell in line.replace("\\", "").strip("|").split(" | ")
        )
        assert (price, day, kind, vendor) in standing
