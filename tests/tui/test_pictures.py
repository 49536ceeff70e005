"""What the screens look like: chosen ones at 80x24 and 120x40, in each kind of theme.

After an intended change: pytest tests/tui/test_pictures.py --snapshot-update, then look at them.
"""

from __future__ import annotations

import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import SimpleNamespace

import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import Input, Static, TextArea

from advisor.store import Store
from advisor.tui.app import AdvisorApp
from advisor.tui.benchmark import benchmark_screen
from advisor.tui.benchmark.benchmark_screen import BenchmarkScreen
from advisor.tui.pages.title_and_key_bars import TitleBar
from advisor.tui.program.state import State
from advisor.tui.widgets.lines import LinesView
from bench_runner.launch import hardware
from tests import fake_runner
from tests.facts_for_tests import make_quote
from tests.store_for_tests import taken_as_it_is
from tests.tui.program import (
    ASKED,
    NARROW,
    TODAY,
    WIDE,
    page,
    ranking,
    rows,
    running,
    settled,
    until,
)
from tests.tui.test_plan_screen import SMALL

SIZES = {"120x40": WIDE, "80x24": NARROW, "200x50": (200, 50), "20x5": (20, 5)}
STORE = Path("results.duckdb")
"""Relative, since screens name it."""


@pytest.mark.parametrize(
    ("theme", "size"),
    [
        ("textual-dark", "120x40"),
        ("textual-dark", "80x24"),
        ("textual-dark", "200x50"),
        ("textual-dark", "20x5"),
        ("textual-light", "120x40"),
        ("ansi-dark", "80x24"),
    ],
)
async def test_ranking(
    paper_store: Path, svg_snapshot: SnapshotAssertion, size: str, theme: str
) -> None:
    async with running(paper_store, size=SIZES[size], state=replace(ASKED, theme=theme)) as pilot:
        assert pilot.app == svg_snapshot


@pytest.mark.parametrize(
    ("name", "size", "keys"),
    [
        ("picture", "120x40", ("2", "end")),
        ("picture", "80x24", ("2", "end")),
        ("detail", "80x24", ("3",)),
        ("build", "80x24", ("enter",)),
        ("models", "120x40", ("m", "end", "ctrl+u", "b")),
        ("nothing", "80x24", ("b", "end", "ctrl+u", "9")),
        ("left-out", "80x24", ("x", "end")),
        ("help", "80x24", ("?",)),
        ("export", "80x24", ("e",)),
        ("times", "80x24", ("f3",)),
    ],
)
async def test_screens(
    paper_store: Path,
    svg_snapshot: SnapshotAssertion,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    size: str,
    keys: tuple[str, ...],
) -> None:
    monkeypatch.chdir("/")  # the export names the folder
    async with running(paper_store, size=SIZES[size]) as pilot:
        await pilot.press(*keys)
        await settled(pilot)
        assert pilot.app == svg_snapshot


# The screens that change the store, or run something


