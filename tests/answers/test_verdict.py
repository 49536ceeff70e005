"""The first words of a ranking's answer: which machine they name, and how likely it is in time."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.answers.build_words import short_gpus_words
from advisor.answers.ranking.doubts import doubts_of
from advisor.answers.ranking.on_sale import EVEN, HARDLY
from advisor.answers.ranking.verdict import verdict
from advisor.answers.wording import chance_words, counted_days
from advisor.costs.amounts import days_rounded, usd_rounded
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import RANK_RULES, Question
from advisor.ranking.rank import RankedRow, rank
from advisor.ranking.ties import NORMAL_90, chance_within
from price_catalog.builds import Build
from tests.facts_for_tests import make_best, make_gpu, make_host, make_model, make_quote, make_time


@given(
    days=st.floats(min_value=0.1, max_value=1e4),
    spread=st.floats(min_value=1.01, max_value=4),
    ratio=st.floats(min_value=0.2, max_value=5),
)
def test_the_chance_is_that_of_the_interval(days: float, spread: float, ratio: float) -> None:
    low, high = days / spread, days * spread
    chance = chance_within(days * ratio, days, low, high)
    assert 0 <= chance <= 1
    assert chance_within(days, days, low, high) == pytest.approx(0.5)
    assert chance_within(high, days, low, high) == pytest.approx(0.95, abs=1e-3)
    assert chance_within(low, days, low, high) == pytest.approx(0.05, abs=1e-3)
    assert chance_within(days * ratio * 1.01, days, low, high) >= chance
    if 0.5 <= ratio <= 2 and spread > 1.2:
        from math import log

        normal = NormalDist(log(days), log(spread) / NORMAL_90)
        assert chance == pytest.approx(normal.cdf(log(days * ratio)), abs=1e-6)


def test_a_time_without_doubt_keeps_a_limit_or_does_not() -> None:
    assert chance_within(60, 50, 50, 50) == 1
    assert chance_within(50, 50, 50, 50) == 1
    assert chance_within(49, 50, 50, 50) == 0


@pytest.mark.parametrize("per_cent", range(100))
def test_the_odds_in_words_are_those_of_the_column(per_cent: int) -> None:
    """85 % is no "9 in 10"."""
    words = chance_words(per_cent / 100)
    if " in " in words:
        some, _, all_of = words.partition(" in ")
        off = int(some) / int(all_of) - per_cent / 100
        assert abs(off) <= (0.031 if per_cent > 62 else 0.051)


@pytest.mark.parametrize("rule", RANK_RULES)
@pytest.mark.parametrize("days", [None, 10.0, 60.0])
def test_the_first_words_are_about_the_first_row(
    pythia: Candidates, days: float | None, rule: Any
) -> None:
    """Its price, days and GPUs; bought only where somebody sells it."""
    for budget in (1_000, 10_000, 40_000, 100_000, 500_000, None):
        asked = None if budget is None else Decimal(budget)
        ranking = rank(pythia, Question(budget_usd=asked, max_days=days, rule=rule))
        found = verdict(ranking)
        if not len(ranking):
            assert found.row is None and found.chance is None
            continue
        row = ranking.row(0)
        assert found.row is not None and found.row.build is row.build
        assert (found.chance is None) == (days is None)
        sold = pythia.offered[ranking.order[0]]
        assert found.sentence.startswith(("Buy ", "Ask ")) == sold
        assert bool(found.orderable) <= (not sold)
        if not found.orderable:
            assert usd_rounded(row.overall_cost_usd) in found.action
            assert f"≈{days_rounded(row.training_days)} days" in found.result
        assert short_gpus_words(row.build) in found.brief or found.orderable


def test_the_same_gpus_in_another_machine_are_no_rival(pythia: Candidates) -> None:
    for budget in (30_000, 60_000, 250_000):
        ranking = rank(pythia, Question(budget_usd=Decimal(budget)))
        first = pythia.builds[ranking.order[0]].cards
        assert all(pythia.builds[i].cards != first for i in ranking.uncertainty.tied)


def test_nothing_fits_names_the_nearest_that_is_sold(pythia: Candidates) -> None:
    slow = verdict(rank(pythia, Question(budget_usd=Decimal(40_000), max_days=10.0)))
    inside = [i for i in pythia.by_days if pythia.cents[i] <= 4_000_000]
    sold = next(i for i in inside if pythia.offered[i])
    assert pythia.days[sold] > pythia.days[inside[0]]  # which nobody sells
    assert f"{short_gpus_words(pythia.builds[sold])} " in slow.sentence
    assert counted_days(pythia.days[sold]) in slow.sentence
    empty = Candidates(pythia.model, (), (), {}, "sound")
    assert verdict(rank(empty, Question())).row is None
    build = pythia.builds[pythia.by_days[0]]
    held = make_best(make_time(build.gpu.gpu_id, build.gpu_count, None))
    small = Candidates(pythia.model, (build,), (held,), {}, "sound")
    assert "too little memory" in verdict(rank(small, Question())).sentence


def sold(pythia: Candidates, **asked: Any) -> list[int]:
    """What somebody sells, fastest first: within the budget or within the days, as asked."""
    budget, days = asked.get("budget"), asked.get("days")
    return [
        i
        for i in pythia.by_days
        if pythia.offered[i]
        and (budget is None or pythia.cents[i] <= budget * 100)
        and (days is None or pythia.days[i] <= days)
    ]


@pytest.mark.parametrize("over_budget", [1, 3_000])
def test_where_nothing_is_sold_that_keeps_the_limits_what_can_be_ordered_is_named(
    pythia: Candidates, over_budget: int
) -> None:
    """A budget below every machine on sale that makes the days, where others tell of one."""
    days = 45.0
    budget = min(pythia.cents[i] for i in sold(pythia, days=days)) // 100 - over_budget
    told = rank(pythia, Question(budget_usd=Decimal(budget), max_days=days))
    assert len(told)
    assert not any(pythia.offered[i] for i in told.order)
    found = verdict(told)
    slow = sold(pythia, budget=budget)[0]
    dear = min(sold(pythia, days=days), key=pythia.cents.__getitem__)
    late, over = sorted(found.orderable, key=lambda offer: offer.misses != "days")
    assert (late.position, over.position) == (slow, dear)
    assert late.chance is not None
    # A vendor's discount away is nearer than what probably takes too long.
    is_near = pythia.cents[dear] <= budget * 105
    first = dear if late.chance < (EVEN if is_near else HARDLY) else slow
    assert found.orderable[0].position == first
    assert f"{short_gpus_words(pythia.builds[first])} " in found.sentence
    assert counted_days(pythia.days[first]) in found.sentence
    price = next(doubt.words for doubt in doubts_of(told, (), None) if doubt.about == "price")
    both = f"{found.sentence} {price}"
    assert f"{short_gpus_words(pythia.builds[dear])} " in both
    printed = float(usd_rounded(pythia.cents[dear] / 100).replace(",", "").strip("$"))
    if printed > budget and first == slow:  # the difference of what is printed
        assert f"${printed - budget:,.0f} over budget" in both


def test_a_total_that_nobody_quoted_is_not_told_as_its_sellers_price() -> None:
    gpu, host = make_gpu("card"), replace(make_host(2, "tower"), gpu_id="card")
    other = replace(make_host(4, "box"), gpu_id="card", name="Box, 4 x card")
    builds = [Build(gpu=gpu, gpu_count=count, host=h) for count, h in ((2, host), (4, other))]
    times = [make_best(make_time("card", 2, 10.0)), make_best(make_time("card", 4, 20.0))]

    def said(kind: str) -> tuple[str, str]:
        prices = {
            ("server", "tower"): make_quote("server", "tower", "9000", kind=kind, vendor="Shop"),
            ("server", "box"): make_quote("server", "box", "7000"),
        }
        ranking = rank(Candidates(make_model(), builds, times, prices, "sound"), Question())
        doubts = " ".join(doubt.words for doubt in doubts_of(ranking, (), None))
        return verdict(ranking).sentence, doubts

    sentence, doubts = said("parts-list")
    assert sentence.startswith("Ask Shop to quote 2 × CARD in the ")
    assert "ask Shop for a quote; quoted whole: 4 × CARD in the Box, $7,000, 20 days" in doubts
    assert all("quoted" not in words for words in said("list"))


def test_a_machine_that_is_there_is_not_bought(pythia: Candidates) -> None:
    first = rank(pythia, Question()).order[0]
    build = pythia.builds[first]
    host = replace(build.host, kind="owned", name="our old one")
    best, quote = pythia.times[first], pythia.host_quotes[first]
    assert best is not None
    assert quote is not None
    key = ("server", host.host_id)
    free = quote._replace(kind="owned", price_usd=Decimal(0), vendor="already yours")
    mine = Candidates(pythia.model, (build._replace(host=host),), (best,), {key: free}, "sound")
    sentence = verdict(rank(mine, Question())).sentence
    assert sentence.startswith("Use your ")
    assert "$" not in sentence


def worth(row: RankedRow, rule: str) -> float:
    """What the rule goes by."""
    if rule == "days":
        return row.training_days
    return float(row.overall_cost_usd if rule == "cost" else row.experiment_cost_usd)


def test_a_better_one_that_nobody_sells_is_a_doubt_with_its_price(pythia: Candidates) -> None:
    seen = set()
    for budget in (15_500, 40_000, 100_000):
        for rule in RANK_RULES:
            ranking = rank(pythia, Question(budget_usd=Decimal(budget), rule=rule))
            first, rows = ranking.row(0), ranking.rows()[ranking.offered :]
            said = [d for d in doubts_of(ranking, (), None) if d.about == "unsold"]
            better = [row for row in rows if worth(row, rule) < worth(first, rule)]
            assert len(said) == bool(better), (budget, rule)
            if better:
                seen.add(rule)
                assert usd_rounded(better[0].overall_cost_usd) in said[0].words
                assert short_gpus_words(better[0].build) in said[0].words
    assert seen == set(RANK_RULES)
