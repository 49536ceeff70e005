"""What the accuracy page says of times that the fit did not see is what a user is told."""

from __future__ import annotations

import statistics
from dataclasses import replace

from advisor.prediction.observed_times import Observation
from tools.fit.held_out import (
    folds,
    hold_out,
    is_others,
    is_own,
    model,
    source,
)


def test_every_time_is_left_out_once_with_all_that_shares_its_source(
    evidence: tuple[Observation, ...],
) -> None:
    dealt = folds(evidence, is_others, source)
    asked = [o for _, held in dealt for o in held]
    assert sorted(o.observation_id for o in asked) == sorted(
        o.observation_id for o in evidence if is_others(o) and o.step_s is not None
    )
    for seen, held in dealt:
        assert not {source(o) for o in held} & {source(o) for o in seen}


def test_a_hand_of_models_left_out_is_told_well(evidence: tuple[Observation, ...]) -> None:
    seen, asked = folds(evidence, is_own, model)[0]
    held = hold_out((seen, asked))
    assert statistics.median(h.error for h in held if h.days == h.days) < 0.12
    assert statistics.fmean(h.inside for h in held) > 0.7
    # Times of what is left out change nothing.
    spoilt = [replace(o, step_s=17.0 * (o.step_s or 1.0)) for o in asked]
    assert [h.days for h in hold_out((seen, spoilt))] == [h.days for h in held]
