"""How sure the first place of a ranking is: ties, limits of days, and what to measure."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.answers.ranking.confidence import limit_lines, measure_line, sure_line
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import RANK_RULES, Question
from advisor.ranking.rank import Ranking, rank
from advisor.ranking.ties import Contender, alike
from advisor.ranking.times import TrainingTime
from bench_runner.records.measurement import Settings
from tests.facts_for_tests import make_candidates, make_time

SETTINGS = Settings(
    free_lunch=True,
    activation_checkpointing=False,
    sharding=None,
    offloading=False,
    micro_batch_size=1,
    gradient_accumulation_steps=4,
)


def predicted(
    gpu_id: str, count: int, days: float, spread: float = 1.5, factor: float | None = None
) -> TrainingTime:
    return make_time(
        gpu_id,
        count,
        days,
        basis="predicted",
        timing="none",
        training_days_low=days / spread,
        training_days_high=days * spread,
        comparison_factor=factor,
        settings=SETTINGS,
    )


@st.composite
def fields(draw: st.DrawFn) -> Candidates:
    times, prices = [], {}
    for gpu_id in draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5, unique=True)):
        prices[gpu_id] = str(draw(st.integers(100, 40_000)))
        for count in draw(st.lists(st.sampled_from([1, 2, 4, 8]), unique=True)):
            days = draw(st.integers(1, 60))
            spread = draw(st.none() | st.floats(1.0, 3.0))
            if spread is None:
                times.append(make_time(gpu_id, count, days))
            else:
                factor = draw(st.none() | st.floats(1.0, spread))
                times.append(predicted(gpu_id, count, days, spread, factor))
    return make_candidates(times, prices, evidence=draw(st.sampled_from(["sound", "published"])))


questions = st.builds(
    Question,
    budget_usd=st.none() | st.integers(1_000, 200_000).map(Decimal),
    max_days=st.none() | st.integers(1, 60).map(float),
    rule=st.sampled_from(RANK_RULES),
)


def contender(ranking: Ranking, i: int) -> Contender:
    candidates = ranking.candidates
    weight = candidates.cents[i] if ranking.question.rule == "experiment-cost" else 1
    low, high = candidates.interval(i)
    value, time = candidates.days[i] * weight, candidates.times[i]
    assert time is not None and time.chosen is not None
    return Contender(
        value=value,
        low=low * weight,
        high=high * weight,
        factor=time.chosen.comparison_factor,
        gpu=candidates.builds[i].gpu.gpu_id,
        settled=False,
        effort=1.0,
    )


@given(fields(), questions)
def test_tied_is_what_is_alike_the_first_and_never_the_first(
    candidates: Candidates, asked: Question
) -> None:
    answer = rank(candidates, asked)
    if not len(answer):
        return
    first, *others = answer.order
    expected = {
        i
        for i in others
        if asked.rule != "cost"
        and candidates.times[i] is not candidates.times[first]
        and alike(contender(answer, i), contender(answer, first))
    }
    # Products of floats in another order may differ in the last digit where ends only touch.
    for i in expected ^ answer.uncertainty.tied:
        one, other = contender(answer, i), contender(answer, first)
        ratio = math.log(one.value / other.value)
        near = one.factor is not None and other.factor is not None
        low, high = (one.near[0], other.near[1]) if near else (one.low, other.high)
        doubt = math.hypot(math.log(one.value / low), math.log(high / other.value))
        assert ratio == pytest.approx(doubt)
    assert not answer.row(0).tied_with_first
    assert [row.tied_with_first for row in answer.rows()] == [
        i in answer.uncertainty.tied for i in answer.order
    ]


@given(fields(), questions)
def test_what_is_to_be_measured_may_be_first_and_was_not_measured(
    candidates: Candidates, asked: Question
) -> None:
    answer = rank(candidates, asked)
    uncertainty = answer.uncertainty
    wanted = uncertainty.wanted
    if uncertainty.is_sure or candidates.evidence == "published":
        assert wanted is None
    if wanted is not None:
        assert wanted.build in {uncertainty.first, *uncertainty.tied, *uncertainty.outside}
        time = candidates.times[wanted.build]
        assert time is not None
        assert time.chosen is not None
        assert time.chosen.timing != "synchronised"
        assert wanted.search.minutes >= 2 * 40 / 60  # two settings of 12 at 40 s
        assert 0 <= wanted.left <= len(candidates.builds)


@given(fields(), questions)
def test_the_limit_sorts_surely_only_what_is_clear_of_it(
    candidates: Candidates, asked: Question
) -> None:
    answer = rank(candidates, asked)
    limit = asked.max_days
    doubtful = {*answer.uncertainty.perhaps_slow, *answer.uncertainty.perhaps_fast}
    inside_budget = [
        i
        for i in candidates.rankable
        if asked.budget_usd is None or candidates.cents[i] <= int(asked.budget_usd * 100)
    ]
    for i in inside_budget:
        low, high = candidates.interval(i)
        crosses = limit is not None and low <= limit < high
        assert (i in doubtful) == crosses


def test_overall_cost_depends_on_no_training_time() -> None:
    candidates = make_candidates(
        [predicted("a", 1, 10), predicted("b", 1, 11)], {"a": "10", "b": "20"}
    )
    answer = rank(candidates, Question(rule="cost"))
    assert answer.uncertainty.is_sure
    assert "the price alone decides" in (sure_line(answer) or "")
    # ... unless the days are limited and the cheapest may take longer.
    limited = rank(candidates, Question(rule="cost", max_days=12))
    assert not limited.uncertainty.is_sure
    assert limited.uncertainty.wanted is not None
    assert limited.uncertainty.wanted.build == limited.uncertainty.first
    assert limit_lines(limited) == [
        "Ranked, but perhaps slower than 12 days: 1 × A (host-1) (6.67–15), "
        "1 × B (host-1) (7.33–16.5)."
    ]


def test_a_machine_with_the_same_gpus_is_no_rival() -> None:
    # One time stands for both machines, whatever it is: the cheaper one is first for sure.
    candidates = make_candidates([predicted("a", 1, 10)], {"a": "10"})
    answer = rank(candidates, Question())
    assert len(answer) >= 1
    assert answer.uncertainty.tied == frozenset()


def test_whole_days_that_are_printed_alike_are_tied() -> None:
    times = [make_time("a", 1, 8), make_time("b", 1, 8), make_time("c", 1, 9)]
    candidates = make_candidates(times, {"a": "1", "b": "2", "c": "3"}, evidence="published")
    answer = rank(candidates, Question())
    assert [row.tied_with_first for row in answer.rows()] == [False, True, False]
    assert "whole days" in (measure_line(answer) or "")
