"""The short answer of `advisor rank`: its shape holds for every question, and its totals add up."""

from __future__ import annotations

import csv
import io
import json
import random
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from advisor.answers.doubts import MOST_DOUBTS
from advisor.answers.interval_bar import axis_for, bars_heading, interval_bar
from advisor.answers.rank_answer import MOST_LINES, MOST_ROWS, rank_answer, shown_places
from advisor.answers.wording import count_words
from advisor.cli.command_parser import build_parser
from advisor.cli.main import main
from advisor.costs.price_book import PriceBook
from advisor.ranking.candidates import Candidates
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.rank import rank
from advisor.ranking.snapshot import Snapshot, make_candidates, take_snapshot
from advisor.ranking.typed_question import RankRequest, TypedQuestion, read_question
from advisor.store import Store
from advisor.tables.text_table import cut_words

ROW = re.compile(r" ?\d+[= ] \d+ × ")


def ask(snapshot: Snapshot, **typed: str) -> RankRequest:
    """What was typed, understood."""
    asked, errors = read_question(TypedQuestion(**typed), snapshot)
    assert asked is not None, errors
    return asked


def check_shape(text: str, width: int = 100) -> None:
    """What holds for every short answer."""
    lines = text.splitlines()
    assert len(lines) <= 40
    # A command is broken as a shell reads it; a flag with its value is not.
    cut = [line for line in lines if " advisor " not in line and not line.lstrip().startswith("--")]
    assert max(map(len, lines if width == 100 else cut)) <= width, max(cut, key=len)
    assert sum(1 for line in lines if ROW.match(line)) <= MOST_ROWS
    answer, doubts = [*re.split("\n\nBefore you order(?: the first row)?\n", text), ""][:2]
    assert not re.search(r"[a-z)]\. ", answer.split("\n\n")[0])  # one sentence
    kinds = [line.split()[0] for line in doubts.splitlines() if not line.startswith("   ")]
    order = ("yours", "ties", "unsold", "time", "power", "price", "rent", "try")
    assert kinds == [kind for kind in order if kind in kinds]
    assert len(kinds) <= MOST_DOUBTS
    assert doubts.count(" advisor ") == len(kinds)
    assert not re.search(r"  +\n", text)


@pytest.mark.parametrize("model", ["pythia-160m", "pythia-1b", "pythia-6.9b", "roberta", "vit-b"])
def test_forty_lines_of_a_hundred_columns_whatever_is_asked(model: str, store_path: Path) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        if model not in {known.recipe_id for known in snapshot.models}:
            model = snapshot.models[-1].recipe_id
        for prices, evidence in (("latest", "sound"), ("paper", "published")):
            request = ask(snapshot, model=model, prices=prices, evidence=evidence)
            key = request.key
            candidates = make_candidates(reader, snapshot, key)
            rentals = reader.rentals()
            budgets, limits = ("500", "9k", "40000", "1M", None), ("0.5", "60", "400", None)
            for budget, days, rule in product(budgets, limits, ("days", "cost", "experiment-cost")):
                given = {"budget": budget, "max_days": days, "rule": rule}
                typed = {name: text for name, text in given.items() if text is not None}
                request = ask(snapshot, model=model, prices=prices, evidence=evidence, **typed)
                ranking = rank(candidates, request.question)
                for width in (100, 80, 60):
                    check_shape(rank_answer(ranking, rentals, width=width), width)
                left = sum(ranking.excluded_counts.values())
                assert len(ranking) + left == len(candidates.builds)


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


