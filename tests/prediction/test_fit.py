"""The fit of the shipped evidence: its text, its factors, and that it is what predicts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from advisor.prediction.fitted import Fitted
from advisor.prediction.observed_times import PAPER, REFERENCE, Observation
from advisor.prediction.own_records import columns_of, conditioned
from advisor.prediction.physics.factors import FACTORS
from advisor.prediction.predict_many import predict_many
from advisor.prediction.predict_one import predict
from advisor.prediction.shipped_predictions import shipped_fit
from tests.prediction.what_ships import CHIPS, WORKLOADS
from tools.fit.calibrate import likely_stretch
from tools.fit.fit import fit_posterior
from tools.fit.fitted_from import fitted_from
from tools.fit.log_step import Mean


def test_a_faster_time_of_one_s_own_lifts_the_bound(
    fitted: Fitted, evidence: tuple[Observation, ...]
) -> None:
    ours = next(o for o in evidence if o.harness == REFERENCE and o.workload.precision == "bf16")
    assert ours.step_s is not None
    assert conditioned(fitted, [ours]).highest_share == fitted.highest_share
    fast = replace(ours, step_s=ours.step_s / 2)
    assert conditioned(fitted, [fast]).highest_share > fitted.highest_share


def test_few_groups_move_a_stretch_less_than_many(evidence: tuple[Observation, ...]) -> None:
    timed = [o for o in evidence if o.harness not in (PAPER, REFERENCE)]
    sources = list(dict.fromkeys(o.stack for o in timed))
    kinds, widths = ("software", "source", "source x method"), np.full(40, 0.1)

    def stretch(groups: int, off: float) -> float:
        rows = [next(i for i, o in enumerate(timed) if o.stack == s) for s in sources[:groups]]
        alone = [timed[i] for i in rows]
        left_out = [([i], np.array([off]), np.array([[0.03]])) for i in range(len(rows))]
        return likely_stretch(alone, left_out, kinds, widths)

    # Each time lies where the widths have it, nowhere at all, and three widths away.
    assert 0.8 < stretch(20, 0.17) < 1.25
    assert stretch(20, 0.0) < stretch(3, 0.0) < 1.0
    assert 1.0 < stretch(3, 0.52) < stretch(20, 0.52)


def test_a_fit_is_small_and_survives_json(fitted: Fitted) -> None:
    text = fitted.to_json()
    assert len(text) < 450_000 and "\n" not in text
    again = Fitted.from_json(text)
    assert again.to_json() == text
    before = predict(WORKLOADS["pythia-1b"], CHIPS["H100"], 8, fitted).training_days
    after = predict(WORKLOADS["pythia-1b"], CHIPS["H100"], 8, again).training_days
    assert after == pytest.approx(before, rel=1e-4)


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": 1}', "null", '{"version": 99}'])
def test_a_broken_or_newer_fit_is_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="rebuild the store") as caught:
        Fitted.from_json(text)
    assert "\n" not in str(caught.value)


def test_the_same_evidence_gives_the_same_fit(
    evidence: tuple[Observation, ...], fitted: Fitted
) -> None:
    again = fitted_from(tuple(reversed(evidence)))
    assert again.fingerprint == fitted.fingerprint
    assert again.observations == fitted.observations
    assert again.factors == pytest.approx(fitted.factors, abs=1e-3)


def test_factors_stay_where_kernels_can_be(fitted: Fitted) -> None:
    for factor, log in zip(FACTORS, fitted.factors, strict=True):
        assert abs(log - math.log(factor.start)) < 4 * factor.spread, factor.name


def test_no_fit_without_a_time(evidence: tuple[Observation, ...]) -> None:
    with pytest.raises(ValueError, match="no measured time"):
        fit_posterior([o for o in evidence if o.step_s is None])


@pytest.mark.parametrize("method", ["paper", "naive"])
def test_what_is_fitted_is_what_predicts(
    evidence: tuple[Observation, ...], fitted: Fitted, method: str
) -> None:
    """Fit and prediction spell the same physics twice: to differentiate it, and fast."""
    asked = [
        replace(o, harness="reference", option=None, micro_batch_size=None)
        for o in evidence
        if o.harness == PAPER and (o.method == "naive") == (method == "naive")
        if o.step_s is not None
    ]
    plain = replace(fitted, effect_means=(0.0,) * len(fitted.effect_means))
    logs, _ = Mean(asked, fitted.costs).at(np.array(fitted.factors))
    index = np.arange(len(asked))
    many = predict_many(
        [o.workload for o in asked],
        [o.chip for o in asked],
        index,
        index,
        np.array([o.count for o in asked]),
        plain,
        method=method,
    )
    steps = np.array([o.workload.training_steps for o in asked])
    fits = np.isfinite(many.days)
    assert fits.mean() > 0.95
    seconds, expected = many.days[fits] * 86_400 / steps[fits], np.exp(logs[fits])
    alone = np.array([o.count for o in asked])[fits] == 1
    assert seconds[alone] == pytest.approx(expected[alone], rel=1e-9)
    # Several GPUs are no faster than as many times one, whatever the terms of a step add up to.
    assert (seconds > expected * (1 - 1e-9)).all()
    assert np.median(seconds[~alone] / expected[~alone]) < 1.03


def test_settings_beyond_the_papers_are_a_method_of_their_own(
    evidence: tuple[Observation, ...],
) -> None:
    own = [o for o in evidence if o.harness == REFERENCE]
    assert {o.settings for o in own} == {"naive", "tuned", "lean"}
    assert {f"source x method:own|{o.settings}" for o in own} <= set(shipped_fit().effects)


def test_columns_have_a_row_an_observation(evidence: tuple[Observation, ...]) -> None:
    assert len(columns_of(evidence)) == len(evidence)
