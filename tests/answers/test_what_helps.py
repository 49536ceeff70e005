"""Where nothing answers, what would help; what is there already; commands that work as typed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from advisor.cli.command_parser import build_parser
from advisor.cli.main import main
from tests.answers.rank_answers_for_tests import said_by


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--budget", "9000.50", "--max-days", "2 months"], ["budget", "days", "rent"]),
        (["--budget", "1M", "--max-days", "1", "--by", "cost"], ["days"]),
        (["--budget", "100", "--gpus", "RTX 5090", "--lifetime-years", "3"], ["budget", "rent"]),
        (["--budget", "100", "--max-days", "0.1"], ["days"]),
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


def test_the_commands_of_the_doubts_work_as_typed(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["rank", "--model", "pythia-1b", "--budget", "$40,000", "--gpus", "RTX 5090,h100"]
    answer = json.loads(said_by(capsys, *argv, "--format", "json", "--store", str(store_path)))
    doubts = answer["verdict"]["doubts"]
    assert {"measure", "quote", "rent", "power"} <= {doubt["about"] for doubt in doubts}
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


def test_a_machine_that_is_there_and_answers_too_is_told_first(
    store_path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = str(shutil.copy(store_path, tmp_path / "own.duckdb"))
    said_by(capsys, "prices", "own", "2 x A6000", "--store", store)
    argv = ["rank", "--model", "pythia-1b", "--budget", "40k", "--store", store]

    def doubts(*flags: str) -> list[dict[str, str]]:
        answer = json.loads(said_by(capsys, *argv, *flags, "--format", "json"))
        found: list[dict[str, str]] = answer["verdict"]["doubts"]
        return found

    yours = doubts()[0]
    assert yours["about"] == "yours"
    assert main(shlex.split(yours["command"])[1:]) == 0
    assert "yours already" in capsys.readouterr().out
    # Nothing of it where it comes first, or is too slow.
    assert all(each["about"] != "yours" for each in doubts("--by", "cost"))
    assert all(each["about"] != "yours" for each in doubts("--max-days", "20"))


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
