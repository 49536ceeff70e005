"""The first line of an answer: what to buy, at which price, how long, how sure."""

from __future__ import annotations

import re
from decimal import Decimal
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.answers.build_words import in_machine, short_gpus_words
from advisor.answers.chance_words import chance_words, makes_words
from advisor.answers.ranking.doubts import doubts_of
from advisor.answers.ranking.rank_answer import rank_answer
from advisor.answers.ranking.rank_exports import headline
from advisor.answers.ranking.rivals import kinds_words
from advisor.answers.ranking.verdict import first_lines, verdict
from advisor.answers.two_lines import LINE, SMALL_LINE, sentence_lines
from advisor.answers.wording import counted_days
from advisor.costs.amounts import days_rounded, usd_rounded
from advisor.ranking.candidates import Candidates
from advisor.ranking.named_prices import ABOUT
from advisor.ranking.question import RANK_RULES, CandidatesKey, Question, RankRule
from advisor.ranking.rank import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.ranking.ties import NORMAL_90, chance_within
from advisor.store import Store
from price_catalog.power import Supply
from tests.facts_for_tests import make_best, make_time

H100 = "h100-sxm5-80gb"


@given(
    days=st.floats(min_value=0.1, max_value=1e4),
    spread=st.floats(min_value=1.01, max_value=4),
    ratio=st.floats(min_value=0.2, max_value=5),
)
def test_the_chance_is_that_of_the_interval(days: float, spread: float, ratio: float) -> None:
    low, high = days / spread, days * spread
    chance = chance_within(days * ratio, days, low, high)
    assert 0 <= chance <= 1
    assert chance_within(days, days, low, high) == pytest.approx(0.5)
    assert chance_within(high, days, low, high) == pytest.approx(0.95, abs=1e-3)
    assert chance_within(low, days, low, high) == pytest.approx(0.05, abs=1e-3)
    assert chance_within(days * ratio * 1.01, days, low, high) >= chance
    if 0.5 <= ratio <= 2 and spread > 1.2:
        from math import log

        normal = NormalDist(log(days), log(spread) / NORMAL_90)
        assert chance == pytest.approx(normal.cdf(log(days * ratio)), abs=1e-6)


def test_a_time_without_doubt_keeps_a_limit_or_does_not() -> None:
    assert chance_within(60, 50, 50, 50) == 1
    assert chance_within(50, 50, 50, 50) == 1
    assert chance_within(49, 50, 50, 50) == 0


def test_words_for_people() -> None:
    said = [chance_words(p) for p in (0, 0.32, 0.5, 0.61, 0.74, 0.95, 1)]
    assert said == [
        "hardly a chance", "1 in 3", "1 in 2", "3 in 5", "3 in 4", "19 in 20", "almost certain"
    ]  # fmt: skip
    assert [counted_days(d) for d in (1, 0.1532, 79.44, 1992)] == [
        "1 day",
        "3.68 hours",
        "79.4 days",
        "1,990 days",
    ]
    amounts = [usd_rounded(Decimal(x)) for x in ("22122.63", "343.56", "0.6", "9874", "0")]
    assert amounts == ["$22,100", "$344", "$0.60", "$9,870", "$0"]
    assert days_rounded(99.96) == "100"
    assert days_rounded(8.714e-7) == "0.000000871"  # no exponent
    assert days_rounded(17.749949614) == days_rounded(17.75)  # as computed, and as it is kept