@pytest.fixture
def own_store(own_paper_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    assert own_paper_store.samefile(STORE)
    taken_as_it_is(STORE)
    return STORE


def text_of(pilot: Pilot[None], name: str) -> str:
    return str(pilot.app.screen.query_one(name, Static).content)


class Clock:
    """Stands still until it is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 0.0
        clock = SimpleNamespace(monotonic=lambda: self.now_s, time=time.time)
        monkeypatch.setattr(benchmark_screen, "time", clock)


@pytest.fixture
def clock(own_store: Path, monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setattr(hardware, "machine", fake_runner.machine)
    monkeypatch.setenv("FAKE_GPUS", "4:NVIDIA RTX A6000")
    monkeypatch.delenv("FAKE_TRIAL_S", raising=False)
    monkeypatch.setenv("ADVISOR_STORE_WAIT", "30")
    return Clock(monkeypatch)


@asynccontextmanager
async def benchmarking(
    scenario: str, size: tuple[int, int]
) -> AsyncIterator[tuple[Pilot[None], BenchmarkScreen]]:
    """The screen, once it knows what would run."""
    app = AdvisorApp(STORE, state=State(model="pythia-160m"), today=TODAY)
    async with app.run_test(size=size) as pilot:
        fake = Path(__file__).parents[1] / "fake_runner.py"
        screen = BenchmarkScreen(
            app.size,
            runner=(sys.executable, str(fake), scenario),
            folders=(Path("records.jsonl"), Path("work")),
        )
        app.install_screen(screen, "benchmark")
        await pilot.press("f6")
        await settled(pilot)
        await until(pilot, lambda: screen.plan is not None, "no plan")
        await settled(pilot)
        yield pilot, screen


async def test_benchmark_in_progress(clock: Clock, svg_snapshot: SnapshotAssertion) -> None:
    async with benchmarking("hang", NARROW) as (pilot, screen):
        await pilot.press("B", "enter")
        await until(pilot, lambda: "1 of 22" in text_of(pilot, "#status"), "no time yet")
        # The second trial writes its log after everything else that it says.
        label = list(screen.progress.rows)[1]
        last = f"{label}: micro-batch 2 fits, 12.5 GiB log: {label} is at step 7".replace(" ", "")
        clock.now_s = 95.0
        said = screen.query_one("#said", LinesView)
        await until(pilot, lambda: page(said).replace(" ", "") == last, "no log")
        await until(pilot, lambda: "1:35 elapsed" in text_of(pilot, "#status"), "no tick")
        await pilot.pause()
        assert pilot.app == svg_snapshot
        await pilot.press("C")
        await until(pilot, lambda: screen.ending is not None, "not ended")


@pytest.mark.usefixtures("predictions_stay")
async def test_benchmark_finished(clock: Clock, svg_snapshot: SnapshotAssertion) -> None:
    async with benchmarking("good", WIDE) as (pilot, screen):
        await pilot.press("B", "enter")
        await until(pilot, lambda: screen.ending is not None, "not ended")
        await settled(pilot)
        pilot.app.clear_notifications()  # they go by themselves, some time
        await settled(pilot)
        assert pilot.app == svg_snapshot


@pytest.fixture
def ledger(own_store: Path) -> None:
    """A quote of every kind of doubt."""
    old = {"quoted_on": date(2024, 1, 1), "valid_until": date(2024, 2, 1)}
    new = {"quoted_on": date(2026, 8, 1), "source_id": "own-quotes"}
    quotes = [
        make_quote("gpu", "rtx-3090", "9000", quote_id="q-1", vendor="a shop", **old),
        make_quote("gpu", "rtx-3090", "900", quote_id="q-2", vendor="a friend", **new),
        make_quote("gpu", "rtx-3090", "850", quote_id="q-3", vendor="a friend", **new),
        make_quote("gpu", "rtx-a6000", "4280.99", quote_id="q-4", vendor="a reseller", **new),
        make_quote("host", "server-4gpu", "9100", quote_id="q-5", vendor="a reseller", **new),
    ]
    quotes = [quote._replace(origin="local") for quote in quotes]
    quotes[2] = quotes[2]._replace(corrects="q-2")
    Store(STORE).add(quote=quotes)
    taken_as_it_is(STORE)


@pytest.mark.parametrize(
    ("name", "size", "keys"),
    [
        ("list", "80x24", ()),
        ("machine", "80x24", ("A", *"Lab quote", "tab", *"cheap")),
        ("correct", "80x24", ("slash", *"a6000", "enter", "R", "home")),
    ],
)
async def test_prices(
    ledger: None, svg_snapshot: SnapshotAssertion, name: str, size: str, keys: tuple[str, ...]
) -> None:
    # Not ``latest``, which would ask what day it is.
    state = replace(ASKED, prices="2026-11-21")
    async with running(STORE, size=SIZES[size], state=state) as pilot:
        await pilot.press("f7")
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        assert pilot.app == svg_snapshot


async def test_grant_written(own_store: Path, svg_snapshot: SnapshotAssertion) -> None:
    async with running(STORE, size=NARROW) as pilot:
        await pilot.press("f8", "W")
        await settled(pilot)
        text = pilot.app.screen.query_one(TextArea)
        text.text = text.text.replace("# overhead_rate = 0.55", "overhead_rate = 55")
        await settled(pilot)
        assert pilot.app == svg_snapshot


async def test_plan(own_store: Path, svg_snapshot: SnapshotAssertion) -> None:
    grant = SMALL.replace("predictions = true\n", 'predictions = false\nprices = "paper"\n')
    Path("grant.toml").write_text(grant, encoding="utf-8")
    async with running(STORE, size=NARROW) as pilot:
        await pilot.press("f8", "G")
        pilot.app.screen.query_one("#grant", Input).value = "grant.toml"
        await pilot.press("enter")
        await settled(pilot)
        await until(pilot, lambda: "Esc stops" not in text_of(pilot, "#status"), "no answer")
        await settled(pilot)
        assert pilot.app == svg_snapshot


# What is never cut


async def test_sixty_columns_cut_nothing(store_path: Path) -> None:
    async with running(store_path, size=(60, 20), state=State()) as pilot:
        assert shown(pilot, TitleBar).endswith("F8 Plan")
        assert shown(pilot, "#message").endswith(".")
        await pilot.press("f8")
        await settled(pilot)
        assert "makes a copy of it to change." in shown(pilot, "#answer")


async def test_no_price_is_cut(store_path: Path) -> None:
    state = State(budget="2000000")
    async with running(store_path, size=WIDE, state=state) as pilot:
        columns = ranking(pilot).table.columns
        for at in (at for at, column in enumerate(columns) if "cost" in column.key):
            prices = [row[at] for row in rows(pilot)]
            assert max(map(len, prices)) <= columns[at].width, prices


def shown(pilot: Pilot[None], what: str | type[Widget]) -> str:
    """A widget's text as it stands on the screen, on one line."""
    widget = pilot.app.screen.query_one(what)
    assert widget.region.height == widget.virtual_size.height
    lines = [widget.render_line(y).text for y in range(widget.size.height)]
    return " ".join(" ".join(lines).split())
