"""Records as JSON lines: what was written comes back, whatever a kill leaves behind."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_runner.records import journal
from bench_runner.records.measurement import Measurement, Settings


def record(**changes: object) -> Measurement:
    base = Measurement(
        measurement_id="",
        recipe_id="tiny",
        recipe_hash="0123456789ab",
        gpu="cpu",
        gpu_count=1,
        method="free-lunch",
        settings=Settings(
            free_lunch=True,
            activation_checkpointing=False,
            sharding=None,
            offloading=False,
            micro_batch_size=4,
            gradient_accumulation_steps=8,
        ),
        status="ok",
        reason=None,
        training_days=1.5,
        training_days_low=1.4,
        training_days_high=1.6,
        timing="synchronised",
        source_id="measured-here",
        measured_on=date(2026, 11, 21),
        pass_s=(0.1, 0.2),
        sync_pass_s=(0.3,),
        update_s=(0.01,),
        step_s=1.0,
        environment={"driver": "1.2", "log_tail": "a\nb"},
    )
    return journal.with_id(replace(base, **changes))  # type: ignore[arg-type]


def test_a_file_of_the_user_s_own_is_not_cut_as_a_torn_record(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("what I must not lose")
    with pytest.raises(ValueError, match="name a file of records"):
        journal.read(path)


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    written = [record(), record(status="failed", reason="no", training_days=None, settings=None)]
    for one in written:
        journal.append(tmp_path / "deep" / "records.jsonl", one)
    assert journal.read(tmp_path / "deep" / "records.jsonl") == written


@given(cut=st.integers(min_value=1, max_value=2000))
def test_a_torn_last_line_costs_only_that_line(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("journal") / "records.jsonl"
    first, second, third = record(), record(gpu_count=2), record(gpu_count=4)
    journal.append(path, first)
    whole = path.stat().st_size
    journal.append(path, second)
    size = path.stat().st_size
    with path.open("rb+") as file:
        file.truncate(max(whole, size - cut))
    assert journal.read(path) == [first]
    journal.append(path, third)
    assert journal.read(path) == [first, third]


def test_same_facts_same_id_and_other_facts_another() -> None:
    assert record().measurement_id == record().measurement_id
    assert record().measurement_id != record(step_s=1.1).measurement_id


def test_merging_twice_is_merging_once(tmp_path: Path) -> None:
    a, b = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    journal.append(a, record())
    journal.append(b, record())
    journal.append(b, record(gpu_count=2))
    once = journal.merge([a, b])
    assert len(once) == 2
    assert journal.merge([a, b, a, b]) == once
    with pytest.raises(ValueError, match=r"there is no file .*not-there"):
        journal.merge([a, tmp_path / "not-there.jsonl"])
    c = tmp_path / "c.jsonl"
    c.write_text(json.dumps(journal.to_json(record()) | {"step_s": 7.0}) + "\n")
    with pytest.raises(ValueError, match=r"c\.jsonl: the record m-\w+ was read before with other"):
        journal.merge([a, b, c])


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{not json", "records.jsonl:1: not a JSON line"),
        ("[]", "not a JSON object"),
        (json.dumps({"recipe_id": "x"}), "incomplete"),
        (json.dumps(journal.to_json(record()) | {"colour": 1}), "'colour'"),
        (json.dumps(journal.to_json(record()) | {"measured_on": "soon"}), "soon"),
    ],
)
def test_a_line_that_cannot_be_read_is_named(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "records.jsonl"
    path.write_text(line + "\n")
    with pytest.raises(ValueError, match=words) as caught:
        journal.read(path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "place", ["/proc/self/x", "/proc/self/new/x", "folder", "pipe", "file/x", "ring", "gone/x"]
)
def test_a_place_that_keeps_no_records_is_refused_before_anything_is_measured(
    tmp_path: Path, place: str
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "ring").symlink_to("ring")
    (tmp_path / "gone").symlink_to("/proc/self/nowhere")
    with pytest.raises(ValueError, match=r"no records can be kept|no plain file"):
        journal.check_place(tmp_path / place)


@pytest.mark.parametrize("place", ["r.jsonl", "new/er/r.jsonl", "link.jsonl"])
def test_a_place_for_records_is_looked_at_without_a_trace(tmp_path: Path, place: str) -> None:
    (tmp_path / "link.jsonl").symlink_to("elsewhere.jsonl")
    journal.check_place(tmp_path / place)
    assert [path.name for path in tmp_path.iterdir()] == ["link.jsonl"]
    journal.append(tmp_path / place, record())
    journal.check_place(tmp_path / place)


def test_no_file_is_no_record_and_a_folder_is_an_error(tmp_path: Path) -> None:
    assert journal.read(tmp_path / "none.jsonl") == []
    with pytest.raises(ValueError, match="cannot be read"):
        journal.read(tmp_path)
