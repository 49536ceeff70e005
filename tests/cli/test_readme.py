"""The README: its picture is one that the tests draw, its commands are read as typed."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from urllib.parse import unquote

import pytest

from advisor.cli.command_parser import build_parser

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
NAMED = ("advisor rank", "advisor bench")
"""What the text calls a command by, without its flags."""
TYPED = sorted(set(re.findall(r"`(advisor [^`…]+)`", README)) - set(NAMED))


def test_its_picture_is_drawn_and_compared_by_the_tests() -> None:
    (picture,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README)
    path = ROOT / unquote(picture)
    assert path.is_file()
    assert "__snapshots__" in path.parts
    assert "Buy&#160;" in path.read_text(encoding="utf-8")


def test_its_links_lead_somewhere() -> None:
    for link in re.findall(r"(?<!!)\[[^\]]+\]\(([^)#]+)\)", README):
        assert link.startswith("https://") or (ROOT / link).is_file(), link


@pytest.mark.parametrize("command", TYPED)
def test_its_commands_are_read_as_typed(command: str) -> None:
    words = shlex.split(command)[1:]
    if "--help" in words:
        words.remove("--help")
        with pytest.raises(ValueError, match="missing"):
            build_parser(words).parse_args(words)
        return
    build_parser(words).parse_args(words)


def test_it_installs_what_its_own_commands_need() -> None:
    assert 'pip install -c constraints.txt ".[report]"' in README
    assert "--out report.pdf" in README
