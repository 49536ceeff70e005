"""A record is checked to its last field and type, by whoever reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_runner.records import journal
from bench_runner.records.published import PUBLISHED_FOLDER
from bench_runner.settings import fastest_possible_step
from tests.bench_runner.test_journal import record

ROW = journal.to_json(record())
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


def put(place: str, value: Any) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(json.dumps(ROW))
    *path, last = place.split(".")
    inner = row
    for name in path:
        inner = inner.setdefault(name, {})
    inner[last] = value
    return row


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ("gpu", "H100\x1b[2J", "gpu is"),
        ("recipe_id", "", "recipe_id is ''"),
        ("gpu_count", 2**40, "a whole number from 1"),
        ("gpu_count", 10**4000, "a huge number"),
        ("training_days", float("nan"), "training_days is nan"),
        ("training_days", -1, "training_days is -1"),
        ("step_s", "soon", "step_s is 'soon'"),
        ("pass_s", 0.1, "a list of"),
        ("pass_s", [0.1, None], "pass_s holds None"),
        ("allocator_retries", 0.5, "allocator_retries is 0.5"),
        ("measured_on", 20261122, "measured_on is 20261122"),
        ("settings", "none", "settings is 'none'"),
        ("settings", {}, "settings is incomplete"),
        ("settings.colour", "red", "settings has a key 'colour'"),
        ("settings.offloading", 1, "settings.offloading is 1"),
        ("settings.sharding", {}, "sharding"),
        ("environment.climb", {"samples_per_s": {"two": 1}}, "samples_per_s"),
        ("environment.about", {"usable_memory_gib": "all"}, "usable_memory_gib"),
        ("environment.about", {"capability": [9, "0;touch x;"]}, "two numbers such as"),
        ("environment.about", {"attention": "org/kernel"}, "not a word such as sdpa"),
        ("environment.probes", [{"fits": True}], "probes.micro_batch_size is missing"),
        ("environment.note", float("nan"), "environment.note is nan"),
        ("method", [], "method"),
    ],
)
def test_a_field_of_another_kind_is_named(place: str, value: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        journal.from_json(put(place, value))
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 400


def test_an_environment_of_endless_depth_is_refused() -> None:
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    with pytest.raises(ValueError, match="deep or more"):
        journal.from_json(put("environment.note", deep))


@given(
    place=st.sampled_from([*ROW, *(f"settings.{name}" for name in ROW["settings"])])
    | st.sampled_from(["environment.climb", "environment.about", "environment.probes"]),
    value=PLAIN,
)
def test_what_is_accepted_can_be_searched_and_written(place: str, value: Any) -> None:
    try:
        read = journal.from_json(put(place, value))
    except ValueError as error:
        assert str(error).isprintable()
        return
    json.dumps(journal.to_json(read), allow_nan=False)
    fastest_possible_step.best_of([read])
    for name in ("climb", "about"):
        (read.environment.get(name) or {}).get("samples_per_s")


def test_every_shipped_record_passes() -> None:
    files = sorted(Path(PUBLISHED_FOLDER).glob("*.jsonl"))
    assert sum(len(journal.read(file)) for file in files) > 50
