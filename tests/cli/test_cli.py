"""The command line as a person and a script meet it: real processes where it matters."""

from __future__ import annotations

import csv
import io
import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.command_parser import build_parser
from advisor.cli.help_texts import COMMANDS, EXAMPLES, examples_of
from advisor.cli.main import main
from tests.commands_for_tests import refused, run

WRONG = [
    (["--budget", "-5"], "negative"),
    (["--prices", "yesterday"], "paper, latest, or a day"),
    (["--evidence", "all"], "sound or published"),
    (["--format", "xml"], "table, json or csv"),
    (["--cheapest"], "unrecognized arguments"),
    (["--budget", "40", "000"], "or --budget '40 000'"),
    (["--model", "my model/config.json"], "no file is called 'my model/config.json'"),
    (["--experiments"], "see: advisor rank --help"),
]


@pytest.mark.parametrize(("flags", "says"), WRONG, ids=lambda value: " ".join(value)[:30])
def test_wrong_input_is_one_line_and_exit_code_2(
    flags: list[str], says: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    argv = ["rank", "--store", str(store_path), "--model", "pythia-1b", *flags]
    message = refused(capsys, *argv)
    assert says in message
    assert "\x1b" not in message


def test_commands_that_do_not_exist(capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "rnk")
    assert "there is no command 'rnk': did you mean 'rank'" in said
    assert "(see: advisor --help)" in said
    assert "no command 'lst': did you mean 'list'" in refused(capsys, "prices", "lst")
    assert "--model has no value: write one after it" in refused(capsys, "rank", "--model")
    how_many = ("predict", "--model", "pythia-1b", "--gpu", "H100")
    assert "did you mean '--count'?" in refused(capsys, *how_many, "--gpus", "4")
    assert "did you mean '--count'?" in refused(capsys, *how_many, "--num-gpus=4")
    assert "did you mean '--gpu'?" in refused(capsys, *how_many[:3], "--gpus", "H100")
    said = refused(capsys, "prices", "rent", "--model", "pythia-1b")
    assert "missing: --gpu, --count (see: advisor prices rent --help)" in said
    assert "times" in refused(capsys, "data", "tims")
    sized = (*how_many[:2], "./mine/config.json", *how_many[3:], "--parameters", "7B")
    assert "says how large the model is: leave --parameters out" in refused(capsys, *sized)
    refused(capsys, "rank")
    refused(capsys, "merge")


@pytest.mark.parametrize("table", ["times", "settings", "prices", "gpus", "sources"])
@pytest.mark.parametrize("form", ["table", "json", "csv"])
def test_every_table_in_every_format(
    table: str, form: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", table, "--format", form, "--store", str(store_path)]) == 0
    out = capsys.readouterr().out
    if form == "json":
        rows = json.loads(out)
        assert isinstance(rows, list)
        assert all(set(row) == set(rows[0]) for row in rows)
    elif form == "csv":
        assert len(list(csv.DictReader(io.StringIO(out)))) > 3
    else:
        first, _, text = out.partition("\n\n")
        rows = text.splitlines()
        assert first.startswith(f"{len(rows) - 1:,} ")
        assert first.endswith(f"advisor data {table} --format csv --store {store_path}")
        assert max(map(len, rows)) <= 100


def test_a_reader_that_goes_away_is_no_error(store_path: Path) -> None:
    command = f"{sys.executable} -m advisor data times --store {store_path} | head -1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=60
    )
    assert "Traceback" not in done.stderr
    assert "Error" not in done.stderr


def test_the_store_comes_from_the_flag_then_the_environment(
    store_path: Path, tmp_path: Path
) -> None:
    assert run("data", "gpus", ADVISOR_STORE=str(store_path)).returncode == 0
    missing = str(tmp_path / "missing.duckdb")
    done = run("data", "gpus", "--store", missing, ADVISOR_STORE=str(store_path))
    assert done.returncode == 2
    assert "rebuild --store" in done.stderr
    assert not Path(missing).exists()


def test_without_a_terminal_the_program_says_what_to_do(store_path: Path) -> None:
    done = run("--store", str(store_path))
    assert done.returncode == 2
    assert "needs a terminal" in done.stderr
    assert done.stderr.count("\n") == 1


def test_doctor_and_paths(store_path: Path, tmp_path: Path) -> None:
    done = run("doctor", "--store", str(store_path))
    assert done.returncode == 0, done.stdout
    assert str(store_path) in done.stdout
    assert done.stdout.startswith("This installation is all right")
    broken = tmp_path / "broken.duckdb"
    broken.write_text("not a store")
    done = run("doctor", "--store", str(broken))
    assert done.returncode == 1
    assert "FAIL  store" in done.stdout
    assert done.stdout.startswith("This installation cannot answer yet: see store.\n")
    done = run("paths", "--store", str(store_path))
    assert f"store\t{store_path}" in done.stdout


def test_help_and_version() -> None:
    done = run("--help")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert len(lines) <= 30 and max(map(len, lines)) <= 80
    assert all(f"  {name} " in done.stdout for name in COMMANDS)
    assert run("--version").stdout.startswith("advisor ")


def test_the_examples_of_each_command_work_as_typed(
    own_store: Path,
    predictions_stay: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: Any,
) -> None:
    """From first to last in one folder: what one writes another reads."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ADVISOR_JOBS", str(tmp_path / "jobs"))
    assert EXAMPLES.keys() == COMMANDS.keys()
    for name in sorted(COMMANDS, key=lambda each: each == "merge"):
        assert main_exits(name, "--help") == 0
        assert capsys.readouterr().out.startswith(examples_of(name) + "usage: ")
        for example in EXAMPLES[name]:
            words, _, file = example.partition(" > ")
            if name == "serve":
                build_parser([name]).parse_args([name, *shlex.split(words)])
                continue
            code = main([name, *shlex.split(words)])
            out, err = capsys.readouterr()
            if file:
                Path(file).write_text(out)
            nothing_yet = name == "export" and "no times to share" in err
            no_gpu = example == "--model pythia-160m" and ("GPU" in err or "terminal" in err)
            assert code in (0, 1) or no_gpu or nothing_yet, (name, example, err)


def main_exits(*words: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(words))
    return int(ended.value.code or 0)


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_completion_knows_commands_and_flags(shell: str, tmp_path: Path) -> None:
    script = run("completion", shell).stdout
    if shell == "bash":
        ask = "COMP_WORDS=(advisor rank --bud); COMP_CWORD=2; _advisor; echo ${COMPREPLY[@]}"
        done = subprocess.run(
            ["bash", "-c", f"{script}\n{ask}"], capture_output=True, text=True, check=True
        )
        assert done.stdout == "--budget\n"
    assert "max-days" in script and "findings" in script


@pytest.mark.parametrize(("said", "width"), [("80", 80), ("200", 100), ("none", 100), ("0", 100)])
def test_an_answer_is_as_wide_as_columns_says(
    store_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    said: str,
    width: int,
) -> None:
    monkeypatch.setenv("COLUMNS", said)
    assert (
        main(["rank", "--model", "pythia-1b", "--budget", "40k", "--store", str(store_path)]) == 0
    )
    commands = ("--store", " \\")  # a command is never broken but at its flags
    lines = [
        line
        for line in capsys.readouterr().out.splitlines()
        if not any(word in line for word in commands)
    ]
    assert width - 12 < max(map(len, lines)) <= width
