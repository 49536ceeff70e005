"""The first line names what somebody sells: its price, its parts, and what would be better."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from advisor.answers.build_words import short_gpus_words
from advisor.answers.ranking.doubts import doubts_of
from advisor.answers.ranking.on_sale import EVEN, HARDLY
from advisor.answers.ranking.rank_answer import rank_answer
from advisor.answers.ranking.verdict import verdict
from advisor.answers.two_lines import LINE, SMALL_LINE, sentence_lines
from advisor.answers.wording import counted_days
from advisor.costs.amounts import usd_rounded
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import RANK_RULES, CandidatesKey, Question
from advisor.ranking.rank import RankedRow, rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from price_catalog.builds import Build
from tests.facts_for_tests import make_best, make_gpu, make_host, make_model, make_quote, make_time


def sold(pythia: Candidates, **asked: Any) -> list[int]:
    """What somebody sells, fastest first: within the budget or within the days, as asked."""
    budget, days = asked.get("budget"), asked.get("days")
    return [
        i
        for i in pythia.by_days
        if pythia.offered[i]
        and (budget is None or pythia.cents[i] <= budget * 100)
        and (days is None or pythia.days[i] <= days)
    ]


@pytest.mark.parametrize("over_budget", [1, 3_000])
def test_where_nothing_is_sold_that_keeps_the_limits_what_can_be_ordered_is_named(
    pythia: Candidates, over_budget: int
) -> None:
    """A budget below every machine on sale that makes the days, where others tell of one."""
    days = 45.0
    budget = min(pythia.cents[i] for i in sold(pythia, days=days)) // 100 - over_budget
    told = rank(pythia, Question(budget_usd=Decimal(budget), max_days=days))
    assert len(told)
    assert not any(pythia.offered[i] for i in told.order)
    found = verdict(told)
    slow = sold(pythia, budget=budget)[0]
    dear = min(sold(pythia, days=days), key=pythia.cents.__getitem__)
    late, over = sorted(found.orderable, key=lambda offer: offer.misses != "days")
    assert (late.position, over.position) == (slow, dear)
    assert late.chance is not None
    # A vendor's discount away is nearer than what probably takes too long.
    is_near = pythia.cents[dear] <= budget * 105
    first = dear if late.chance < (EVEN if is_near else HARDLY) else slow
    assert found.orderable[0].position == first
    start = f"Nothing on sale trains Pythia 1B for ${budget:,} within 45 days; the nearest"
    assert found.sentence.startswith(f"{start} is ")
    assert f"{short_gpus_words(pythia.builds[first])} in the " in found.sentence
    assert counted_days(pythia.days[first]) in found.sentence
    price = next(doubt.words for doubt in doubts_of(told, (), None) if doubt.about == "price")
    both = f"{found.sentence} {price}"
    assert f"{short_gpus_words(pythia.builds[dear])} in the " in both
    printed = float(usd_rounded(pythia.cents[dear] / 100).replace(",", "").strip("$"))
    if printed > budget and first == slow:  # the difference of what is printed
        assert f"${printed - budget:,.0f} over budget" in both
    assert "to order: " in found.short
    assert "the nearest is " in found.medium
    assert len(found.short) < len(found.medium) < len(found.sentence)


def test_what_is_sold_and_keeps_the_limits_needs_no_other(pythia: Candidates) -> None:
    found = verdict(rank(pythia, Question(budget_usd=Decimal(100_000), max_days=60.0)))
    assert found.orderable == ()
    assert found.sentence.startswith("Ask BIZON to quote ")
    assert "order" not in found.sentence


def test_a_machine_of_parts_names_the_fastest_that_is_sold_whole(pythia: Candidates) -> None:
    for usd in (30_000, 41_800, 60_000, 82_999, 500_000):
        ranking = rank(pythia, Question(budget_usd=Decimal(usd)))
        row = ranking.row(0)
        words = " ".join(doubt.words for doubt in doubts_of(ranking, (), None))
        of_parts = row.build.host.gpu_id is None
        assert ("you put it together" in words) == (of_parts and pythia.offered[ranking.order[0]])


def test_a_total_that_nobody_quoted_is_not_told_as_its_sellers_price() -> None:
    gpu, host = make_gpu("card"), replace(make_host(2, "tower"), gpu_id="card")
    other = replace(make_host(4, "box"), gpu_id="card", name="Box, 4 x card")
    builds = [Build(gpu=gpu, gpu_count=count, host=h) for count, h in ((2, host), (4, other))]
    times = [make_best(make_time("card", 2, 10.0)), make_best(make_time("card", 4, 20.0))]

    def said(kind: str) -> tuple[str, str, str]:
        prices = {
            ("server", "tower"): make_quote("server", "tower", "9000", kind=kind, vendor="Shop"),
            ("server", "box"): make_quote("server", "box", "7000"),
        }
        ranking = rank(Candidates(make_model(), builds, times, prices, "sound"), Question())
        found = verdict(ranking)
        first = next(line for line in rank_answer(ranking).splitlines() if ", tower" in line)
        assert first.endswith(" sum") is (kind == "parts-list")
        return found.sentence, found.short, " ".join(d.words for d in doubts_of(ranking, (), None))

    sentence, short, doubts = said("parts-list")
    assert sentence.startswith("Ask Shop to quote 2 × CARD in the ")
    assert " ($9,000 by its options of January 2026, " in sentence
    assert sentence.endswith("; quoted whole: 4 × CARD in the Box for $7,000, 20 days (19.5–20.5).")
    assert short.startswith("Ask Shop for 2 × CARD: $9,000 (a sum), 10 days (9.5–10.5); ")
    assert "nobody quoted this total" in doubts
    assert "ask Shop for a quote; quoted whole: 4 × CARD in the Box, $7,000, 20 days" in doubts
    for words in said("list"):
        assert "a sum" not in words
        assert "quoted" not in words


def test_a_used_card_is_told_as_used_and_a_price_with_tax_as_such() -> None:
    gpu, host = make_gpu("card"), make_host(2, "tower")
    prices = {
        ("gpu", "card"): make_quote("gpu", "card", "500", kind="used"),
        ("host", "tower"): make_quote("host", "tower", "2000", includes="shipping; tax"),
    }
    times = [make_best(make_time("card", 2, 10.0))]
    build = Build(gpu=gpu, gpu_count=2, host=host)
    ranking = rank(Candidates(make_model(), [build], times, prices, "sound"), Question())
    assert " for $3,000 (used GPUs, January 2026," in verdict(ranking).sentence
    said = " ".join(doubt.words for doubt in doubts_of(ranking, (), None))
    assert "its price includes tax, those of others do not" in said


def test_a_machine_that_is_there_is_not_bought(pythia: Candidates) -> None:
    first = rank(pythia, Question()).order[0]
    build = pythia.builds[first]
    host = replace(build.host, kind="owned", name="our old one")
    best, quote = pythia.times[first], pythia.host_quotes[first]
    assert best is not None
    assert quote is not None
    key = ("server", host.host_id)
    free = quote._replace(kind="owned", price_usd=Decimal(0), vendor="already yours")
    mine = Candidates(pythia.model, (build._replace(host=host),), (best,), {key: free}, "sound")
    sentence = verdict(rank(mine, Question())).sentence
    assert sentence.startswith(f"Use your {build.gpu_count} × {build.gpu.name} (our old one): ")
    assert "$" not in sentence


def test_a_faster_one_that_nobody_sells_is_no_reason_to_say_that_none_is(
    pythia: Candidates,
) -> None:
    said = set()
    for budget in (15_500, 20_000, 40_000, 100_000, 500_000):
        ranking = rank(pythia, Question(budget_usd=Decimal(budget), max_days=None))
        sure = verdict(ranking).sentence.rpartition("; ")[2]
        rows = ranking.rows()
        unsold = rows[ranking.offered :]
        faster = any(row.training_days <= rows[0].training_days for row in unsold)
        if sure.startswith("nothing faster"):
            assert sure.startswith(f"nothing faster{' on sale' if faster else ''} fits"), budget
            said.add(faster)
    assert True in said


def worth(row: RankedRow, rule: str) -> float:
    """What the rule goes by."""
    if rule == "days":
        return row.training_days
    return float(row.overall_cost_usd if rule == "cost" else row.experiment_cost_usd)


def test_a_better_one_that_nobody_sells_is_a_doubt_with_its_price(pythia: Candidates) -> None:
    seen = set()
    for budget in (15_500, 40_000, 100_000):
        for rule in RANK_RULES:
            ranking = rank(pythia, Question(budget_usd=Decimal(budget), rule=rule))
            first, rows = ranking.row(0), ranking.rows()[ranking.offered :]
            said = [d for d in doubts_of(ranking, (), None) if d.about == "unsold"]
            better = [row for row in rows if worth(row, rule) < worth(first, rule)]
            assert len(said) == bool(better), (budget, rule)
            if better:
                seen.add(rule)
                assert usd_rounded(better[0].overall_cost_usd) in said[0].words
                assert short_gpus_words(better[0].build) in said[0].words
                if not ranking.uncertainty.tied:
                    assert re.search(" on sale |quoted whole", verdict(ranking).sentence)
    assert seen == set(RANK_RULES)


def test_what_one_puts_together_is_told_with_who_sells_its_gpus_and_its_parts(
    pythia: Candidates,
) -> None:
    ranking = rank(pythia, Question(budget_usd=Decimal(45_612)))
    row = ranking.row(0)
    assert row.build.host.name.endswith(", by parts")
    cards, rest = row.gpu_quote.vendor, row.host_quote.vendor
    sentence = verdict(ranking).sentence
    assert f" from {cards} in the " in sentence
    assert f" from {rest}'s parts for $" in sentence
    price = next(doubt.words for doubt in doubts_of(ranking, (), None) if doubt.about == "price")
    assert f": ask {cards} for the GPUs, {rest} for the rest; you put it together; " in price
    assert all(len(line) <= LINE for line in sentence_lines(sentence, LINE))


def test_what_nobody_sells_is_not_told_to_be_bought(pythia: Candidates) -> None:
    asked = [b for b in pythia.builds if b.gpu.gpu_id == "a100-sxm4-80gb"]
    times = [t for t in pythia.times if t is not None]
    found = Candidates(pythia.model, asked, times, pythia.prices, "sound")
    answer = verdict(rank(found, Question()))
    assert answer.row is not None  # an old price ranks where there is no other
    assert answer.sentence.startswith("No seller is known for 8 × A100 in the ")
    assert "Buy" not in answer.sentence
    assert "Buy" not in answer.short
    assert "it would train Pythia 1B in ≈" in answer.sentence


def test_what_can_be_built_but_has_no_price_asks_for_a_quote(pythia: Candidates) -> None:
    asked = [b for b in pythia.builds if b.gpu.gpu_id == "h200-nvl-141gb"]
    times = [t for t in pythia.times if t is not None]
    found = Candidates(pythia.model, asked, times, pythia.prices, "sound")
    sentence = verdict(rank(found, Question())).sentence
    assert sentence.startswith("No price is known for 8 × H200 NVL (")
    assert sentence.endswith(": ask a vendor and add the quote.")


@pytest.mark.parametrize("budget", [None, 290_000])
@pytest.mark.parametrize("days", [30, 60])
def test_gpus_that_nobody_sells_any_more_are_told_of_in_two_lines_too(
    store_path: Path, budget: int | None, days: float
) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        gpus = snapshot.gpu_ids(["V100 32GB SXM"])
        key = CandidatesKey("vit-base-16", "latest", "sound")._replace(gpu_ids=gpus)
        candidates = make_candidates(reader, snapshot, key)
    money = None if budget is None else Decimal(budget)
    for rule in RANK_RULES:
        said = verdict(rank(candidates, Question(budget_usd=money, max_days=days, rule=rule)))
        assert len(sentence_lines(said.sentence, LINE)) <= 2, said.sentence
        assert len(sentence_lines(said.medium, SMALL_LINE)) <= 2, said.medium
