"""Whole answers of commands against the files in answers/, renewed with --snapshot-update.

They hold the wording, so that no other test needs to: a change of words is one command and a
difference to read. The date is fixed, since answers say how old a price is.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import tomllib
from pathlib import Path

import pytest
import time_machine

from advisor.cli.main import main

HERE = Path(__file__).parent
TODAY = "2026-11-28 12:00"
CASES = tomllib.loads((HERE / "cases.toml").read_text())
_PROGRESS = re.compile(r"^\d+ s: .*\n", re.MULTILINE)
"""Progress of a plan on stderr: what was tried by when depends on the machine."""


def _answer(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    words = shlex.split(command)
    if words[0] == "cat":
        return f"$ {command}\n{Path(words[1]).read_text()}"
    code = main(words)
    out, err = capsys.readouterr()
    err = _PROGRESS.sub("", err)
    parts = [f"$ advisor {command}\n", out]
    if err:
        parts.append(f"--- stderr\n{err}")
    if code:
        parts.append(f"--- exit code {code}\n")
    return "".join(parts)


@pytest.mark.parametrize(
    ("group", "name"), [(group, name) for group, cases in CASES.items() for name in cases]
)
@time_machine.travel(TODAY, tick=True)
def test_answer(
    group: str,
    name: str,
    own_store: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    for path in (HERE / "inputs").iterdir():
        shutil.copy(path, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    for name_of_store in ("ADVISOR_STORE", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name_of_store, raising=False)
    answers = [_answer(command, capsys) for command in CASES[group][name]]
    text = "\n".join(answers).replace(os.fspath(tmp_path) + os.sep, "")
    golden = HERE / "answers" / f"{group}_{name}.txt"
    if request.config.getoption("--snapshot-update"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_every_file_has_a_case() -> None:
    cases = {f"{group}_{name}.txt" for group, cases in CASES.items() for name in cases}
    assert {path.name for path in (HERE / "answers").iterdir()} == cases
