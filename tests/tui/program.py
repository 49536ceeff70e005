"""The real program on a real store, with the date and the cursor held still."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import date
from pathlib import Path

from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, Static
from textual.worker import WorkerCancelled

from advisor.tui.app import AdvisorApp
from advisor.tui.program.state import State
from advisor.tui.ranking.ranking_screen import RankingScreen
from advisor.tui.widgets.lines import LinesView

TODAY = date(2026, 11, 21)
ASKED = State(prices="paper")
"""The paper's question: $40,000 for Pythia-1B at the paper's prices."""
WIDE, NARROW = (120, 40), (80, 24)

WAIT_S = 60.0
"""However busy the machine is, what a test waits for comes long before."""


@asynccontextmanager
async def running(
    store: Path,
    *,
    size: tuple[int, int] = WIDE,
    state: State = ASKED,
    state_path: Path | None = None,
) -> AsyncIterator[Pilot[None]]:
    """The program, once it has answered."""
    app = AdvisorApp(store, state=state, state_path=state_path, today=TODAY)
    async with app.run_test(size=size) as pilot:
        await settled(pilot)
        yield pilot


async def settled(pilot: Pilot[None]) -> None:
    """Wait until no thread reads and nothing is left to draw."""
    for _ in range(3):
        with suppress(WorkerCancelled):  # a newer question took its place
            await pilot.app.workers.wait_for_complete()
        await pilot.pause()


async def until(pilot: Pilot[None], true: Callable[[], object], what: str) -> None:
    """Let the program go on until something holds."""
    deadline_s = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < deadline_s, what
        await pilot.pause(0.02)


async def type_into(pilot: Pilot[None], key: str, text: str) -> None:
    """Go to a field by its key, and replace what stands there."""
    await pilot.press("escape", key)
    await paste(pilot, text)


async def paste(pilot: Pilot[None], text: str) -> None:
    """Replace the text of the field with the focus at once, as a paste does."""
    await pilot.press("end", "ctrl+u")
    focused = pilot.app.screen.focused
    assert focused is not None
    if text:
        focused.post_message(Paste(text))
    await settled(pilot)


def ranking(pilot: Pilot[None]) -> RankingScreen:
    """The main screen."""
    screen = pilot.app.screen_stack[0]
    assert isinstance(screen, RankingScreen)
    return screen


async def open_build(pilot: Pilot[None], *keys: str) -> None:
    """Open the page of the highlighted row, whose offers may come first; then press ``keys``."""
    await pilot.press("enter")
    if pilot.app.screen is ranking(pilot):
        await pilot.press("enter")
    await pilot.press(*keys)


def rows(pilot: Pilot[None]) -> list[list[str]]:
    """The ranked table as text."""
    source = ranking(pilot).table.source
    return [
        [cell if isinstance(cell, str) else cell.plain for cell in source.cells(index)]
        for index in range(len(source))
    ]


def builds(pilot: Pilot[None]) -> list[str]:
    """The ranked builds without the picture's glyph and the machine."""
    return [row[1].split(" ", 1)[1].partition(", ")[0] for row in rows(pilot)]


def message(pilot: Pilot[None]) -> str:
    """The line below the fields: the answer, or what is wrong."""
    return str(ranking(pilot).query_one("#message", Static).content).replace("\n", " ")


def counts(pilot: Pilot[None]) -> str:
    """How many builds fit, and how many do not."""
    return ranking(pilot).session.counted()


def detail(pilot: Pilot[None]) -> str:
    """The selected build's page."""
    return page(ranking(pilot).detail)


def page(view: LinesView) -> str:
    """A page's text on one line, so that wrapping does not matter."""
    return " ".join(" ".join(text.split()) for text, _ in view.lines)


def field(pilot: Pilot[None], name: str) -> Input:
    """One of the text fields of the main screen."""
    return ranking(pilot).query_one(f"#{name}", Input)
