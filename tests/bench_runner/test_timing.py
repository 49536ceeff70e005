"""Step arithmetic: kinds of passes, spread, settling, MFU."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench_runner.records.timing import (
    RawSeconds,
    fastest_size,
    model_flops_utilisation,
    settled,
    step_time,
)

seconds = st.floats(min_value=1e-4, max_value=1e3, allow_nan=False)
several = st.lists(seconds, min_size=1, max_size=9).map(tuple)


def test_of_sizes_as_fast_as_each_other_the_largest_is_timed() -> None:
    # Pythia-1B on an H200: compiled, 16 was 5 % faster than 8.
    assert fastest_size({1: 24.35, 4: 33.24, 8: 34.53, 16: 34.09}, 0.02) == 16
    assert fastest_size({4: 37.08, 8: 38.6, 16: 37.17}, 0.02) == 8
    assert fastest_size({1: 3.0}, 0.02) == 1


def test_a_step_is_each_kind_of_pass_as_often_as_it_happens() -> None:
    raw = RawSeconds(
        fetch_s=(0.1, 0.1),
        first_pass_s=(1.0, 1.0),
        pass_s=(2.0, 2.0, 2.0),
        sync_pass_s=(3.0,),
        update_s=(0.5,),
    )
    # 8 fetches, one first pass, 6 more without exchange, one with it, the update
    assert step_time(raw, 8).step_s == pytest.approx(0.8 + 1 + 6 * 2 + 3 + 0.5)


@pytest.mark.parametrize(
    ("raw", "passes", "words"),
    [
        (RawSeconds(pass_s=(1.0,), sync_pass_s=(), update_s=(1.0,)), 2, "gradient exchange"),
        (RawSeconds(pass_s=(), sync_pass_s=(1.0,), update_s=(1.0,)), 2, "without"),
        (RawSeconds(pass_s=(1.0,), sync_pass_s=(1.0,), update_s=(1.0,)), 0, "at least one"),
    ],
)
def test_what_was_not_timed_is_not_invented(raw: RawSeconds, passes: int, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        step_time(raw, passes)


@given(several, several, several, several, several, st.integers(2, 1024))
def test_a_step_lies_within_its_spread_and_more_passes_take_longer(
    first: tuple[float, ...],
    later: tuple[float, ...],
    sync: tuple[float, ...],
    update: tuple[float, ...],
    fetch: tuple[float, ...],
    passes: int,
) -> None:
    raw = RawSeconds(
        first_pass_s=first, pass_s=later, sync_pass_s=sync, update_s=update, fetch_s=fetch
    )
    one = step_time(raw, passes)
    assert one.step_s_low <= one.step_s * (1 + 1e-9)
    assert one.step_s <= one.step_s_high * (1 + 1e-9)
    assert step_time(raw, passes + 1).step_s > one.step_s


def test_settled_looks_at_the_last_steps_only() -> None:
    assert settled((60.0, 1.0, 1.01, 1.0))
    assert not settled((1.0, 1.0, 1.0, 1.5))
    assert not settled((1.0, 1.0))


def test_utilisation_counts_every_gpu_and_is_none_without_a_peak() -> None:
    assert model_flops_utilisation(
        flops_per_step=4e15, step_s=1.0, peak_tflops=1000.0, gpu_count=8
    ) == pytest.approx(0.5)
    assert (
        model_flops_utilisation(flops_per_step=1, step_s=1, peak_tflops=None, gpu_count=1) is None
    )
