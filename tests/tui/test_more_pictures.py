"""What the benchmark, the prices and the plan look like, at both sizes.

The clock stands still, paths are relative to a folder of the test's own, and the store holds the
paper's evidence with a few prices made for the picture. After a change that is meant:
pytest tests/tui/test_more_pictures.py --snapshot-update, then look.
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

import duckdb
import pytest
from syrupy.assertion import SnapshotAssertion
from textual.pilot import Pilot
from textual.widgets import Input, Static

from advisor.answers.prices import ownership
from advisor.costs.owned import own_machine
from advisor.ranking import snapshot
from advisor.store import Store
from advisor.tui.app import AdvisorApp
from advisor.tui.benchmark import benchmark_screen
from advisor.tui.benchmark.benchmark_screen import BenchmarkScreen
from advisor.tui.program.settings import State
from advisor.tui.widgets.lines_view import LinesView
from tests.facts_for_tests import make_quote
from tests.store_for_tests import look
from tests.tui.program import ASKED, NARROW, TODAY, WIDE, page, paste, running, settled, until
from tests.tui.test_plan_screen import SMALL

SIZES = pytest.mark.parametrize(
    "size", [pytest.param(WIDE, id="120x40"), pytest.param(NARROW, id="80x24")]
)
STORE = Path("results.duckdb")
"""Relative, since screens name it."""


@pytest.fixture(autouse=True)
def _here(own_paper_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert own_paper_store.samefile(STORE)


def text_of(pilot: Pilot[None], name: str) -> str:
    return str(pilot.app.screen.query_one(name, Static).content)


# The benchmark

FAKE = Path(__file__).parents[1] / "fake_runner.py"


class Clock:
    """Stands still until it is set."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 0.0
        clock = SimpleNamespace(monotonic=lambda: self.now_s, time=time.time)
        monkeypatch.setattr(benchmark_screen, "time", clock)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    monkeypatch.setenv("FAKE_GPUS", "4:NVIDIA RTX A6000")
    monkeypatch.delenv("FAKE_TRIAL_S", raising=False)
    monkeypatch.setenv("ADVISOR_STORE_WAIT", "30")
    return Clock(monkeypatch)


@asynccontextmanager
async def benchmarking(
    scenario: str, size: tuple[int, int]
) -> AsyncIterator[tuple[Pilot[None], BenchmarkScreen]]:
    """The screen, once it knows what would run."""
    app = AdvisorApp(STORE, state=State(welcomed=True, model="pythia-160m"), today=TODAY)
    async with app.run_test(size=size) as pilot:
        screen = BenchmarkScreen(
            app.size,
            runner=(sys.executable, str(FAKE), scenario),
            folders=(Path("records.jsonl"), Path("work")),
        )
        app.install_screen(screen, "benchmark")
        await pilot.press("f6")
        await settled(pilot)
        await until(pilot, lambda: screen.plan is not None, "no plan")
        await settled(pilot)
        yield pilot, screen


@SIZES
async def test_benchmark_before(
    size: tuple[int, int], clock: Clock, svg_snapshot: SnapshotAssertion
) -> None:
    async with benchmarking("good", size) as (pilot, _):
        assert pilot.app == svg_snapshot


@SIZES
async def test_benchmark_question(
    size: tuple[int, int], clock: Clock, svg_snapshot: SnapshotAssertion
) -> None:
    async with benchmarking("good", size) as (pilot, _):
        await pilot.press("s")
        await settled(pilot)
        assert pilot.app == svg_snapshot


@SIZES
async def test_benchmark_in_progress(
    size: tuple[int, int], clock: Clock, svg_snapshot: SnapshotAssertion
) -> None:
    async with benchmarking("hang", size) as (pilot, screen):
        await pilot.press("s", "enter")
        await until(pilot, lambda: "1 of 22" in text_of(pilot, "#status"), "no time yet")

        # The second trial writes its log after everything else that it says.
        label = list(screen.progress.rows)[1]
        last = f"{label}: micro-batch 2 fits, 12.5 GiB log: {label} is at step 7"
        clock.now_s = 95.0
        # On a narrow screen the long labels are broken within words.
        await until(
            pilot,
            lambda: (
                page(screen.query_one("#said", LinesView)).replace(" ", "") == last.replace(" ", "")
            ),
            "no log",
        )
        await until(pilot, lambda: "1:35 elapsed" in text_of(pilot, "#status"), "no tick")
        await pilot.pause()
        assert pilot.app == svg_snapshot
        await pilot.press("c")
        await until(pilot, lambda: screen.ending is not None, "not ended")


