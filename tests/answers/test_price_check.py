"""The check of the prices: what it finds."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path

import pytest

from advisor.answers.prices.price_check import PROBLEMS, Problem, price_problems
from advisor.cli.main import main
from advisor.costs.price_book import OWN_SOURCE
from advisor.ranking.snapshot import Snapshot, take_snapshot
from advisor.store import Store
from price_catalog.model import Quote
from tests.facts_for_tests import make_quote

TODAY = date(2026, 11, 21)


@pytest.fixture(scope="module")
def snapshot(store_path: Path) -> Snapshot:
    with Store(store_path).reading() as reader:
        return take_snapshot(reader)


def found(snapshot: Snapshot, *quotes: Quote) -> dict[str, list[Problem]]:
    only = replace(snapshot, quotes=quotes)
    problems = price_problems(only, only.prices("latest", today=TODAY), today=TODAY)
    return {name: [problem for problem in problems if problem.problem == name] for name in PROBLEMS}


def ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def test_an_old_price_is_stale_only_where_there_is_no_younger_one(snapshot: Snapshot) -> None:
    old = make_quote("gpu", "l4", "2500", quoted_on=ago(400))
    assert [p.quote_id for p in found(snapshot, old)["stale"]] == [old.quote_id]
    young = make_quote("gpu", "l4", "2400", quote_id="young", quoted_on=ago(20))
    assert found(snapshot, old, young)["stale"] == []
    gone = young._replace(valid_until=ago(1))
    (stale,) = found(snapshot, gone)["stale"]
    assert stale.detail.startswith("expired on")


def test_sellers_who_ask_half_as_much_again_contradict_each_other(snapshot: Snapshot) -> None:
    low = make_quote("server", "dgx-b200", "400000", vendor="a", quoted_on=ago(30))
    high = make_quote(
        "server", "dgx-b200", "600000", quote_id="high", vendor="b", quoted_on=ago(60)
    )
    (problem,) = found(snapshot, low, high)["contradicting"]
    assert (problem.quote_id, problem.against) == (low.quote_id, "high")
    assert "b asked $600,000" in problem.detail
    assert found(snapshot, low, high._replace(vendor="A"))["contradicting"] == []
    assert found(snapshot, low, high._replace(quoted_on=ago(121)))["contradicting"] == []
    assert found(snapshot, low, high._replace(kind="secondary"))["contradicting"] == []


def test_outlying_and_unsourced(snapshot: Snapshot) -> None:
    rows = [
        make_quote("gpu", "l4", str(usd), quote_id=f"q{usd}", quoted_on=ago(9), kind="street")
        for usd in (2400, 2500, 9000)
    ]
    assert [p.quote_id for p in found(snapshot, *rows)["outlying"]] == ["q9000"]
    own = make_quote("gpu", "l4", "2450", quote_id="o", source_id=OWN_SOURCE, origin="local")
    assert [p.quote_id for p in found(snapshot, own)["unsourced"]] == ["o"]
    assert found(snapshot, own._replace(url="https://example.org"))["unsourced"] == []


def test_the_check_of_what_ships(store_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    argv = ["prices", "check", "--store", str(store_path), "--prices", "2026-11-22"]
    assert main([*argv, "--format", "json"]) == 0
    problems = json.loads(capsys.readouterr().out)
    assert {row["problem"] for row in problems} <= set(PROBLEMS)
    assert main([*argv, "--format", "csv"]) == 0
    assert capsys.readouterr().out.count("\n") == len(problems) + 1
    assert main(argv) == 0
    text = capsys.readouterr().out
    assert text.startswith("Prices: ")
    assert max(map(len, text.splitlines()[:-1])) <= 100


@pytest.mark.parametrize("day", ["paper", "yesterday", "2026-13-01"])
def test_a_day_that_cannot_be_checked_is_refused(
    store_path: Path, capsys: pytest.CaptureFixture[str], day: str
) -> None:
    assert main(["prices", "check", "--store", str(store_path), "--prices", day]) == 2
    assert capsys.readouterr().err.count("\n") == 1
