"""What a long search says of itself while it runs."""

from __future__ import annotations

import sys
from time import monotonic, sleep

import pytest

from advisor.cli import progress_line as module
from advisor.cli.progress_line import ProgressLine


@pytest.mark.parametrize("terminal", [False, True])
def test_a_line_is_said_on_a_terminal_alone_and_taken_back(
    terminal: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "EVERY_S", 0.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with ProgressLine("reading grant.toml") as line:
        line.say("no plan yet")
        began, told = monotonic(), ""
        while terminal and "no plan yet" not in told and monotonic() - began < 60:
            sleep(0.02)
            told += capsys.readouterr().err
    told += capsys.readouterr().err
    assert ("0 s: no plan yet" in told) == terminal
    assert told.endswith("\r\x1b[K" if terminal else "") and (terminal or told == "")
