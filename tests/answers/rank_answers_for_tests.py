"""What holds for every short answer of a ranking, and what a command says."""

from __future__ import annotations

import re

import pytest

from advisor.answers.ranking.before_you_order import MOST_SHOWN
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
    # A command is broken as a shell reads it; a flag with its value is not.
    cut = [line for line in lines if " advisor " not in line and not line.lstrip().startswith("--")]
    assert max(map(len, lines if width == 100 else cut)) <= width, max(cut, key=len)
    assert sum(1 for line in lines if ROW.match(line)) <= MOST_ROWS
    doubts = re.split("\n\nBefore you order\n", text)[1:]
    kinds = [line.split()[0] for block in doubts for line in block.splitlines() if line[2] != " "]
    assert len(kinds) <= MOST_SHOWN
    assert "".join(doubts).count(" advisor ") == len(kinds)
    assert not re.search(r"  +\n", text)


def said_by(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    assert main(list(argv)) in (0, 1)
    return capsys.readouterr().out
