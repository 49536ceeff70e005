"""What to measure: it may be first, was not measured, and would tell."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from advisor.ranking.candidates import Candidates
from advisor.ranking.question import RANK_RULES, Question
from advisor.ranking.row_order import rank
from advisor.ranking.what_to_measure import wanted
from tests.facts_for_tests import PLAIN, make_candidates, make_time


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
                continue
            low, high = days / spread, days * spread
            ends = {"training_days_low": low, "training_days_high": high, "settings": PLAIN}
            factor = draw(st.none() | st.floats(1.0, spread))
            kind = {"basis": "predicted", "timing": "none", "comparison_factor": factor}
            times.append(make_time(gpu_id, count, days, **kind, **ends))
    return make_candidates(times, prices, evidence=draw(st.sampled_from(["sound", "published"])))


questions = st.builds(
    Question,
    budget_usd=st.none() | st.integers(1_000, 200_000).map(Decimal),
    max_days=st.none() | st.integers(1, 60).map(float),
    rule=st.sampled_from(RANK_RULES),
)


@given(fields(), questions)
def test_what_is_to_be_measured_may_be_first_and_was_not_measured(
    candidates: Candidates, asked: Question
) -> None:
    answer = rank(candidates, asked)
    found = wanted(answer)
    if candidates.evidence == "published" or asked.rule == "cost" or not answer.table:
        assert found is None
    if found is not None:
        assert found.build in [row[0] for row in answer.table[: answer.tied_rows]]
        time = candidates.times[found.build]
        assert time is not None and time.chosen is not None
        assert time.chosen.timing != "synchronised"
        assert found.minutes >= 2 * 40 / 60  # two settings of 12 at 40 s
        assert 0 <= found.left < answer.tied_rows


def test_whole_days_that_are_printed_alike_are_tied() -> None:
    times = [make_time("a", 1, 8), make_time("b", 1, 8), make_time("c", 1, 9)]
    candidates = make_candidates(times, {"a": "1", "b": "2", "c": "3"}, evidence="published")
    answer = rank(candidates, Question())
    assert [row.tied_with for row in answer.rows()] == [1, 1, 3]