def said_by(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(list(argv)) in (0, 1)
    return capsys.readouterr().out


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
    assert words in " ".join(short.split())
    assert words in " ".join(details.split())
    assert max(map(len, details.splitlines())) <= 100
    builds = [f"Left out, {n:,} " for n in totals["reasons"].values()]
    assert all(text in details for text in builds)
    for doubt in verdict["doubts"]:
        assert doubt["command"] in re.sub(r" \\\n +", " ", details)
    if not answer["ranked"]:
        assert verdict["build"] is None
        assert {doubt["about"] for doubt in verdict["doubts"]} <= {"budget", "days", "rent", "two"}
        return
    best = answer["ranked"][0]
    named = ("gpu", "gpu_count", "machines", "host")
    assert verdict["build"] == {key: best[key] for key in named}
    assert verdict["price"]["usd"] == best["overall_cost_usd"]
    assert verdict["days"]["training_days"] == best["training_days"]
    assert len(verdict["ties"]) == sum(row["tied_with_first"] for row in answer["ranked"])
    pasted = re.sub(r" \\\n +", " ", short)
    assert all(doubt["command"] in pasted for doubt in verdict["doubts"])


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--budget", "9000.50", "--max-days", "2 months"], ["budget", "days", "rent"]),
        (["--budget", "1M", "--max-days", "1", "--by", "cost"], ["days"]),
        (["--budget", "100", "--gpus", "RTX 5090", "--lifetime-years", "3"], ["budget", "rent"]),
        (["--budget", "100", "--max-days", "0.1"], ["budget"]),
    ],
    ids=["budget", "days", "no-limit", "both"],
)
def test_where_nothing_answers_what_would_help_is_told_with_commands_that_answer(
    flags: list[str], told: list[str], store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["rank", "--model", "pythia-1b", *flags, "--store", str(store_path)]
    assert main(argv) == 1
    assert "\n\nWhat would help\n" in capsys.readouterr().out
    doubts = json.loads(said_by(capsys, *argv, "--format", "json"))["verdict"]["doubts"]
    assert [doubt["about"] for doubt in doubts] == told
    for doubt in doubts:
        assert main(shlex.split(doubt["command"])[1:]) == 0, doubt
        assert "Pythia 1B" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("model", "gpus"), [("pythia-12b", "RTX 3090"), ("pythia-1b", "V100 16GB PCIe")]
)
def test_where_the_gpus_that_were_asked_for_do_not_do_others_are_offered(
    model: str, gpus: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = [
        "rank",
        "--model",
        model,
        "--budget",
        "900k",
        "--gpus",
        gpus,
        "--store",
        str(store_path),
    ]
    assert main([*argv, "--format", "json"]) == 1
    doubts = json.loads(capsys.readouterr().out)["verdict"]["doubts"]
    told = {doubt["about"]: shlex.split(doubt["command"]) for doubt in doubts}
    assert "--gpus" not in told["gpus"]
    assert said_by(capsys, *told["gpus"][1:]).startswith("Buy ")


def test_without_any_published_time_estimates_are_the_way_out(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["rank", "--model", "bert-large", "--budget", "25k", "--store", str(store_path)]
    assert main([*argv, "--evidence", "published", "--format", "json"]) == 1
    verdict = json.loads(capsys.readouterr().out)["verdict"]
    assert verdict["sentence"] == (
        "No machine with a price has a published time for BERT large 340M."
    )
    told = {doubt["about"]: doubt["command"] for doubt in verdict["doubts"]}
    assert shlex.split(told["evidence"])[1:] == [*argv[:4], "25000", *argv[5:]]
    assert said_by(capsys, *shlex.split(told["evidence"])[1:]).startswith("Buy ")


def test_the_commands_of_the_doubts_work_as_typed(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["rank", "--model", "pythia-1b", "--budget", "$40,000", "--gpus", "RTX 5090,h100"]
    answer = json.loads(said_by(capsys, *argv, "--format", "json", "--store", str(store_path)))
    doubts = answer["verdict"]["doubts"]
    assert {"power", "price", "rent"} <= {doubt["about"] for doubt in doubts}
    assert len(doubts) <= 5
    for doubt in doubts:
        words = shlex.split(doubt["command"])
        assert words[0] == "advisor"
        if words[1] == "bench":  # needs the GPU; its flags are read all the same
            assert main([*words[1:], "--device", "tpu"]) == 2
            assert "device 'tpu' is not known" in capsys.readouterr().err
            continue
        out = said_by(capsys, *words[1:])
        assert len(out.splitlines()) > 1
        assert words[-2:] == ["--store", str(store_path)]  # the one that was asked


@pytest.mark.parametrize(
    "argv",
    [
        ["rank", "--model", "pythia-1b", "--budget", "40k", "--max-days", "60"],
        ["rank", "--model", "pythia-1b", "--budget", "40k", "--evidence", "published"],
        ["predict", "--model", "pythia-1b", "--gpu", "H100"],
        ["prices", "list", "--item", "H100"],
    ],
)
def test_every_command_that_a_text_suggests_works_as_it_stands(
    argv: list[str], store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = said_by(capsys, *argv, "--store", str(store_path))
    pasted = re.findall(r"(?:^|  )(advisor .*)$", re.sub(r" \\\n +", " ", text), re.MULTILINE)
    assert pasted
    for command in pasted:
        words = shlex.split(command)[1:]
        assert words[-2:] == ["--store", str(store_path)], command
        if words[0] == "bench":  # needs a GPU, here or rented; its flags are read all the same
            options = build_parser(words).parse_args(words)
            assert options.model == "pythia-1b"
            continue
        assert said_by(capsys, *words).strip(), command


def test_the_rows_left_out_add_up_to_the_totals(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["rank", "--model", "pythia-1b", "--budget", "40k", "--store", str(store_path)]
    answer = json.loads(said_by(capsys, *argv, "--format", "json"))
    rows = list(csv.DictReader(io.StringIO(said_by(capsys, *argv, "--format", "csv"))))
    replaced = [row for row in answer["excluded"] if row["replaced_time"]]
    counted = Counter(row["reason"] for row in answer["excluded"] if not row["replaced_time"])
    assert replaced  # the paper's time of Pythia 1B on 8 RTX 3090
    assert {row["reason"] for row in replaced} == {"implausible-time"}
    in_csv = Counter(row["reason"] for row in rows if row["replaced_time"] == "no")
    assert counted == in_csv
    assert counted == answer["verdict"]["totals"]["reasons"]


def test_gpus_that_were_asked_for_are_named_where_none_fits(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["rank", "--model", "pythia-1b", "--budget", "5k", "--gpus", "h100-sxm5-80gb"]
    first = said_by(capsys, *argv, "--store", str(store_path)).partition(":")[0]
    assert first == "No machine with H100 trains Pythia 1B for $5,000"


def test_names_too_long_for_their_column_stay_apart(store_path: Path) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader, "latest")
        request = ask(snapshot, model="pythia-1b")
        found = make_candidates(reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound"))
    first = rank(found, request.question).order[0]
    build, best, quote = found.builds[first], found.times[first], found.host_quotes[first]
    assert best is not None
    assert quote is not None
    long = [f"A very long name of a machine that somebody sells in many sizes, {n}" for n in "ab"]
    builds = tuple(
        build._replace(host=replace(build.host, host_id=f"h{n}", name=name))
        for n, name in enumerate(long)
    )
    prices = {("server", f"h{n}"): quote for n in range(2)}
    ranking = rank(Candidates(found.model, builds, (best,), prices, "sound"), request.question)
    text = rank_answer(ranking)
    check_shape(text)
    rows = [line for line in text.splitlines() if ROW.match(line)]
    assert len(rows) == 2
    names = [line.partition("$")[0][3:] for line in rows]  # as wide as the other columns leave
    assert names[0] != names[1]
    assert cut_words(["abcdefgh-1", "abcdefgh-2", "short"], 7) == ["abc…h-1", "abc…h-2", "short"]
    ends_alike = ["1 × H100, tower from parts", "1 × H100, desk from parts"]
    assert cut_words(ends_alike, 9) == ["1 × …towe", "1 × …desk"]
    machines = ["1 × A6000, tower one", "1 × A6000, tower two"]
    assert cut_words(machines, 14) == ["1 × A6…wer one", "1 × A6…wer two"]
    assert cut_words(machines, 14, keep=9) == ["1 × A6000… one", "1 × A6000… two"]
    assert cut_words(machines, 12, keep=9) == ["1 × A6000…ne", "1 × A6000…wo"]
    assert cut_words(machines, 7, keep=9) == ["1 × A…e", "1 × A…o"]


def test_dearer_boxes_of_the_same_gpus_wait_for_the_details(store_path: Path) -> None:
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader, "latest")
        request = ask(snapshot, model="pythia-1b", budget="40k")
        found = make_candidates(reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound"))
    ranking = rank(found, request.question)
    assert len(ranking) > MOST_ROWS
    places = shown_places(ranking)
    assert places[0] == 0
    assert places == sorted(set(places))
    for place in set(range(max(places))) - set(places):
        build, cents = found.builds[ranking.order[place]], found.cents[ranking.order[place]]
        better = [ranking.order[p] for p in places if p < place]
        assert any(
            found.builds[i].gpu == build.gpu
            and found.builds[i].gpu_count == build.gpu_count
            and found.cents[i] <= cents
            for i in better
        )


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


def test_a_machine_that_is_there_and_answers_too_is_told_first(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(shutil.copy(store_path, tmp_path / "own.duckdb"))
    said_by(capsys, "prices", "own", "2 x A6000", "--store", store)
    argv = ["rank", "--model", "pythia-1b", "--budget", "40k", "--store", store]

    def doubts(*flags: str) -> list[dict[str, str]]:
        answer = json.loads(said_by(capsys, *argv, *flags, "--format", "json"))
        found: list[dict[str, str]] = answer["verdict"]["doubts"]
        assert len(found) <= MOST_DOUBTS
        return found

    yours = doubts()[0]
    assert yours["about"] == "yours"
    assert yours["words"].startswith("with your 2 × A6000 there is nothing to buy: ≈")
    assert main(shlex.split(yours["command"])[1:]) == 0
    assert "yours already" in capsys.readouterr().out
    assert said_by(capsys, *argv).count("\n") <= MOST_LINES
    # Nothing of it where it comes first, or is too slow.
    assert all(each["about"] != "yours" for each in doubts("--by", "cost"))
    assert all(each["about"] != "yours" for each in doubts("--max-days", "20"))


def test_what_is_there_already_is_not_said_to_be_sold_where_nothing_fits(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(shutil.copy(store_path, tmp_path / "own.duckdb"))
    said_by(capsys, "prices", "own", "2 x A6000", "--store", store)
    asked = ["rank", "--model", "pythia-1b", "--store", store]
    assert main([*asked, "--budget", "10k", "--max-days", "30"]) == 1
    first = " ".join(capsys.readouterr().out.partition("\n\n")[0].split())
    assert "the fastest for that is your 2 × A6000, ≈" in first
    assert "already yours" not in first and "$0" not in first
    assert main([*asked, "--budget", "20k", "--max-days", "60", "--gpus", "A6000"]) == 1
    first, *rest = (" ".join(b.split()) for b in capsys.readouterr().out.split("\n\n"))
    assert re.search(r" for 2 × A6000 to your 2 in the [\w ]+: ≈", rest[-1])
    assert "the fastest to be had for that is your 2 × A6000, ≈" in first
    assert main([*asked, "--budget", "5k", "--max-days", "60", "--gpus", "A6000"]) == 1
    first = " ".join(capsys.readouterr().out.partition("\n\n")[0].split())
    assert "the fastest for that is your 2 × A6000, ≈" in first


def test_what_trains_a_model_at_all_is_told_as_what_is_bought(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Beside a GPU that is there the others; of what nobody sells, what was asked for it once."""
    store = str(shutil.copy(store_path, tmp_path / "own.duckdb"))
    said_by(capsys, "prices", "own", "1 x A6000", "--store", store)
    small = ["--budget", "100", "--max-days", "0.1", "--store", store]

    def told(*flags: str) -> str:
        assert main(["rank", *flags, *small]) == 1
        return " ".join(capsys.readouterr().out.split())

    more = told("--model", "pythia-12b", "--gpus", "A6000")
    assert re.search(r"without a limit of days, \$[\d,]+ [a-z ]+ \d × A6000 to your 1 in ", more)
    unsold = told("--model", "pythia-6.9b", "--gpus", "RTX 3090")
    assert re.search(r"without a limit of days, \$[\d,]+ was asked once for 1 × RTX 3090 ", unsold)
    assert "no seller known" not in unsold


@pytest.mark.parametrize(
    ("owned", "asked"),
    [
        ("2 x A6000", "bert-large --budget 15300 --max-days 30"),
        ("2 x A6000", "pythia-31m --budget 15300"),
        ("1 x RTX 3090", "pythia-1b --max-days 250 --gpus rtx-3090 --budget 12k"),
        ("1 x RTX 3090", "convnext-xlarge-22k --max-days 365 --gpus rtx-3090 --prices paper"),
    ],
)
def test_what_is_there_already_is_neither_quoted_nor_to_be_ordered(
    owned: str, asked: str, store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(shutil.copy(store_path, tmp_path / "own.duckdb"))
    said_by(capsys, "prices", "own", owned, "--store", store)
    flags = ["--model", *asked.split(), "--by", "cost" if "paper" in asked else "days"]
    answer = json.loads(said_by(capsys, "rank", *flags, "--store", store, "--format", "json"))
    first = answer["verdict"]
    told = [first["sentence"], *(doubt["words"] for doubt in first["doubts"])]
    assert not re.search(r"the your|already yours|\$0\b(?!\.)", " ".join(told))
    assert all(not each["host"].startswith("your ") for each in first["orderable"])


def test_every_doubt_has_its_keys_on_the_screen() -> None:
    from advisor.tui.ranking.ranking_lines import DOUBT_KEYS

    kinds = {"rate", "yours", "ties", "unsold", "time", "power", "price", "rent", "try"}
    assert DOUBT_KEYS.keys() == kinds
