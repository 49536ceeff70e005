"""A small share of what tests/attack tries by the thousand, so that it goes on working."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.attack import commands_and_stores, generated_files


@pytest.mark.parametrize("kind", [kind for kind in generated_files.KINDS if kind != "grant"])
def test_a_file_that_is_almost_right_is_read_or_refused(
    store_path: Path, tmp_path: Path, kind: str
) -> None:
    store = Path(shutil.copy(store_path, tmp_path / "results.duckdb"))
    _, _, faults = generated_files.attack(kind, store, tmp_path, 6, seed=7)
    assert faults == []


def test_words_that_nobody_meant_are_answered_or_refused(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert commands_and_stores.words(store_path, tmp_path, 6, seed=7) == []


def test_what_was_acknowledged_survives_a_kill(store_path: Path, tmp_path: Path) -> None:
    assert commands_and_stores.kills(store_path, tmp_path, 1, seed=7) == []
