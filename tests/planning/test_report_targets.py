"""Which files a report may be written to, and what it needs to be drawn."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path

import pytest

from advisor import files
from advisor.planning.report.formats.write_report import check_targets
from advisor.typed_input import InputError


@pytest.mark.parametrize(("name", "package"), [("r.pdf", "typst"), ("r.xlsx", "xlsxwriter")])
def test_a_report_that_cannot_be_drawn_is_refused_before_any_work(
    name: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def nothing(wanted: str) -> object:
        return None if wanted == package else find_spec(wanted)

    find_spec = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", nothing)
    with pytest.raises(InputError, match=package) as caught:
        check_targets([str(tmp_path / name)], force=False)
    words = str(caught.value)
    assert "\n" not in words
    command = shlex.split(words.partition("that you cloned: ")[2])
    wanted = ["-m", "pip", "install", "-c", "constraints.txt", ".[report]"]
    assert command == [sys.executable, *wanted]
    assert not check_targets([str(tmp_path / "r.csv")], force=False)[0].exists()


def test_where_the_disk_is_full_no_file_of_a_report_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def full(_: int) -> None:
        asked.append(1)
        if len(asked) == 3:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(files.os, "fsync", full)
    old = tmp_path / "old.csv"
    old.write_text("mine", encoding="utf-8")
    folder = tmp_path / "a-figures"
    made = [(old, "new"), (tmp_path / "a.md", "a"), (folder / "b.svg", "b")]
    with pytest.raises(OSError, match="No space left") as caught:
        files.write_all_whole(made, overwrite=True, folders=[folder])
    assert caught.value.filename == str(folder / "b.svg")
    assert list(tmp_path.iterdir()) == [old]
    assert old.read_text(encoding="utf-8") == "mine"
    files.write_all_whole(made, overwrite=True, folders=[folder])
    assert [path.read_text(encoding="utf-8") for path, _ in made] == ["new", "a", "b"]
    assert len(list(tmp_path.rglob("*"))) == 4


def test_a_file_that_came_meanwhile_is_left_and_the_others_are_taken_back(tmp_path: Path) -> None:
    theirs = tmp_path / "b.csv"
    theirs.write_text("theirs", encoding="utf-8")
    with pytest.raises(FileExistsError):
        files.write_all_whole([(tmp_path / "a.csv", "a"), (theirs, "b")], overwrite=False)
    assert list(tmp_path.iterdir()) == [theirs]
    assert theirs.read_text(encoding="utf-8") == "theirs"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x" * 300 + ".pdf", r"cannot be written \(File name too long\)"),
        ("x" * 250 + ".pdf", r"cannot be written \(File name too long\)"),  # its annex
        ("a\nb.pdf", "has a line break"),
    ],
)
def test_a_name_that_cannot_be_is_refused_before_any_work(
    name: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=words) as caught:
        check_targets([str(tmp_path / name)], force=False)
    assert "\n" not in str(caught.value)