def test_the_sentence_says_what_to_buy_its_price_and_age_days_chance_and_doubt(
    pythia: Candidates,
) -> None:
    ranking = rank(pythia, Question(budget_usd=Decimal(40_000), max_days=100.0))
    found = verdict(ranking)
    row = ranking.row(0)
    assert found.row is not None
    assert found.row.build is row.build
    assert found.sentence.startswith(f"Buy {short_gpus_words(row.build)} in the ")
    day = min(row.gpu_quote.quoted_on, row.host_quote.quoted_on)
    priced = found.sentence.partition(f"for {usd_rounded(row.overall_cost_usd)} (")[2]
    asked = priced.partition(")")[0]  # with what it is a sum of, where it is one
    assert f"{day:%B %Y}" in asked or f"{day:%b %Y}" in asked
    assert f"Pythia 1B in ≈{days_rounded(row.training_days)} days (" in found.sentence
    assert found.chance is not None
    assert f", {makes_words(found.chance, 100)}; " in found.sentence
    assert found.sentence.count(".  ") == 0
    assert found.sentence.endswith(".")
    count = len(ranking.uncertainty.tied)
    assert bool(re.search("may be (as fast|faster)", found.sentence)) == (count > 0)
    assert found.chance is not None
    assert 0.5 <= found.chance < 1


def test_the_cheapest_of_those_that_may_be_as_fast_is_named_with_its_price(
    pythia: Candidates,
) -> None:
    """Where a machine at half the price may do as well, the first line says so."""
    seen = 0
    for budget in (20_000, 30_000, 40_000, 60_000, 100_000, 300_000, 500_000):
        ranking = rank(pythia, Question(budget_usd=Decimal(budget)))
        found, tied = verdict(ranking), ranking.uncertainty.tied
        placed, summed = pythia.placed_cents, pythia.is_summed
        sold = [i for i in tied if pythia.offered[i]]
        cheapest = min(sold, key=lambda i: (placed[i], summed(i)), default=None)
        said = found.sentence.rpartition("; ")[2]
        if cheapest is None or pythia.cents[cheapest] >= pythia.cents[ranking.order[0]]:
            assert "$" not in said or said.startswith("quoted whole: ")
            continue
        seen += 1
        price = usd_rounded(Decimal(pythia.cents[cheapest]) / 100)
        assert re.search(rf"\((from )?{re.escape(price)}( as a sum)?\)", said)
        assert said.count("$") == 1
        assert price not in found.medium  # which stays two lines of 80 columns
        assert re.search(
            re.escape(in_machine(ranking.row(0).build)) + r"( from [\w ]+)? for \$", found.medium
        )
        assert f"{ranking.row(0).host_quote.quoted_on:%Y}" in found.medium
    assert seen


def test_the_same_gpus_for_less_stand_in_the_first_line(pythia: Candidates) -> None:
    """A machine that its seller quotes whole comes first; what its GPUs cost in another is said."""
    seen = 0
    for budget in (15_000, 20_000, 30_000, 40_000, 60_000, 100_000, 300_000, 500_000):
        ranking = rank(pythia, Question(budget_usd=Decimal(budget)))
        first, found = ranking.order[0], verdict(ranking).sentence
        cards = pythia.builds[first].cards
        cheapest = min(
            pythia.cents[i]
            for i in ranking.order
            if pythia.builds[i].cards == cards and pythia.offered[i]
        )
        said = found.partition("(")[2].partition(")")[0]
        if found.startswith("Ask "):  # whose price stands there
            continue
        if cheapest * ABOUT >= pythia.cents[first]:
            assert "$" not in said
            continue
        seen += 1
        cost = usd_rounded(Decimal(cheapest) / 100)
        if "$" not in said:  # rivals come before it where there is no room for both
            assert ranking.uncertainty.tied
            said = next(
                doubt.words for doubt in doubts_of(ranking, (), None) if doubt.about == "price"
            )
            assert said.endswith(f": {cost}")
            continue
        assert f"; {cost} " in said
    assert seen


def test_the_same_gpus_in_another_machine_are_no_rival(store_path: Path) -> None:
    """Pythia 6.9B is offloaded to the machine's memory, so that each machine has its own time."""
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        found = make_candidates(reader, snapshot, CandidatesKey("pythia-6.9b", "latest", "sound"))
    seen = set()
    for budget in (30_000, 40_000, 60_000, 250_000):
        ranking = rank(found, Question(budget_usd=Decimal(budget)))
        first = ranking.order[0]
        for i in ranking.order[1:]:
            if found.builds[i].cards == found.builds[first].cards:
                seen.add(found.times[i] is found.times[first])
                assert i not in ranking.uncertainty.tied
    assert False in seen


