"""What ``advisor merge`` says of what it brought in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.store import Store
from bench_runner.records import journal
from tests.store_for_tests import look, record


def written(path: Path, *rows: dict[str, object]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def days_of(store: Path) -> dict[str, float]:
    times = look(Store(store)).times(origin="local")
    return {time.measurement_id: time.training_days for time in times}


def test_a_known_id_with_other_content_is_told_with_which_one_holds_and_how_to_replace_it(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [journal.to_json(record(f"r-{n}")) for n in range(3)]
    file = written(tmp_path / "lab.jsonl", *rows)
    changed = written(
        tmp_path / "my changed.jsonl", *(row | {"training_days": 130.5} for row in rows)
    )
    store = ["--store", str(own_store)]
    assert main(["merge", file, file, *store]) == 0
    assert main(["merge", changed, *store]) == 0
    *_, again, told = capsys.readouterr().err.splitlines()
    assert again == f"{file}: 0 new rows"
    assert told == (
        f"{changed}: 0 new rows; your store knows 3 rows (the record 'r-0' and 2 more) with other "
        f"content, which stays (advisor merge --replace '{changed}' --store {own_store} puts the "
        "file's in its place)"
    )
    assert set(days_of(own_store).values()) == {130.0}
    one = written(tmp_path / "one.jsonl", rows[1] | {"training_days": 130.5})
    assert main(["merge", "--replace", one, *store]) == 0
    assert capsys.readouterr().err.splitlines() == [f"{one}: 0 new rows, 1 row of yours replaced"]
    assert days_of(own_store) == {"r-0": 130.0, "r-1": 130.5, "r-2": 130.0}
    assert main(["merge", "--replace", one, *store]) == 0
    assert capsys.readouterr().err == f"{one}: 0 new rows\n"


def test_what_ships_stays_whatever_a_file_says_of_its_id(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(own_store).reading() as reader:
        quote = next(quote for quote in reader.quotes() if quote.item_kind == "gpu")
    row = {
        "table": "quote",
        **{name: getattr(quote, name) for name in ("quote_id", "item_kind", "item_id", "kind")},
        "price_usd": "1.00",
        "vendor": "me",
        "quoted_on": "2026-11-01",
        "source_id": quote.source_id,
    }
    file = written(tmp_path / "prices.jsonl", row)
    for words in (["merge", file], ["merge", "--replace", file]):
        assert main([*words, "--store", str(own_store)]) == 0
        assert capsys.readouterr().err == (
            f"{file}: 0 new rows; the quote '{quote.quote_id}' ships with the program with other "
            "content, which stays: give yours an id of its own\n"
        )
    with Store(own_store).reading() as reader:
        assert quote in reader.quotes()


def test_a_file_that_says_two_things_of_one_id_is_refused(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = journal.to_json(record("twice"))
    file = written(tmp_path / "twice.jsonl", row, row, row | {"training_days": 130.5})
    assert main(["merge", file, "--store", str(own_store)]) == 2
    said = capsys.readouterr().err
    assert f"{file}:3: an earlier line says something else of the id 'twice'" in said
    assert days_of(own_store) == {}


def test_to_check_and_to_replace_is_not_both(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "lab.jsonl", journal.to_json(record("one")))
    assert main(["merge", "--check", "--replace", file, "--store", str(own_store)]) == 2
    assert "leave one out" in capsys.readouterr().err
