"""The short answer of `advisor rank`: its shape holds for every question, and its totals add up."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

from advisor.answers.interval_bar import axis_for, bars_heading, interval_bar
from advisor.answers.ranking.before_you_order import MOST_SHOWN
from advisor.answers.ranking.rank_answer import rank_answer
from advisor.answers.wording import count_words
from advisor.costs.price_book import PriceBook
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import Question
from advisor.ranking.row_order import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from tests.answers.rank_answers_for_tests import ask, check_shape, said_by


def test_no_line_is_wider_than_the_terminal(store_path: Path) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        for prices, evidence in (("latest", "sound"), ("paper", "published")):
            typed = {"model": "pythia-1b", "prices": prices, "evidence": evidence}
            key = ask(snapshot, **typed).key
            candidates, rentals = make_candidates(reader, snapshot, key), reader.rentals()
            for budget, days in product(("500", "40000", "1M"), ("0.5", "60")):
                request = ask(snapshot, **typed, budget=budget, max_days=days)
                ranking = rank(candidates, request.question)
                for width in (100, 80, 60):
                    check_shape(rank_answer(ranking, rentals, key, width=width), width)


def test_every_reason_is_the_true_one_and_all_of_them_add_up(store_path: Path) -> None:
    """Random questions: what is left out is left out for what it says, and nothing twice."""
    chance = random.Random(15)
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        for _ in range(12):
            model = chance.choice(snapshot.models).recipe_id
            typed = {
                "model": model,
                "prices": chance.choice(["latest", "latest", "paper", "2026-06-01"]),
                "evidence": chance.choice(["sound", "sound", "published"]),
                "circuit": chance.choice(["", "120V/15A", "208V/30A"]),
                "gpus": chance.choice(["", "", "RTX", "H100,A6000"]),
            }
            typed = {name: text for name, text in typed.items() if text}
            key = ask(snapshot, **typed).key
            candidates = make_candidates(reader, snapshot, key)
            for _ in range(4):
                limits = {
                    "budget": chance.choice(["5k", "$40,000", "250 000", "1M"]),
                    "max_days": chance.choice(["12h", "60d", "2 months", "5y"]),
                    "rule": chance.choice(["days", "cost", "experiment-cost"]),
                }
                question = ask(snapshot, **typed, **limits).question
                ranking = rank(candidates, question)
                left = [i for i, _ in ranking.excluded_order]
                assert sorted([*ranking.order, *left]) == list(range(len(candidates.builds)))
                for i in ranking.order:
                    assert reason_of(candidates, i, question) is None
                for i, reason in ranking.excluded_order:
                    assert reason_of(candidates, i, question) == reason


def reason_of(candidates: Candidates, i: int, asked: Question) -> str | None:
    """Why a build is left out, from the facts alone."""
    build, time = candidates.builds[i], candidates.times[i]
    chosen = None if time is None else time.chosen
    cost, book = candidates.cost_usd(i), candidates.prices
    assert isinstance(book, PriceBook)
    if build.obstacle is not None:
        return "cannot-be-built"
    if build.unknown:
        return "fit-not-known"
    if chosen is not None and chosen.status == "infeasible":
        return "does-not-fit"
    if chosen is None or chosen.training_days is None:
        return "no-time"
    if candidates.evidence == "sound" and chosen.verdict == "implausible":
        return "implausible-time"
    if cost is None:
        return "no-price"
    if candidates.gap[i] == "old-price":
        quotes = (candidates.gpu_quotes[i], candidates.host_quotes[i])
        assert any(quote is not None and book.is_old(quote) for quote in quotes)
        return "old-price"
    if asked.budget_usd is not None and cost > asked.budget_usd:
        return "over-budget"
    if asked.max_days is not None and chosen.training_days > asked.max_days:
        return "too-slow"
    return None


@pytest.mark.parametrize(
    "flags",
    [
        ["--budget", "40k", "--max-days", "60"],
        ["--budget", "40k", "--by", "experiment-cost", "--gpus", "RTX 3090,H100"],
        ["--budget", "100"],
        ["--prices", "paper", "--circuit", "120V/15A"],
    ],
    ids=lambda flags: flags[1],
)
def test_every_surface_begins_with_the_same_sentence_and_counts_the_same(
    flags: list[str], store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["rank", "--model", "pythia-1b", *flags, "--store", str(store_path)]
    short = said_by(capsys, *argv)
    check_shape(short.rstrip("\n"))
    details = said_by(capsys, *argv, "--details")
    answer = json.loads(said_by(capsys, *argv, "--format", "json"))
    verdict = answer["verdict"]
    first = " ".join(short.partition("\n\n")[0].split())
    assert first == verdict["sentence"] == " ".join(details.partition("\n\n")[0].split())
    totals = verdict["totals"]
    assert totals["builds"] == totals["ranked"] + totals["left_out"]
    assert totals["ranked"] == len(answer["ranked"])
    left = len(answer["excluded"]) - totals["published_times_replaced"]
    assert totals["left_out"] == left == sum(totals["reasons"].values())
    words = count_words(totals["ranked"], totals["builds"], totals["reasons"])
    assert words in " ".join(details.split())
    assert max(map(len, details.splitlines())) <= 100
    builds = [f"Left out, {n:,} " for n in totals["reasons"].values()]
    assert all(text in details for text in builds)
    for doubt in verdict["doubts"]:
        assert doubt["command"] in re.sub(r" \\\n +", " ", details)
    if not answer["ranked"]:
        assert verdict["build"] is None
        assert {doubt["about"] for doubt in verdict["doubts"]} <= {"budget", "days", "rent"}
        return
    assert totals["rows"] == answer["ranked"][-1]["group"]
    best = answer["ranked"][0]
    named = ("gpu", "gpu_count", "machines", "host")
    assert verdict["build"] == {key: best[key] for key in named}
    assert verdict["price"]["usd"] == best["overall_cost_usd"]
    assert verdict["days"]["training_days"] == best["training_days"]
    tied = {row["group"] for row in answer["ranked"] if row["tied_with"] == 1 != row["group"]}
    assert len(verdict["ties"]) == len(tied)
    pasted = re.sub(r" \\\n +", " ", short)
    assert all(doubt["command"] in pasted for doubt in verdict["doubts"][:MOST_SHOWN])


def test_an_interval_is_drawn_with_its_ends_and_the_limit() -> None:
    axis = axis_for([(40, 60), (20, 30)], 50, 40)
    assert axis is not None
    bar = interval_bar(axis, 45, 40, 60)
    assert len(bar) == 40
    assert re.search(r"40 ├─*●─*┼─*┤ 60", bar)
    assert bars_heading(axis).split() == ["9", "in", "10", "runs", "│50", "d"]
    assert bars_heading(axis).index("│") == bar.index("┼")
    assert interval_bar(axis, 25, 24.99, 25.01).strip("● ") == "│"
    wide = axis_for([(1, 10_000)], None, 44)
    assert wide is not None
    assert interval_bar(wide, 5.15, 4.61, 5.74).split() == ["4.61", "●", "5.74"]
    assert interval_bar(wide, 370, 369.5, 370.5).split() == ["●"]
    assert bars_heading(wide).strip() == "9 in 10 runs"
    narrow = axis_for([(40, 60)], 50, 16)
    assert narrow is not None
    assert "9 in 10" not in bars_heading(narrow)  # there is no room for it
    far = axis_for([(40, 60)], 4000, 40)
    assert far is not None
    assert far.limit is None
    assert axis_for([], 50, 40) is None


def test_a_plain_terminal_gets_plain_signs(store_path: Path) -> None:
    argv = ["rank", "--model", "pythia-1b", "--budget", "40k", "--max-days", "100"]
    done = subprocess.run(
        [sys.executable, "-m", "advisor", *argv, "--store", str(store_path)],
        capture_output=True,
        timeout=60,
        env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
        check=True,
    )
    text = done.stdout.decode("ascii")
    assert "?" not in text
    assert re.search(r"\[[-|]*o[-|]*\]", text)
    check_shape(text.rstrip("\n").replace(" x ", " × "))
