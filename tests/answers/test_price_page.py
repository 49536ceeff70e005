"""The page of shipped prices is what the command makes of the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.answers.prices.price_page import BEGIN, END
from advisor.cli.main import main
from advisor.store import Store

README = Path(__file__).parents[2] / "README.md"
PAGE = Path(__file__).parents[2] / "docs" / "prices.md"


def test_the_page_is_up_to_date(store_path: Path, tmp_path: Path) -> None:
    page = tmp_path / "prices.md"
    assert main(["prices", "check", "--store", str(store_path), "--out", str(page)]) == 0
    assert PAGE.read_text(encoding="utf-8") == page.read_text(encoding="utf-8"), (
        "run: advisor prices check --out docs/prices.md"
    )


def test_every_row_has_a_price_a_date_and_a_source(store_path: Path) -> None:
    quotes, _, sources = PAGE.read_text(encoding="utf-8").partition("## Sources")
    rows = [line for line in quotes.splitlines() if line.startswith("| ")][2:]
    assert len(rows) > 80
    for row in rows:
        item, price, kind, vendor, day, source, _ = (
            cell.strip() for cell in row.strip("|").split(" | ")
        )
        assert all((item, kind, vendor))
        assert price.startswith("$")
        assert len(day) == 10
        assert f"| {source} |" in sources


def short(store_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["prices", "table", "--short", "--store", str(store_path)]) == 0
    return capsys.readouterr().out


def test_the_readme_s_table_is_up_to_date(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = README.read_text(encoding="utf-8")
    assert BEGIN not in page or f"{BEGIN}\n{short(store_path, capsys)}{END}" in page, (
        "run: advisor prices table --short --out README.md"
    )


def test_a_price_that_another_stands_in_for_is_nobody_s_newest(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(store_path).reading() as reader:
        quotes = reader.quotes()
    corrected = {quote.corrects for quote in quotes}
    standing = {
        (f"${quote.price_usd:,.0f}", str(quote.quoted_on), quote.kind, quote.vendor)
        for quote in quotes
        if quote.item_kind == "gpu" and quote.quote_id not in corrected
    }
    for line in short(store_path, capsys).splitlines()[2:]:
        _, price, day, kind, vendor, _ = (cell.strip() for cell in line.strip("|").split(" | "))
        assert price == "no data" or (price, day, kind, vendor) in standing
