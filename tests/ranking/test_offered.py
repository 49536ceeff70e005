"""What somebody sells at a price of the last year ranks before the rest; old prices do not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.answers.ranking.before_you_order import steps_of
from advisor.answers.ranking.rank_sentence import Verdict
from advisor.answers.wording import price_day_words
from advisor.costs.price_book import choose_quotes
from advisor.ranking.candidates import Candidates, vat_in
from advisor.ranking.question import RANK_RULES, CandidatesKey, Question
from advisor.ranking.row_order import rank
from advisor.ranking.snapshot import Snapshot
from price_catalog.builds import enumerate_builds
from price_catalog.model import Host, Quote
from tests.facts_for_tests import (
    make_best,
    make_gpu,
    make_host,
    make_model,
    make_quote,
    make_time,
)

TODAY = date(2026, 11, 22)
YOUNG, OLD = TODAY - timedelta(days=30), TODAY - timedelta(days=800)
WHOLE = replace(make_host(1, "whole"), gpu_id="b")


def candidates(
    *gpu_quotes: Quote, hosts: tuple[Host, ...] = (), today: date = TODAY, buy_in: str | None = None
) -> Candidates:
    """Cards that take 10, 20, 30 ... days alone, in a host sold this month."""
    ids = list(dict.fromkeys(q.item_id for q in gpu_quotes if q.item_kind == "gpu"))
    gpus = [make_gpu(gpu_id) for gpu_id in ids]
    quotes = [*gpu_quotes, make_quote("host", "host-1", "500", quoted_on=YOUNG)]
    times = [make_best(make_time(gpu_id, 1, 10.0 * (at + 1))) for at, gpu_id in enumerate(ids)]
    builds = enumerate_builds(gpus, [make_host(1), *hosts], counts=(1,))
    book = choose_quotes(quotes, "latest", today=today)
    return Candidates(make_model(), builds, times, book, "sound", buy_in=buy_in)


def card(gpu_id: str, day: date = YOUNG, kind: str = "list", **changes: object) -> Quote:
    return make_quote("gpu", gpu_id, "1000", quoted_on=day, kind=kind, **changes)


def names(found: Candidates, rule: str = "days") -> list[str]:
    return [row.build.gpu.gpu_id for row in rank(found, Question(rule=rule)).rows()]


def test_an_old_price_does_not_rank_while_others_are_sold() -> None:
    found = candidates(card("a", OLD), card("b"))
    assert names(found) == ["b"]
    (left,) = rank(found, Question()).excluded()
    assert left.reason == "old-price"
    assert str(OLD) in left.detail


def test_where_nobody_sells_at_a_price_of_the_last_year_old_ones_rank_as_before() -> None:
    assert names(candidates(card("a", OLD), card("b", OLD))) == ["a", "b"]
    assert names(candidates(card("a"), card("b"), today=TODAY + timedelta(days=900))) == ["a", "b"]


@pytest.mark.parametrize(
    "worse",
    [
        card("a", kind="secondary"),
        card("a", valid_until=YOUNG),
        card("a", OLD, origin="local"),  # a user's own old quote is kept, but not first
    ],
)
@pytest.mark.parametrize("rule", RANK_RULES)
def test_what_nobody_sells_comes_after_what_somebody_does(worse: Quote, rule: str) -> None:
    found = candidates(worse, card("b"))
    assert names(found, rule) == ["b", "a"]
    answer = rank(found, Question(rule=rule))
    assert [row.on_pareto_front for row in answer.rows()] == [True, False]
    assert answer.sold_rows == 1
    expected = "no-seller" if worse.kind == "secondary" else "out-of-date"
    assert [row.availability for row in answer.rows()] == ["orderable", expected]


def test_the_row_has_the_cheapest_offer_of_its_gpus() -> None:
    def hosts(whole_usd: str) -> list[str]:
        whole = make_quote("server", "whole", whole_usd, quoted_on=YOUNG)
        found = candidates(card("b"), whole, hosts=(WHOLE,))
        (row,) = rank(found, Question()).table
        return [found.builds[i].host.host_id for i in row]

    # The card and its host are 1,500 dollars.
    assert hosts("1499") == ["whole", "host-1"]
    # What a seller names comes first where it is hardly more than that sum.
    assert hosts("1530") == ["whole", "host-1"]
    assert hosts("1531") == ["host-1", "whole"]


def test_what_is_not_known_to_fit_does_not_rank() -> None:
    bare = replace(make_host(1, "bare"), memory_gib=None)
    found = candidates(card("b"), make_quote("host", "bare", "1", quoted_on=YOUNG), hosts=(bare,))
    assert [row.build.host.host_id for row in rank(found, Question()).rows()] == ["host-1"]
    (left,) = rank(found, Question()).excluded()
    assert (left.reason, "memory" in left.detail) == ("fit-not-known", True)


@pytest.mark.parametrize(
    ("card_usd", "card_day", "kind", "origin", "first"),
    [
        ("2000", YOUNG, "list", "shipped", "host-1"),  # the card alone is as dear as the machine
        ("1999", YOUNG, "list", "shipped", "whole"),
        ("2000", OLD, "list", "shipped", "whole"),  # an older price of the card says nothing
        ("2000", YOUNG, "secondary", "shipped", "whole"),  # nor does one told by others
        ("2000", YOUNG, "list", "local", "whole"),  # a quote of the user's own is theirs to judge
    ],
)
def test_a_machine_at_less_than_its_cards_cost_since_is_not_for_sale(
    card_usd: str, card_day: date, kind: str, origin: str, first: str
) -> None:
    asked = make_quote("gpu", "b", card_usd, quoted_on=card_day, kind=kind)
    before = make_quote(
        "server", "whole", "2000", quoted_on=YOUNG - timedelta(days=1), origin=origin
    )
    found = candidates(asked, before, hosts=(WHOLE,))
    row = rank(found, Question()).lead(0)
    assert row.build.host.host_id == first
    place = next(i for i, build in enumerate(found.builds) if build.host.host_id == "whole")
    assert found.overtaken[place] == (first == "host-1")
    assert found.offered[place] == (first == "whole")
    if first == "host-1":  # only the machine is within this budget: what its cards cost, and since
        alone = Verdict(rank(found, Question(budget_usd=Decimal(2000))))
        words = " ".join(
            step.words for step in steps_of(alone, CandidatesKey("m", "latest", "sound"))
        )
        assert (
            f"its GPUs alone cost $2,000 ({asked.label}, {price_day_words(YOUNG, date.today())})"
            in words
        )


QUOTES: list[Callable[[str], Quote]] = [
    lambda gpu_id: card(gpu_id),
    lambda gpu_id: card(gpu_id, OLD),
    lambda gpu_id: card(gpu_id, kind="secondary"),
    lambda gpu_id: card(gpu_id, OLD, "secondary"),
    lambda gpu_id: card(gpu_id, valid_until=YOUNG),
]


@given(
    st.lists(st.sampled_from(range(len(QUOTES))), min_size=1, max_size=6),
    st.sampled_from(RANK_RULES),
)
def test_first_place_is_sold_wherever_any_is(kinds: list[int], rule: str) -> None:
    found = candidates(
        *(QUOTES[kind](gpu_id) for gpu_id, kind in zip("abcdef", kinds, strict=False))
    )
    answer = rank(found, Question(rule=rule))
    sold = [found.offered[i] for i in answer.order]
    assert sold == sorted(sold, reverse=True)
    assert sold[0] == (0 in kinds)
    if 0 in kinds:
        assert all((TODAY - row.gpu_quote.quoted_on).days < 365 for row in answer.rows())
    left = [i for i, _ in answer.excluded_order]
    assert sorted([*answer.order, *left]) == list(range(len(found.builds)))


def test_prices_are_compared_before_tax() -> None:
    """Of the buyer's country, else of the seller's; where neither has a rate a price stays. What
    others ask without tax is compared with what is left."""
    for vendor, buy_in, usd, words in (
        ("Kiebel", None, 1000, ", its tax taken out"),
        ("Kiebel", "US", 1000, ", its tax taken out"),
        ("Kiebel", "GB", 991.67, ", its tax taken out"),
        ("a shop", "DE", 1000, ", its tax taken out"),
        ("a shop", None, 1190, ", includes tax"),
        ("BIZON", "US", 1190, ", includes tax"),
    ):
        quote = card("a")._replace(price_usd=Decimal(1190), vendor=vendor, includes="tax")
        other = card("a")._replace(quote_id="b", price_usd=Decimal(900), vendor="another")
        snapshot = Snapshot(
            models=(),
            gpus=(),
            hosts=(),
            builds=(),
            quotes=(quote, other),
            sources=(),
            fine_tuner=lambda model, _: model,
            measured_w={},
        )
        book = snapshot.prices("latest", today=TODAY, vat=vat_in(buy_in))
        mine, span = book["gpu", "a"], book.ranges["gpu", "a"]
        assert (float(mine.price_usd), mine.tax_words) == (usd, words)
        assert (span.low_usd, float(span.high_usd)) == (900, usd)
        assert snapshot.prices("latest", today=TODAY)["gpu", "a"] == quote  # as it was asked
    assert mine._replace(includes="shipping").tax_words == ""
