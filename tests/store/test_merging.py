"""Merging and exporting: what comes in once, whole, or as one line that says why not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from advisor.store import (
    Store,
    StoreError,
    check_store,
)
from bench_runner.records import journal
from tests.store.own_rows_for_tests import add_own_rows, contents, own_rows
from tests.store_for_tests import TUNED, look, record

# Merging and exporting.


def test_merging_twice_is_merging_once(store_path: Path, own_store: Path, tmp_path: Path) -> None:
    add_own_rows(own_store)
    lines = tmp_path / "own.jsonl"
    assert Store(own_store).export_local(lines) == 4
    for source in (own_store, lines):
        target = Path(shutil.copy(store_path, tmp_path / f"target-{source.suffix[1:]}.duckdb"))
        store = Store(target)
        assert store.merge(source).added == 4
        assert store.merge(source).added == 0
        assert own_rows(target) == own_rows(own_store)
        again = tmp_path / f"again-{source.suffix[1:]}.jsonl"
        store.export_local(again)
        assert again.read_bytes() == lines.read_bytes()
        assert check_store(target) == []


def test_measured_power_is_that_of_timed_steps_that_the_host_does_not_hold_up(
    own_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    offloaded = replace(TUNED, offloading=True)
    around = {"gpu_around": {"watts": 90.0, "samples": 2}}
    for count, settings, environment in (
        (1, TUNED, {"gpu": {"power_w": 340.0, "samples": 9}}),
        (2, TUNED, {"gpu": {"power_w": 320.0, "samples": 9}}),
        (4, offloaded, {"gpu": {"power_w": 110.0, "samples": 9}}),
        (8, TUNED, around),
    ):
        given = record("", gpu_count=count, settings=settings, environment=environment)
        journal.append(file, journal.with_id(given))
    store = Store(own_store)
    with store.reading() as reader:
        assert "rtx-3090" not in reader.measured_power_w()
    assert store.merge(file).added == 4
    with store.reading() as reader:
        assert reader.measured_power_w()["rtx-3090"] == 330.0


def test_records_of_the_runner_are_merged_past_a_torn_last_line(
    own_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    given = [journal.with_id(record("", gpu_count=n)) for n in (1, 2)]
    for measurement in given:
        journal.append(file, measurement)
    with file.open("a") as torn:
        torn.write('{"measurement_id": "torn", "reci')
    store = Store(own_store)
    assert store.merge(file).added == 2
    assert store.merge(file).added == 0
    assert {time.measurement_id for time in look(store).times(origin="local")} == {
        measurement.measurement_id for measurement in given
    }
    exported = tmp_path / "back.jsonl"
    store.export_local(exported)
    lines = [json.loads(line) for line in exported.read_text().splitlines()]
    back = [journal.from_json(line) for line in lines if "table" not in line]
    assert sorted(back, key=lambda m: m.gpu_count) == given


@pytest.mark.parametrize(
    ("day", "said"),
    [
        ("1970-01-01", "measured_on is 1970-01-01, by a clock that was wrong: write the day"),
        ("2126-11-26", "measured_on is 2126-11-26, by a clock that was wrong: write the day"),
        ("2026-13-45", "measured_on is '2026-13-45', not a day such as 2026-11-22; mend the"),
        ("26.11.2026", "measured_on is '26.11.2026', not a day such as"),
        ("", "measured_on is '', not a day such as"),
    ],
)
def test_a_day_that_no_measurement_can_be_of_is_refused(
    own_store: Path, tmp_path: Path, day: str, said: str
) -> None:
    file = tmp_path / "clock.jsonl"
    file.write_text(json.dumps(journal.to_json(record("ahead")) | {"measured_on": day}) + "\n")
    with pytest.raises(StoreError) as caught:
        Store(own_store).merge(file)
    assert said in str(caught.value) and "nothing was added" in str(caught.value)
    assert look(Store(own_store)).times(origin="local") == ()


def test_a_day_that_no_calendar_has_is_told_without_the_statement_that_it_stood_in(
    store_path: Path, own_store: Path, tmp_path: Path
) -> None:
    add_own_rows(own_store)
    lines = tmp_path / "own.jsonl"
    Store(own_store).export_local(lines)
    rows = [json.loads(line) for line in lines.read_text().splitlines()]
    quote = next(row for row in rows if row.get("table") == "quote")
    quote["quoted_on"] = "2026-11-31"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(StoreError) as told:
        Store(store_path).merge(lines)
    assert '"2026-11-31"' in str(told.value) and "unnest" not in str(told.value)
    assert look(Store(store_path)).times(origin="local") == ()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not json\n", "neither a store nor JSON lines"),
        (json.dumps(journal.to_json(record("first"))) + "\nnot json\n", ":2: not a JSON line"),
        ("{}\n", ":1: "),
        ("[1]\n", ":1: not a JSON object"),
        ('{"table": "cats", "name": "Tom"}\n', "no table is called 'cats'"),
        ('{"table": "source", "source_id": "s", "colour": "red"}\n', "no column 'colour'"),
        ('{"table": "quote", "quote_id": "q"}\n', "price_usd is None"),
        ('{"table": "source", "source_id": "s"}\n', "does not take this"),
        ("\x00\x01\x02", "neither a store nor JSON lines"),
    ],
)
def test_a_broken_file_is_one_line_and_adds_nothing(
    own_store: Path, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "broken.jsonl"
    good = json.dumps(journal.to_json(record("good")))
    file.write_text(text + good + "\n")
    store = Store(own_store)
    with pytest.raises(StoreError) as caught:
        store.merge(file)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert look(store).times(origin="local") == ()


@pytest.mark.parametrize("price", ["-5", "0", "NaN", "a lot", "1e30"])
def test_a_price_that_is_none_is_refused(own_store: Path, tmp_path: Path, price: str) -> None:
    file = tmp_path / "prices.jsonl"
    add_own_rows(own_store)
    Store(own_store).export_local(file)
    file.write_text(file.read_text().replace('"899.99"', json.dumps(price)).replace("q-own", "q-2"))
    before = contents(own_store)
    with pytest.raises(StoreError) as caught:
        Store(own_store).merge(file)
    assert "\n" not in str(caught.value)
    assert contents(own_store) == before


def test_what_cannot_be_merged_says_so(own_store: Path, tmp_path: Path) -> None:
    store = Store(own_store)
    for other in (tmp_path / "missing", tmp_path, own_store):
        with pytest.raises(StoreError) as caught:
            store.merge(other)
        assert "\n" not in str(caught.value)


def test_an_export_appears_whole_or_not_at_all(own_store: Path, tmp_path: Path) -> None:
    add_own_rows(own_store)
    with pytest.raises(StoreError, match="cannot be written"):
        Store(own_store).export_local(tmp_path / "no" / "folder.jsonl")
    Store(own_store).export_local(tmp_path / "own.jsonl")
    assert {path.name for path in tmp_path.iterdir()} == {"own.jsonl", "results.duckdb"}