@pytest.mark.parametrize("rule", RANK_RULES)
@pytest.mark.parametrize("days", [None, 3.0, 10.0, 30.0, 60.0, 365.0])
def test_the_sentence_takes_two_lines(pythia: Candidates, days: float | None, rule: Any) -> None:
    for budget in (1_000, 5_000, 10_000, 20_000, 30_000, 40_000, 60_000, 100_000, 500_000, None):
        asked = None if budget is None else Decimal(budget)
        ranking = rank(pythia, Question(budget_usd=asked, max_days=days, rule=rule))
        said = verdict(ranking)
        lines = sentence_lines(said.sentence, LINE)
        assert len(lines) <= 2, said.sentence
        assert " ".join(lines) == said.sentence
        assert " ".join(first_lines(ranking, 100)) == said.sentence
        assert len(sentence_lines(said.medium, SMALL_LINE)) <= 2, said.medium
        for width in (80, 90):
            narrow = first_lines(ranking, width)
            assert len(narrow) <= 2, narrow
            assert max(map(len, narrow)) <= width


@pytest.mark.parametrize("evidence", ["sound", "published"])
@pytest.mark.parametrize("gpus", [None, ("RTX 4090", "RTX PRO 6000 Blackwell Max-Q")])
@pytest.mark.parametrize("recipe", ["pythia-1b", "timm-efficientnet-b0"])
def test_what_fits_nothing_takes_two_lines_of_any_terminal(
    store_path: Path, evidence: Any, gpus: tuple[str, str] | None, recipe: str
) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        ids = None if gpus is None else snapshot.gpu_ids(gpus)
        key = CandidatesKey(recipe, "latest", evidence)._replace(gpu_ids=ids)
        candidates = make_candidates(reader, snapshot, key)
    for budget in (2_000, 20_000):
        for days in (3.0, 30.0):
            question = Question(budget_usd=Decimal(budget), max_days=days)
            ranking = rank(candidates, question)
            said = verdict(ranking)
            assert len(sentence_lines(said.sentence, LINE)) <= 2, said.sentence
            assert len(sentence_lines(said.medium, SMALL_LINE)) <= 2, said.medium
            for width in (80, 100):
                first = rank_answer(ranking, width=width).partition("\n\n")[0]
                assert first.count("\n") <= 1, first


def test_a_long_name_and_a_sum_of_options_take_two_lines(store_path: Path) -> None:
    """Whom to ask, the sum and its month, the chance and what a run costs."""
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        found = make_candidates(
            reader, snapshot, CandidatesKey("convnext-large-22k", "latest", "sound")
        )
    asked = 0
    for budget in (60_000, 100_000, 250_000):
        for rule in RANK_RULES:
            question = Question(budget_usd=Decimal(budget), max_days=30.0, rule=rule)
            said = verdict(rank(found, question))
            asked += said.sentence.startswith("Ask BIZON to quote ")
            assert len(sentence_lines(said.sentence, LINE)) <= 2, said.sentence
            assert len(sentence_lines(said.medium, SMALL_LINE)) <= 2, said.medium
            assert re.search(r"\$[\d,]+.*20\d\d", said.medium)
    assert asked


def test_a_run_that_outlives_the_machine_is_told_so(pythia: Candidates) -> None:
    ranking = rank(pythia, Question(budget_usd=Decimal(40_000), lifetime_years=0.1))
    assert verdict(ranking).sentence.endswith("; longer than the 0.1 years it serves.")


