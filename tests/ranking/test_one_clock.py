"""Which time stands in sound evidence: one clock, whoever measured."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from advisor.answers.wording import rests_on_words
from advisor.ranking.times import TrainingTime, one_clock
from tests.facts_for_tests import PLAIN, make_best, make_time

FUSED = replace(PLAIN, compilation="regional", loss="fused", inputs="trimmed")


def estimate(days: float | None, paper: float | None, **changes: object) -> TrainingTime:
    given = {"basis": "predicted", "timing": "none", "paper_settings_days": paper}
    return make_time("card", 4, days, **{**given, "rests_on": "estimated", **changes})


def recorded(days: float | None, **changes: object) -> TrainingTime:
    return make_time("card", 4, days, **changes)


ESTIMATE = estimate(39.0, 46.0)
OURS = {"timing": "synchronised", "settings": PLAIN}


@pytest.mark.parametrize(
    ("time", "stands"),
    [
        pytest.param(recorded(20.0), False, id="published, not synchronised"),
        pytest.param(recorded(20.0, verdict="implausible"), False, id="published, impossible"),
        pytest.param(recorded(46.0, **OURS), False, id="ours, with the paper's settings"),
        pytest.param(
            recorded(39.1, timing="synchronised", settings=FUSED),
            True,
            id="ours, with what is written out",
        ),
        pytest.param(recorded(50.0, **OURS, origin="local"), True, id="the user's own search"),
        pytest.param(
            recorded(50.0, **OURS, origin="local", method="free-lunch"),
            False,
            id="one setting that the user tried",
        ),
        pytest.param(
            recorded(50.0, **OURS, origin="local", lab="the lab next door"),
            False,
            id="another lab's search with the paper's settings",
        ),
        pytest.param(
            recorded(
                39.1, timing="synchronised", settings=FUSED, origin="local", lab="the lab next door"
            ),
            True,
            id="another lab's, with what is written out",
        ),
        pytest.param(
            recorded(90.0, **OURS, method="naive"), False, id="naive settings, synchronised"
        ),
        pytest.param(
            recorded(20.0, timing="synchronised", verdict="implausible", origin="local"),
            False,
            id="the user's own, impossible",
        ),
        pytest.param(recorded(None), True, id="does not fit, though the paper's settings should"),
    ],
)
def test_what_stands(time: TrainingTime, stands: bool) -> None:
    best = one_clock(make_best(time), ESTIMATE)
    assert best.published == (None if stands else time)
    chosen = best.chosen
    assert chosen is not None
    # What was measured and does not stand is quoted beside the estimate that does.
    possible = time.verdict != "implausible" and time.method != "naive"
    quoted = not stands and possible and time.timing == "synchronised"
    assert chosen.measured_otherwise_days == (time.training_days if quoted else None)
    assert replace(chosen, measured_otherwise_days=None) == (time if stands else ESTIMATE)


def test_where_both_kinds_of_settings_are_one_our_measurement_stands() -> None:
    time = recorded(33.0, **OURS)
    assert one_clock(make_best(time), estimate(31.9, 32.0)).chosen == time


@pytest.mark.parametrize(
    ("rests_on", "timing", "ends"),
    [
        ("measured-elsewhere", "synchronised", (98.0, 102.0)),
        ("measured-here", "synchronised", (99.9, 100.1)),
        ("measured-elsewhere", "unsynchronised", (99.9, 100.1)),
    ],
)
def test_another_card_differs_by_more_than_the_seconds_of_one_run(
    rests_on: Any, timing: str, ends: tuple[float, float]
) -> None:
    run = {"training_days_low": 99.9, "training_days_high": 100.1, "rests_on": rests_on}
    time = replace(recorded(100.0, timing=timing, settings=FUSED), **run)
    chosen = one_clock(make_best(time), None).chosen
    assert chosen is not None
    assert chosen.training_days == 100.0
    assert (chosen.training_days_low, chosen.training_days_high) == pytest.approx(ends)
    wide = replace(time, training_days_low=90.0, training_days_high=110.0)
    assert one_clock(make_best(wide), None).chosen == wide


def test_settings_that_need_less_memory_overrule_a_dash() -> None:
    fits = estimate(120.0, None)
    assert one_clock(make_best(recorded(None)), fits).chosen == fits


def test_without_an_estimate_what_was_recorded_stands() -> None:
    time = recorded(20.0)
    assert one_clock(make_best(time), None).chosen == time
    assert one_clock(make_best(time), estimate(None, None)).chosen == time


def test_the_published_time_stays_beside_the_estimate() -> None:
    printed, ours = recorded(34.0), recorded(46.0, **OURS)
    best = make_best(ours)._replace(published=printed)
    found = one_clock(best, ESTIMATE)
    beside = replace(ESTIMATE, measured_otherwise_days=46.0)
    assert (found.chosen, found.published) == (beside, printed)
    assert rests_on_words(beside) == "measured with other settings: 46 days; with ours estimated"
