"""The price that counts, told with its range and age; what a buyer needs beside it."""

from __future__ import annotations

import csv
import io
import json
from datetime import date, timedelta
from pathlib import Path

import pytest

from advisor.answers.price_facts import (
    buyer_lines,
    machine_object,
    newer_words,
    place_lines,
    prices_told,
    told_words,
)
from advisor.answers.ranking.rank_exports import ranking_csv, ranking_object
from advisor.costs.amounts import day_words
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.rank import Ranking, rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from advisor.tables.json_text import to_json
from price_catalog.builds import rack_units_of
from tests.facts_for_tests import make_quote

TODAY = date.today()


def ranking(path: Path) -> Ranking:
    with Store(path).reading() as reader:
        snapshot = take_snapshot(reader)
        candidates = make_candidates(
            reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound")
        )
    return rank(candidates, Question())


@pytest.fixture(scope="module")
def shipped(store_path: Path) -> Ranking:
    return ranking(store_path)


def test_every_price_lies_in_the_range_that_is_told(shipped: Ranking) -> None:
    several = foreign = 0
    for row in shipped.rows():
        for told in prices_told(row, TODAY):
            span = told.span
            assert span is not None
            assert span.low_usd <= told.quote.price_usd <= span.high_usd
            words = told_words(told, TODAY)
            assert f", {day_words(told.quote.quoted_on)}, " in words and "-" not in words[-20:]
            assert told.quote.vendor in words
            if told.quote.price_quoted is not None:
                assert f" ({told.quote.currency} {told.quote.price_quoted:,.2f}; " in words
                foreign += 1
            several += f"{span.quotes} quotes as good ask" in words
    assert several >= 1 and foreign


def test_a_newer_quote_of_the_same_machine_is_told_with_the_reason(own_store: Path) -> None:
    first = ranking(own_store).row(0)
    host = first.build.host
    newer = make_quote(
        "server", host.host_id, "999000", kind="secondary", origin="local", vendor="a friend",
        quoted_on=TODAY,
    )  # fmt: skip
    used = make_quote(
        "server", host.host_id, "111000", quote_id="own-1", kind="reseller-quote", origin="local",
        vendor="shop", quoted_on=TODAY - timedelta(days=20),
    )  # fmt: skip
    Store(own_store).add_quotes([newer, used])
    answer = ranking(own_store)
    row = next(r for r in answer.rows() if r.build.host.host_id == host.host_id)
    (told,) = prices_told(row, TODAY)
    assert told.quote.price_usd == 111_000
    words = newer_words(told, TODAY)
    assert words is not None
    assert "$999,000" in words
    assert "told by somebody who does not sell it" in words
    found = json.loads(to_json(ranking_object(answer, answer, "latest", ())))
    assert any("$999,000" in line for line in found["price_doubts"])
    json_row = next(r for r in found["ranked"] if r["host"] == host.name)
    assert json_row["prices_told"][0]["newer_passed_over"]["price_usd"] == 999_000
    assert json_row["prices_told"][0]["own"] is True


def test_what_nobody_states_is_said_to_be_not_stated(shipped: Ranking) -> None:
    for row in shipped.rows():
        lines = list(buyer_lines(row))
        facts = machine_object(row.build)
        missing = lines[-1] if lines[-1].startswith("not stated: ") else ""
        for name, key in (("noise", "noise_dba"), ("weight", "weight_kg")):
            stated = any(line.startswith(f"{name}: ") for line in lines)
            assert stated == (facts[key] is not None)
            assert stated != (name in missing)
        assert ("delivery" in missing) == (row.host_quote.delivery is None)
        assert any(line.startswith("heat: ") for line in lines) == (facts["wall_w"] is not None)


def test_the_page_of_a_build_says_what_it_takes_of_a_room(shipped: Ranking) -> None:
    hosts = {}
    for row in shipped.rows():
        hosts[row.build.host.host_id] = (row.build, list(place_lines(row.build)))
    kinds = set()
    for build, lines in hosts.values():
        units, last = rack_units_of(build.host), lines[-1]
        missing = last if last.startswith("not stated: ") else ""
        floor = "stands on the floor" in lines
        kinds.add(units if units in (None, 0) else "rack")
        assert floor == (units == 0)
        assert any(line.startswith("rack: ") for line in lines) == bool(units)
        assert ("rack units" in missing) == (units is None)
        assert ("weight" in missing) == (build.host.weight_kg is None)
    assert kinds == {None, 0, "rack"}


def test_the_export_has_what_a_buyer_needs(shipped: Ranking) -> None:
    rows = [row for row in csv.DictReader(io.StringIO(ranking_csv(shipped))) if row["rank"]]
    assert any(row["noise_dba"] for row in rows)
    assert any(row["weight_kg"] for row in rows)
    assert any(row["warranty"] for row in rows)
    assert any(row["delivery"] for row in rows)
    for row in rows:
        assert (row["heat_btu_per_h"] != "") == (row["wall_w"] != "")
