"""Which quotes are outlying: what the plain rule says, in time that grows as their number."""

from __future__ import annotations

import time
from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from advisor.costs.price_book import STALE_DAYS, is_outlying, outlying_quotes
from price_catalog.model import Quote


def quote(number: int, day: int, price: int) -> Quote:
    return Quote(
        quote_id=f"q-{number}",
        item_kind="gpu",
        item_id="rtx-3090",
        price_usd=Decimal(price),
        kind="street",
        vendor="a shop",
        quoted_on=date(2020, 1, 1) + timedelta(days=day),
        source_id="own",
        url=None,
        note=None,
        price_set=None,
        origin="local",
    )


@given(
    st.lists(
        st.tuples(st.integers(0, 1500), st.sampled_from([1, 90, 100, 101, 150, 350, 400, 5000])),
        max_size=40,
    )
)
def test_it_is_the_plain_rule(found: list[tuple[int, int]]) -> None:
    quotes = [quote(at, day, price) for at, (day, price) in enumerate(found)]
    expected = set()
    for each in quotes:
        near = sorted(
            other.price_usd
            for other in quotes
            if abs((other.quoted_on - each.quoted_on).days) <= STALE_DAYS
        )
        if is_outlying(each.price_usd, near[len(near) // 2], len(near)):
            expected.add(each.quote_id)
    assert outlying_quotes(quotes) == expected


def test_ten_times_as_many_take_about_ten_times_as_long() -> None:
    def seconds(count: int) -> float:
        quotes = [quote(n, n % 2000, 600 + n * 7919 % 2000) for n in range(count)]
        began = time.process_time()
        outlying_quotes(quotes)
        return time.process_time() - began

    few, many = (min(seconds(count) for _ in range(2)) for count in (3_000, 30_000))
    assert many < 25 * few
