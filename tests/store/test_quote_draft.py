"""A file of quotes on its way into the store: whole or not at all, in memory that does not grow."""

from __future__ import annotations

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.costs.own_quotes import OWN
from advisor.store import Store
from price_catalog.model import Quote
from tests.facts_for_tests import make_quote
from tests.store_for_tests import look

HEADER = "item,price,vendor,date,kind,corrects\n"

PEAK = """
import resource, sys
from advisor.cli.main import main
code = main(["prices", "import", sys.argv[1], "--store", sys.argv[2], *sys.argv[3:]])
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)
sys.exit(code)
"""


def rows(count: int) -> str:
    return HEADER + "".join(
        f"RTX 3090,{600 + n % 400},shop {n},2026-{1 + n % 10:02d}-11,used,\n" for n in range(count)
    )


def local(store: Path) -> list[Quote]:
    return [quote for quote in look(Store(store)).quotes() if quote.origin == "local"]


def drafts(store: Path) -> list[Path]:
    return [path for path in store.parent.iterdir() if path.name.startswith(f".{store.name}-")]


def test_memory_does_not_grow_with_the_file(own_store: Path, tmp_path: Path) -> None:
    peaks = []
    for count in (3_000, 20_000):
        path = tmp_path / f"{count}.csv"
        # Wide rows: 20,000 of them are 38 MB as text alone.
        note = "n" * 450
        path.write_text(
            "item,price,vendor,date,kind,note,file,delivery,warranty\n"
            + "".join(
                f"RTX 3090,900,shop {n},2026-10-01,used,{note}{n},{note}{n},{note},{note}\n"
                for n in range(count)
            )
        )
        done = subprocess.run(
            [sys.executable, "-c", PEAK, path, own_store],
            capture_output=True,
            text=True,
            check=True,
        )
        peaks.append(int(done.stdout))
        assert "new quotes" in done.stderr
    assert peaks[1] - peaks[0] < 110, peaks
    assert len(local(own_store)) == 20_000


def test_a_bad_last_row_keeps_all_before_it_out(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "q.csv"
    path.write_text(rows(6_000) + "RTX 3090,cheap,shop,2026-10-01,used,\n")
    before = own_store.read_bytes()
    assert main(["prices", "import", str(path), "--store", str(own_store)]) == 2
    assert "row 6002, column 'price'" in capsys.readouterr().err
    assert own_store.read_bytes() == before
    assert drafts(own_store) == []


def test_the_same_row_twice_is_told_however_far_apart(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "q.csv"
    text = rows(5_500)
    path.write_text(text + text.splitlines()[1] + "\n")
    assert main(["prices", "import", str(path), "--store", str(own_store)]) == 2
    assert "row 5502, column 'item': says the same as row 2" in capsys.readouterr().err
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


def test_twice_is_once_and_dry_is_nothing(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "q.csv"
    path.write_text(rows(300))
    argv = ["prices", "import", str(path), "--store", str(own_store)]
    assert main([*argv, "--dry-run"]) == 0
    said = capsys.readouterr()
    assert len(said.out.splitlines()) == 300
    assert said.out.startswith("RTX 3090 $600.00, used, shop 0, 2026-01-11\n")
    assert local(own_store) == []
    assert main(argv) == 0
    assert main(argv) == 0
    assert "0 new quotes, 300 were there" in capsys.readouterr().err
    assert len(local(own_store)) == 300


def test_a_store_that_broke_meanwhile_leaves_nothing(own_store: Path) -> None:
    store = Store(own_store)
    with contextlib.suppress(RuntimeError), store.quote_draft() as draft:
        draft.add(2, make_quote("gpu", "rtx-3090", "900"))
        assert drafts(own_store)
        raise RuntimeError
    assert drafts(own_store) == []
    with store.quote_draft() as draft:
        draft.add(2, make_quote("gpu", "rtx-3090", "900", vendor="another"))
        assert store.add_draft(draft, [OWN]) == 1
    assert len(local(own_store)) == 1


def test_a_killed_import_changes_nothing(own_store: Path, tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(rows(20_000))
    before = own_store.read_bytes()
    with subprocess.Popen([sys.executable, "-c", PEAK, path, own_store]) as running:
        while running.poll() is None and not drafts(own_store):
            pass
        running.kill()
    assert own_store.read_bytes() == before
    assert all(re.search(r"-\w{8}$", left.name) for left in drafts(own_store))  # swept next time
