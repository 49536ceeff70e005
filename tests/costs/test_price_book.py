from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.costs.price_book import (
    choose_quotes,
    outlying_quotes,
    quote_marks,
    usual_prices,
)
from advisor.typed_input import PriceRule
from price_catalog.model import Quote
from tests.facts_for_tests import make_host, make_quote

OLD, NEW = date(2024, 9, 21), date(2026, 8, 1)


def test_latest_takes_the_newest_and_of_one_day_the_better_kind() -> None:
    quotes = [
        make_quote("gpu", "a", "900", quoted_on=OLD),
        make_quote("gpu", "a", "700", quoted_on=NEW, kind="used"),
        make_quote("gpu", "a", "800", quoted_on=NEW, kind="reseller-quote"),
    ]
    for order in (quotes, quotes[::-1]):
        assert choose_quotes(order, "latest")[("gpu", "a")].price_usd == 800


def test_rounded_figures_count_only_as_the_paper_s() -> None:
    rounded = make_quote("host", "h", "1000", kind="rounded", price_set="paper", quoted_on=NEW)
    exact = make_quote("host", "h", "1020.41", kind="parts-list", quoted_on=OLD)
    assert choose_quotes([rounded, exact], "latest")[("host", "h")] is exact
    assert choose_quotes([rounded, exact], "paper")[("host", "h")] is rounded
    assert choose_quotes([exact], "paper") == {}


def test_a_day_knows_nothing_of_later_quotes() -> None:
    quotes = [
        make_quote("gpu", "a", "900", quoted_on=OLD),
        make_quote("gpu", "a", "700", quoted_on=NEW),
    ]
    assert choose_quotes(quotes, date(2026, 7, 31))[("gpu", "a")].price_usd == 900
    assert choose_quotes(quotes, NEW)[("gpu", "a")].price_usd == 700
    assert choose_quotes(quotes, date(2024, 9, 20)) == {}


TODAY = date(2026, 11, 21)


def chosen(*quotes: Quote, rule: PriceRule = "latest") -> Decimal:
    for order in (quotes, quotes[::-1]):
        found = choose_quotes(order, rule, today=TODAY)[("gpu", "a")].price_usd
    return found


def gpu(usd: str, **changes: object) -> Quote:
    return make_quote("gpu", "a", usd, **({"quote_id": f"{usd}-{changes}"} | changes))


def test_a_fresh_quote_of_a_lesser_kind_comes_before_a_stale_better_one() -> None:
    fresh = gpu("700", kind="used", quoted_on=date(2026, 1, 2))
    stale = gpu("900", kind="reseller-quote", quoted_on=date(2025, 11, 21))
    assert chosen(fresh, stale) == 700
    still_fresh = gpu("800", kind="reseller-quote", quoted_on=date(2025, 11, 22))
    assert chosen(fresh, stale, still_fresh) == 800


def test_one_s_own_quote_comes_before_others() -> None:
    own = gpu("650", kind="used", origin="local", quoted_on=date(2026, 5, 1))
    assert chosen(own, gpu("900", kind="reseller-quote", quoted_on=date(2026, 9, 1))) == 650


def test_an_expired_quote_counts_only_where_nothing_else_does() -> None:
    expired = gpu("600", valid_until=date(2026, 11, 20))
    assert chosen(expired, gpu("900", quoted_on=date(2026, 1, 1))) == 900
    assert chosen(expired) == 600
    assert chosen(gpu("600", valid_until=TODAY, quoted_on=date(2026, 2, 1)), gpu("900")) == 600


def test_what_is_corrected_counts_no_more() -> None:
    wrong = gpu("9000", quote_id="typo", quoted_on=date(2026, 11, 1))
    right = gpu("900", quote_id="mended", quoted_on=date(2026, 11, 1), corrects="typo")
    assert chosen(wrong, right) == 900
    # On the day before the correction was known, the old one stood.
    later = gpu("900", quote_id="mended", quoted_on=date(2026, 11, 5), corrects="typo")
    assert chosen(wrong, later, rule=date(2026, 11, 3)) == 9000


def test_equally_good_quotes_of_a_year_give_a_range() -> None:
    quotes = [
        gpu("1000", quoted_on=date(2026, 10, 1)),
        gpu("800", quoted_on=date(2026, 3, 1)),
        gpu("1200", kind="street", quoted_on=date(2026, 2, 1)),
        gpu("9999", quoted_on=date(2026, 2, 2)),
        gpu("300", kind="used", quoted_on=date(2026, 9, 1)),
        gpu("100", quoted_on=date(2024, 9, 1)),
    ]
    book = choose_quotes(quotes, "latest", today=TODAY)
    assert book[("gpu", "a")].price_usd == 1000
    assert book.ranges[("gpu", "a")][:4] == (800, 1200, 3, False)


def test_marks() -> None:
    def marks(**changes: object) -> tuple[str, ...]:
        return quote_marks(gpu("900", **changes), today=TODAY)

    assert marks() == ()
    assert marks(quoted_on=date(2025, 11, 21)) == ("stale",)
    assert marks(quoted_on=date(2025, 11, 22)) == ()
    assert marks(valid_until=date(2026, 11, 20)) == ("expired",)
    assert marks(source_id="own-quotes") == ("unsourced",)
    assert marks(source_id="own-quotes", file="quote.pdf") == ()
    quotes = [gpu("900"), gpu("1000"), gpu("1100"), gpu("9000", quote_id="far")]
    assert outlying_quotes(quotes) == {"far"}
    assert outlying_quotes(quotes[2:]) == set()


