"""The price that counts, told with its range and age; what a buyer needs beside it."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path

from advisor.answers.price_facts import newer_words
from advisor.answers.ranking.rank_json_csv import ranking_object
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.row_order import Ranking, rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from advisor.tables.plain_values import to_json
from tests.facts_for_tests import make_quote

TODAY = date.today()


def ranking(path: Path) -> Ranking:
    with Store(path).reading() as reader:
        snapshot = take_snapshot(reader)
        candidates = make_candidates(
            reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound")
        )
    return rank(candidates, Question())


def test_a_newer_quote_of_the_same_machine_is_told_with_the_reason(own_store: Path) -> None:
    first = ranking(own_store).lead(0)
    host = first.build.host
    newer = make_quote(
        "server", host.host_id, "999000", kind="secondary", origin="local", vendor="a friend",
        quoted_on=TODAY,
    )  # fmt: skip
    used = make_quote(
        "server", host.host_id, "311000", quote_id="own-1", kind="reseller-quote", origin="local",
        vendor="shop", quoted_on=TODAY - timedelta(days=20),
    )  # fmt: skip
    Store(own_store).add(quote=[newer, used])
    answer = ranking(own_store)
    row = next(r for r in answer.rows() if r.build.host.host_id == host.host_id)
    (told,) = row.asked
    assert told.quote.price_usd == 311_000
    words = newer_words(told, TODAY)
    assert words is not None
    assert "$999,000" in words
    assert "asked by no seller" in words
    found = json.loads(
        to_json(ranking_object(answer, (), CandidatesKey("pythia-1b", "latest", "sound")))
    )
    json_row = next(r for r in found["ranked"] if r["host"] == host.name)
    assert json_row["prices_told"][0]["newer_passed_over"]["price_usd"] == 999_000
    assert json_row["prices_told"][0]["own"] is True
