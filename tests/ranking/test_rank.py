from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.ranking.candidates import REASONS, Candidates
from advisor.ranking.question import RANK_RULES, Question, parse_rank_rule
from advisor.ranking.row_order import rank
from tests.facts_for_tests import make_candidates, make_time

COUNTS = (1, 2, 4, 8)


@st.composite
def fields(draw: st.DrawFn) -> Candidates:
    times, prices = [], {}
    for gpu_id in draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=5, unique=True)):
        if draw(st.booleans()) or not prices:
            prices[gpu_id] = str(draw(st.integers(100, 40_000)))
        for count in COUNTS:
            kind = draw(st.sampled_from(["ok", "ok", "ok", "infeasible", "implausible", "absent"]))
            if kind == "absent":
                continue
            days = None if kind == "infeasible" else draw(st.integers(1, 60))
            verdict = {"ok": "plausible", "infeasible": None}.get(kind, kind)
            times.append(make_time(gpu_id, count, days, verdict=verdict))
    return make_candidates(times, prices, evidence=draw(st.sampled_from(["sound", "published"])))


questions = st.builds(
    Question,
    budget_usd=st.none() | st.integers(1_000, 200_000).map(Decimal),
    max_days=st.none() | st.integers(1, 60).map(float),
    rule=st.sampled_from(RANK_RULES),
)


@given(fields(), questions)
def test_every_build_is_ranked_or_left_out_with_one_reason(
    candidates: Candidates, asked: Question
) -> None:
    answer = rank(candidates, asked)
    ranked = list(answer.order)
    left = [i for i, _ in answer.excluded_order]
    assert sorted(ranked + left) == list(range(len(candidates.builds)))
    assert sum(answer.excluded_counts.values()) == len(left)
    for row in answer.excluded():
        assert row.reason in REASONS
        assert row.detail


@given(fields(), questions)
def test_ranked_builds_obey_the_question(candidates: Candidates, asked: Question) -> None:
    rows = rank(candidates, asked).rows()
    for row in rows:
        assert asked.budget_usd is None or row.overall_cost_usd <= asked.budget_usd
        assert asked.max_days is None or row.training_days <= asked.max_days
        assert row.time.status == "ok"
        assert candidates.evidence == "published" or row.time.verdict != "implausible"


@given(fields(), questions)
def test_the_front_is_exactly_what_nothing_else_beats(
    candidates: Candidates, asked: Question
) -> None:
    rows = rank(candidates, asked).rows()

    def cost(row: object) -> Decimal:
        if asked.rule == "experiment-cost":
            return row.overall_cost_usd * Decimal(row.training_days)  # type: ignore[attr-defined]
        return row.overall_cost_usd  # type: ignore[attr-defined, no-any-return]

    for row in rows:
        beaten = any(
            cost(other) <= cost(row)
            and other.training_days <= row.training_days
            and (cost(other), other.training_days) != (cost(row), row.training_days)
            for other in rows
        )
        assert row.on_pareto_front == (not beaten)


@given(fields(), questions, st.integers(1, 50_000))
def test_a_larger_budget_never_loses_a_build(
    candidates: Candidates, asked: Question, more: int
) -> None:
    if asked.budget_usd is None:
        return
    richer = Question(budget_usd=asked.budget_usd + more, max_days=asked.max_days, rule=asked.rule)
    assert set(rank(candidates, asked).order) <= set(rank(candidates, richer).order)


@given(st.integers(1_000, 30_000), st.integers(1, 20_000), st.sampled_from(RANK_RULES))
def test_a_higher_price_never_improves_a_rank(price: int, rise: int, rule: str) -> None:
    times = [make_time(gpu, n, 64 / n + ord(gpu) % 7) for gpu in "abc" for n in COUNTS]
    dear = {"a": str(price + rise), "b": "5000", "c": "9000"}
    cheap = dear | {"a": str(price)}

    def position(prices: dict[str, str]) -> int:
        answer = rank(make_candidates(times, prices), Question(rule=rule))
        return next(row.group for row in answer.rows() if row.build.gpu.gpu_id == "a")

    assert position(dear) >= position(cheap)


def test_the_same_field_at_face_value_ranks_what_sound_evidence_leaves_out() -> None:
    times = [make_time("a", 1, 30), make_time("a", 4, 2, verdict="implausible")]
    sound = rank(make_candidates(times, {"a": "10"}), Question())
    published = rank(make_candidates(times, {"a": "10"}, evidence="published"), Question())
    assert [row.build.gpu_count for row in sound.rows()] == [1]
    assert [row.build.gpu_count for row in published.rows()] == [4, 1]


def test_a_budget_on_the_very_price_is_enough() -> None:
    candidates = make_candidates([make_time("a", 1, 3)], {"a": "999.99"}, host_usd="1000.01")
    assert len(rank(candidates, Question(budget_usd=Decimal("2000.00")))) == 1
    assert len(rank(candidates, Question(budget_usd=Decimal("1999.99")))) == 0


def test_an_unknown_rule_is_refused() -> None:
    with pytest.raises(ValueError, match="days, cost or experiment-cost"):
        parse_rank_rule("price")
