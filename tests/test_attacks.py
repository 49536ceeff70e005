"""A small share of what tests/attack tries by the thousand, so that it goes on working."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.attack import commands_and_stores, generated_files
from tests.attack.random_keys import send
from tests.tui.program import running, settled


@pytest.mark.parametrize("kind", [kind for kind in generated_files.KINDS if kind != "grant"])
def test_a_file_that_is_almost_right_is_read_or_refused(
    store_path: Path, tmp_path: Path, kind: str
) -> None:
    assert generated_files.attack(kind, store_path, tmp_path, 6, seed=7) == []


def test_words_that_nobody_meant_are_answered_or_refused(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert commands_and_stores.words(store_path, tmp_path, 6, seed=7) == []


def test_stores_that_somebody_altered_are_read_or_refused(store_path: Path, tmp_path: Path) -> None:
    assert commands_and_stores.altered(store_path, tmp_path, 6, seed=7) == []


def test_what_was_acknowledged_survives_a_kill(store_path: Path, tmp_path: Path) -> None:
    assert commands_and_stores.kills(store_path, tmp_path, 6, seed=7) == []


async def test_keys_may_come_faster_than_screens_open_and_close(store_path: Path) -> None:
    """Each of these once closed the last screen, read rows of another list, or named two alike."""
    async with running(store_path, size=(40, 4)) as pilot:
        for burst in (
            ["f2", "ctrl+o"], ["x", "x", "x", "f7"],  # all but the first find the page closed
            ["f3", "2"], ["y", "3", "y", "1", "y", "2", "y"],
            ["ctrl+p"], ["escape", "escape"], ["ctrl+p", "f3", "ctrl+p", "pageup", "pagedown"],
            ["f2", "ctrl+p", "escape", "ctrl+p", "escape", "ctrl+p", "f2", "f2"],
        ):  # fmt: skip
            send(pilot, burst)
            await pilot.pause(0)
        await settled(pilot)
        assert pilot.app.is_running and pilot.app._exception is None
