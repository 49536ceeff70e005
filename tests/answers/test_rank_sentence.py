"""The first words of a ranking's answer: which machine they name, and how likely it is in time."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from statistics import NormalDist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.answers.build_words import gpus_words
from advisor.answers.ranking.rank_sentence import Verdict
from advisor.answers.wording import chance_words, counted_days
from advisor.ranking.candidates import Candidates
from advisor.ranking.interval_comparison import chance_within
from advisor.ranking.question import Question
from advisor.ranking.row_order import rank
from bench_runner.typed_numbers import NORMAL_90
from tests.facts_for_tests import make_best, make_time


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


def test_nothing_fits_names_the_nearest_that_is_sold(pythia: Candidates) -> None:
    slow = Verdict(rank(pythia, Question(budget_usd=Decimal(40_000), max_days=10.0)))
    inside = [i for i in pythia.by_days if pythia.cents[i] <= 4_000_000]
    sold = next(i for i in inside if pythia.offered[i])
    assert slow.in_budget == sold
    assert f"{gpus_words(pythia.builds[sold])} " in slow.sentence
    assert counted_days(pythia.days[sold]) in slow.sentence
    empty = Candidates(pythia.model, (), (), {}, "sound")
    assert Verdict(rank(empty, Question())).first is None
    build = pythia.builds[pythia.by_days[0]]
    held = make_best(make_time(build.gpu.gpu_id, build.gpu_count, None))
    small = Candidates(pythia.model, (build,), (held,), {}, "sound")
    assert "too little memory" in Verdict(rank(small, Question())).sentence


def test_where_nothing_is_sold_that_keeps_the_limits_the_nearest_on_sale_is_named(
    pythia: Candidates,
) -> None:
    """A budget below every machine on sale that makes the days, where others tell of one."""
    sold = [i for i in pythia.by_days if pythia.offered[i]]

    def cheapest(days: float, *, offered: bool) -> int:
        inside = (i for i in pythia.by_days if pythia.days[i] <= days)
        return min(
            (i for i in inside if pythia.offered[i] == offered), key=pythia.cents.__getitem__
        )

    limits = (days for days in (20.0, 30.0, 45.0, 60.0, 70.0, 100.0))
    days = next(
        each
        for each in limits
        if pythia.cents[cheapest(each, offered=False)] < pythia.cents[cheapest(each, offered=True)]
    )
    dear = cheapest(days, offered=True)
    budget = pythia.cents[dear] // 100 - 1
    found = Verdict(rank(pythia, Question(budget_usd=Decimal(budget), max_days=days)))
    assert found.first is not None and found.first.availability != "orderable"
    slow = next(i for i in sold if pythia.cents[i] <= budget * 100)
    assert (found.in_time, found.in_budget) == (dear, slow)
    assert found.sentence.startswith("Nothing on sale trains Pythia 1B for $")
    for i in (dear, slow):
        assert f"{gpus_words(pythia.builds[i])} for " in found.sentence
    assert found.sentence.rstrip(".").endswith(("out of date", "at that price"))


def test_more_money_names_the_cheapest_that_is_faster_beyond_the_doubt(pythia: Candidates) -> None:
    for budget in (10_000, 20_000, 40_000, 100_000):
        ranking = rank(pythia, Question(budget_usd=Decimal(budget)))
        i = Verdict(ranking).more_money
        if i is not None:
            assert pythia.cents[i] > budget * 100 and pythia.offered[i]
            assert all(pythia.days[i] < pythia.days[j] for j in ranking.order[: ranking.tied_rows])


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
    sentence = Verdict(rank(mine, Question())).sentence
    assert sentence.startswith("Use your ")
    assert "$" not in sentence


def test_the_budget_is_kept_with_the_chance_that_the_price_interval_says(
    pythia: Candidates,
) -> None:
    for i in pythia.by_cost[::5]:
        low, middle, high = pythia.cents_today(i)
        found = [
            rank(pythia, Question(budget_usd=Decimal(cents) / 100)).budget_chance(i)
            for cents in (low - 1, low, middle, high, 3 * high)
        ]
        assert found == sorted(found)
        if low < middle < high:
            assert found[1:4] == pytest.approx([0.05, 0.5, 0.95], abs=1e-3)
    assert rank(pythia, Question()).budget_chance(pythia.by_cost[0]) is None
    row = rank(pythia, Question(budget_usd=Decimal(40_000)))
    said = Verdict(row)
    assert said.budget_chance is not None
    assert ("Its price may have moved" in said.sentence) == (said.budget_chance < 0.75)
