"""What is known of one build, as its page and its commands say it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from pathlib import Path

from advisor.answers.one_build import one_build, section_lines
from advisor.costs.own_quotes import OWN
from advisor.costs.tco import CostTerms
from advisor.ranking.question import Question
from advisor.ranking.rank import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from tests.facts_for_tests import make_quote

TODAY = date.today()


def test_a_quote_that_was_corrected_is_no_other_quote(own_store: Path) -> None:
    store = Store(own_store)
    first = make_quote("server", "exxact-h200", "290000", vendor="Lab shop", source_id="own-quotes")
    better = replace(
        first, quote_id="better", price_usd=first.price_usd - 9_000, corrects=first.quote_id
    )
    store.add_quotes([first, better], [OWN])
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
        model = snapshot.model("pythia-1b")
        candidates = make_candidates(reader, snapshot, model, prices="latest", evidence="sound")
    ranking = rank(candidates, Question())
    index = next(i for i in ranking.order if candidates.builds[i].host.host_id == "exxact-h200")
    one = one_build(
        ranking,
        index,
        terms=CostTerms(),
        prices="latest",
        rentals=(),
        measured_w=None,
        supply=None,
        quotes=snapshot.quotes,
        today=TODAY,
    )
    said = "\n".join(line.text for line in section_lines(one, "price"))
    assert "$281,000" in said
    assert "$290,000" not in said
