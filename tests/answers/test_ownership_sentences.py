"""What owning and renting cost: one sentence first, the same in JSON; why a time is missing."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from advisor.cli.main import main

BUILD = ["--model", "pythia-1b", "--gpu", "RTX 5090", "--count", "2"]


def said(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(list(argv)) == 0
    return capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "begins"),
    [
        ("cost", "Owning 2 × RTX 5090 in the "),
        ("rent", "A run of Pythia 1B on 2 × RTX 5090 rented"),
    ],
)
def test_the_answer_comes_first_and_is_the_same_in_json(
    command: str, begins: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["prices", command, *BUILD, "--store", str(store_path)]
    first = " ".join(said(capsys, *argv).partition("\n\n")[0].split())
    verdict = json.loads(said(capsys, *argv, "--format", "json"))["verdict"]
    assert first == verdict["sentence"]
    assert first.startswith(begins)
    assert "≈" in first  # nobody measured it
    for doubt in verdict["doubts"]:
        words = shlex.split(doubt["command"])
        if words[2] == "refresh":  # asks the network
            continue
        assert said(capsys, *words[1:], "--store", str(store_path)).startswith(begins)


@pytest.mark.parametrize("command", ["cost", "rent"])
def test_details_add_the_quotes_and_where_they_stand(
    command: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["prices", command, *BUILD, "--store", str(store_path)]
    short, whole = said(capsys, *argv), said(capsys, *argv, "--details")
    assert "Rests on" not in short
    facts = whole.partition("\n\nRests on\n")[2]
    assert "https://" in facts
    assert ("  on-demand  the middle of " in facts) == (command == "rent")
    assert ("  staff: $0 a year" in whole) == (command == "cost")


@pytest.mark.parametrize("width", [60, 80, 100])
def test_the_rents_fit_the_terminal(
    width: int,
    store_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = said(capsys, "prices", "rent", *BUILD, "--store", str(store_path))
    answer = text.partition("\n\nBefore you decide\n")[0]
    assert max(map(len, answer.splitlines())) <= width
    assert "buying pays" in answer
    assert ("others ask" in answer) == (width == 100)


@pytest.mark.parametrize(
    ("gpu", "count", "alone"), [("rtx-pro-6000-blackwell-ws", 4, True), ("b200-sxm", 8, False)]
)
def test_several_rented_machines_of_one_gpu_are_told_as_such(
    gpu: str, count: int, alone: bool, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nobody rents out four of these cards in one machine; eight B200 somebody does."""
    asked = ("--model", "pythia-1b", "--gpu", gpu, "--count", str(count))
    argv = ["prices", "rent", *asked, "--store", str(store_path)]
    answer = json.loads(said(capsys, *argv, "--format", "json"))
    assert (answer["rent"][0]["machines"] == count) is alone
    text = " ".join(said(capsys, *argv).split())
    assert (f" days at {count} × $" in text) is alone
    told = f"nobody is known to rent out {count} in one machine: {count} times the price of one"
    assert (told in text) is alone
    store = ("--store", str(store_path))
    ranked = said(capsys, "rank", "--model", "pythia-1b", "--gpus", gpu, *store)
    assert (f" rented at {count} × $" in ranked) is alone


