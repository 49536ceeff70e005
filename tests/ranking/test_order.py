"""The order of the rows, and that every surface has it: over all shipped models and 40 budgets, and
facts at random."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from datetime import date
from decimal import Decimal
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.answers.build_words import gpus_words
from advisor.answers.builds.one_build import one_build, place_words
from advisor.answers.ranking.rank_answer import table_lines
from advisor.answers.ranking.rank_json_csv import ranking_csv, ranking_object
from advisor.answers.ranking.rank_sentence import Verdict
from advisor.costs.amount_words import usd_rounded
from advisor.costs.cost_of_owning import CostTerms
from advisor.ranking.candidates import ABOUT, Candidates
from advisor.ranking.interval_comparison import alike
from advisor.ranking.question import RANK_RULES, CandidatesKey, Question
from advisor.ranking.row_order import Ranking, rank
from advisor.ranking.snapshot import candidates_of, take_snapshot
from advisor.store import Store
from advisor.tui.program.answer import CandidatesView, answer, plot_data
from advisor.tui.widgets.plot.data import PointFlag
from price_catalog.builds import Build
from tests.facts_for_tests import make_best, make_gpu, make_host, make_model, make_quote, make_time

BUDGETS = [Decimal(round(2_000 * 1.19**n)) for n in range(40)]
"""From $2,000 to $1.8 million."""


@pytest.fixture(scope="module")
def shipped(store_path: Path) -> list[Candidates]:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        return [
            candidates_of(
                reader.best_times(model.recipe_id, "sound"),
                snapshot,
                CandidatesKey(model.recipe_id, "latest", "sound"),
            )
            for model in snapshot.models
        ]


def is_sum(candidates: Candidates, i: int) -> bool:
    """Whether no seller names the price of a build."""
    quote = candidates.host_quotes[i]
    return candidates.builds[i].host.gpu_id is None or quote is None or quote.is_summed


def check_rows(ranking: Ranking) -> None:
    """What holds for every table."""
    candidates = ranking.candidates
    cents, days, offered = candidates.cents, candidates.days, candidates.offered
    leads = [row[0] for row in ranking.table]
    for row in ranking.table:
        assert len({candidates.builds[i].cards for i in row}) == 1
        assert len(set(row)) == len(row)
        # The price of a row is that of the cheapest offer that can be ordered, or what a seller
        # names and asks for hardly more than a sum of parts or options.
        same = [i for i in row if days[i] == days[row[0]] and offered[i] == offered[row[0]]]
        least = min(same, key=cents.__getitem__)
        if cents[row[0]] > cents[least]:
            assert cents[row[0]] <= ABOUT * cents[least]
            assert is_sum(candidates, least)
            assert not is_sum(candidates, row[0])
            assert least not in ranking.front
        assert offered[row[0]] == any(offered[i] for i in row)
    assert len({candidates.builds[i].cards for i in leads}) == len(leads)
    sold = [offered[i] for i in leads]
    assert sold == sorted(sold, reverse=True)
    if ranking.question.terms.counts_price_alone:
        for n, i in enumerate(leads):
            for j in leads[n + 1 :]:
                beaten = days[j] <= days[i] and cents[j] <= cents[i]
                equal = (days[j], cents[j]) == (days[i], cents[i])
                assert equal or offered[i] != offered[j] or not beaten
    rows = [ranking.lead(n) for n in range(ranking.sold_rows or len(ranking.table))]
    groups = [list(group) for _, group in groupby(rows, key=lambda row: row.tied_with)]
    assert [group[0].group for group in groups] == [group[0].tied_with for group in groups]
    bests = []
    for group in groups:
        doubts = [ranking.doubt(leads[row.group - 1]) for row in group]
        bests.append(min(doubts, key=lambda doubt: doubt.value))
        assert all(doubt == bests[-1] or alike(doubt, bests[-1]) for doubt in doubts)
    assert [best.value for best in bests] == sorted(best.value for best in bests)


@pytest.mark.parametrize("rule", RANK_RULES)
def test_no_row_stands_before_one_that_is_as_fast_and_cheaper(
    shipped: list[Candidates], rule: Any
) -> None:
    for candidates in shipped:
        for budget in BUDGETS:
            check_rows(rank(candidates, Question(budget_usd=budget, rule=rule)))


@settings(max_examples=60)
@given(data=st.data())
def test_every_surface_has_the_same_first_row(
    shipped: list[Candidates], data: st.DataObject
) -> None:
    candidates = data.draw(st.sampled_from(shipped))
    days = data.draw(st.sampled_from([None, None, 30.0, 90.0]))
    terms = data.draw(st.sampled_from([CostTerms(), CostTerms(utilisation=Decimal("0.3"))]))
    question = Question(
        budget_usd=data.draw(st.sampled_from(BUDGETS)),
        max_days=days,
        rule=data.draw(st.sampled_from(RANK_RULES)),
        terms=terms,
    )
    ranking = rank(candidates, question)
    check_rows(ranking)
    said = Verdict(ranking)
    exported = ranking_object(
        ranking, (), CandidatesKey(candidates.model.recipe_id, "latest", "sound")
    )
    assert exported["verdict"]["sentence"] == said.sentence
    if not ranking.table:
        assert said.first is None and not exported["ranked"]
        return
    i, row = ranking.order[0], ranking.lead(0)
    gpus, price = gpus_words(row.build), usd_rounded(row.overall_cost_usd)
    assert gpus in said.sentence and price in said.sentence
    head, first, *_ = table_lines(ranking, range(len(ranking.table)), 100)
    assert "GPUs" in head and gpus in first and price in first
    ranked = exported["ranked"]
    assert ranked[0]["overall_cost_usd"] == row.overall_cost_usd
    assert {(each["group"], each["gpu"], each["gpu_count"]) for each in ranked} == {
        (n, candidates.builds[offers[0]].gpu.name, candidates.builds[offers[0]].gpu_count)
        for n, offers in enumerate(ranking.table, start=1)
    }
    assert [each["group"] for each in ranked] == sorted(each["group"] for each in ranked)
    line = next(csv.DictReader(io.StringIO(ranking_csv(ranking))))
    assert (line["rank"], line["group"], line["gpu"]) == ("1", "1", row.build.gpu.name)
    assert Decimal(line["overall_cost_usd"]) == row.overall_cost_usd
    shown = answer(CandidatesView(candidates, ()), question, "latest")
    flags = plot_data(shown).flags
    assert [b for b, f in zip(shown.points.builds, flags, strict=True) if f & PointFlag.FIRST] == [
        i
    ]
    page = one_build(
        ranking, i, prices="latest", rentals=(), supply=None, quotes=(), today=date.today()
    )
    assert place_words(page).startswith(f"row 1 of {len(ranking.table)}")
    # One number for a run: table, page, JSON.
    assert page.costs.own is not None
    assert page.costs.own.experiment_usd(row.training_days) == row.experiment_cost_usd


ASKED = st.tuples(st.integers(0, 3), st.booleans(), st.integers(5_000, 60_000))
TIMED = st.tuples(st.floats(5, 20), st.floats(1, 1.6), st.booleans())


@given(
    st.lists(TIMED, min_size=4, max_size=4),
    st.lists(ASKED, min_size=1, max_size=8),
    st.sampled_from(RANK_RULES),
    st.one_of(st.none(), st.floats(5, 25)),
)
def test_the_order_holds_for_facts_at_random(
    times: list[tuple[float, float, bool]],
    asked: list[tuple[int, bool, int]],
    rule: Any,
    limit: float | None,
) -> None:
    """Two cards of a kind in as many machines as there are prices, some told by others."""
    gpus = [make_gpu(f"card-{n}") for n in range(len(times))]
    builds, prices = [], {}
    for number, (card, told, usd) in enumerate(asked):
        host = replace(make_host(2, f"host-{number}"), gpu_id=gpus[card].gpu_id)
        kind = "secondary" if told else "reseller-quote"
        prices["server", host.host_id] = make_quote("server", host.host_id, str(usd), kind=kind)
        builds.append(Build(gpu=gpus[card], gpu_count=2, host=host))
    best = [
        make_best(
            make_time(
                gpu.gpu_id,
                2,
                days,
                basis="predicted" if predicted else "measured",
                training_days_low=days / far,
                training_days_high=days * far,
                comparison_factor=far if predicted else None,
            )
        )
        for gpu, (days, far, predicted) in zip(gpus, times, strict=True)
    ]
    candidates = Candidates(make_model(), builds, best, prices, "sound")
    check_rows(rank(candidates, Question(rule=rule, max_days=limit)))


@pytest.mark.parametrize("budget", BUDGETS[::4])
def test_a_budget_pays_the_vat_of_the_country_too(
    shipped: list[Candidates], budget: Decimal | None
) -> None:
    for candidates in shipped:
        candidates.vat = Decimal("0.25")
        try:
            taxed = rank(candidates, Question(budget_usd=budget))
        finally:
            candidates.vat = Decimal(0)
        bare = rank(candidates, Question(budget_usd=budget and budget / Decimal("1.25")))
        assert taxed.table == bare.table
        for i, reason in taxed.excluded_order:
            if reason == "over-budget":
                assert budget is not None and candidates.cents[i] * Decimal("1.25") > budget * 100
