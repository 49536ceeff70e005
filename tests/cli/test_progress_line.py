"""What a long search says of itself while it runs."""

from __future__ import annotations

from time import monotonic, sleep

import pytest

from advisor.cli import progress_line as module
from advisor.cli.progress_line import progress_line


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "EVERY_S", 0.0)


def test_an_error_of_a_slow_reading_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    """What cannot be taken back is not said before the search begins."""

    def read_slowly() -> None:
        with progress_line("reading grant.toml"):
            sleep(0.25)
            raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        read_slowly()
    assert capsys.readouterr().err == ""


def test_the_search_is_told_as_soon_as_it_begins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "ELSEWHERE_S", 120.0)
    with progress_line("reading grant.toml") as line:
        sleep(0.25)
        line.say("no plan yet")
        began, told = monotonic(), ""
        while "no plan yet" not in told and monotonic() - began < 60:
            sleep(0.02)
            told += capsys.readouterr().err
        assert "no plan yet" in told
    assert told.count("\n") == 1 and "reading" not in told
