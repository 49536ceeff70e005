"""The fit of the shipped evidence: its text, its factors, and that it is what predicts."""

from __future__ import annotations

import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from advisor.prediction.fitted import Fitted
from advisor.prediction.observed_times import PAPER, REFERENCE, Observation
from advisor.prediction.own_records import conditioned
from advisor.prediction.physics.factors import NAMES
from advisor.prediction.predict_many import Asked, predict_many
from advisor.prediction.predict_one import predict
from tests.prediction.what_ships import CHIPS, WORKLOADS
from tools.fit.log_step import Mean
from tools.fit.priors import FACTORS
from tools.fit.refit import fitted_from, to_json


def test_a_faster_time_of_one_s_own_lifts_the_bound(
    fitted: Fitted, evidence: tuple[Observation, ...]
) -> None:
    ours = next(o for o in evidence if o.harness == REFERENCE and o.workload.precision == "bf16")
    assert ours.step_s is not None
    assert conditioned(fitted, [ours]).highest_share == fitted.highest_share
    fast = replace(ours, step_s=ours.step_s / 2)
    assert conditioned(fitted, [fast]).highest_share > fitted.highest_share


def test_a_fit_is_small_and_survives_json(fitted: Fitted) -> None:
    text = to_json(fitted)
    assert len(text) < 450_000 and "\n" not in text
    again = msgspec.json.decode(text, type=Fitted)
    assert to_json(again) == text
    before = predict(WORKLOADS["pythia-1b"], CHIPS["H100"], 8, fitted).training_days
    after = predict(WORKLOADS["pythia-1b"], CHIPS["H100"], 8, again).training_days
    assert after == pytest.approx(before, rel=1e-4)


def test_the_same_evidence_gives_the_same_fit(
    evidence: tuple[Observation, ...], fitted: Fitted
) -> None:
    again = fitted_from(tuple(reversed(evidence)))
    assert again.fingerprint == fitted.fingerprint
    assert again.observations == fitted.observations
    assert again.factors == pytest.approx(fitted.factors, abs=1e-3)


def test_factors_stay_where_kernels_can_be(fitted: Fitted) -> None:
    assert FACTORS.keys() == {*NAMES}
    for name, log in zip(NAMES, fitted.factors, strict=True):
        start, spread = FACTORS[name]
        assert abs(log - math.log(start)) < 4 * spread, name


@pytest.mark.parametrize("method", ["paper", "naive"])
def test_what_is_fitted_is_what_predicts(
    evidence: tuple[Observation, ...], fitted: Fitted, method: str
) -> None:
    """Fit and prediction spell the same physics twice: to differentiate it, and fast."""
    asked = [
        replace(o, harness="reference")
        for o in evidence
        if o.harness == PAPER and (o.method == "naive") == (method == "naive")
        if o.step_s is not None
    ]
    plain = replace(fitted, effect_means=(0.0,) * len(fitted.effect_means))
    logs, _ = Mean(asked, fitted.costs).at(np.array(fitted.factors))
    index = np.arange(len(asked))
    pairs = ([o.workload for o in asked], [o.chip for o in asked], index, index)
    counts = np.array([o.count for o in asked])
    many = predict_many(Asked(*pairs, counts, plain, method=method))
    steps = np.array([o.workload.training_steps for o in asked])
    fits = np.isfinite(many.days)
    assert fits.mean() > 0.95
    seconds, expected = many.days[fits] * 86_400 / steps[fits], np.exp(logs[fits])
    alone = np.array([o.count for o in asked])[fits] == 1
    assert seconds[alone] == pytest.approx(expected[alone], rel=1e-9)
    # Several GPUs are no faster than as many times one, whatever the terms of a step add up to.
    assert (seconds > expected * (1 - 1e-9)).all()
    assert np.median(seconds[~alone] / expected[~alone]) < 1.03
