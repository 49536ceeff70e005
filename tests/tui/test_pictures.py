"""What every screen looks like: at both sizes; in each kind of theme, and without colour.

After a change that is meant: pytest tests/tui/test_pictures.py --snapshot-update, then look.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widget import Widget

from advisor.tui.pages.bars import TitleBar
from advisor.tui.program.settings import State
from tests.tui.program import ASKED, NARROW, WIDE, rows, running, settled

SIZES = {"120x40": WIDE, "80x24": NARROW}


@pytest.mark.parametrize(
    ("theme", "size"),
    [
        ("textual-dark", "120x40"),
        ("textual-dark", "80x24"),
        ("textual-light", "120x40"),
        ("ansi-dark", "80x24"),
    ],
)
async def test_ranking(
    paper_store: Path, svg_snapshot: SnapshotAssertion, size: str, theme: str
) -> None:
    async with running(paper_store, size=SIZES[size], state=replace(ASKED, theme=theme)) as pilot:
        assert pilot.app == svg_snapshot


async def test_ranking_without_colour(
    paper_store: Path, svg_snapshot: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with running(paper_store, size=WIDE) as pilot:
        assert pilot.app == svg_snapshot


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("experiment", ("c", "down")),
        ("picture", ("2", "end")),
        ("detail", ("3",)),
        ("broken", ("b", "end", "x")),
        ("models", ("m", "end", "ctrl+u", "b")),
        ("nothing", ("b", "end", "ctrl+u", "9")),
        ("left-out", ("x", "end")),
        ("record", ("space",)),
        ("help", ("?",)),
        ("export", ("e",)),
        ("times", ("f3",)),
        ("sources", ("f3", "2")),
        ("welcome", ("f4",)),
    ],
)
async def test_screens(
    paper_store: Path,
    svg_snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    size: str,
    name: str,
    keys: tuple[str, ...],
) -> None:
    monkeypatch.chdir("/")  # the export names the folder
    async with running(paper_store, size=SIZES[size]) as pilot:
        await pilot.press(*keys)
        await settled(pilot)
        assert pilot.app == svg_snapshot


@pytest.mark.parametrize("size", SIZES)
async def test_first_run(paper_store: Path, svg_snapshot: SnapshotAssertion, size: str) -> None:
    async with running(paper_store, size=SIZES[size], state=State()) as pilot:
        assert pilot.app == svg_snapshot


async def test_sixty_columns_cut_nothing(store_path: Path) -> None:
    async with running(store_path, size=(60, 20), state=State(welcomed=True)) as pilot:
        assert shown(pilot, TitleBar).endswith("F8 Plan")
        doubts = shown(pilot, "#note")
        assert doubts.endswith(")."), doubts
        await pilot.press("f8")
        await settled(pilot)
        assert "makes a copy of it to change." in shown(pilot, "#answer")


async def test_no_price_is_cut(store_path: Path) -> None:
    state = State(welcomed=True, budget="2000000")
    async with running(store_path, size=WIDE, state=state) as pilot:
        prices = [row[2] for row in rows(pilot)]
        assert any(price.endswith("k") for price in prices)
        assert max(map(len, prices)) <= 7


def shown(pilot: Pilot[None], what: str | type[Widget]) -> str:
    """A widget's text as it stands on the screen, on one line."""
    widget = pilot.app.screen.query_one(what)
    assert widget.region.height == widget.virtual_size.height
    lines = [widget.render_line(y).text for y in range(widget.size.height)]
    return " ".join(" ".join(lines).split())


async def test_too_small(paper_store: Path, svg_snapshot: SnapshotAssertion) -> None:
    async with running(paper_store, size=(20, 5)) as pilot:
        assert pilot.app == svg_snapshot
