"""Merging and exporting: what comes in once, whole, or as one line that says why not."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.main import main
from advisor.store import Store, StoreError, check_store
from advisor.store.row_checks import check_row
from advisor.store.rows import KEYS, RECORDED
from advisor.store.shipped_rows import text_tables
from bench_runner.records import journal
from tests.store.own_rows_for_tests import add_own_rows, contents, own_rows
from tests.store_for_tests import TUNED, look, record

pytestmark = pytest.mark.usefixtures("predictions_stay")

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
}
HOST = {"table": "host", "host_id": "h", "name": "My box", "kind": "server", "max_gpus": 2}
GPU = {
    "table": "gpu",
    "gpu_id": "new-card",
    "name": "New Card",
    "aliases": ["NVIDIA New Card"],
    "vendor": "NVIDIA",
    "form_factor": "PCIe consumer",
    "memory_gib": 48,
    "field_sources": "memory_gib=own-quotes",
}
MODEL = {
    "table": "recipe",
    "recipe_id": "my-net",
    "name": "My Net",
    "family": "decoder",
    "parameters": 1_000_000,
    "batch_size": 8,
    "training_steps": 10,
    "precision": "bf16",
    "optimizer": "AdamW",
    "flops_lowest": 1e15,
    "flops_full": 1e15,
    "recipe_hash": "0",
    "source_id": "own",
    "compiles": True,
}


def written(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return str(path)


def times(**changes: Any) -> dict[str, Any]:
    return journal.to_json(record("odd", **changes))


def days_of(store: Path) -> dict[str, float | None]:
    found = look(Store(store)).times(origin="local")
    return {time.measurement_id: time.training_days for time in found}


def test_merging_twice_is_merging_once(store_path: Path, own_store: Path, tmp_path: Path) -> None:
    add_own_rows(own_store)
    lines = tmp_path / "own.jsonl"
    assert Store(own_store).export(lines) == (4, 0)
    for source in (own_store, lines):
        target = Path(shutil.copy(store_path, tmp_path / f"target-{source.suffix[1:]}.duckdb"))
        store = Store(target)
        assert store.merge(source, mine=True).added == 4
        assert store.merge(source, mine=True).added == 0
        assert own_rows(target) == own_rows(own_store)
        again = tmp_path / f"again-{source.suffix[1:]}.jsonl"
        store.export(again)
        assert again.read_bytes() == lines.read_bytes()
        assert check_store(target) == []


def test_measured_power_is_that_of_timed_steps_that_the_host_does_not_hold_up(
    own_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "records.jsonl"
    offloaded = replace(TUNED, offloading=True)
    for count, settings, environment in (
        (1, TUNED, {"gpu": {"power_w": 340.0, "samples": 9}}),
        (2, TUNED, {"gpu": {"power_w": 320.0, "samples": 9}}),
        (4, offloaded, {"gpu": {"power_w": 110.0, "samples": 9}}),
        (8, TUNED, {"gpu_around": {"watts": 90.0, "samples": 2}}),
    ):
        given = record("", gpu_count=count, settings=settings, environment=environment)
        journal.append(file, journal.with_id(given))
    store = Store(own_store)
    with store.reading() as reader:
        assert "rtx-3090" not in reader.measured_power_w()
    assert store.merge(file, mine=True).added == 4
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
    assert store.merge(file, mine=True).added == 2
    assert days_of(own_store).keys() == {each.measurement_id for each in given}
    exported = tmp_path / "back.jsonl"
    store.export(exported)
    lines = [json.loads(line) for line in exported.read_text().splitlines()]
    back = [journal.from_json(line) for line in lines if "table" not in line]
    assert sorted(back, key=lambda m: m.gpu_count) == given


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not json\n", "neither a store nor JSON lines"),
        (json.dumps(times()) + "\nnot json\n", ":2: not a JSON line"),
        ("\x00\x01\x02", "neither a store nor JSON lines"),
    ],
)
def test_a_file_that_is_no_json_adds_nothing(
    own_store: Path, tmp_path: Path, text: str, said: str
) -> None:
    file = tmp_path / "broken.jsonl"
    file.write_text(text + json.dumps(times()) + "\n")
    with pytest.raises(StoreError, match=said) as caught:
        Store(own_store).merge(file)
    assert "\n" not in str(caught.value)
    assert days_of(own_store) == {}


REFUSED: list[tuple[Any, str]] = [
    ({}, "more keys are missing: the record is incomplete"),
    ([1], "line 3: not a JSON object"),
    ({"table": "cats"}, "line 4: no table is called 'cats'"),
    ({"table": ["quote"]}, "line 5: no table is called '['quote']'"),
    (QUOTE | {"colour": "red"}, "the table quote has no column 'colour'"),
    ({"table": "source", "source_id": "s"}, "title is missing"),
    (QUOTE | {"kind": "gift"}, "kind 'gift' is not known"),
    (QUOTE | {"item_kind": "planet"}, "item_kind 'planet' is not known"),
    (QUOTE | {"item_id": {"a": []}}, "item_id is '{'a': []}', not text"),
    (RENTAL | {"gpu_id": ["x"]}, "gpu_id is '['x']', not text"),
    (RENTAL | {"gpu_count": -8}, "gpu_count is '-8', not a whole number of at least 1"),
    (QUOTE | {"item_id": "rtx-3099"}, "did you mean 'rtx-3090'"),
    (QUOTE | {"item_kind": "server"}, "is for the server 'rtx-3090', which is not known here"),
    (QUOTE | {"vendor": "shop\x1b[2J"}, "vendor 'shop?[2J' holds control characters"),
    (QUOTE | {"note": "two\nlines"}, "note 'two?lines' holds control"),
    (QUOTE | {"url": "javascript:x"}, "is no web address"),
    (QUOTE | {"quoted_on": "2026-11-31"}, "quoted_on is '2026-11-31', not a day such as"),
    *((QUOTE | {"price_usd": p}, "price_usd is") for p in ("-5", "0", "1e-7", "NaN", "a lot")),
    (QUOTE | {"price_quoted": "999999999999.999"}, "price_quoted is"),
    (RENTAL | {"price_per_hour_usd": "1e10"}, "price_per_hour_usd is"),
    (RENTAL | {"kind": "gratis"}, "kind 'gratis' is not known"),
    (RENTAL | {"gpu_id": "x"}, "is for the gpu 'x'"),
    (RENTAL | {"provider": "a\u202eb"}, "holds control characters"),
    (RENTAL | {"provider": "\ud800"}, "holds control characters"),
    (HOST | {"kind": "boat"}, "boat"),
    (HOST | {"max_gpus": 0}, "max_gpus is '0', not a whole number of at least 1"),
    ({"table": "source", "source_id": "s", "title": "\x9b", "how_measured": "x"}, "title"),
    (GPU | {"name": "rtx3090"}, "its name is taken by 'rtx-3090'"),
    (MODEL | {"recipe_id": "PYTHIA-1B"}, "its name is taken by 'pythia-1b'"),
    (MODEL | {"name": "pythia 1b"}, "its name is taken by 'pythia-1b'"),
    *(
        (MODEL | {name: 0}, f"{name} is '0', not a")
        for name in ("parameters", "batch_size", "training_steps", "flops_lowest")
    ),
    (MODEL | {"precision": "int3"}, "precision 'int3' is not known"),
    (times(measured_on=None) | {"measured_on": "2026-13-45"}, "measured_on is '2026-13-45'"),
    (times() | {"measured_on": "1970-01-01"}, "measured_on is 1970-01-01, not a day from 1990 on"),
    *(
        (row | {day: "2126-11-26"}, f"{day} is 2126-11-26, which is still to come")
        for row, day in ((times(), "measured_on"), (QUOTE, "quoted_on"), (RENTAL, "priced_on"))
    ),
    *((times(environment={"gpu": odd}), "environment.gpu is") for odd in ("x", [1], 3)),
    (times(environment={"gpu": {"power_w": "hot"}}), "environment.gpu.power_w is 'hot'"),
    *(
        (times() | dict(zip(("training_days_low", "training_days", "training_days_high"), days,
         strict=True)), said)
        for *days, said in (
            (None, 1e-300, 1e300, "training_days is '1e-300', not a number of at least 1e-09"),
            (None, 1e308, None, "training_days is '1e+308', not a number of at most"),
            (None, 1e-4, 130.0, "is 0.0001, and no bounds of it are 0.0001 and 130"),
            (1e-300, 130.0, None, "is 130, and no bounds of it are 1e-300 and 130"),
        )
    ),
]  # fmt: skip
"""A row that is none, and what is said of it; the first stands in line 2."""


def named(row: Any, n: int) -> Any:
    """The row under an id of its own where its id is not what is wrong with it."""
    keys = {"quote": "quote_id", "rental": "rental_id", "host": "host_id", "source": "source_id"}
    keys |= {"recipe": "recipe_id"} if "my-net" in str(row) else {}
    key = keys.get(str(row.get("table"))) if isinstance(row, dict) else None
    if key is None and isinstance(row, dict) and "measurement_id" in row:
        key = "measurement_id"
    return row if key is None else row | {key: f"n-{n}"}


def test_a_row_that_is_none_is_refused_by_name_and_the_rest_comes_in(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--store", str(own_store)]
    rows = [named(row, n) for n, (row, _) in enumerate(REFUSED)]
    before = own_store.read_bytes()
    alone = written(tmp_path / "b.jsonl", *rows)
    assert main(["merge", "--mine", alone, *words]) == 2
    assert "; nothing was added" in capsys.readouterr().err
    assert before == own_store.read_bytes()
    mixed = written(tmp_path / "a.jsonl", QUOTE | {"quote_id": "good"}, *rows)
    (found,), _, _ = Store(own_store).try_merge([mixed], lambda reader: None, mine=True)
    assert len(found.refused) == len(REFUSED)
    for _, says in REFUSED:
        assert any(says in said for said in found.refused), says
    assert all(said.isprintable() for said in found.refused)
    assert main(["merge", "--mine", mixed, *words]) == 0
    told = capsys.readouterr()
    assert (told.out, told.err.count("\n")) == ("", 1)
    assert f"{mixed}: 1 new row; refused: " in told.err


def test_a_known_id_with_other_content_is_named_and_stays(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [journal.to_json(record(f"r-{n}")) for n in range(3)]
    file = written(tmp_path / "lab.jsonl", *rows)
    changed = written(tmp_path / "changed.jsonl", *(row | {"training_days": 130.5} for row in rows))
    words = ["--mine", "--store", str(own_store)]
    assert main(["merge", file, file, *words]) == 0
    assert main(["merge", changed, *words]) == 0
    *_, again, said = capsys.readouterr().err.splitlines()
    assert again == f"{file}: 0 new rows"
    stays = "with other content, which stays"
    assert said == (
        f"{changed}: 0 new rows; your store knows 3 rows (record 'r-0' and 2 more) {stays}"
    )
    assert set(days_of(own_store).values()) == {130.0}
    twice = written(tmp_path / "twice.jsonl", times(), times(), times() | {"training_days": 130.5})
    assert main(["merge", twice, *words]) == 0
    assert "'odd': an earlier row says something else" in capsys.readouterr().err
    # What ships stays, too.
    quote = next(q for q in look(Store(own_store)).quotes() if q.item_kind == "gpu")
    same = {"quote_id": quote.quote_id, "item_id": quote.item_id, "kind": quote.kind}
    file = written(tmp_path / "prices.jsonl", QUOTE | same | {"price_usd": "1.00"})
    assert main(["merge", file, "--store", str(own_store)]) == 0
    said = f"{file}: 0 new rows; your store knows quote '{quote.quote_id}' {stays}\n"
    assert capsys.readouterr().err == said
    assert quote in look(Store(own_store)).quotes()


def test_another_store_is_looked_at_as_closely(own_store: Path, tmp_path: Path) -> None:
    other = Path(shutil.copy(own_store, tmp_path / "other.duckdb"))
    add_own_rows(other)
    import duckdb

    with duckdb.connect(str(other)) as connection:
        connection.execute("UPDATE quote SET vendor = 'a\x1bb' WHERE origin = 'local'")
    merged = Store(own_store).merge(other, mine=True)
    assert (merged.added, len(merged.refused)) == (3, 1)
    assert "holds control characters" in merged.refused[0]


def test_what_cannot_be_merged_says_so(own_store: Path, tmp_path: Path) -> None:
    before = contents(own_store)
    for other in (tmp_path / "missing", tmp_path, own_store):
        with pytest.raises(StoreError) as caught:
            Store(own_store).merge(other)
        assert "\n" not in str(caught.value)
    assert contents(own_store) == before


def test_an_export_appears_whole_or_not_at_all(own_store: Path, tmp_path: Path) -> None:
    add_own_rows(own_store)
    with pytest.raises(StoreError, match="cannot be written"):
        Store(own_store).export(tmp_path / "no" / "folder.jsonl")
    Store(own_store).export(tmp_path / "own.jsonl")
    assert {path.name for path in tmp_path.iterdir()} == {"own.jsonl", "results.duckdb"}


def test_every_row_that_ships_could_come_from_a_file() -> None:
    for table, rows in text_tables().items():
        for row in rows:
            known = row if table != "measurement" else {name: row[name] for name in RECORDED}
            assert table == "prediction" or check_row(table, known)[KEYS[table][0]]
