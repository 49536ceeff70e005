"""The page of shipped prices is what the command makes of the tables."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "prices.md"


def test_the_page_is_up_to_date(store_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["prices", "table", "--store", str(store_path)]) == 0
    made = capsys.readouterr().out
    assert PAGE.read_text(encoding="utf-8") == made, (
        "run: advisor prices table --out docs/prices.md"
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