@SIZES
@pytest.mark.usefixtures("predictions_stay")
async def test_benchmark_finished(
    size: tuple[int, int], clock: Clock, svg_snapshot: SnapshotAssertion
) -> None:
    async with benchmarking("good", size) as (pilot, screen):
        await pilot.press("s", "enter")
        await until(pilot, lambda: screen.ending is not None, "not ended")
        await settled(pilot)
        pilot.app.clear_notifications()  # they go by themselves, some time
        await settled(pilot)
        assert pilot.app == svg_snapshot


# The prices

LATEST = replace(ASKED, prices="2026-11-21")
"""Not ``latest``, which would ask what day it is."""


class Today(date):
    """The day of all pictures."""

    @classmethod
    def today(cls) -> Today:
        return cls(TODAY.year, TODAY.month, TODAY.day)


@pytest.fixture
def ledger(_here: None) -> None:
    """A quote of every kind of doubt, and who rents out two of the paper's GPUs."""
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
    Store(STORE).add_quotes(quotes)
    with duckdb.connect(str(STORE)) as connection:
        connection.execute("DELETE FROM rental")
        connection.executemany(
            "INSERT INTO rental BY NAME SELECT ? AS rental_id, ? AS provider, ? AS gpu_id,"
            " ? AS gpu_count, ? AS price_per_hour_usd, ? AS kind, DATE '2026-08-01' AS priced_on,"
            " 'paper-table5' AS source_id, 'shipped' AS origin, false AS outlier",
            [
                ("r-1", "a cloud", "rtx-a6000", 4, "3.20", "on-demand"),
                ("r-2", "another", "rtx-a6000", 4, "2.40", "on-demand"),
                ("r-3", "a third", "rtx-a6000", 4, "4.10", "on-demand"),
                ("r-4", "a cloud", "rtx-a6000", 4, "1.90", "reserved"),
                ("r-5", "a cloud", "h100-sxm5-80gb", 8, "24.00", "on-demand"),
            ],
        )


@SIZES
@pytest.mark.parametrize(
    ("name", "keys"),
    [
        ("list", ()),
        ("add", ("a",)),
        ("machine", ("m", *"Lab quote", "tab", *"cheap")),
        ("correct", ("slash", *"a6000", "enter", "c", "home")),
        ("import", ("i",)),
        ("own-or-rent", ("2",)),
    ],
)
async def test_prices(
    ledger: None,
    svg_snapshot: SnapshotAssertion,
    size: tuple[int, int],
    name: str,
    keys: tuple[str, ...],
) -> None:
    async with running(STORE, size=size, state=LATEST) as pilot:
        await pilot.press("f7")
        await settled(pilot)
        await pilot.press(*keys)
        await settled(pilot)
        assert pilot.app == svg_snapshot


@SIZES
async def test_owning_what_is_owned_already(
    ledger: None,
    svg_snapshot: SnapshotAssertion,
    size: tuple[int, int],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for module in (ownership, snapshot):  # what is owned is priced today
        monkeypatch.setattr(module, "date", Today)
    Store(STORE).add_machines([own_machine("4 x A6000", look(Store(STORE)).gpus())])
    async with running(STORE, size=size, state=LATEST) as pilot:
        await pilot.press("f7")
        await settled(pilot)
        await pilot.press("2")
        await settled(pilot)
        assert pilot.app == svg_snapshot


# The plan

GRANT = SMALL.replace("predictions = false\n", 'predictions = false\nprices = "paper"\n')
GRANTS = {
    "planned": GRANT,
    "infeasible": GRANT.replace("$30,000", "$400"),
    "broken": GRANT.replace("total", "totl"),
}


@SIZES
async def test_plan_empty(svg_snapshot: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with running(STORE, size=size) as pilot:
        await pilot.press("f8")
        await settled(pilot)
        assert pilot.app == svg_snapshot


@SIZES
async def test_grant_written(svg_snapshot: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with running(STORE, size=size) as pilot:
        await pilot.press("f8", "n")
        await settled(pilot)
        pilot.app.screen.query_one("#of_institution_overhead_rate", Input).focus()
        await paste(pilot, "55")
        assert pilot.app == svg_snapshot


@SIZES
@pytest.mark.parametrize("name", GRANTS)
async def test_plan(svg_snapshot: SnapshotAssertion, size: tuple[int, int], name: str) -> None:
    Path("grant.toml").write_text(GRANTS[name], encoding="utf-8")
    async with running(STORE, size=size) as pilot:
        await pilot.press("f8", "g")
        pilot.app.screen.query_one("#grant", Input).value = "grant.toml"
        await pilot.press("enter")
        await settled(pilot)
        await until(pilot, lambda: "Esc stops" not in text_of(pilot, "#status"), "no answer")
        await settled(pilot)
        assert pilot.app == svg_snapshot
