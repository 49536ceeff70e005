"""How many groups would be outside by chance: cases whose answer is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.prediction.distance import reach_of
from advisor.prediction.fit import calibrate
from advisor.prediction.fit.accuracy_chance import (
    DRAWS,
    RARE,
    Chance,
    chance_of,
    drawn_inside,
    is_outside,
    joint_covariance,
    outside_by_chance,
)
from advisor.prediction.fit.calibrate import widening
from advisor.prediction.fit.cross_validate import guesses_of
from advisor.prediction.fit.fit import Posterior, fit_posterior
from advisor.prediction.fit.log_step import Mean
from advisor.prediction.fit.observations import REFERENCE, Observation
from advisor.prediction.fit.random_effects import (
    KINDS,
    exchange_shares,
    noise_groups,
    shared_matrices,
)
from advisor.prediction.fit.shipped_evidence import load_evidence
from advisor.prediction.intervals import NORMAL_90, Tail
from advisor.prediction.physics.chip import gpu_type
from advisor.prediction.physics.factors import FACTORS


def group(covariance: np.ndarray, held: int) -> Chance:
    rows = len(covariance)
    covered = [i < held for i in range(rows)]
    return chance_of(covered, list(drawn_inside(covariance)))


@pytest.mark.parametrize("rows", [20, 21, 35, 60, 150])
def test_errors_that_share_nothing_are_a_binomial(rows: int) -> None:
    exact = outside_by_chance(rows)
    four_sigma = 4 * (exact * (1 - exact) / DRAWS) ** 0.5
    assert group(np.eye(rows), rows).outside == pytest.approx(exact, abs=four_sigma)


def test_errors_that_are_one_error_are_inside_together_or_not_at_all() -> None:
    all_inside = group(np.ones((30, 30)), 30)
    assert set(all_inside.drawn) == {0, 30}
    assert all_inside.outside == 1.0
    # Nothing that is seen of such a group is rare but a share that cannot be.
    assert all_inside.probability == 1.0
    assert group(np.ones((30, 30)), 0).probability == pytest.approx(0.1, abs=0.03)
    assert all_inside.rare == 0.0


def test_the_more_is_shared_the_more_groups_are_outside() -> None:
    shared = [share + (1 - share) * np.eye(40) for share in (0.0, 0.3, 0.6, 0.9)]
    outside = [group(covariance, 36).outside for covariance in shared]
    assert outside == sorted(outside)
    # What would be improbable of times that share nothing is common where they share much.
    few = [group(covariance, 30).probability for covariance in shared]
    assert few[0] < RARE < few[-1]


def test_too_few_and_too_many_are_as_far_off() -> None:
    drawn = np.array([18] * 95 + [16] * 3 + [20] * 2)
    assert Chance(20, 16, drawn).probability == Chance(20, 20, drawn).probability == 0.05
    assert Chance(20, 18, drawn).probability == 1.0
    assert Chance(20, 0, drawn).probability == 0.0
    assert Chance(20, 0, drawn).outside == 0.05
    assert Chance(20, 0, np.array([18] * 97 + [16] * 3)).rare == 0.03
    assert not is_outside(17, 20) and not is_outside(19, 20)
    assert is_outside(16, 20) and is_outside(20, 20)


@settings(max_examples=25, deadline=None)
@given(
    widths=st.lists(st.floats(min_value=0.01, max_value=3.0), min_size=1, max_size=30),
    seed=st.integers(min_value=0, max_value=2**32 - 1),
)
def test_each_interval_holds_in_nine_of_ten_whatever_is_shared(
    widths: list[float], seed: int
) -> None:
    mixed = (
        np.random.default_rng(seed).standard_normal((len(widths), 3)) * np.array(widths)[:, None]
    )
    drawn = drawn_inside(mixed @ mixed.T + 1e-6 * np.eye(len(widths)), seed)
    assert drawn.shape == (len(widths), DRAWS)
    assert np.abs(drawn.mean(axis=1) - 0.9).max() < 0.04
    assert (drawn == drawn_inside(mixed @ mixed.T + 1e-6 * np.eye(len(widths)), seed)).all()


@pytest.fixture(scope="module")
def left_out() -> tuple[Posterior, list[Observation]]:
    """A fit of our own times and of one other source without the H200 and one model."""
    evidence = [
        o
        for o in load_evidence()
        if o.step_s is not None and (o.harness == REFERENCE or o.stack == "lambda")
    ]

    def is_out(o: Observation) -> bool:
        return gpu_type(o.chip) == "H200" or o.workload.workload_id == "roberta"

    asked = [o for o in evidence if is_out(o)]
    return fit_posterior([o for o in evidence if not is_out(o)]), asked


def plain(posterior: Posterior) -> Posterior:
    """The same without stretches, and with normal tails: a normal distribution, no more."""
    tail = Tail(scale=1.0, dof=1e12)
    calibration = replace(
        posterior.calibration,
        paper_tail=tail,
        own_tail=tail,
        real_tail=tail,
        new=np.ones(len(KINDS)),
    )
    return replace(posterior, calibration=calibration, dofs=np.full(len(posterior.dofs), 1e12))


def test_what_errors_share_is_the_conditional_covariance(
    left_out: tuple[Posterior, list[Observation]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "WIDENING", 0.0)
    posterior, asked = plain(left_out[0]), left_out[1]
    every = [*posterior.observations, *asked]
    jacobian = Mean(every, posterior.costs).at(posterior.theta)[1]
    shares = exchange_shares(jacobian)
    squares = posterior.widths[: len(KINDS)] ** 2
    whole = np.tensordot(squares, shared_matrices(every, every, (shares, shares)), axes=1)
    whole += (jacobian * np.array([f.spread for f in FACTORS]) ** 2) @ jacobian.T
    noise = posterior.widths[len(KINDS) :][noise_groups(every)] ** 2
    whole += np.diag(noise + np.array([o.rounding for o in every]) ** 2)
    seen, new = np.split(np.arange(len(every)), [len(posterior.observations)])
    factors = (posterior.jacobian * np.array([f.spread for f in FACTORS]) ** 2) @ (
        posterior.jacobian.T
    )
    # Outliers among the times that were seen weigh less: their own covariance says so.
    inside = np.linalg.inv(posterior.inverse) + factors
    told = whole[np.ix_(new, seen)] @ np.linalg.solve(inside, whole[np.ix_(seen, new)])
    expected = whole[np.ix_(new, new)] - told
    assert joint_covariance(posterior, asked) == pytest.approx(expected, abs=1e-6)


def test_the_variances_are_those_of_the_intervals(
    left_out: tuple[Posterior, list[Observation]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "WIDENING", 0.0)
    posterior, asked = left_out
    normal = Tail(scale=1.3, dof=1e12)
    stretched = replace(
        plain(posterior),
        calibration=replace(
            posterior.calibration, own_tail=normal, real_tail=Tail(scale=0.8, dof=1e12)
        ),
    )
    halves = stretched.predict(asked)[1]
    variances = np.diag(joint_covariance(stretched, asked))
    assert halves == pytest.approx(NORMAL_90 * np.sqrt(variances), rel=1e-6)


def test_distance_is_shared_within_a_model_and_a_card(
    left_out: tuple[Posterior, list[Observation]], monkeypatch: pytest.MonkeyPatch
) -> None:
    posterior, asked = left_out
    with_distance = joint_covariance(posterior, asked)
    far = widening(
        asked,
        posterior.observations,
        reach_of((o.workload, o.chip) for o in posterior.observations),
    )
    monkeypatch.setattr(calibrate, "WIDENING", 0.0)
    added = with_distance - joint_covariance(posterior, asked)
    assert far.max() > 0.0
    assert np.diag(added) == pytest.approx(far, abs=1e-12)
    for i, one in enumerate(asked):
        for j, other in enumerate(asked):
            model = one.workload.workload_id == other.workload.workload_id
            card = gpu_type(one.chip) == gpu_type(other.chip)
            if model and one.chip == other.chip:
                assert added[i, j] == pytest.approx(far[i], abs=1e-12)
            elif not model and not card:
                assert added[i, j] == pytest.approx(0.0, abs=1e-12)


def test_the_times_of_a_card_that_was_left_out_err_together(
    left_out: tuple[Posterior, list[Observation]],
) -> None:
    posterior, asked = left_out
    covariance = joint_covariance(posterior, asked)
    apart = np.sqrt(np.diag(covariance))
    shared = covariance / np.outer(apart, apart)
    new = np.array([gpu_type(o.chip) == "H200" for o in asked])
    assert new.sum() >= 20 and (~new).sum() >= 2
    within = shared[np.ix_(new, new)][~np.eye(new.sum(), dtype=bool)]
    assert within.min() > 0.0
    assert within.mean() > 3 * shared[np.ix_(new, ~new)].mean()
    assert np.linalg.eigvalsh(covariance).min() > 0.0


def test_each_guess_has_its_draws(left_out: tuple[Posterior, list[Observation]]) -> None:
    posterior, asked = left_out
    guesses = guesses_of(posterior, asked)
    drawn = [g.drawn for g in guesses if g.drawn is not None]
    assert len(drawn) == len(asked)
    assert np.mean(drawn) == pytest.approx(0.9, abs=0.02)
    # Asked alone they are drawn anew, not with the same numbers.
    alone = guesses_of(posterior, asked[:1])[0].drawn
    assert alone is not None and (alone != drawn[0]).any()
