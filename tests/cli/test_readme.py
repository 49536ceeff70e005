"""The README: its picture moves, its answer is the program's, its commands are read as typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from advisor.cli.command_parser import build_parser

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
TYPED = sorted(set(re.findall(r"`(advisor [^`…]+)`", README)))


def test_its_picture_moves_and_shows_the_program() -> None:
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    drawn = (ROOT / picture).read_text(encoding="utf-8")
    assert "@keyframes" in drawn
    assert "Buy&#160;2&#160;×&#160;RTX" in drawn


def test_its_answer_is_that_of_the_program() -> None:
    (answer,) = re.findall(r"```\n(Buy .*?)```", README, flags=re.DOTALL)
    golden = (ROOT / "tests/golden/answers/rank_first.txt").read_text(encoding="utf-8")
    assert golden.startswith(f"$ advisor rank --model pythia-1b --budget 40k\n{answer}")


def test_its_links_lead_somewhere() -> None:
    for link in re.findall(r"(?<!!)\[[^\]]+\]\(([^)#]+)\)", README):
        assert link.startswith("https://") or (ROOT / link).is_file(), link


@pytest.mark.parametrize("command", TYPED)
def test_its_commands_are_read_as_typed(command: str) -> None:
    words = shlex.split(command.partition(" -- ")[0])[1:]
    if words != ["--help"]:
        build_parser(words).parse_args(words)


def test_it_installs_what_its_own_commands_need() -> None:
    assert 'pip install -c constraints.txt ".[report]"' in README
    assert "--out report.pdf" in README
