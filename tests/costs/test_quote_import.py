"""A file of quotes comes into the store whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.store import Store
from price_catalog.model import Quote
from tests.store_for_tests import look

HEADER = "item,price,vendor,date,kind,corrects\n"


def rows(count: int) -> str:
    return HEADER + "".join(
        f"RTX 3090,{600 + n % 400},shop {n},2026-{1 + n % 10:02d}-11,used,\n" for n in range(count)
    )


def local(store: Path) -> list[Quote]:
    return [quote for quote in look(Store(store)).quotes() if quote.origin == "local"]


def test_a_bad_last_row_keeps_all_before_it_out(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "q.csv"
    path.write_text(rows(600) + "RTX 3090,cheap,shop,2026-10-01,used,\n")
    before = own_store.read_bytes()
    assert main(["prices", "import", str(path), "--store", str(own_store)]) == 2
    assert "row 602, column 'price'" in capsys.readouterr().err
    assert own_store.read_bytes() == before


def test_the_same_row_twice_is_told_however_far_apart(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "q.csv"
    text = rows(500)
    path.write_text(text + text.splitlines()[1] + "\n")
    assert main(["prices", "import", str(path), "--store", str(own_store)]) == 2
    assert "row 502, column 'item': says the same as row 2" in capsys.readouterr().err
    assert local(own_store) == []


def test_a_ledger_with_corrections_moves_to_another_store(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.duckdb"
    fresh = own_store.read_bytes()
    other.write_bytes(fresh)
    add = ["prices", "add", "--item", "RTX 3090", "--vendor", "shop", "--date", "2026-10-01"]
    assert main([*add, "--price", "900", "--kind", "used", "--store", str(own_store)]) == 0
    (first,) = local(own_store)
    change = ["prices", "correct", "--quote", first.quote_id, "--price", "800"]
    assert main([*change, "--store", str(own_store)]) == 0
    out = tmp_path / "own.csv"
    assert main(["prices", "export", str(out), "--store", str(own_store)]) == 0
    assert main(["prices", "import", str(out), "--store", str(other)]) == 0
    assert sorted(local(other), key=str) == sorted(local(own_store), key=str)
    # Without the quote that it corrects, the correction is of nothing.
    capsys.readouterr()
    lines = out.read_text().splitlines()
    out.write_text("\n".join(line for line in lines if not line.endswith(first.quote_id)) + "\n")
    other.write_bytes(fresh)
    assert main(["prices", "import", str(out), "--store", str(other)]) == 2
    assert f"no quote is called '{first.quote_id}'" in capsys.readouterr().err
