"""What the paper's clock sees of a step."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from advisor.prediction.fitted import Fitted
from advisor.prediction.observed_times import PAPER, REFERENCE, Observation
from advisor.prediction.own_records import columns_of
from advisor.prediction.physics.memory import OPTIONS
from tools.fit.log_step import Mean, hidden_share
from tools.fit.priors import FACTORS


def found_optimal(
    evidence: tuple[Observation, ...], workload_id: str, chip: str, count: int
) -> Observation:
    """What the paper's search found fastest of a model on so many GPUs."""
    return next(
        o
        for o in evidence
        if o.harness == PAPER and o.workload.workload_id == workload_id and o.count == count
        if o.chip.name == chip and o.method == "optimal"
    )


def seen_and_whole(o: Observation, fitted: Fitted) -> tuple[Any, Any, Any]:
    """What the paper's clock sees of a step and what there is of it (logarithms), and how the
    former moves with each factor."""
    theta = np.array(fitted.factors)
    seen, jacobian = Mean([o], fitted.costs).at(theta)
    whole, _ = Mean([replace(o, harness=REFERENCE)], fitted.costs).at(theta)
    return seen, whole, jacobian


def test_the_papers_clock_sees_all_of_a_step_whose_update_is_offloaded(
    evidence: tuple[Observation, ...], fitted: Fitted
) -> None:
    tight = found_optimal(evidence, "pythia-2.8b", "A6000", 1)
    offloaded, kept = (
        replace(
            tight, option=replace(OPTIONS[0], stage=1, offloading=offloading), micro_batch_size=4
        )
        for offloading in (True, False)
    )
    for o, hidden in ((offloaded, False), (kept, True)):
        seen, whole, jacobian = seen_and_whole(o, fitted)
        assert (seen < whole - 0.1).all() if hidden else (seen == whole).all()
        names = [factor.name for factor in FACTORS]
        assert (jacobian[0, names.index("hidden layers")] < 0.0) == hidden


def test_the_first_blocks_of_a_convnext_hide_more_than_as_many_of_its_others(
    evidence: tuple[Observation, ...], fitted: Fitted
) -> None:
    theta = np.array(fitted.factors)
    rows = [o for o in evidence if o.harness == PAPER and o.step_s is not None]
    columns, naive = columns_of(rows), np.array([o.method == "naive" for o in rows])
    share, jacobian = hidden_share(theta, columns, naive)
    names = [factor.name for factor in FACTORS]
    kinds = {
        "hidden layers of bf16": columns.bf16,
        "hidden layers of fp32": ~columns.half,
        "hidden layers of convnets": columns.convnet,
    }
    layers = theta[
        np.where(naive, names.index("naive hidden layers"), names.index("hidden layers"))
    ]
    for name, of_kind in kinds.items():
        layers = layers + of_kind * theta[names.index(name)]
        moved = theta + 1e-6 * (np.arange(len(theta)) == names.index(name))
        slope = (hidden_share(moved, columns, naive)[0] - share) / 1e-6
        assert jacobian[:, names.index(name)] == pytest.approx(slope, abs=1e-6)
    evenly = np.exp(layers) / columns.layers
    assert (share[columns.convnet] > 1.1 * evenly[columns.convnet]).all()
    assert share[~columns.convnet] == pytest.approx(evenly[~columns.convnet])
    assert (share > 0.0).all() and (share < 1.0).all()
