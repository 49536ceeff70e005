"""What fits a GPU's memory, held against the tables of the paper."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.prediction.observed_times import PAPER, Observation
from advisor.prediction.physics.columns import WorkloadTable
from advisor.prediction.physics.memory import (
    NAIVE,
    OPTIONS,
    MemoryCosts,
    micro_batch,
)
from tests.prediction.what_ships import CHIPS, WORKLOADS
from tools.fit.fit_memory import columns_of, fit_costs, says_fits
from tools.fit.held_out import model
from tools.fit.priors import START


@pytest.fixture(scope="module")
def costs(evidence: tuple[Observation, ...]) -> MemoryCosts:
    return fit_costs(evidence)


def wrong_share(held: list[Observation], costs: MemoryCosts) -> float:
    """Wrong verdicts, a wrong "fits" counted double, over all of the paper's."""
    says = zip(held, says_fits(held, costs), strict=True)
    return sum((2 if s else 1) for o, s in says if s != (o.step_s is not None)) / 288


def test_verdicts_on_tables_1_and_4(evidence: tuple[Observation, ...], costs: MemoryCosts) -> None:
    paper = [o for o in evidence if o.harness == PAPER]
    assert len(paper) == 288
    assert wrong_share(paper, costs) <= 0.03


def test_verdicts_on_models_that_were_held_out(evidence: tuple[Observation, ...]) -> None:
    paper = [o for o in evidence if o.harness == PAPER]
    wrong = 0.0
    for group in dict.fromkeys(map(model, paper)):
        costs = fit_costs([o for o in paper if model(o) != group])
        wrong += wrong_share([o for o in paper if model(o) == group], costs)
    assert wrong <= 0.03


def test_micro_batches_of_appendix_j(evidence: tuple[Observation, ...], costs: MemoryCosts) -> None:
    searched = [o for o in evidence if o.searched is not None and o.harness == PAPER]
    assert len(searched) == 140
    same = 0
    for o in searched:
        assert o.searched is not None
        option, size = o.searched
        same += int(micro_batch(option, columns_of([o]), costs)[0]) == size
    assert same >= 112  # four of five; the others are off by one doubling, a few by two


@settings(max_examples=60, deadline=None)
@given(
    name=st.sampled_from(sorted(WORKLOADS)),
    memory=st.floats(min_value=4.0, max_value=300.0),
    count=st.sampled_from([1, 2, 4, 8]),
    option=st.sampled_from((NAIVE, *OPTIONS)),
)
def test_more_memory_never_fits_less(name: str, memory: float, count: int, option: object) -> None:
    workload, chip = WORKLOADS[name], CHIPS["A100"]
    sizes = []
    for gib in (memory, memory * 1.5):
        zero = np.zeros(1, dtype=int)
        table = WorkloadTable([workload], [replace(chip, memory_gib=gib)])
        columns = table.columns(zero, zero, np.array([count]))
        sizes.append(float(micro_batch(option, columns, START)[0]))  # type: ignore[arg-type]
    assert sizes[0] <= sizes[1]
    share = workload.batch_size // count
    assert all(not size or math.log2(size).is_integer() or not share % size for size in sizes)
    assert all(size * count <= workload.batch_size for size in sizes)