def test_who_may_be_first_is_named_by_its_gpus_not_counted_by_its_boxes(
    pythia: Candidates,
) -> None:
    for usd in (10_000, 20_000, 40_000, 100_000, 1_000_000):
        ranking = rank(pythia, Question(budget_usd=Decimal(usd)))
        tied = ranking.uncertainty.tied
        kinds = {short_gpus_words(pythia.builds[i]) for i in tied}
        words = kinds_words(ranking, tied)
        if 0 < len(kinds) <= 2:
            assert all(kind in verdict(ranking).sentence for kind in kinds)
        else:
            assert words == ("" if not kinds else f"{len(kinds)} others")


def test_nothing_fits_names_what_comes_nearest(pythia: Candidates) -> None:
    def said(budget: int | None, days: float | None) -> str:
        limit = None if budget is None else Decimal(budget)
        ranking = rank(pythia, Question(budget_usd=limit, max_days=days))
        found = verdict(ranking)
        assert not len(ranking)
        assert found.row is None
        return found.sentence

    priced = r" for \$[\d,]+ \(\w+ 20\d\d, .* old\), ≈[\d.]+ days \([\d.]+–[\d.]+\)\.$"
    few = said(100, None)
    assert few.startswith("Nothing trains Pythia 1B for $100: the cheapest on sale is 1 × ")
    assert re.search(priced, few)
    slow = said(40_000, 10)
    # Who is told of a faster one that nobody sells by `--details` must not read a lie here.
    told = min(pythia.days[i] for i in pythia.by_days if pythia.cents[i] <= 4_000_000)
    sold = [i for i in pythia.by_days if pythia.cents[i] <= 4_000_000 and pythia.offered[i]]
    assert pythia.days[sold[0]] > told
    ordered = (
        r" is \d × [\w ]+ in the .* for \$[\d,]+ \((a sum[^,]*, )?\w+ 20\d\d.*\), "
        r"≈[\d.]+ days \(.*\)"
    )
    assert slow.startswith("Nothing trains Pythia 1B for $40,000 within 10 days: ")
    for sentence in (slow, said(12_000, 30)):
        assert re.search(rf": the fastest on sale for that{ordered}", sentence)
    assert re.search(r"; one in time costs \$[\d,]+\.$", said(12_000, 30))
    assert re.search(rf": the fastest{ordered}\.$", said(None, 0.001))
    never = said(12_000, 0.1)
    assert never.startswith("No machine trains Pythia 1B within 2.4 hours at any price; for $1")
    assert re.search(rf" the fastest on sale{ordered}\.$", never)
    # Which costs less than twice as much, where the other takes more than twice as long.
    assert ": the cheapest in time is 8 × MI300X in the Supermicro " in said(200_000, 6)
    empty = Candidates(pythia.model, (), (), {}, "sound")
    assert "none has both a price" in verdict(rank(empty, Question())).sentence
    build = pythia.builds[pythia.by_days[0]]
    held = make_best(make_time(build.gpu.gpu_id, build.gpu_count, None))
    small = Candidates(pythia.model, (build,), (held,), {}, "sound")
    assert verdict(rank(small, Question())).sentence == (
        f"No machine with {build.gpu.name} that can be built holds Pythia 1B: it has too "
        "little memory for it, whatever is sharded or offloaded."
    )


def test_a_published_time_that_a_measurement_refutes_says_so(store_path: Path) -> None:
    """1 x H100: 34 days as published, longer as this project measured it."""
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        found = make_candidates(
            reader,
            snapshot,
            CandidatesKey("pythia-1b", "paper", "published", gpu_ids=frozenset({H100})),
        )
    ranking = rank(found, Question(budget_usd=Decimal(40_000)))
    row = ranking.row(0)
    assert row.build.gpu.gpu_id == H100
    days = found.times[ranking.order[0]]
    assert days is not None
    assert days.measured is not None
    assert (days.measured.training_days or 0) > row.training_days_high
    measured = counted_days(days.measured.training_days or 0)
    assert verdict(ranking).sentence.endswith(f"; but we measured {measured}.")
    assert any(d.words.endswith(f"; we measured {measured}") for d in doubts_of(ranking, (), None))


