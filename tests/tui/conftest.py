"""Pictures of screens, comparable from run to run, and a bare application for one widget."""

from __future__ import annotations

import re
import shutil
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from rich.console import RenderableType
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode
from textual import on
from textual._compositor import Compositor
from textual.app import App, ComposeResult
from textual.css.stylesheet import Stylesheet
from textual.message import Message
from textual.pilot import Pilot
from textual.widget import Widget

from advisor.tui.widgets.plot.plot import CostTimePlot
from advisor.tui.widgets.rank_table import RankTable
from tests.store_for_tests import taken_as_it_is


class SvgSnapshot(SingleFileSnapshotExtension):
    """Compares a running application's screen with the SVG of an earlier run."""

    _write_mode = WriteMode.TEXT
    file_extension = "svg"

    def serialize(self, data: Any, **_: Any) -> str:
        """The screen of an ``App``; text is taken as the SVG itself."""
        return screenshot(data) if isinstance(data, App) else str(data)


def screenshot(app: App[Any]) -> str:
    """The screen as an SVG that depends on nothing but what it shows."""
    svg = app.export_screenshot(title="", simplify=True)
    # Rich numbers its ids by a checksum of the whole and asks the network for a font.
    svg = re.sub(r"terminal-\d+", "terminal", svg)
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


@pytest.fixture
def svg_snapshot(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """``assert app == svg_snapshot``, with the application running."""
    return snapshot.use_extension(SvgSnapshot)


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No animation, no blinking cursor, nothing of the developer's own terminal."""
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr("textual.widgets.Input.cursor_blink", False)
    monkeypatch.setattr("textual.widgets.TextArea.cursor_blink", False)
    for name in ("NO_COLOR", "TEXTUAL", "COLORTERM", "TEXTUAL_THEME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True, scope="session")
def _styles_parsed_once() -> Iterator[None]:
    """Each test has an application of its own, and all of them the same two thousand lines of
    styles. An application keeps what it parsed as long as its theme's colours are the same; here
    all of them do."""
    parsed: dict[tuple[Any, ...], Any] = {}
    parse = Stylesheet._parse_rules

    def parse_rules(self: Stylesheet, css: str, *more: Any, **named: Any) -> Any:
        key = (css, more, *named.items(), frozenset(self._variables.items()))
        if key not in parsed:
            parsed[key] = parse(self, css, *more, **named)
        return parsed[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_rules)
        yield


DRAWN_EVERY_S = 1.0
"""In seconds of the processor."""


@pytest.fixture(autouse=True)
def _a_slow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few frames and the last one, not sixty a second: to draw what nobody sees would be a third
    of all that these tests take. Pictures are drawn whole when they are taken."""
    drawn_at = -DRAWN_EVERY_S
    draw, run_test = Compositor.render_update, App.run_test

    def render_update(self: Compositor, full: bool = False, **more: Any) -> RenderableType | None:
        nonlocal drawn_at
        if not full and time.process_time() < drawn_at + DRAWN_EVERY_S:
            return None  # what is dirty stays so, and is drawn with the next frame
        drawn = draw(self, full, **more)
        drawn_at = time.process_time()
        return drawn

    @asynccontextmanager
    async def run_and_draw_the_last(app: App[Any], **more: Any) -> AsyncIterator[Pilot[Any]]:
        async with run_test(app, **more) as pilot:
            yield pilot
            if app.is_running and app.screen_stack:
                app.screen._compositor.render_update(full=True)

    monkeypatch.setattr(Compositor, "render_update", render_update)
    monkeypatch.setattr(App, "run_test", run_and_draw_the_last)


class WidgetApp(App[None]):
    """One widget that fills the screen; remembers the widget's messages."""

    def __init__(self, widget: Widget, theme: str = "textual-dark") -> None:
        super().__init__()
        self.widget = widget
        self.messages: list[Message] = []
        self.theme = theme

    def compose(self) -> ComposeResult:
        yield self.widget

    @on(CostTimePlot.PointSelected)
    @on(CostTimePlot.PointOpened)
    @on(RankTable.RowHighlighted)
    @on(RankTable.RowOpened)
    @on(RankTable.HeaderClicked)
    def remember(self, message: Message) -> None:
        self.messages.append(message)

    def seen(self, kind: type[Message]) -> list[int | None]:
        """The row or point of each message of this kind, in order."""
        return [
            getattr(message, "index", None) for message in self.messages if type(message) is kind
        ]


@pytest.fixture(scope="session")
def paper_store(store_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The paper's evidence alone, so that pictures do not change when more is gathered."""
    path = Path(shutil.copy(store_path, tmp_path_factory.mktemp("paper") / "results.duckdb"))
    with duckdb.connect(str(path)) as connection:
        for statement in (
            "DELETE FROM prediction",
            "DELETE FROM measurement WHERE source_id NOT IN ('paper-table1', 'paper-table4')",
            "DELETE FROM quote WHERE source_id NOT LIKE 'paper-%'",
            "DELETE FROM source WHERE source_id NOT LIKE 'paper-%'",
            "DELETE FROM host WHERE host_id NOT IN (SELECT item_id FROM quote)",
            "DELETE FROM host_part WHERE host_id NOT IN (SELECT host_id FROM host)",
            "DELETE FROM gpu WHERE gpu_id NOT IN (SELECT item_id FROM quote)",
        ):
            connection.execute(statement)
    taken_as_it_is(path)
    return path


@pytest.fixture
def own_paper_store(paper_store: Path, tmp_path: Path) -> Path:
    """The same for a test that changes it."""
    path = Path(shutil.copy(paper_store, tmp_path / "results.duckdb"))
    taken_as_it_is(path)
    return path
