"""Optimiser states may leave the GPU for the host: what a build's host memory changes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from advisor.prediction.physics.memory import host_gib_of
from advisor.ranking.times import BestTime, TrainingTime, at_face_value, on_host
from advisor.store import Store
from bench_runner.records.measurement import Settings
from tests.facts_for_tests import make_best, make_model, make_time

GIB = 139.0


def estimate(days: float | None) -> TrainingTime:
    return make_time("card", 1, days, basis="predicted", timing="none")


LARGER = estimate(258.0)


def given(chosen: TrainingTime) -> BestTime:
    return make_best(chosen)._replace(with_host=(GIB, LARGER))


@pytest.mark.parametrize("chosen", [estimate(None), estimate(293.0), make_time("card", 1, None)])
@pytest.mark.parametrize(
    ("memory_gib", "enough"), [(None, False), (64.0, False), (GIB, True), (256.0, True)]
)
def test_a_host_with_enough_memory_trains_what_others_cannot(
    chosen: TrainingTime, memory_gib: float | None, enough: bool
) -> None:
    assert on_host(given(chosen), memory_gib).chosen == (LARGER if enough else chosen)


def test_a_host_with_less_memory_than_is_assumed_of_any_does_not_train_what_needs_it() -> None:
    """A tinybox has 48 GiB for each of its eight cards, 64 are assumed."""
    needs = make_best(estimate(258.0))._replace(host_gib=446.0)
    assert on_host(needs, 512.0) == on_host(needs, None) == needs
    lacking = on_host(needs, 384.0)
    assert lacking.chosen is not None and lacking.chosen.status == "infeasible"
    assert lacking.chosen.training_days is None
    assert lacking.with_host == (446.0, estimate(258.0))
    measured = make_best(make_time("card", 1, 285.0))._replace(host_gib=None)
    assert on_host(measured, 1.0) == measured


@pytest.mark.parametrize(
    ("sharding", "offloading", "precision", "gib"),
    [
        ("zero-1", True, "bf16", 128 + 128 + 64),
        ("fsdp-full-shard", True, "bf16", 128 + 128 + 64 + 64),
        ("zero-3", True, "fp32", 128 + 128 + 128),
        ("zero-3", False, "bf16", None),
    ],
)
def test_what_an_estimate_needs_of_the_host_follows_from_its_settings(
    sharding: str, offloading: bool, precision: str, gib: float | None
) -> None:
    settings = Settings(
        free_lunch=True,
        activation_checkpointing=False,
        sharding=sharding,
        offloading=offloading,
        micro_batch_size=1,
        gradient_accumulation_steps=1,
    )
    model = replace(make_model(), parameters=25 * 10**9, precision=precision)
    told = None if gib is None else pytest.approx((gib + 25e9 * 8 / 2**30) / 0.95)
    assert host_gib_of(replace(LARGER, settings=settings), model) == told
    assert host_gib_of(make_time("card", 1, 5.0, settings=settings), model) is None


def test_a_measurement_stands_whatever_the_host() -> None:
    measured = make_time("card", 1, 285.0, timing="synchronised")
    assert on_host(given(measured), 1024.0).chosen == measured


def test_published_evidence_knows_no_estimate_for_a_larger_host() -> None:
    (found,) = at_face_value([given(make_time("card", 1, None))])
    assert on_host(found, 1024.0).chosen == found.chosen


def test_the_store_says_how_much_memory_a_host_must_have(store_path: Path) -> None:
    with Store(store_path).reading() as reader:
        best = {(t.gpu_id, t.gpu_count): t for t in reader.best_times("pythia-6.9b", "sound")}
    one = best["rtx-4090", 1]
    assert one.chosen is not None and one.chosen.status == "infeasible"
    assert one.with_host is not None
    needed, time = one.with_host
    # 16 bytes a parameter of optimiser states and gradients, 6 % for the system.
    assert needed == pytest.approx((32 + 32 + 16 + 6.857e9 * 8 / 2**30) / 0.95, abs=1.0)
    assert time.settings is not None and time.settings.offloading
    assert all(t.with_host is None or t.with_host[0] > 64 * n for (_, n), t in best.items())
