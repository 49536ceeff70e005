"""Public evidence: what is left out by rule, and whose software each row is of."""

from __future__ import annotations

import csv
from dataclasses import replace

import pytest

from advisor.prediction.observed_times import Observation
from tools.fit.public_speeds import (
    BEYOND_LINEAR,
    EVIDENCE_FOLDER,
    usable,
)


@pytest.fixture(scope="module")
def one(evidence: tuple[Observation, ...]) -> Observation:
    return next(o for o in evidence if o.source_id == "llm-q" and o.count == 1)


def test_more_than_linear_is_left_out(one: Observation) -> None:
    assert one.step_s is not None
    fair = replace(one, observation_id="4", count=4, step_s=one.step_s / 3.9)
    fast = replace(
        one, observation_id="8", count=8, step_s=one.step_s / 8.0 / (BEYOND_LINEAR + 0.1)
    )
    assert usable([fast, one, fair]) == [one, fair]


def test_the_shipped_evidence_obeys_the_rules(evidence: tuple[Observation, ...]) -> None:
    public = [o for o in evidence if o.harness == o.source_id]
    assert len(public) > 350
    assert len({o.chip.name for o in public}) >= 25
    with (EVIDENCE_FOLDER / "throughput.csv").open(encoding="utf-8", newline="") as file:
        listed = sum(1 for _ in csv.DictReader(file))
    kept = sum(o.observation_id.startswith("throughput") for o in public)
    assert 0.85 * listed < kept < listed  # some rows are listed and left out


def test_every_source_says_its_software_and_where_it_is() -> None:
    with (EVIDENCE_FOLDER / "sources.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["software"] for row in rows} == {"trainer", "pytorch", "vendor", "native"}
    for row in rows:
        assert row["title"] and row["how_measured"], row["source_id"]
        # A licence, or the words that only single facts are taken.
        assert row["licence"] or "single fact" in row["how_measured"].lower(), row["source_id"]


def test_what_is_recomputed_on_one_gpu_says_nothing_of_how_others_scale(one: Observation) -> None:
    assert one.option is not None
    slow = replace(one, option=replace(one.option, checkpointing=True), step_s=2.0)
    eight = replace(one, count=8, option=replace(one.option, checkpointing=False), step_s=0.2)
    assert usable([slow, eight]) == [slow, eight]  # ten times as fast, and not by eight GPUs alone
    assert usable([replace(slow, option=eight.option), eight]) != [slow, eight]
