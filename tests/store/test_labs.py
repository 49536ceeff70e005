"""Times that labs share: what leaves this machine, and what is thought of what comes in."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.store import Store, StoreError
from advisor.store.lab_agreement import agreeing_lab, is_copy
from bench_runner.recipes import load_recipes, recipe_hash
from bench_runner.records import journal, timing
from bench_runner.records.measurement import Measurement
from bench_runner.settings import space
from price_catalog.model import Source

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
            space.settings_for(free_lunch=True),
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


def predicted(store: Path) -> tuple[float, float, float]:
    """Days of the prediction with the paper's settings, those of the records, within 90 %."""
    from advisor.prediction.model.workload import workload_of
    from advisor.prediction.physics.chip import chip_of
    from advisor.prediction.predict_one import predict
    from advisor.prediction.shipped_predictions import shipped_fit
    from price_catalog.gpu_names import index_gpus, normalise
    from price_catalog.load import load_catalog

    gpu = index_gpus(load_catalog().gpus)[normalise(GPU)]
    found = predict(workload_of(RECIPE), chip_of(gpu), 4, shipped_fit())
    days, low, high = (
        found.paper_settings_days,
        found.paper_settings_days_low,
        found.paper_settings_days_high,
    )
    assert days and low and high and found.training_days and days > found.training_days
    return days, low, high


def of_labs(store: Path) -> Mapping[str, str | None]:
    with Store(store).reading() as reader:
        return {time.lab: time.standing for time in reader.times() if time.lab is not None}


def test_what_is_shared_has_seconds_and_no_names(own_store: Path, tmp_path: Path) -> None:
    record = measured(12.0)
    Store(own_store).append_measurements([record, measured(13.0, recipe_id="my-model")], [MINE])
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
    # The same file again, or the records themselves, are known by their seconds.
    assert Store(own_store).merge(out).added == 0


@pytest.mark.parametrize("lab", [" ", "a/b", "x" * 61, "two\nlines", "C:\\lab"])
def test_a_lab_needs_a_name(own_store: Path, tmp_path: Path, lab: str) -> None:
    words = ["export", "--share", str(tmp_path / "x.jsonl"), "--store", str(own_store)]
    assert main([*words, "--lab", lab]) == 2
    assert main(words) == 2
    assert not (tmp_path / "x.jsonl").exists()


