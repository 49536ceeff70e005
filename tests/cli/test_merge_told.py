"""What ``advisor merge`` says of what it brought in."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.store import Store
from bench_runner.records import journal
from tests.store_for_tests import look, record


def test_times_that_no_gpu_can_reach_are_told_of_as_they_come_in(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fast = {"training_days": 1e-4, "training_days_low": None, "training_days_high": None}
    for name, changes in (("good", [{}]), ("fast", [fast]), ("both", [{}, fast, fast])):
        lines = [
            journal.to_json(record(f"{name}-{n}")) | change for n, change in enumerate(changes)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    files = [str(tmp_path / f"{name}.jsonl") for name in ("good", "fast", "both", "fast")]
    assert main(["merge", *files, "--store", str(own_store)]) == 0
    good, fast_, both, again = capsys.readouterr().err.splitlines()
    assert good.endswith("good.jsonl: 1 new row")
    assert fast_.endswith(
        ": 1 new row, one of a time that no such GPU can reach, which no ranking uses "
        f"(advisor data times --store {own_store})"
    )
    assert ": 3 new rows, 2 of times that no such GPU can reach" in both
    assert again.endswith("fast.jsonl: 0 new rows")


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


def test_another_store_s_machine_is_named_as_its_owner_calls_it(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.duckdb"
    shutil.copy(own_store, other)
    for store, watts in ((own_store, "9000"), (other, "9500")):
        machine = ["--machine", "My box", "--gpu", "H200", "--count", "8", "--watts", watts]
        day = ["--price", "285000", "--vendor", "shop", "--date", "2026-11-01"]
        assert main(["prices", "add", *machine, *day, "--store", str(store)]) == 0
    capsys.readouterr()
    assert main(["merge", str(other), "--store", str(own_store)]) == 0
    said = capsys.readouterr().err
    assert "0 new rows; your store knows the machine 'My box' with other content" in said
    assert main(["merge", "--replace", str(other), "--store", str(own_store)]) == 0
    with Store(own_store).reading() as reader:
        (box,) = [host for host in reader.hosts() if host.name == "My box"]
    assert box.wall_w == 9500


def test_to_check_and_to_replace_is_not_both(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path / "lab.jsonl", journal.to_json(record("one")))
    assert main(["merge", "--check", "--replace", file, "--store", str(own_store)]) == 2
    assert "leave one out" in capsys.readouterr().err
