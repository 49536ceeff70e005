"""More money makes no first place worse in what it is ranked by: a walk over the shipped facts, and
facts at random. By cost a price that a seller names may be hardly more than a sum of as many cards,
and the first line says so."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.answers.ranking.verdict import verdict
from advisor.ranking.build_prices import ABOUT
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import RANK_RULES, CandidatesKey, Question, RankRule
from advisor.ranking.rank import Ranking, rank
from advisor.ranking.snapshot import candidates_of, take_snapshot
from advisor.store import Store
from price_catalog.builds import Build
from tests.facts_for_tests import make_best, make_gpu, make_host, make_model, make_quote, make_time


def values(candidates: Candidates, rule: RankRule) -> list[float]:
    return {
        "days": candidates.days,
        "cost": [float(cents) for cents in candidates.cents],
        "experiment-cost": candidates.experiment_weight,
    }[rule]


def richer(candidates: Candidates, rule: RankRule, limit: float | None) -> Iterator[Ranking]:
    """What is answered for each budget at which something more can be paid."""
    for cents in sorted({candidates.cents[i] for i in candidates.rankable}):
        question = Question(budget_usd=Decimal(cents) / 100, max_days=limit, rule=rule)
        ranking = rank(candidates, question)
        if len(ranking):
            yield ranking


def check(candidates: Candidates, rule: RankRule, limit: float | None) -> None:
    value, least = values(candidates, rule), {True: float("inf"), False: float("inf")}
    for ranking in richer(candidates, rule, limit):
        first = ranking.order[0]
        sold = candidates.offered[first]
        before = least[sold]
        if value[first] > before:
            assert rule != "days"
            assert not candidates.is_summed(first)
            assert value[first] <= before * ABOUT
            said = verdict(ranking)
            words = ("quoted whole", "as a sum", "may cost as little")
            assert any(each in said.sentence for each in words)
        least[sold] = min(before, value[first])


@pytest.fixture(scope="module")
def shipped(store_path: Path) -> list[Candidates]:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        return [
            candidates_of(
                reader.best_times(model.recipe_id, "sound"),
                snapshot,
                CandidatesKey(model.recipe_id, "latest", "sound"),
            )
            for model in snapshot.models
        ]


@pytest.mark.parametrize("rule", RANK_RULES)
def test_for_more_money_no_shipped_model_has_a_worse_first_place(
    shipped: list[Candidates], rule: RankRule
) -> None:
    for candidates in shipped:
        days = sorted({candidates.days[i] for i in candidates.rankable})
        for limit in (None, *days[len(days) // 2 :: 100]):
            check(candidates, rule, limit)


ASKED = st.tuples(
    st.integers(0, 3),  # which card
    st.sampled_from(["parts", "summed", "quoted"]),
    st.one_of(st.integers(5_000, 60_000), st.integers(9_900, 10_200)),
)
TIMED = st.tuples(
    st.one_of(st.floats(5, 20), st.floats(9.5, 10.5)),
    st.floats(1, 1.6),  # how far off it may be
    st.booleans(),  # whether it is predicted
)


def made(times: list[tuple[float, float, bool]], asked: list[tuple[int, str, int]]) -> Candidates:
    """Two cards of a kind in as many machines as there are prices."""
    gpus = [make_gpu(f"card-{n}") for n in range(len(times))]
    builds, prices = (
        [],
        {("gpu", gpu.gpu_id): make_quote("gpu", gpu.gpu_id, "1000") for gpu in gpus},
    )
    for number, (card, kind, usd) in enumerate(asked):
        host, gpu = make_host(2, f"host-{number}"), gpus[card]
        if kind == "parts":
            quote = make_quote("host", host.host_id, str(usd - 2000))
        else:
            host = replace(host, gpu_id=gpu.gpu_id)
            summed = "parts-list" if kind == "summed" else "reseller-quote"
            quote = make_quote("server", host.host_id, str(usd), kind=summed)
        prices[quote.item_kind, quote.item_id] = quote
        builds.append(Build(gpu=gpu, gpu_count=2, host=host))
    best = [
        make_best(
            make_time(
                gpu.gpu_id,
                2,
                days,
                basis="predicted" if predicted else "measured",
                timing="none" if predicted else "synchronised",
                training_days_low=days / far,
                training_days_high=days * far,
                comparison_factor=far if predicted else None,
            )
        )
        for gpu, (days, far, predicted) in zip(gpus, times, strict=True)
    ]
    return Candidates(make_model(), builds, best, prices, "sound")


@given(
    st.lists(TIMED, min_size=4, max_size=4),
    st.lists(ASKED, min_size=1, max_size=8),
    st.sampled_from(RANK_RULES),
    st.one_of(st.none(), st.floats(5, 25)),
)
def test_for_more_money_no_first_place_is_worse(
    times: list[tuple[float, float, bool]],
    asked: list[tuple[int, str, int]],
    rule: RankRule,
    limit: float | None,
) -> None:
    check(made(times, asked), rule, limit)


def first_prices(candidates: Candidates, rule: RankRule) -> list[int]:
    found = [ranking.row(0).overall_cost_usd for ranking in richer(candidates, rule, None)]
    return [int(usd) for usd in dict.fromkeys(found)]


def test_a_quote_that_is_dearer_and_slower_than_a_sum_does_not_come_before_it() -> None:
    """As of four cards that are summed for $89,400 and others that are quoted for $126,000."""
    candidates = made(
        [(10.0, 1.2, True), (10.5, 1.2, True)], [(0, "summed", 89_400), (1, "quoted", 126_000)]
    )
    assert first_prices(candidates, "days") == [89_400]
    cheaper = made(
        [(10.0, 1.2, True), (10.5, 1.2, True)], [(0, "summed", 89_400), (1, "quoted", 80_000)]
    )
    assert first_prices(cheaper, "days") == [80_000]


def test_a_quote_comes_first_only_where_no_faster_sum_can_be_told_from_it() -> None:
    """The fastest is a guess that the quoted machine may reach, the second is measured: alone it
    comes before the quoted machine, and so it does with the guess beside it."""
    times = [(9.0, 1.5, False), (10.0, 1.01, False), (10.5, 1.01, False)]
    asked = [(0, "summed", 30_000), (1, "summed", 20_000), (2, "quoted", 15_000)]
    assert first_prices(made(times, asked), "days") == [15_000, 20_000, 30_000]


def test_a_sum_stands_behind_no_quote_that_the_budget_does_not_pay() -> None:
    """$10,000 as a sum, and $10,150 as a quote; other cards are quoted for $10,100."""
    candidates = made(
        [(10.0, 1.0, False), (10.0, 1.0, False)],
        [(0, "summed", 10_000), (0, "quoted", 10_150), (1, "quoted", 10_100)],
    )
    assert first_prices(candidates, "cost") == [10_000, 10_100]
    ranking = rank(candidates, Question(budget_usd=Decimal(10_120), rule="cost"))
    assert [int(row.overall_cost_usd) for row in ranking.rows()] == [10_000, 10_100]