def test_buying_without_electricity_says_so(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A rent has it in its price, so that buying pays later for who pays his own."""
    store = ("--store", str(store_path))
    argv = ["prices", "rent", *BUILD, *store]
    first = " ".join(said(capsys, *argv).partition("\n\n")[0].split())
    assert re.search(r"Buying pays from \d+ runs on, without electricity", first)
    assert "electricity" not in said(capsys, *argv, "--electricity", "0.15").partition("\n\n")[0]
    ranked = said(capsys, "rank", "--model", "pythia-1b", "--budget", "100k", *store)
    rent = " ".join(ranked.partition("\n  rent ")[2].split())
    assert re.match(r"a run costs .*; buying pays from \d+ runs, without electricity ", rent)


@pytest.mark.parametrize("command", ["cost", "rent"])
def test_what_is_suggested_is_about_the_machine_that_was_named(
    command: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = ["--model", "pythia-1b", "--gpu", "rtx-pro-6000-blackwell-ws", "--count", "1"]
    named = ["--machine", "tinybox-g4-128-1xpro-6000", "--store", str(store_path)]
    told = json.loads(said(capsys, "prices", command, *card, *named, "--format", "json"))
    commands = [doubt["command"] for doubt in told["verdict"]["doubts"]]
    about = [words for words in commands if f"advisor prices {command} " in words]
    assert about and all("--machine tinybox-g4-128-1xpro-6000 " in words for words in about)


def test_what_is_suggested_says_again_what_was_typed(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    typed = ["--utilisation", "0.6", "--staff", "$2k", "--lifetime-years", "4", "--pue", "1.4"]
    asked = ["prices", "cost", *BUILD, *typed, "--power", "310 W", "--rack-units", "4"]
    argv = [*asked, "--format", "json", "--store", str(store_path)]
    doubts = json.loads(said(capsys, *argv))["verdict"]["doubts"]
    assert doubts
    for doubt in doubts:
        for flag in ("--utilisation 60%", "--staff 2000", "--lifetime-years 4", "--pue 1.4"):
            assert f" {flag}" in doubt["command"]
        assert " --power 310.0 --rack-units 4" in doubt["command"]
        words = shlex.split(doubt["command"])[1:]
        assert said(capsys, *words, "--store", str(store_path)).startswith("Owning 2 ")


def test_the_runs_that_were_asked_about_are_said_again(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["prices", "rent", *BUILD, "--experiments", "20", "--store", str(store_path)]
    doubts = json.loads(said(capsys, *argv, "--format", "json"))["verdict"]["doubts"]
    commands = [doubt["command"] for doubt in doubts if "advisor prices rent" in doubt["command"]]
    assert commands and all(" --experiments 20" in command for command in commands)


def test_runs_that_the_stated_use_leaves_no_time_for_are_told(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["prices", "rent", *BUILD, "--store", str(store_path)]
    assert " in its life" not in said(capsys, *argv).partition("\n\n")[0]
    seldom = " ".join(said(capsys, *argv, "--utilisation", "10%").partition("\n\n")[0].split())
    assert re.search(r"from \d+ runs on, but at 10 % use the machine makes \d+ in its life", seldom)


def test_a_run_longer_than_the_machines_life_is_told_so(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--model", "pythia-6.9b", "--gpu", "RTX 3090", "--count", "1")
    store = ("--store", str(store_path))
    owning = said(capsys, "prices", "cost", *asked, *store)
    assert "does not finish a run of Pythia 6.9B by then" in " ".join(owning.split())
    renting = said(capsys, "prices", "rent", *asked, *store)
    assert "your own does not finish one in its 5 years" in " ".join(renting.split())
    assert renting.count("not in its life") >= 1
    assert "from the first run" not in renting
    longer = said(capsys, "prices", "rent", *asked, "--lifetime-years", "10", *store)
    assert "Buying pays from the first run on" in " ".join(longer.split())


def test_gpus_that_come_only_in_whole_servers_are_rented_all_the_same(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["prices", "rent", "--model", "pythia-1b", "--store", str(store_path)]
    assert main([*asked, "--gpu", "H200", "--count", "1"]) == 0
    said = capsys.readouterr().out
    sentence = " ".join(said.partition("\n\n")[0].split())
    assert re.fullmatch(
        r"A run of Pythia 1B on 1 × H200 rented on demand costs \$[\d,]+: [\d.]+ days "
        r"\([\d.]+–[\d.]+\) at \$[\d.]+ an hour \(\w+ \d{4}, the middle of \d+ prices\); "
        r"none is sold\.",
        sentence,
    )
    assert "come only on boards and in whole servers; --count can be 8" in " ".join(said.split())
    assert main([*asked, "--gpu", "H200", "--count", "1", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["verdict"]["sentence"] == sentence
    hourly = answer["rent"][0]["usd_per_hour"]
    days = float(re.search(r": ([\d.]+) days", sentence)[1])  # type: ignore[index]
    assert answer["rent"][0]["experiment_usd"] == pytest.approx(hourly * 24 * days, rel=0.01)
    # What does not fit, or what nobody timed, costs nothing that could be told.
    assert main([*asked[:3], "pythia-12b", *asked[4:], "--gpu", "A100", "--count", "1"]) == 2
    assert "can be built" in capsys.readouterr().err
    # What is to be owned needs a machine.
    asked[1] = "cost"
    assert main([*asked, "--gpu", "H200", "--count", "1"]) == 2