def test_inside_the_interval_a_lab_counts_and_moves_the_estimate(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, low, high = predicted(own_store)
    quick_store = Path(shutil.copy(own_store, tmp_path / "quick.duckdb"))
    quick = written(tmp_path / "quick.jsonl", measured(low, lab="Lab A"))
    file = written(tmp_path / "a.jsonl", measured(high, lab="Lab A"))
    assert main(["merge", "--check", str(file), "--format", "json", "--store", str(own_store)]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["standing"] == "single"
    assert row["expected_low"] < row["training_days"] < row["expected_high"]
    assert of_labs(own_store) == {}  # to check is not to merge
    assert Store(own_store).merge(file).added == 1
    assert of_labs(own_store) == {"Lab A": "single"}
    # With the paper's settings it is no time of the clock that ranks: it moves what is estimated
    # of these, and less what rests on our own measurements with further settings.
    slower = best_of_h100(own_store)
    assert slower.basis == "predicted" and "your own records" in (slower.reason or "")
    assert Store(quick_store).merge(quick).added == 1
    faster = best_of_h100(quick_store)
    assert 1.0 < slower.paper_settings_days / faster.paper_settings_days < high / low
    assert 0.99 < slower.training_days / faster.training_days < high / low
    assert Store(own_store).merge(file).added == 0


def test_a_lab_s_record_that_is_known_with_other_seconds_stays_until_it_is_replaced(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, _, high = predicted(own_store)
    first = measured(high, lab="Lab A")
    changed = replace(measured(0.97 * high, lab="Lab A"), measurement_id=first.measurement_id)
    file = str(written(tmp_path / "changed.jsonl", changed))
    store = ["--store", str(own_store)]
    assert Store(own_store).merge(written(tmp_path / "first.jsonl", first)).added == 1

    def days() -> float:
        with Store(own_store).reading() as reader:
            (time,) = [time for time in reader.times() if time.lab is not None]
        return time.training_days

    stays = f"your store knows the record '{first.measurement_id}' with other content"
    for words in (["merge", "--check", file], ["merge", file]):
        assert main([*words, *store]) == 0
        said = capsys.readouterr().err
        assert stays in said and ": 0 new r" in said
    assert days() == pytest.approx(first.training_days)
    assert main(["merge", "--replace", file, *store]) == 0
    assert days() == pytest.approx(changed.training_days)
    assert of_labs(own_store) == {"Lab A": "single"}


def best_of_h100(store: Path) -> Any:
    """What stands for four of the labs' GPUs."""
    with Store(store).reading() as reader:
        gpu = _h100(reader)
        (best,) = [each for each in best_of_four(reader) if each.gpu_id == gpu]
    return best.chosen


def best_of_four(reader: Any) -> list[Any]:
    found = reader.best_times("pythia-1b", "sound")
    return [each for each in found if each.gpu_count == 4]


def _h100(reader: Any) -> str:
    from price_catalog.gpu_names import index_gpus, normalise

    return index_gpus(reader.gpus())[normalise(GPU)].gpu_id


def test_outside_it_is_unconfirmed_until_a_second_lab_agrees(
    own_store: Path, tmp_path: Path
) -> None:
    middle, _, high = predicted(own_store)
    slow = middle * (high / middle) ** 2.5
    Store(own_store).merge(written(tmp_path / "a.jsonl", measured(slow, lab="Lab A")))
    assert of_labs(own_store) == {"Lab A": "unconfirmed"}
    with Store(own_store).reading() as reader:
        best = [each.chosen for each in best_of_four(reader)]
    assert all(time is None or time.lab is None for time in best)
    # The same lab again does not confirm itself, nor does the same file under another name.
    Store(own_store).merge(
        written(tmp_path / "b.jsonl", measured(slow * 1.01, lab="Lab A", jitter=0.01))
    )
    assert of_labs(own_store) == {"Lab A": "unconfirmed"}
    assert (
        Store(own_store).merge(written(tmp_path / "c.jsonl", measured(slow, lab="Lab B"))).added
        == 0
    )
    # One that is 30 % off does not agree; one at 5 % does, and both count.
    Store(own_store).merge(written(tmp_path / "d.jsonl", measured(slow * 1.3, lab="Lab C")))
    assert of_labs(own_store)["Lab C"] == "unconfirmed"
    Store(own_store).merge(written(tmp_path / "e.jsonl", measured(slow * 1.05, lab="Lab D")))
    assert of_labs(own_store) == {
        "Lab A": "confirmed",
        "Lab C": "unconfirmed",
        "Lab D": "confirmed",
    }


def taken_by(lab: str, days: float, seed: int, mark: str = "") -> Measurement:
    """A measurement with the scatter of a real one, by a GPU with this mark."""
    record = measured(days, lab=lab)
    noise = random.Random(seed)
    raw = timing.RawSeconds(
        **{
            name: tuple(getattr(record, name)[0] * noise.gauss(1, 0.004) for _ in range(4))
            for name in ("first_pass_s", "pass_s", "sync_pass_s", "update_s")
        },
        fetch_s=(0.0, 0.0, 0.0),
    )
    gpus = [{"name": GPU, "mark": mark}] if mark else []
    return of_seconds(replace(record, environment={"gpus": gpus}), raw)


def of_seconds(record: Measurement, raw: timing.RawSeconds) -> Measurement:
    """The record of other seconds, with the days that follow from them."""
    assert record.settings is not None and record.settings.gradient_accumulation_steps is not None
    step = timing.step_time(raw, record.settings.gradient_accumulation_steps)
    total = RECIPE.training.training_steps
    seconds = {field.name: getattr(raw, field.name) for field in fields(raw)}
    return journal.with_id(
        replace(
            record,
            training_days=timing.training_days(step.step_s, total),
            training_days_low=timing.training_days(step.step_s_low, total),
            training_days_high=timing.training_days(step.step_s_high, total),
            step_s=step.step_s,
            **seconds,
        )
    )


def altered(record: Measurement, lab: str, factor: float, digits: int = 12) -> Measurement:
    """The same seconds times a factor, under another name."""
    raw = timing.RawSeconds(
        **{
            field.name: tuple(
                round(second * factor, digits) for second in getattr(record, field.name)
            )
            for field in fields(timing.RawSeconds)
        }
    )
    return of_seconds(replace(record, lab=lab), raw)


def test_one_person_under_two_names_confirms_nothing() -> None:
    first = taken_by("Lab A", 12.0, seed=1, mark="aa11")
    for other in (
        taken_by("LAB  a", 12.0, seed=2, mark="bb22"),  # his own name, written otherwise
        taken_by("Lab B", 12.0, seed=3, mark="aa11"),  # the very same GPU
        altered(first, "Lab C", 1.03),  # his seconds
        altered(first, "Lab D", 0.99, digits=6),
        replace(first, lab="Lab E", fetch_s=(0.001, 0.001, 0.001)),
        taken_by("Lab F", 14.0, seed=4, mark="cc33"),  # does not agree
    ):
        assert agreeing_lab(first, [other], {}) is None
        assert agreeing_lab(other, [first], {}) is None
    assert agreeing_lab(first, [taken_by("Lab G", 12.2, seed=5, mark="dd44")], {}) == "Lab G"
    assert agreeing_lab(first, [taken_by("Lab H", 12.2, seed=5)], {}) == "Lab H"  # of old files


def test_a_copy_counts_for_nothing_even_when_others_confirm_what_it_copies(
    own_store: Path, tmp_path: Path
) -> None:
    middle, _, high = predicted(own_store)
    slow = middle * (high / middle) ** 2.5
    first = taken_by("Lab A", slow, seed=1, mark="aa11")
    Store(own_store).merge(written(tmp_path / "a.jsonl", first, altered(first, "Lab B", 1.03)))
    assert of_labs(own_store) == {"Lab A": "unconfirmed", "Lab B": "unconfirmed"}
    other = taken_by("Lab C", slow * 1.02, seed=4, mark="cc33")
    Store(own_store).merge(written(tmp_path / "c.jsonl", other))
    told = {"Lab A": "confirmed", "Lab B": "unconfirmed", "Lab C": "confirmed"}
    assert of_labs(own_store) == told


def test_a_copy_is_called_one_by_the_check(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    high = predicted(own_store)[2]
    first = taken_by("Lab A", high, seed=1)
    file = written(tmp_path / "a.jsonl", first, altered(first, "Lab B", 1.004))
    assert main(["merge", "--check", str(file), "--format", "json", "--store", str(own_store)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["standing"] for row in rows] == ["single", "unconfirmed"]
    assert f"those of {first.measurement_id} (Lab A), altered" in rows[1]["reason"]


def test_files_are_checked_together_and_a_record_without_a_lab_is_refused(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    middle, _, high = predicted(own_store)
    slow = middle * (high / middle) ** 2.5
    files = [
        str(written(tmp_path / f"{lab}.jsonl", taken_by(lab, slow, seed, mark=lab)))
        for seed, lab in enumerate(("A", "B"))
    ]
    words = ["merge", "--check", "--format", "json", "--store", str(own_store)]
    assert main([*words, *files]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [(row["lab"], row["standing"]) for row in rows] == [
        ("A", "confirmed"),
        ("B", "confirmed"),
    ]
    nobody = written(tmp_path / "nobody.jsonl", replace(taken_by("C", high, 7), lab=None))
    assert main([*words, files[0], str(nobody)]) == 1
    printed, said = capsys.readouterr()
    assert [row["standing"] for row in json.loads(printed)] == ["unconfirmed", "refused"]
    assert "names no lab" in printed and "nobody.jsonl: 1 new record of labs" in said


@given(
    seeds=st.tuples(st.integers(0, 10**6), st.integers(0, 10**6)),
    factor=st.floats(0.5, 2),
)
def test_two_measurements_are_never_taken_for_one(seeds: tuple[int, int], factor: float) -> None:
    one, other = (taken_by("Lab A", 12.0, seed) for seed in seeds)
    assert is_copy(one, other) == (seeds[0] == seeds[1])
    assert is_copy(one, altered(one, "Lab B", factor))


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
    (" W is more than", {"days": 12.0, "environment": {"gpu": {"power_w": 5000.0}}}),
]


@pytest.mark.parametrize(("reason", "given"), IMPOSSIBLE, ids=[reason for reason, _ in IMPOSSIBLE])
def test_what_cannot_be_is_refused_with_the_reason_and_nothing_is_added(
    own_store: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    reason: str,
    given: dict[str, Any],
) -> None:
    good = measured(predicted(own_store)[0], lab="Lab A")
    file = written(tmp_path / "lab.jsonl", good, measured(lab="Lab A", **given))
    with pytest.raises(StoreError, match="refused") as caught:
        Store(own_store).merge(file)
    assert reason in str(caught.value)
    assert of_labs(own_store) == {}
    assert main(["merge", "--check", str(file), "--format", "json", "--store", str(own_store)]) == 1
    rows = json.loads(capsys.readouterr().out)
    assert [row["standing"] == "refused" for row in rows] == [False, True]
    assert reason in rows[1]["reason"]


def test_a_lab_in_a_ranking_is_seen_in_the_data(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Store(own_store).append_measurements([measured(12.0)], [MINE])
    file = written(tmp_path / "lab.jsonl", measured(12.1, lab="Lab A"))
    assert main(["merge", str(file), "--store", str(own_store)]) == 0
    assert main(["data", "times", "--format", "json", "--store", str(own_store)]) == 0
    rows = [row for row in json.loads(capsys.readouterr().out) if row["origin"] == "local"]
    assert {(row["lab"], row["standing"]) for row in rows} == {
        (None, "ours"),
        ("Lab A", "confirmed"),
    }
    # What was merged is handed on whole, and judged again where it comes in.
    out = tmp_path / "all.jsonl"
    assert main(["export", str(out), "--store", str(own_store)]) == 0
    assert Store(own_store).merge(out).added == 0