@pytest.mark.parametrize("recipe", ["regnety-3.2gf", "smollm2-135m-shape", "pythia-1b"])
@pytest.mark.parametrize("rule", RANK_RULES)
def test_the_machine_is_named_before_days_that_are_safely_kept(
    store_path: Path, recipe: str, rule: RankRule
) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        found = make_candidates(reader, snapshot, CandidatesKey(recipe, "latest", "sound"))
    for budget in (15_500, 36_000, 60_000, 500_000):
        for most in (60.0, 180.0):
            ranking = rank(found, Question(budget_usd=Decimal(budget), max_days=most, rule=rule))
            sentence = verdict(ranking).sentence
            if sentence.startswith(("Buy ", "Ask ")):
                assert " in the " in sentence, (budget, most)


@pytest.mark.parametrize(
    ("budget", "rule", "said"),
    [
        (100_000, "days", "Nothing on sale with a published time trains Pythia 1B for $100,000; "),
        (100, "days", "Nothing with a published time trains Pythia 1B for $100: the cheapest "),
        (None, "days", "; nothing on sale with a published time is faster."),
        (None, "cost", "; nothing cheaper on sale with a published time fits."),
    ],
)
def test_published_times_say_nothing_of_what_has_none(
    store_path: Path, budget: int | None, rule: RankRule, said: str
) -> None:
    """Others may well train it: with sound evidence they do."""
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        found = make_candidates(reader, snapshot, CandidatesKey("pythia-1b", "latest", "published"))
        sound = make_candidates(reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound"))
    question = Question(budget_usd=None if budget is None else Decimal(budget), rule=rule)
    assert said in verdict(rank(found, question)).sentence
    assert "published" not in verdict(rank(sound, question)).sentence


@pytest.mark.parametrize(
    ("gpus", "budget", "said"),
    [
        (("RTX 5090",), 20_000, "; nothing faster with RTX 5090 fits"),
        (("RTX 4090",), None, "; nothing with RTX 4090 is faster."),
        (("RTX 5090", "RTX 4090", "A6000"), 20_000, "; nothing faster with these GPUs fits"),
        (
            ("RTX 5090", "RTX 4090", "A6000"),
            100,
            "Nothing with these GPUs trains Pythia 1B for $100",
        ),
        (None, 10_000, "; nothing faster on sale fits"),
    ],
)
def test_gpus_that_were_not_asked_for_may_be_faster(
    store_path: Path, gpus: tuple[str, ...] | None, budget: int | None, said: str
) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        ids = None if gpus is None else snapshot.gpu_ids(gpus)
        key = CandidatesKey("pythia-1b", "latest", "sound")._replace(gpu_ids=ids)
        found = make_candidates(reader, snapshot, key)
    question = Question(budget_usd=None if budget is None else Decimal(budget))
    ranking = rank(found, question)
    assert said in verdict(ranking).sentence
    assert said in " ".join(first_lines(ranking, 80))


@pytest.mark.parametrize("per_cent", range(100))
def test_the_odds_in_words_are_those_of_the_column(per_cent: int) -> None:
    """85 % is no "9 in 10"."""
    words = chance_words(per_cent / 100)
    if " in " in words:
        some, _, all_of = words.partition(" in ")
        off = int(some) / int(all_of) - per_cent / 100
        assert abs(off) <= (0.031 if per_cent > 62 else 0.051)


def test_the_circuit_belongs_to_the_question(store_path: Path) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        found = make_candidates(
            reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound", supply=Supply(120, 15))
        )
    question = Question(budget_usd=Decimal(40_000), max_days=10.0)
    assert verdict(rank(found, question)).sentence.startswith(
        "No machine trains Pythia 1B within 10 days on a 120 V 15 A circuit at any price; "
    )
    assert headline(found, question, "latest").endswith(" · 120 V 15 A circuit")
