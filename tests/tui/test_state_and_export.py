"""Files: the kept state, and tables as CSV, Markdown and JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from advisor.files import write_whole
from advisor.tui.program.state import State, load_state, save_state, state_file


class TestState:
    def test_comes_back_as_it_was(self, tmp_path: Path) -> None:
        path = tmp_path / "a" / "state.json"
        state = State(budget="$1,000", model="vit", rule="cost", theme="ansi-light")
        assert save_state(path, state) is None
        assert load_state(path) == (state, None)
        assert path.stat().st_mode & 0o077 == 0, "its owner's alone"
        assert path.parent.stat().st_mode & 0o077 == 0

    def test_without_a_file_there_are_the_defaults_and_no_note(self, tmp_path: Path) -> None:
        assert load_state(tmp_path / "none.json") == (State(), None)

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"[]", b"null", b"\xff\xfe", b'"x"', b"[" * 100_000, b"{}" * 99_999]
    )
    def test_a_broken_file_is_ignored_with_a_note(self, tmp_path: Path, content: bytes) -> None:
        path = tmp_path / "state.json"
        path.write_bytes(content)
        state, note = load_state(path)
        assert state == State()
        assert note is not None
        assert str(path) in note
        assert "\n" not in note

    def test_entries_that_do_not_fit_are_left_out(self, tmp_path: Path) -> None:
        path = tmp_path / "state.json"
        path.write_text(
            json.dumps(
                {
                    "budget": 5,
                    "model": "x" * 1000,
                    "rule": "best",
                    "prices": "newest",
                    "gpus": "a\x1b[31mb",
                    "evidence": "published",
                    "of tomorrow": 1,
                }
            ),
            encoding="utf-8",
        )
        assert load_state(path) == (State(evidence="published"), None)

    def test_a_folder_in_its_place_is_a_note(self, tmp_path: Path) -> None:
        state, note = load_state(tmp_path)
        assert state == State()
        assert note is not None
        assert save_state(tmp_path, State()) is not None

    def test_the_environment_names_another_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("ADVISOR_STATE", str(tmp_path / "s.json"))
        assert state_file() == tmp_path / "s.json"
        monkeypatch.delenv("ADVISOR_STATE")
        assert state_file().name == "state.json"


class TestWriting:
    def test_whole_and_with_the_usual_rights(self, tmp_path: Path) -> None:
        write_whole(tmp_path / "a.txt", "täxt\n", overwrite=False)
        assert (tmp_path / "a.txt").read_bytes() == "täxt\n".encode()
        mask = os.umask(0)
        os.umask(mask)
        assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o666 & ~mask

    def test_not_over_a_file(self, tmp_path: Path) -> None:
        path = tmp_path / "a.txt"
        path.write_text("mine", encoding="utf-8")
        with pytest.raises(FileExistsError):
            write_whole(path, "other", overwrite=False)
        assert path.read_text(encoding="utf-8") == "mine"
        write_whole(path, "other", overwrite=True)
        assert path.read_text(encoding="utf-8") == "other"
        assert list(tmp_path.iterdir()) == [path]

    def test_where_there_are_no_hard_links(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(self: Path, target: Path) -> None:
            raise PermissionError("no links here")

        monkeypatch.setattr(Path, "hardlink_to", refuse)
        write_whole(tmp_path / "a.txt", "x", overwrite=False)
        with pytest.raises(FileExistsError):
            write_whole(tmp_path / "a.txt", "y", overwrite=False)
        assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "x"
        assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]

    def test_what_cannot_be_encoded_leaves_nothing(self, tmp_path: Path) -> None:
        with pytest.raises(UnicodeEncodeError):
            write_whole(tmp_path / "a.txt", "\ud800", overwrite=False)
        assert list(tmp_path.iterdir()) == []
