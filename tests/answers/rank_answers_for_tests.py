"""What holds for every short answer of a ranking, and what a command says."""

from __future__ import annotations

import re

import pytest

from advisor.answers.ranking.doubts import MOST_DOUBTS
from advisor.answers.ranking.rank_answer import MOST_ROWS
from advisor.cli.main import main
from advisor.ranking.snapshot import Snapshot
from advisor.ranking.typed_question import RankRequest, TypedQuestion, read_question

ROW = re.compile(r" ?\d+[= ] \d+ × ")


def ask(snapshot: Snapshot, **typed: str) -> RankRequest:
    """What was typed, understood."""
    asked, errors = read_question(TypedQuestion(**typed), snapshot)
    assert asked is not None, errors
    return asked


def check_shape(text: str, width: int = 100) -> None:
    """What holds for every short answer."""
    lines = text.splitlines()
    assert len(lines) <= 40
    # A command is broken as a shell reads it; a flag with its value is not.
    cut = [line for line in lines if " advisor " not in line and not line.lstrip().startswith("--")]
    assert max(map(len, lines if width == 100 else cut)) <= width, max(cut, key=len)
    assert sum(1 for line in lines if ROW.match(line)) <= MOST_ROWS
    answer, doubts = [*re.split("\n\nBefore you order(?: the first row)?\n", text), ""][:2]
    assert not re.search(r"[a-z)]\. ", answer.split("\n\n")[0])  # one sentence
    kinds = [line.split()[0] for line in doubts.splitlines() if not line.startswith("   ")]
    order = ("yours", "ties", "unsold", "time", "power", "price", "rent", "try")
    assert kinds == [kind for kind in order if kind in kinds]
    assert len(kinds) <= MOST_DOUBTS
    assert doubts.count(" advisor ") == len(kinds)
    assert not re.search(r"  +\n", text)


def said_by(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(list(argv)) in (0, 1)
    return capsys.readouterr().out
