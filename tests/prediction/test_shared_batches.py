"""Settings that are shown make the batch that they are shown for, and a runner takes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.prediction.fitted import Fitted
from advisor.prediction.model.workload import workload_of
from advisor.prediction.observed_times import chips_by_name
from advisor.prediction.predict_one import Prediction, predict
from advisor.prediction.shipped_predictions import shipped_fit
from bench_runner.recipes import load_recipes
from bench_runner.records.measurement import Settings
from bench_runner.settings.batch_and_sharding import (
    accumulation_steps,
    even_batch,
    micro_batch_sizes,
)

RECIPES = {recipe.recipe_id: recipe for recipe in load_recipes()}
CHIPS = chips_by_name()


@cache
def fitted() -> Fitted:
    return shipped_fit()


def all_settings(answer: Prediction) -> Iterator[Settings]:
    for each in (answer.settings, answer.paper_settings):
        if each is not None:
            yield each


def asked(batch: int, count: int, machines: int) -> Prediction:
    workload = replace(workload_of(RECIPES["pythia-160m"]), batch_size=batch)
    several = {"machines": machines, "network": "infiniband-ndr"} if machines > 1 else {}
    return predict(workload, CHIPS["RTX 3090"], count, fitted(), **several)


def check(found: Settings, batch: int, count: int) -> None:
    micro, passes = found.micro_batch_size, found.gradient_accumulation_steps
    assert micro is not None
    assert accumulation_steps(even_batch(batch, count), count, micro) == passes


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 5000), st.integers(1, 12), st.integers(1, 4))
def test_the_settings_of_a_prediction_make_its_batch(share: int, each: int, machines: int) -> None:
    count = each * machines
    for batch in (share * count, share * count + 1):
        for found in all_settings(asked(batch, count, machines)):
            check(found, batch, count)


@given(st.integers(1, 16), st.integers(1, 4096))
def test_sizes_that_a_search_tries_about_double(gpus: int, share: int) -> None:
    sizes = micro_batch_sizes(gpus * share, gpus)
    assert sizes[0] == 1 and sizes[-1] == share
    assert all(share % size == 0 for size in sizes)
    for smaller, larger in pairwise(sizes):
        assert not any(
            share % between == 0 for between in range(larger + 1, 2 * smaller + 1)
        )  # none that is nearer to twice as many
    if share & (share - 1) == 0:
        assert sizes == tuple(2**n for n in range(share.bit_length()))
