"""Prices from somebody else's file or store: refused where we would not have written them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.main import main
from advisor.store import Store, StoreError
from tests.facts_for_tests import make_quote
from tests.store_for_tests import look

QUOTE = {
    "table": "quote",
    "quote_id": "own:1",
    "item_kind": "gpu",
    "item_id": "rtx-3090",
    "price_usd": "900.00",
    "kind": "used",
    "vendor": "shop",
    "quoted_on": "2026-11-01",
    "source_id": "own-quotes",
    "currency": "USD",
}
RENTAL = {
    "table": "rental",
    "rental_id": "r1",
    "provider": "cloud",
    "gpu_id": "rtx-3090",
    "gpu_count": 1,
    "price_per_hour_usd": "0.30",
    "kind": "spot",
    "priced_on": "2026-11-01",
    "source_id": "own-quotes",
    "outlier": False,
}


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_sound_file_is_merged(own_store: Path, tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", QUOTE, RENTAL)
    assert Store(own_store).merge(file).added == 2
    assert Store(own_store).merge(file).added == 0


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (QUOTE | {"kind": "gift"}, "kind 'gift' is not known"),
        (QUOTE | {"kind": None}, "kind 'None' is not known"),
        (QUOTE | {"item_kind": "planet"}, "item_kind 'planet' is not known"),
        (QUOTE | {"item_id": {"a": []}}, "item_id is '{'a': []}', not text or a number"),
        (RENTAL | {"gpu_id": ["x"]}, "gpu_id is '['x']', not text or a number"),
        (QUOTE | {"item_id": "rtx-3099"}, "did you mean 'rtx-3090'"),
        (QUOTE | {"item_kind": "server"}, "is for the server 'rtx-3090', which is not known here"),
        (QUOTE | {"vendor": "shop\x1b[2J"}, "vendor 'shop?[2J' holds control characters"),
        (QUOTE | {"note": "two\nlines"}, "note"),
        (RENTAL | {"kind": "gratis"}, "kind 'gratis' is not known"),
        (RENTAL | {"gpu_id": "x"}, "is for the gpu 'x'"),
        (RENTAL | {"provider": "a\u202eb"}, "holds control characters"),
        (
            {"table": "host", "host_id": "h", "name": "h\x07", "kind": "owned", "max_gpus": 2},
            "name",
        ),
        ({"table": "host", "host_id": "h", "name": "h", "kind": "boat", "max_gpus": 2}, "boat"),
        ({"table": "source", "source_id": "s", "title": "\x9b", "how_measured": "x"}, "title"),
    ],
)
def test_what_is_unknown_or_steers_the_terminal_is_refused(
    row: dict[str, Any],
    says: str,
    own_store: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = own_store.read_bytes()
    file = lines(tmp_path / "a.jsonl", QUOTE | {"quote_id": "own:0"}, row)
    assert main(["merge", str(file), "--store", str(own_store)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert says in said.err
    assert "nothing was added" in said.err
    assert all(ch.isprintable() or ch == "\n" for ch in said.err)
    assert before == own_store.read_bytes()


def test_another_store_is_looked_at_as_closely(own_store: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    other.write_bytes(own_store.read_bytes())
    Store(other).add_quotes([make_quote("gpu", "rtx-3090", "900", vendor="a\x1bb")])
    with pytest.raises(StoreError, match="holds control characters"):
        Store(own_store).merge(other)
    assert all(quote.origin == "shipped" for quote in look(Store(own_store)).quotes())


def test_a_gpu_that_comes_along_is_known(own_store: Path, tmp_path: Path) -> None:
    gpu = {
        "table": "gpu",
        "gpu_id": "new-card",
        "name": "New Card",
        "aliases": [],
        "vendor": "NVIDIA",
        "form_factor": "PCIe consumer",
        "memory_gib": 48,
        "field_sources": "memory_gib=own-quotes",
    }
    file = lines(tmp_path / "a.jsonl", QUOTE | {"item_id": "new-card"}, gpu)
    assert Store(own_store).merge(file).added == 2
