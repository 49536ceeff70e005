"""Times that labs share: what leaves this machine, and which records of others count."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.main import main
from advisor.ranking.times import TrainingTime
from advisor.store import Store
from bench_runner.recipes import load_recipes, recipe_hash
from bench_runner.records import journal, timing
from bench_runner.records.measurement import Measurement
from bench_runner.settings import batch_and_sharding
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Source

pytestmark = pytest.mark.usefixtures("predictions_stay")

RECIPE = next(recipe for recipe in load_recipes() if recipe.recipe_id == "pythia-1b")
GPU = "NVIDIA H100 80GB HBM3"
HOST, USER = "gpu-node-17.cs.example.edu", "jdoe"
MINE = Source(
    source_id="measured-here",
    title="Your own benchmark",
    url=None,
    how_measured="bench_runner",
    licence=None,
    published_on=None,
)


def measured(
    days: float, *, count: int = 4, lab: str | None = None, jitter: float = 0.0, **changes: Any
) -> Measurement:
    """A time of Pythia 1B with free-lunch settings whose seconds make these days."""
    passes = RECIPE.training.batch_size // (count * 8)
    step_s = days * 86_400 / RECIPE.training.training_steps
    one = step_s / (passes + 0.5)
    seconds: dict[str, Any] = {
        "first_pass_s": (one, one * (1 + jitter)),
        "pass_s": (one, one),
        "sync_pass_s": (one * 1.3, one * 1.3),
        "update_s": (one * 0.2, one * 0.2),
        "fetch_s": (0.0, 0.0, 0.0),
    }
    raw = timing.RawSeconds(**seconds)
    step = timing.step_time(raw, passes)
    total = RECIPE.training.training_steps
    record = Measurement(
        measurement_id="",
        recipe_id=RECIPE.recipe_id,
        recipe_hash=recipe_hash(RECIPE),
        gpu=GPU,
        gpu_count=count,
        method="free-lunch",
        settings=replace(
            batch_and_sharding.settings_for(free_lunch=True),
            micro_batch_size=8,
            gradient_accumulation_steps=passes,
        ),
        status="ok",
        reason=None,
        training_days=timing.training_days(step.step_s, total),
        training_days_low=timing.training_days(step.step_s_low, total),
        training_days_high=timing.training_days(step.step_s_high, total),
        step_s=step.step_s,
        timing="synchronised",
        source_id="measured-here",
        measured_on=date(2026, 11, 20),
        peak_memory_gib=60.0,
        lab=lab,
        environment={
            "host": HOST,
            "driver": "570.1",
            "log_tail": f"/home/{USER}/work: saved",
            "versions": {"torch": "2.9", "python": "3.12", "local": f"/home/{USER}/torch"},
            "about": {"devices": [GPU], "note": f"on {HOST}", "cuda": "12.8"},
            "gpus": [{"name": GPU, "power_limit_w": 700.0, "memory_gib": 79.6}],
            "gpu": {"power_w": 640.0, "counted_w": 655.0},
            "energy_j": 1234.5,
            "energy": f"counted by {HOST.partition('.')[0]}",
            "configuration_key": "k",
        },
        **seconds,
    )
    return journal.with_id(replace(record, **changes))


def written(path: Path, *records: Measurement) -> Path:
    path.write_text("".join(json.dumps(journal.to_json(each)) + "\n" for each in records))
    return path


def of_labs(store: Path) -> dict[str | None, float | None]:
    with Store(store).reading() as reader:
        return {time.lab: time.training_days for time in reader.times() if time.lab is not None}


def mark(file: Path | str, lab: str | None = "Lab A") -> str:
    """What a record of this file is called."""
    day = f"{Path(file).name}, {date.today()}"
    return day if lab is None else f"{lab} (from {day})"


def test_what_is_shared_has_seconds_and_no_names(own_store: Path, tmp_path: Path) -> None:
    record = measured(12.0)
    Store(own_store).add(measurement=[record, measured(13.0, recipe_id="my-model")], sources=[MINE])
    out = tmp_path / "lab.jsonl"
    words = ["export", "--share", str(out), "--lab", "Lab A", "--store", str(own_store)]
    assert main(words) == 0
    text = out.read_text()
    for private in (HOST, HOST.partition(".")[0], USER, "/home", str(tmp_path), "my-model"):
        assert private not in text
    (row,) = [json.loads(line) for line in text.splitlines()]
    assert row["lab"] == "Lab A"
    assert tuple(row["pass_s"]) == record.pass_s
    facts = row["environment"]
    assert facts["versions"]["torch"] == "2.9"
    assert facts["gpus"][0]["power_limit_w"] == 700.0
    assert (facts["gpu"]["counted_w"], facts["energy_j"]) == (655.0, 1234.5)


@pytest.mark.parametrize("lab", [" ", "a/b", "x" * 61, "two\nlines", "C:\\lab"])
def test_a_lab_needs_a_name(own_store: Path, tmp_path: Path, lab: str) -> None:
    words = ["export", "--share", str(tmp_path / "x.jsonl"), "--store", str(own_store)]
    assert main([*words, "--lab", lab]) == 2
    assert main(words) == 2
    assert not (tmp_path / "x.jsonl").exists()


@pytest.mark.predicts_anew
def test_a_possible_record_counts_under_its_file_and_moves_the_estimate(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def estimate() -> TrainingTime:
        with Store(own_store).reading() as reader:
            gpu = index_gpus(reader.gpus())[normalise(GPU)].gpu_id
            return next(
                each.chosen
                for each in reader.best_times("pythia-1b", "sound")
                if (each.gpu_id, each.gpu_count) == (gpu, 4) and each.chosen is not None
            )

    before = estimate()
    record = measured(20.0, lab="Lab A")
    file = written(tmp_path / "a.jsonl", record)
    assert Store(own_store).merge(file).added == 1
    assert of_labs(own_store) == {mark(file): pytest.approx(record.training_days)}
    after = estimate()
    assert before.training_days and after.training_days != before.training_days
    # The same seconds under another lab's name say no more.
    other = journal.with_id(replace(record, lab="Lab B", measurement_id=""))
    assert Store(own_store).merge(written(tmp_path / "b.jsonl", other)).added == 1
    assert estimate().training_days == after.training_days
    assert main(["data", "times", "--format", "json", "--store", str(own_store)]) == 0
    rows = [row for row in json.loads(capsys.readouterr().out) if row["origin"] == "local"]
    assert {row["lab"] for row in rows} == {mark(file), mark("b.jsonl", "Lab B")}
    # What was merged is exported whole, and known where it comes in again.
    out = tmp_path / "all.jsonl"
    assert main(["export", str(out), "--store", str(own_store)]) == 0
    assert Store(own_store).merge(out).added == 0


@pytest.mark.predicts_anew
def test_what_a_merged_file_brings_to_the_front_is_marked_in_the_first_lines(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A time at 94 % of the peak, and a price below the others'."""
    fast = measured(51.0, count=2, gpu="NVIDIA GeForce RTX 5090", lab="Lab F", peak_memory_gib=25.0)
    file = written(tmp_path / "f.jsonl", journal.with_id(replace(fast, method="optimal")))
    quote = {
        **{"table": "quote", "quote_id": "q", "item_kind": "gpu", "item_id": "rtx-5090"},
        **{"vendor": "Cheap", "price_usd": "1900", "quoted_on": "2026-11-01"},
        **{"kind": "reseller-quote", "source_id": "s"},
    }
    source = {"table": "source", "source_id": "s", "title": "S", "how_measured": "asked"}
    with file.open("a") as out:
        out.writelines(f"{json.dumps(row)}\n" for row in (source, quote))
    here = ("--store", str(own_store))
    assert main([*here, "merge", str(file)]) == 0
    capsys.readouterr()
    assert main([*here, "rank", "--model", "pythia-1b", "--budget", "14k"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    first = said.partition(" GPUs ")[0]
    assert first.startswith("Buy 2 × RTX 5090: Pythia 1B in 51 days")
    assert f"(Cheap (from {mark(file, None)}) and" in first
    assert "that time is doubtful" in first and f"comes from {mark(file, 'Lab F')}." in first
    # And it moves no other estimate.
    with Store(own_store).reading() as reader:
        assert {t.origin for t in reader.times() if t.basis == "predicted"} <= {"shipped"}


def test_a_record_that_is_known_with_other_seconds_stays(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = measured(20.0, lab="Lab A")
    changed = replace(measured(19.0, lab="Lab A"), measurement_id=first.measurement_id)
    file = written(tmp_path / "changed.jsonl", changed)
    words = [str(file), "--store", str(own_store)]
    held = written(tmp_path / "first.jsonl", first)
    assert Store(own_store).merge(held).added == 1
    stays = f"your store knows record '{first.measurement_id}' with other content"
    for check in ([], ["--check"]):
        assert main(["merge", *check, *words]) == 0
        said = capsys.readouterr().err
        assert stays in said and ": 0 new r" in said
    assert of_labs(own_store) == {mark(held): pytest.approx(first.training_days)}


IMPOSSIBLE: list[tuple[str, dict[str, Any]]] = [
    ("physically impossible", {"days": 0.5}),
    ("GiB of a GPU that has", {"days": 12.0, "peak_memory_gib": 120.0}),
    ("its raw seconds give", {"days": 12.0, "training_days": 6.0, "training_days_low": 5.0}),
    ("its raw seconds give", {"days": 12.0, "step_s": 0.1}),
    ("no raw seconds", {"days": 12.0, "sync_pass_s": (), "update_s": ()}),
    ("do not make the recipe's batch", {"days": 12.0, "gpu_count": 8}),
    ("another definition", {"days": 12.0, "recipe_hash": "0" * 12}),
    ("no GPU of the catalogue", {"days": 12.0, "gpu": "NVIDIA H900"}),
    ("no recipe that ships", {"days": 12.0, "recipe_id": "gpt-9"}),
    ("no synchronised time", {"days": 12.0, "timing": "unsynchronised"}),
    ("5,000 W of a GPU", {"days": 12.0, "environment": {"gpu": {"power_w": 5000.0}}}),
]


def test_what_cannot_be_is_refused_with_or_without_a_lab_and_the_rest_comes_in(
    own_store: Path, tmp_path: Path
) -> None:
    asked = [(lab, *each) for lab in ("Lab A", None) for each in IMPOSSIBLE]
    records = [
        measured(lab=lab, **given | {"days": given["days"] * (1 + n / 1000)})
        for n, (lab, _, given) in enumerate(asked)
    ]
    file = written(tmp_path / "lab.jsonl", measured(20.0, lab="Lab A"), *records)
    merged = Store(own_store).merge(file)
    assert (merged.added, len(merged.refused)) == (1, len(asked))
    for said, (_, reason, _) in zip(merged.refused, asked, strict=True):
        assert reason in said
    assert of_labs(own_store).keys() == {mark(file)}


def test_what_a_foreign_file_says_of_you_stays_out_and_all_else_is_marked(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A file with a machine, a price and a time: none of it is called the user's own."""
    lines = [
        {"table": "host", "host_id": "own:8xb200", "name": "8 x B200", "kind": "owned",
         "max_gpus": 8, "gpu_id": "b200-sxm"},
        {"table": "host", "host_id": "deal", "name": "Deal", "kind": "server", "max_gpus": 8,
         "gpu_id": "h200-sxm-141gb", "wall_w": 8000, "memory_gib": 2048},
        {"table": "quote", "quote_id": "deal-1", "item_kind": "server", "item_id": "deal",
         "price_usd": "1000", "kind": "reseller-quote", "vendor": "Dell",
         "quoted_on": str(date.today()), "source_id": "s"},
        {"table": "quote", "quote_id": "gone", "item_kind": "gpu", "item_id": "rtx-3090",
         "price_usd": "9", "kind": "list", "vendor": "Dell", "quoted_on": "2026-11-01",
         "source_id": "s", "corrects": "public-1"},
        {"table": "quote", "quote_id": "paper", "item_kind": "gpu", "item_id": "rtx-3090",
         "price_usd": "9", "kind": "list", "vendor": "Dell", "quoted_on": "2026-11-01",
         "source_id": "s", "price_set": "paper"},
        {"table": "source", "source_id": "s", "title": "S", "how_measured": "told"},
    ]  # fmt: skip
    file = tmp_path / "gift.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    before = own_store.read_bytes()
    words = [str(file), "--store", str(own_store)]
    assert main(["merge", "--check", "--format", "json", *words]) == 1
    found = json.loads(capsys.readouterr().out)
    assert own_store.read_bytes() == before
    reasons = {row["row"]: row["reason"] for row in found["rows"]}
    assert reasons["machine 'deal'"] is None and reasons["quote 'deal-1'"] is None
    for row in ("machine 'own:8xb200'", "quote 'gone'", "quote 'paper'"):
        assert reasons[row]
    marked = mark(file, "Dell")
    assert any(
        change["then"].count(marked) and "8 × H200" in change["then"]
        for change in found["ranking_changes"]
    )
    assert main(["merge", *words]) == 0
    said = capsys.readouterr().err
    assert "; refused: machine 'own:8xb200': it says what you own: if the file is your own" in said
    ask = ["rank", "--model", "pythia-1b", "--budget", "40k", "--store", str(own_store)]
    assert main(ask) == 0
    first, *_ = capsys.readouterr().out.split("\n\n")
    assert "8 × H200" in first and "gift.jsonl" in " ".join(first.split())
    for form in ("table", "json", "csv"):
        assert main([*ask, "--format", form, "--details"]) == 0
        answer = " ".join(capsys.readouterr().out.split())
        assert "own quote" not in answer and '"own_machine": true' not in answer
        assert "gift.jsonl" in answer
    assert main(["merge", "--mine", *words]) == 0
    assert "public-1" not in capsys.readouterr().err
    assert main(["prices", "own", "--format", "json", "--store", str(own_store)]) == 0
    assert "own:8xb200" in capsys.readouterr().out


def test_a_forged_store_is_judged_alike_by_name_and_in_the_folder(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rows that its owner wrote: a time at 95 % of the peak, a price 300 times below the others."""
    fast = measured(51.0, count=2, gpu="NVIDIA GeForce RTX 5090", peak_memory_gib=25.0)
    with Store(own_store).reading() as reader:
        real = next(each for each in reader.quotes() if each.item_id == "rtx-5090")
    forged = real._replace(
        quote_id="q", price_usd=Decimal(8), vendor="Cheap", origin="local", price_set=None
    )
    Store(own_store).add(measurement=[journal.with_id(replace(fast, method="optimal"))])
    Store(own_store).add(quote=[forged])
    monkeypatch.chdir(own_store.parent)
    monkeypatch.delenv("ADVISOR_STORE", raising=False)
    asked = ["rank", "--model", "pythia-1b", "--budget", "16k", "--format", "json"]
    said = []
    for where in ([], ["--store", str(own_store)]):
        assert main([*asked, *where]) == 0
        said.append(json.loads(capsys.readouterr().out))
    first, named = (each["verdict"]["sentence"] for each in said)
    assert first == named and "that time is doubtful" in first
    assert said[0]["ranked"] == said[1]["ranked"]
    assert all("Cheap" not in json.dumps(row) for row in said[0]["ranked"])
