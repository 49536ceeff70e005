"""What a careless or hostile user does to the command line: real processes, real files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.cli.evidence import findings_command
from advisor.cli.main import main
from tests.commands_for_tests import refused, run


@pytest.mark.parametrize("option", ["--model", "--budget", "--gpus", "--store", "--format"])
def test_two_dashes_are_no_value(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    said = refused(capsys, "rank", "--model=vit", f"{option}=--")
    assert option in said


@pytest.mark.parametrize("store", ["", "  "])
def test_an_empty_store_is_not_the_users_own(
    store: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "--store" in refused(capsys, "rebuild", "--store", store)


def test_in_a_folder_that_is_gone_no_store_is_called_damaged(
    store_path: Path, tmp_path: Path
) -> None:
    words = f"{sys.executable} -m advisor --store {store_path} rank --model vit"
    line = f"mkdir {tmp_path}/gone; cd {tmp_path}/gone; rmdir {tmp_path}/gone; exec {words}"
    path = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(["bash", "-c", line], env=path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("advisor: the folder that you stand in is gone: change to")


@pytest.mark.parametrize(
    "environment",
    [
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
        {"PYTHONIOENCODING": "latin-1"},
    ],
)
def test_a_terminal_without_utf8_gets_the_answer(
    store_path: Path, environment: dict[str, str]
) -> None:
    done = run("rank", "--model", "vit", "--store", str(store_path), **environment)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.startswith("Buy ")
    assert "?" not in done.stdout


def test_the_doctor_sees_that_the_end_is_missing(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    size = own_store.stat().st_size
    os.truncate(own_store, size - 1)
    assert main(["doctor", "--store", str(own_store)]) == 1
    assert "FAIL  store" in capsys.readouterr().out


def test_export_overwrites_nothing_least_of_all_the_store(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = own_store.read_bytes()
    store = ["--store", str(own_store)]
    assert "does not end with .jsonl" in refused(capsys, "export", str(own_store), *store)
    assert own_store.read_bytes() == before
    notes = tmp_path / "notes.jsonl"
    notes.write_text("mine")
    assert "exists already" in refused(capsys, "export", str(notes), *store)
    assert notes.read_text() == "mine"


def test_a_fault_of_the_program_is_one_line_too(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(findings_command, "run", fail)
    assert "RuntimeError: two lines" in refused(capsys, "findings")
    monkeypatch.setenv("ADVISOR_DEBUG", "1")
    with pytest.raises(RuntimeError):
        main(["findings"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "none/p.md",
            "'none/p.md' does not exist: make it first, or name a file in another folder",
        ),
        ("", "the report '' has no known ending: write one of .md, .csv, .json, .pdf, .xlsx"),
        ("folder.md", "'folder.md' is a folder: name a file in it"),
        (f"{'x' * 300}.md", "cannot be written (File name too long): name a file in a folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_named_and_its_draft_is_not(
    own_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    name: str,
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.md").mkdir()
    before = sorted(tmp_path.rglob("*"))
    grant = str(Path(__file__).parents[2] / "examples/grants/seed.toml")
    assert main(["plan", grant, "--out", name, "--store", str(own_store)]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1 and said in printed.err
    assert sorted(tmp_path.rglob("*")) == before


def test_a_query_that_is_interrupted_ends_as_ctrl_c_does(own_store: Path) -> None:
    """Ctrl-C while DuckDB works: no answer, no words, the exit code of an interrupt."""
    slow = (
        "import sys; from advisor.cli import main as cli\n"
        "from advisor.cli.evidence import findings_command\n"
        "from advisor.store import Store\n"
        "def slow(options):\n"
        "    with Store(options.store).reading() as reader:\n"
        "        print('in', flush=True)\n"
        "        reader.connection.execute('SELECT sum(hash(range)) FROM range(100000000000)')\n"
        "findings_command.run = slow\n"
        "sys.exit(cli.main(['findings', '--store', sys.argv[1]]))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", slow, str(own_store)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in\n"
        process.send_signal(signal.SIGINT)
        try:
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
    assert (process.returncode, said) == (130, "")
