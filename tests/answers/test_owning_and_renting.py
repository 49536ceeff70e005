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
    told = f" names no price of {count} in one machine: {count} times that of one"
    assert (told in text) is alone


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
        for flag in ("--use 60%", "--staff 2000", "--lifetime-years 4", "--pue 1.4"):
            assert f" {flag}" in doubt["command"]
        assert " --power 310.0 --rack-units 4" in doubt["command"]
        words = shlex.split(doubt["command"])[1:]
        assert said(capsys, *words, "--store", str(store_path)).startswith("Owning 2 ")


def test_a_machine_of_an_old_price_has_a_time_a_run(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """That others are on sale leaves it out of a ranking; it does not make its time unknown."""
    asked = ("--model", "pythia-1.4b", "--gpu", "rtx-a4000", "--count", "8")
    store = ("--format", "json", "--store", str(store_path))
    predicted = json.loads(said(capsys, "predict", *asked, *store))
    sentence = json.loads(said(capsys, "prices", "rent", *asked, *store))["verdict"]["sentence"]
    days = predicted["verdict"]["sentence"].partition("≈")[2].partition(" days")[0]
    assert f"(≈{days} days at 8 × $" in sentence


def test_the_share_of_a_life_is_that_of_whole_runs(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    card = ("--model", "pythia-6.9b", "--gpu", "rtx-pro-6000-blackwell-ws", "--count", "4")
    text = " ".join(said(capsys, "prices", "rent", *card, "--store", str(store_path)).split())
    (days,) = map(float, re.findall(r"\(≈([\d.]+) days at", text))
    runs, share = map(int, re.findall(r"pays from (\d+) runs \((\d+) % of its life\)", text)[0])
    assert share == pytest.approx(100 * runs * days / 1825, abs=1)
    assert f"from {runs} runs ({share} %)" in text
