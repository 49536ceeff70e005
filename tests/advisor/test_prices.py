from datetime import date

from advisor.prices import choose_quotes
from tests.advisor.facts_for_tests import make_quote

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
