"""Which files a report may be written to, and what it needs to be drawn."""

from __future__ import annotations

import importlib.util
import shlex
import sys
from pathlib import Path

import pytest

from advisor.parse import InputError
from advisor.planning.report.write import check_targets


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