@given(st.lists(st.tuples(st.integers(50, 5000), st.integers(0, 900)), min_size=1, max_size=12))
def test_the_chosen_price_is_a_quote_and_lies_in_its_range(rows: list[tuple[int, int]]) -> None:
    quotes = [
        gpu(str(usd), quote_id=str(n), quoted_on=TODAY - timedelta(days=age))
        for n, (usd, age) in enumerate(rows)
    ]
    book = choose_quotes(quotes, "latest", today=TODAY)
    key = ("gpu", "a")
    assert book[key] in quotes
    low, high, *_ = book.ranges[key]
    assert low <= book[key].price_usd <= high
    assert choose_quotes(quotes[::-1], "latest", today=TODAY)[key] == book[key]


def test_a_newer_quote_that_does_not_count_is_known() -> None:
    old = make_quote("server", "dgx", "375000", kind="list", quoted_on=TODAY - timedelta(days=200))
    told = make_quote("server", "dgx", "500000", quote_id="told", kind="secondary", quoted_on=TODAY)
    book = choose_quotes([old, told], "latest", today=TODAY)
    assert book["server", "dgx"] == old
    assert book.newer["server", "dgx"] == told
    assert not choose_quotes([old, told], "paper", today=TODAY).newer
    mended = make_quote("server", "dgx", "1", quote_id="m", corrects="told", kind="secondary")
    assert choose_quotes([old, told, mended], "latest", today=TODAY).newer == {}


def test_of_several_sellers_near_the_newest_the_middle_one_counts() -> None:
    far = gpu("5000", vendor="long ago", quoted_on=TODAY - timedelta(days=200))
    one = gpu("12099", vendor="Newegg", quoted_on=TODAY - timedelta(days=60))
    earlier = gpu("11000", vendor="newegg", quoted_on=TODAY - timedelta(days=80))
    two = gpu("16000", vendor="NVIDIA", quoted_on=TODAY - timedelta(days=50))
    three = gpu("16800", vendor="a French shop", quoted_on=TODAY)
    assert chosen(far, one, earlier, two, three) == 16000
    assert chosen(one, three) == 16800  # of two the dearer
    assert choose_quotes([two, three, one], "latest", today=TODAY).newer["gpu", "a"] == three


def test_a_price_far_off_all_others_is_known_whoever_states_it() -> None:
    hosts = [replace(make_host(8, name), gpu_id="h200") for name in ("a", "b")]
    quotes = [
        make_quote("server", "a", "1000", origin="local", vendor="Dell", quoted_on=TODAY),
        make_quote("server", "b", "326000", vendor="Exxact", quoted_on=TODAY),
    ]
    book = choose_quotes(quotes, "latest", today=TODAY, hosts=hosts)
    assert book.ranges["server", "a"].outlying
    assert book.ranges["server", "a"].usual_usd == 326_000
    near = [quotes[0]._replace(price_usd=Decimal(40_000)), quotes[1]]
    book = choose_quotes(near, "latest", today=TODAY, hosts=hosts)
    assert not any(span.outlying for span in book.ranges.values())


@pytest.mark.parametrize("origin", ["local", "merged"])
def test_a_far_off_price_that_does_not_ship_counts_only_where_no_other_does(origin: str) -> None:
    asked = [gpu(usd, vendor=usd, quoted_on=NEW) for usd in ("4899", "6996")]
    for usd in ("15000", "2000"):
        own = gpu(usd, vendor="Scalper", origin=origin, quoted_on=TODAY)
        assert chosen(own, *asked) == 6996
        assert choose_quotes([own, *asked], "latest", today=TODAY).newer["gpu", "a"] == own
        assert chosen(own) == Decimal(usd)
        assert chosen(own, gpu("4899", quoted_on=OLD)) == Decimal(usd)  # nothing else is fresh
    assert chosen(gpu("6000", origin="local", quoted_on=TODAY), *asked) == 6000


@given(st.lists(st.tuples(st.integers(1, 4), st.none() | st.integers(0, 6)), max_size=7))
def test_what_others_ask_is_the_median_without_the_quote_and_what_it_corrects(
    rows: list[tuple[int, int | None]],
) -> None:
    quotes = [
        make_quote(
            "gpu", "a", str(usd), quote_id=str(i), corrects=None if of in (None, i) else str(of)
        )
        for i, (usd, of) in enumerate(rows)
    ]
    corrected = {quote.corrects for quote in quotes}
    usual = usual_prices(quotes, ())
    for quote in quotes:
        passed_over = corrected | {quote.quote_id, quote.corrects}
        prices = sorted(q.price_usd for q in quotes if q.quote_id not in passed_over)
        assert usual(quote) == (prices[len(prices) // 2] if prices else None)


def test_a_machine_s_own_quotes_say_what_it_usually_costs_before_those_of_others() -> None:
    hosts = [replace(make_host(2, name), gpu_id="a") for name in ("kiebel", "dear", "new")]
    quotes = [
        make_quote("server", "kiebel", "15000"),
        *(make_quote("server", "dear", str(usd)) for usd in (40_000, 41_000, 42_000)),
    ]
    usual = usual_prices(quotes, hosts)
    assert usual(make_quote("server", "kiebel", "13000", quote_id="q", origin="local")) == 15_000
    assert usual(make_quote("server", "new", "13000", quote_id="q", origin="local")) == 41_000
