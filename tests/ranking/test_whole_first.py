"""Of builds as fast as each other a whole machine comes first, unless it costs much more."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.costs.price_book import choose_quotes
from advisor.ranking.build_prices import ABOUT, WHOLE_WORTH
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import Question
from advisor.ranking.rank import rank
from price_catalog.builds import Build
from tests.facts_for_tests import make_best, make_gpu, make_host, make_model, make_quote, make_time

GPU = make_gpu("card")
PARTS = make_host(2, "parts")
WHOLE = replace(make_host(2, "whole"), gpu_id="card")


def order(parts_usd: int, *whole_usd: int) -> list[str]:
    hosts = [replace(WHOLE, host_id=f"whole-{usd}-{n}") for n, usd in enumerate(whole_usd)]
    builds = [Build(gpu=GPU, gpu_count=2, host=host) for host in (PARTS, *hosts)]
    prices = {("gpu", "card"): make_quote("gpu", "card", "1000")}
    prices["host", "parts"] = make_quote("host", "parts", str(parts_usd - 2000))
    for host, usd in zip(hosts, whole_usd, strict=True):
        prices["server", host.host_id] = make_quote("server", host.host_id, str(usd))
    times = [make_best(make_time("card", 2, 10.0))]
    candidates = Candidates(make_model(), builds, times, prices, "sound")
    return [candidates.builds[i].host.host_id.split("-")[0] for i in candidates.by_days]


def test_a_whole_machine_up_to_half_as_much_again_comes_first() -> None:
    assert order(10_000, 15_000) == ["whole", "parts"]
    assert order(10_000, 15_001) == ["parts", "whole"]
    assert order(10_000, 12_000, 30_000, 11_000) == ["whole", "whole", "parts", "whole"]


def test_of_a_sum_of_options_and_a_price_that_its_seller_names_the_price_comes_first() -> None:
    hosts = [replace(WHOLE, host_id=name) for name in ("summed", "quoted", "dear")]
    builds = [Build(gpu=GPU, gpu_count=2, host=host) for host in hosts]
    prices = {
        ("server", "summed"): make_quote("server", "summed", "10000", kind="parts-list"),
        ("server", "quoted"): make_quote("server", "quoted", "15000"),
        ("server", "dear"): make_quote("server", "dear", "15001"),
    }
    times = [make_best(make_time("card", 2, 10.0))]
    candidates = Candidates(make_model(), builds, times, prices, "sound")
    found = [builds[i].host.host_id for i in candidates.by_days]
    assert found == ["quoted", "summed", "dear"]


def test_a_sum_that_nobody_sells_is_no_measure_of_what_is_sold() -> None:
    hosts = [replace(WHOLE, host_id=name) for name in ("unsold", "summed", "quoted")]
    asked = {"unsold": ("4000", "secondary"), "summed": ("10900", "parts-list")}
    quotes = [
        make_quote("server", name, usd, kind=kind, quoted_on=date(2026, 10, 1))
        for name, (usd, kind) in (asked | {"quoted": ("9900", "reseller-quote")}).items()
    ]
    parts = make_quote("host", "parts", "2000", kind="secondary", quoted_on=date(2026, 10, 1))
    card = make_quote("gpu", "card", "1000", kind="secondary", quoted_on=date(2026, 10, 1))
    builds = [Build(gpu=GPU, gpu_count=2, host=host) for host in (*hosts, PARTS)]
    book = choose_quotes([*quotes, parts, card], "latest", today=date(2026, 11, 1))
    times = [make_best(make_time("card", 2, 10.0))]
    candidates = Candidates(make_model(), builds, times, book, "sound")
    sold, unsold = candidates.offered_order("days")
    assert [builds[i].host.host_id for i in sold] == ["quoted", "summed"]
    assert sorted(builds[i].host.host_id for i in unsold) == ["parts", "unsold"]


@given(st.integers(3_000, 100_000), st.lists(st.integers(3_000, 300_000), max_size=4))
def test_before_the_parts_stand_exactly_those_that_are_worth_it(
    parts: int, whole: list[int]
) -> None:
    found = order(parts, *whole)
    worth = sum(usd <= WHOLE_WORTH * parts for usd in whole)
    assert found.index("parts") == worth


@given(
    st.integers(3_000, 100_000),
    st.lists(st.integers(3_000, 120_000), max_size=4),
    st.sampled_from(["cost", "experiment-cost"]),
)
def test_by_cost_a_named_price_comes_before_a_sum_that_is_hardly_less(
    summed: int, named: list[int], rule: Literal["cost", "experiment-cost"]
) -> None:
    hosts = [replace(WHOLE, host_id=f"{n}") for n in range(len(named) + 1)]
    asked = [summed, *named]
    prices = {
        ("server", host.host_id): make_quote(
            "server", host.host_id, str(usd), kind="reseller-quote" if n else "parts-list"
        )
        for n, (host, usd) in enumerate(zip(hosts, asked, strict=True))
    }
    builds = [Build(gpu=GPU, gpu_count=2, host=host) for host in hosts]
    times = [make_best(make_time("card", 2, 10.0))]
    found = Candidates(make_model(), builds, times, prices, "sound").order(rule)
    before = found[: found.index(0)]
    assert sorted(before) == [n for n in range(1, len(asked)) if asked[n] <= ABOUT * summed]
    others = [asked[n] for n in found if n]
    assert others == sorted(others)


def first_of_two(quoted: tuple[float, float], usd: int, limit: float | None = None) -> str:
    """Which is first: a sum of $10,000 that takes 10 days (9 to 11), or what is quoted whole, with
    other cards, its days and how far off they may be."""
    other = make_gpu("other")
    hosts = [replace(WHOLE, host_id="summed"), replace(WHOLE, host_id="quoted", gpu_id="other")]
    builds = [
        Build(gpu=gpu, gpu_count=2, host=host)
        for gpu, host in zip((GPU, other), hosts, strict=True)
    ]
    prices = {
        ("server", "summed"): make_quote("server", "summed", "10000", kind="parts-list"),
        ("server", "quoted"): make_quote("server", "quoted", str(usd)),
    }
    days, spread = quoted
    times = [
        make_best(
            make_time(
                gpu_id,
                2,
                middle,
                basis="predicted",
                timing="none",
                training_days_low=middle / far,
                training_days_high=middle * far,
            )
        )
        for gpu_id, middle, far in (("card", 10.0, 1.1), ("other", days, spread))
    ]
    candidates = Candidates(make_model(), builds, times, prices, "sound")
    answer = rank(candidates, Question(budget_usd=Decimal(100_000), max_days=limit))
    assert len(answer) == 2
    first = answer.row(0)
    other_row = answer.row(1)
    assert not first.tied_with_first
    assert other_row.tied_with_first == (1 / 1.2 < days / 10 < 1.2)
    return first.build.host.host_id


@pytest.mark.parametrize(
    ("days", "usd", "limit", "first"),
    [
        (10.5, 9_000, None, "quoted"),
        (10.5, 10_000, None, "quoted"),
        (10.5, 10_001, None, "summed"),  # it is dearer, and probably slower
        (11.1, 10_000, None, "quoted"),
        (13.0, 9_000, None, "summed"),  # it is slower, that is sure
        (9.5, 20_000, None, "quoted"),
        (10.5, 9_000, 20.0, "quoted"),
        (10.5, 9_000, 11.0, "summed"),  # it is less likely to be in time
    ],
)
def test_what_a_seller_quotes_comes_before_a_sum_that_cannot_be_told_from_it(
    days: float, usd: int, limit: float | None, first: str
) -> None:
    assert first_of_two((days, 1.1), usd, limit) == first
