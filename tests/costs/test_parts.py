"""Machines that are parts lists, added up from quotes for their parts."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.costs.parts import with_parts
from advisor.costs.price_book import PriceBook, choose_quotes
from advisor.typed_input import PriceRule
from price_catalog.load import load_catalog
from price_catalog.model import Host, Quote
from tests.facts_for_tests import make_quote

TODAY = date(2026, 11, 21)
CATALOG = load_catalog()
DESKTOP = next(host for host in CATALOG.hosts if host.host_id == "desktop-2gpu")
"""In the list of the workstation for two cards that the catalogue sells today."""
MEMORY = "Corsair Vengeance LPX 128 GB"
KEY = ("host", "desktop-2gpu")


def part(usd: str, item: str = MEMORY, **changes: object) -> Quote:
    own = {"origin": "local", "source_id": "own-quotes", "kind": "street"}
    return make_quote("part", item, usd, **({"quoted_on": date(2026, 11, 1)} | own | changes))


def book_of(*own: Quote, rule: PriceRule = "latest") -> PriceBook:
    book = choose_quotes((*CATALOG.quotes, *own), rule, today=TODAY)
    return with_parts(book, CATALOG.hosts)


def test_a_quote_for_a_part_takes_the_place_of_the_list_s_price() -> None:
    chosen = book_of(part("410.00"))[KEY]
    assert chosen.price_usd == Decimal("1456.29") - Decimal("252.52") + Decimal("410.00")
    assert chosen.kind == "parts-list"
    assert chosen.quoted_on == date(2024, 9, 21), "as old as its oldest part"
    assert "1 of 7" in chosen.vendor
    assert "Corsair Vengeance LPX 128 GB $410.00" in (chosen.note or "")
    # The other desktop has no such part and keeps its price.
    assert book_of(part("410.00"))["host", "desktop-1gpu"].price_usd == Decimal("1020.41")


def test_the_paper_s_preset_knows_no_quotes_for_parts() -> None:
    assert book_of(part("410.00"), rule="paper")[KEY].price_usd == 1500


def test_a_day_before_the_quote_knows_nothing_of_it() -> None:
    assert book_of(part("410.00"), rule=date(2026, 10, 31))[KEY].price_usd == Decimal("1456.29")
    assert book_of(part("410.00"), rule=date(2026, 11, 1))[KEY].price_usd == Decimal("1613.77")
    # Before the list itself was priced, one part alone is no machine.
    early = part("410.00", quoted_on=date(2024, 1, 1))
    assert KEY not in book_of(early, rule=date(2024, 9, 1))


def test_a_fresh_whole_price_comes_before_a_sum_with_stale_parts() -> None:
    whole = make_quote(*KEY, "1999", origin="local", quoted_on=date(2026, 2, 1))
    assert book_of(part("410.00"), whole)[KEY] is whole
    every = [part("100.00", item.detail, quote_id=item.detail) for item in DESKTOP.parts]
    assert book_of(*every, whole)[KEY].price_usd == 700, "all parts are newer than the whole"
    newer = whole._replace(quoted_on=date(2026, 11, 2))
    assert book_of(*every, newer)[KEY] is newer


def test_a_part_told_by_others_is_no_better_than_the_list() -> None:
    told = part("410.00", origin="shipped", kind="secondary", quoted_on=date(2024, 10, 1))
    assert book_of(told)[KEY].price_usd == Decimal("1456.29")
    assert book_of(told).parts_used == frozenset()


def test_two_quotes_for_a_part_give_the_machine_a_range() -> None:
    book = book_of(part("410.00"), part("300.00", quoted_on=date(2026, 10, 1)))
    low, high, quotes, outlying, _ = book.ranges[KEY]
    assert (high - low, quotes, outlying) == (Decimal("110.00"), 1, False)
    assert low < book[KEY].price_usd <= high


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(1, 5000), st.integers(0, 800)), min_size=1, max_size=8))
def test_the_sum_lies_in_its_range_and_never_before_its_oldest_part(
    rows: list[tuple[int, int]],
) -> None:
    parts = [
        part(
            f"{usd}.00",
            DESKTOP.parts[n % 7].detail,
            quote_id=f"p{n}",
            quoted_on=date.fromordinal(TODAY.toordinal() - age),
        )
        for n, (usd, age) in enumerate(rows)
    ]
    book = book_of(*parts)
    low, high, *_ = book.ranges[KEY]
    assert low <= book[KEY].price_usd <= high
    assert (
        book[KEY].quoted_on <= min(TODAY, *(quote.quoted_on for quote in parts)) or len(parts) > 6
    )


def test_a_machine_without_a_price_of_its_own_is_the_sum_of_its_parts() -> None:
    bare: Host = replace(DESKTOP, host_id="bare")
    book = choose_quotes([part("410.00")], "latest", today=TODAY)
    found = with_parts(book, [bare])
    assert found["host", "bare"].price_usd == Decimal("1613.77")
