from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from advisor.costs.price_interval import moving_kind, price_factors, price_moves, price_today
from price_catalog.load import load_catalog
from tests.facts_for_tests import make_quote
from tools import price_moves as fit

TODAY = date(2026, 11, 21)
CATALOG = load_catalog()
GPUS = {gpu.gpu_id: gpu for gpu in CATALOG.gpus}


def test_the_shipped_figures_are_what_the_ledger_says() -> None:
    assert fit.PATH.read_text(encoding="utf-8") == fit.table(CATALOG)


def test_nine_in_ten_of_the_held_out_pairs_are_inside() -> None:
    moves = price_moves()
    assert set(moves) == set(fit.KINDS)
    own = [moves[kind] for kind in fit.KINDS[:-1]]
    pairs, inside = sum(m.held_out_pairs for m in own), sum(m.held_out_inside for m in own)
    assert 0.90 <= inside / pairs <= 0.95
    assert all(m.held_out_inside / m.held_out_pairs >= 0.85 for m in own)
    assert all(m.pairs == m.held_out_pairs > m.items for m in own)


@given(st.sampled_from(sorted(fit.KINDS)), st.integers(0, 3000), st.integers(1, 500))
def test_an_interval_holds_its_price_and_widens_with_age(kind: str, days: int, more: int) -> None:
    low, middle, high = price_factors(price_moves()[kind], days)
    assert 0 < low <= 1 <= high
    assert low <= middle <= high
    wider = price_factors(price_moves()[kind], days + more)
    assert wider[0] < low
    assert wider[2] > high


def test_a_price_that_holds_has_no_interval() -> None:
    quote = make_quote("gpu", "a", "1000", quoted_on=TODAY - timedelta(days=29))
    card = GPUS["rtx-5090"]

    def ends(as_of: date | None = TODAY, **changes: object) -> tuple[Decimal, ...]:
        return tuple(price_today(quote._replace(**changes), card, as_of))

    low, middle, high = ends()
    assert low < 1000 <= middle < high
    exact = (1000, 1000, 1000)
    assert ends(None) == exact  # the paper's prices are taken at their word
    assert ends(kind="owned") == exact
    assert ends(valid_until=TODAY) == exact
    assert ends(valid_until=TODAY - timedelta(days=1)) == (low, middle, high)
    assert ends(origin="local") == exact
    assert ends(origin="local", quoted_on=TODAY - timedelta(days=31)) != exact


def test_memory_heavy_servers_move_apart_from_workstations() -> None:
    hosts = {host.host_id: host for host in CATALOG.hosts}

    def kind(item_kind: str, item_id: str) -> str:
        host = hosts.get(item_id)
        return moving_kind(item_kind, host and GPUS.get(host.gpu_id or ""))

    assert kind("server", "dgx-h100") == kind("server", "supermicro-8125gs-mi300x") == "server"
    assert kind("server", "kiebel-2x5090") == kind("server", "tinybox-green-v2-5090")
    assert kind("server", "kiebel-2x5090") == "workstation"
    assert kind("gpu", "rtx-5090") == "card"
    assert kind("host", "bizon-x3000") == "other"


def test_what_was_corrected_or_told_by_others_is_no_pair() -> None:
    first = make_quote("gpu", "a", "1000", quoted_on=TODAY - timedelta(days=100))
    later = make_quote("gpu", "a", "1100", quote_id="later", quoted_on=TODAY)
    told = later._replace(quote_id="told", kind="secondary")
    catalog = replace(CATALOG, quotes=(first, later, told))
    (pair,) = fit.pairs_of(catalog)
    assert (pair.kind, pair.days) == ("card", 100)
    mended = told._replace(quote_id="mended", corrects="later")
    assert fit.pairs_of(replace(CATALOG, quotes=(first, later, mended))) == []
