"""Measuring this machine: each setting as it is tried, and how it ended.

The screen outlives its visits: a benchmark goes on while another screen is shown. A thread follows
the runner and posts what happens; handlers own the widgets.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on, work
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import Static

from advisor.benchmark.plan import Plan
from advisor.benchmark.progress import Progress
from advisor.benchmark.recorder import Recorder, follow
from advisor.benchmark.runner_process import Run, last_log_line
from advisor.parse import InputError
from advisor.tui.benchmark.benchmark_rows import (
    BoardRows,
    ending_lines,
    plan_lines,
    status_words,
    tried_lines,
)
from advisor.tui.benchmark.benchmark_setup import STORE_WAIT_S, BenchmarkPlanning
from advisor.tui.pages.confirm import ConfirmScreen
from advisor.tui.pages.record import RecordScreen
from advisor.tui.program.actions import BENCHMARK, bindings_of
from advisor.tui.widgets.lines import FAINT, PLAIN, WARNING, Line, wrapped
from advisor.tui.widgets.table import RankTable

if TYPE_CHECKING:
    from advisor.benchmark.request import Ending


class BenchmarkScreen(BenchmarkPlanning):
    """How long would this machine train?"""

    WHERE = BENCHMARK
    CSS_PATH = "benchmark.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        *bindings_of(BENCHMARK),
        Binding("escape", "leave_field", "back", show=False),
    ]
    AUTO_FOCUS = "#table"

    @dataclass
    class Started(Message):
        """The runner runs."""

        run: Run

    @dataclass
    class Happened(Message):
        """The runner told something."""

        event: Mapping[str, Any]
        at_s: float

    @dataclass
    class Ended(Message):
        """The runner is gone."""

        ending: Ending | None
        problem: str | None
        """Why it never started."""
        kept: str
        """What became of the records, in words."""

    @dataclass
    class Logged(Message):
        """The newest trial's last line."""

        line: str

    def on_mount(self) -> None:
        self.set_interval(1.0, self._tick)

    # Running

    def action_start(self) -> None:
        """Show what would happen, and ask."""
        if self.is_busy:
            self.app.notify("It is running already.")
            return
        problem = self._trouble or self._plan_problem
        if problem is not None or self.plan is None:
            self.app.notify(problem or "Still looking …", severity="warning", markup=False)
            return
        plan = self.plan

        def answered(yes: bool | None) -> None:
            if yes and not self.is_busy:
                self._begin(plan)

        self.app.push_screen(
            ConfirmScreen("Start this benchmark?", plan_lines(plan), "start"), answered
        )

    def _begin(self, plan: Plan) -> None:
        self._starting = True
        self.plan, self.ending = plan, None
        self.progress = Progress(plan.labels, plan.estimated_minutes, plan.request.search)
        self._began_s, self._began_wall_s = time.monotonic(), time.time()
        self.remove_class("-ended", "-bad")
        self.add_class("-running")
        self._show_rows()
        self._say([("starting the runner …", PLAIN)])
        self._tick()
        self._measure(plan)

    @work(thread=True, group="bench", exit_on_error=False)
    def _measure(self, plan: Plan) -> None:
        """Follow the runner to its end, post what happens, keep what it measures."""
        from advisor.store import Store

        store = Store(self.app.store_reader.path, wait_s=STORE_WAIT_S, note=lambda _: None)
        run: Run | None = None
        kept = ""
        try:
            recorder = Recorder(store, plan)
            run = Run(plan.request, runner=self._runner)
            self.post_message(self.Started(run))
            with closing(follow(run, recorder)) as events:
                for event in events:
                    self.post_message(self.Happened(event, time.monotonic()))
            kept = recorder.words()
        except InputError as error:
            self.post_message(self.Ended(None, str(error), kept))
        except Exception as error:
            # Whatever went wrong in this thread, the screen must hear that it is over.
            words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            self.post_message(self.Ended(run.ending() if run else None, words, kept))
        else:
            self.post_message(self.Ended(run.ending(), None, kept))

    @on(Started)
    def _started(self, event: Started) -> None:
        self._starting, self.run = False, event.run

    @on(Happened)
    def _happened(self, event: Happened) -> None:
        if self.progress is not None:
            self.progress.apply(event.event, event.at_s - self._began_s)
            if not self._drawing:
                # However fast events come, they are drawn once a frame.
                self._drawing = True
                self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        self._drawing = False
        if self.is_busy and self.progress is not None:
            self._show_rows()
            self._say([(self.progress.last, PLAIN)])
            self._tick()

    @on(Ended)
    def _ended(self, event: Ended) -> None:
        progress, plan = self.progress, self.plan
        assert progress is not None and plan is not None
        self._took_s = time.monotonic() - self._began_s
        self._starting, self.run, self.ending = False, None, event.ending
        progress.close()
        self.remove_class("-running")
        self.add_class("-ended")
        self._show_rows()
        lines: list[Line] = []
        if event.problem is not None:
            lines.append((event.problem, WARNING))
        if event.ending is not None:
            lines += ending_lines(event.ending, progress, event.kept, plan)
        self._say(lines)
        self._tick()
        bad = event.ending is None or event.ending.kind in ("failed", "refused", "no-time")
        self.set_class(bad, "-bad")
        told = event.problem or (event.ending.message if event.ending else "")
        self.app.notify(
            f"Benchmark: {told}", severity="warning" if bad else "information", markup=False
        )
        self.app.look_at_store()

    def action_cancel(self) -> None:
        """End the benchmark; asked again, less patiently."""
        if self.run is None:
            self.app.notify("Nothing is running.")
            return
        again = self.run.is_cancelled
        self.run.cancel()
        text = "ending it harder …" if again else "ending it; finished trials are kept …"
        self._say([(text, PLAIN), ("c again does not wait for it to end by itself.", FAINT)])

    def on_unmount(self) -> None:
        if self.run is not None:
            self.run.cancel()

    # Drawing

    def _tick(self) -> None:
        progress, plan = self.progress, self.plan
        if progress is None or plan is None or not (self.is_busy or self.ending is not None):
            return
        elapsed = time.monotonic() - self._began_s if self.is_busy else self._took_s
        minutes = plan.request.minutes
        limit = None if minutes is None else minutes * 60
        self.query_one("#status", Static).update(status_words(progress, elapsed, limit))
        if self.is_busy:
            self._read_log()

    @work(thread=True, exclusive=True, group="log", exit_on_error=False)
    def _read_log(self) -> None:
        line = last_log_line(self._work, since_s=self._began_wall_s)
        if line is not None:
            self.post_message(self.Logged(line))

    @on(Logged)
    def _logged(self, event: Logged) -> None:
        if self.run is not None and not self.run.is_cancelled and self.progress is not None:
            self._say([(self.progress.last, PLAIN), (f"log: {event.line}", FAINT)])

    @on(RankTable.RowOpened)
    def action_open_record(self) -> None:
        """Open everything about the highlighted setting."""
        source, at = self.table.source, self.table.cursor
        if isinstance(source, BoardRows) and at < len(source):
            row = source.row(at)
            self.app.push_screen(RecordScreen(row.label, partial(wrapped, tried_lines(row))))
