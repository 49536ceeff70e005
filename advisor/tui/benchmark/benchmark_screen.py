"""Measuring this machine: what would run, each setting as it is tried, and how it ended.

The screen outlives its visits: a benchmark goes on while another screen is shown. A thread follows
the runner and posts what happens; handlers own the widgets.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from textual import on, work
from textual.app import ComposeResult
from textual.geometry import Size
from textual.widgets import Input, Static

from advisor.benchmark.benchmark_plan import Plan, bench_folders, make_plan
from advisor.benchmark.jobs.job_folder import jobs_under_way
from advisor.benchmark.measurement_request import check_packages
from advisor.benchmark.measurement_request import look_here as look
from advisor.benchmark.progress import Progress
from advisor.benchmark.recorder import Recorder, follow
from advisor.benchmark.runner_process import RUNNER, Run, last_log_line
from advisor.tui.benchmark.benchmark_lines import (
    BAD,
    ended_lines,
    here_words,
    plan_lines,
    status_words,
    waiting_lines,
)
from advisor.tui.benchmark.benchmark_rows import full_name, setting_rows
from advisor.tui.benchmark.benchmark_setup import BenchmarkSetup
from advisor.tui.pages.list_page import ListActions
from advisor.tui.pages.screens import ConfirmScreen, SizedScreen
from advisor.tui.pages.title_and_key_bars import KeyBar, TitleBar
from advisor.tui.program.program import AnswerChanged
from advisor.tui.widgets.filter_table import FilterTable
from advisor.tui.widgets.in_thread import error_words, in_thread
from advisor.tui.widgets.lines import FAINT, PLAIN, Line, LinesView, wrapped
from advisor.tui.widgets.rank_table import RankTable
from advisor.typed_input import InputError

if TYPE_CHECKING:
    from advisor.benchmark.measurement_request import Ending
    from bench_runner.launch.hardware import Machine


class BenchmarkScreen(ListActions, SizedScreen):
    """How long would this machine train?"""

    WHERE = "benchmark"
    HELP = """\
## The benchmark

How long this machine would train. The fields say which model, on what, which settings, how long at
most; the table has every setting that would be tried. `B` shows the plan and asks before anything
runs, and every finished setting is kept at once. Without a GPU here, `J` measures elsewhere.
"""
    CSS_PATH = "benchmark.tcss"
    AUTO_FOCUS = "RankTable"
    RECORD = "One setting"

    def __init__(
        self,
        size: Size,
        *,
        runner: Sequence[str] = RUNNER,
        folders: tuple[Path, Path] | None = None,
    ) -> None:
        """``folders``: the file of records and the folder of work, else the user's own."""
        super().__init__(size)
        self._runner = runner
        self._records, self._work = folders or bench_folders()
        self._here: Machine | None = None
        self._trouble: str | None = None
        """Why nothing can be measured here."""
        self.plan: Plan | None = None
        """What would run now, or what runs."""
        self._asked_model = ""
        """The question's model at the last visit."""
        self._plan_problem: str | None = None
        self._starting = False
        self._drawing = False
        self.run: Run | None = None
        """The child while it lives."""
        self.progress: Progress | None = None
        self.ending: Ending | None = None
        self._began_s = 0.0
        self._began_wall_s = 0.0
        self._took_s = 0.0

    def compose(self) -> ComposeResult:
        yield TitleBar("benchmark")
        self._asked_model = self.app.inputs.model
        yield BenchmarkSetup(self._asked_model)
        yield Static("looking at this machine …", id="here", markup=False)
        yield Static("", id="status", markup=False)
        yield FilterTable(empty="The settings are listed here once it is clear what would run.")
        yield LinesView(id="said")
        yield KeyBar("benchmark")

    def on_mount(self) -> None:
        self.look_here()
        self.set_interval(1.0, self._tick)

    def on_unmount(self) -> None:
        if self.run is not None:
            self.run.cancel()

    def on_screen_resume(self) -> None:
        if self._asked_model != self.app.inputs.model and not self.is_busy:
            # Another question was asked meanwhile: it is about that model.
            self._asked_model = self.app.inputs.model
            self.setup.picker.field.value = self._asked_model
        if self._here is not None and not self.is_busy:
            # Somebody else may use the GPUs by now.
            self.look_here()

    @property
    def setup(self) -> BenchmarkSetup:
        return self.query_one(BenchmarkSetup)

    @property
    def table(self) -> RankTable:
        return self.list.table

    @property
    def is_busy(self) -> bool:
        return self._starting or self.run is not None

    # What would run

    def look_here(self) -> None:

        def look_at_it() -> Machine:
            check_packages()
            return look(self._work)

        in_thread(self, "look", look_at_it, self._looked, lambda why: self._looked(None, why))

    def _looked(self, here: Machine | None, problem: str | None = None) -> None:
        self._here, self._trouble = here, problem
        self.setup.offer(here)
        self._plan_again()

    @on(AnswerChanged)
    def _store_read(self) -> None:
        """Models can be looked up now."""
        if self.plan is None:
            self._plan_again()

    @on(BenchmarkSetup.Changed)
    def _setup_changed(self) -> None:
        if self.is_busy:
            self.app.notify("A benchmark is running: this is for the next one.")
        self._plan_again()

    def _plan_again(self) -> None:
        """Work out what the fields mean, in a thread."""
        if self.is_busy:
            return
        self._show_here()
        if self._here is None or self.app.session.snapshot is None:
            return
        here, store = self._here, self.app.store_reader.patient_store()
        try:
            request = self.setup.request(records_file=self._records, work_directory=self._work)
        except InputError as error:
            why = error  # posted as the newest, after what is still being worked out

            def make() -> Plan:
                raise why
        else:

            def make() -> Plan:
                return make_plan(store, request, here, gpu_count=request.gpu_count)

        in_thread(self, "plan", make, self._planned, self._not_planned)

    def _not_planned(self, problem: str) -> None:
        self._planned(None, problem)

    def _planned(self, plan: Plan | None, problem: str | None = None) -> None:
        if self.is_busy:
            return
        changed = plan != self.plan
        self.plan, self._plan_problem = plan, problem
        if changed and plan is not None:
            self.progress = Progress(plan.labels, plan.estimated_minutes)
            self.ending = None
            self.remove_class("-ended", "-bad")
            self._show(waiting_lines(plan, jobs_under_way()))
            self.query_one("#status", Static).update("")
        self._show_here()

    def _show_here(self) -> None:
        line = self.query_one("#here", Static)
        line.set_classes("")
        if self._trouble is not None:
            line.add_class("-error")
            line.update(f"⚠ {self._trouble}")
        elif self._here is not None:
            words, kind = here_words(self._here, self.plan, self._plan_problem)
            line.set_classes(kind)
            line.update(words)

    # Running

    def action_start(self) -> None:
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
        self.progress = Progress(plan.labels, plan.estimated_minutes)
        self._began_s, self._began_wall_s = time.monotonic(), time.time()
        self.remove_class("-ended", "-bad")
        self.add_class("-running")
        self._show([("starting the runner …", PLAIN)])
        self._tick()
        self._measure(plan)

    @work(thread=True, group="bench", exit_on_error=False)
    def _measure(self, plan: Plan) -> None:
        """Start the runner, follow it to its end, and keep what it measures."""
        run: Run | None = None
        kept, problem = "", None
        try:
            recorder = Recorder(self.app.store_reader.patient_store(), plan)
            run = Run(plan.request, runner=self._runner)
            self.call_later(self._started, run)
            with closing(follow(run, recorder)) as events:
                for event in events:
                    self.call_later(self._happened, event, time.monotonic())
            kept = recorder.words()
        except Exception as error:
            # Whatever went wrong in this thread, the screen must hear that it is over.
            problem = error_words(error)
        self.call_later(self._ended, None if run is None else run.ending(), problem, kept)

    def _started(self, run: Run) -> None:
        self._starting, self.run = False, run

    def _happened(self, event: Mapping[str, Any], at_s: float) -> None:
        if self.progress is not None:
            self.progress.apply(event, at_s - self._began_s)
            if not self._drawing:
                # However fast events come, they are drawn once a frame.
                self._drawing = True
                self.call_after_refresh(self._draw)

    def _draw(self) -> None:
        self._drawing = False
        if self.is_busy and self.progress is not None:
            self._show([(full_name(self.progress.last), PLAIN)])
            self._tick()

    def _ended(self, ending: Ending | None, problem: str | None, kept: str) -> None:
        progress, plan = self.progress, self.plan
        assert progress is not None and plan is not None
        self._took_s = time.monotonic() - self._began_s
        self._starting, self.run, self.ending = False, None, ending
        progress.close()
        self.remove_class("-running")
        self.add_class("-ended")
        self._show(ended_lines(ending, problem, kept, progress, plan))
        best, listed = progress.best_row, self.list.listed
        if best is not None and listed is not None and best in listed.records:
            self.table.cursor = listed.records.index(best)
        self._tick()
        bad = ending is None or ending.kind in BAD
        self.set_class(bad, "-bad")
        told = problem or (ending.message if ending else "")
        self.app.notify(
            f"Benchmark: {told}", severity="warning" if bad else "information", markup=False
        )
        self.app.look_at_store()

    def action_elsewhere(self) -> None:
        from advisor.tui.benchmark.elsewhere_screen import ElsewhereScreen

        build = self.app.session.selected_build
        self.app.push_screen(ElsewhereScreen(self.setup.job_request, build))

    def action_cancel(self) -> None:
        if self.run is None:
            self.app.notify("Nothing is running.")
            return
        again = self.run.is_cancelled
        self.run.cancel()
        text = "ending it harder …" if again else "ending it; finished trials are kept …"
        self._say([(text, PLAIN), ("C again does not wait for it to end by itself.", FAINT)])

    # Drawing

    def _show(self, lines: list[Line]) -> None:
        """Show the settings as they are now, and what is said of them."""
        self._show_rows()
        self._say(lines)

    def _show_rows(self) -> None:
        if self.progress is not None:
            self.list.show(setting_rows(self.progress, self.app.size.width))

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_rows)

    def _say(self, lines: list[Line]) -> None:
        self.query_one("#said", LinesView).show(lambda width: wrapped(lines, width), from_top=True)

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

    def _read_log(self) -> None:
        begun = self._began_wall_s
        in_thread(self, "log", lambda: last_log_line(self._work, since_s=begun), self._logged)

    def _logged(self, line: str | None) -> None:
        running = self.run is not None and not self.run.is_cancelled
        if line is not None and running and self.progress is not None:
            self._say([(full_name(self.progress.last), PLAIN), (f"log: {line}", FAINT)])

    # The fields

    @on(Input.Submitted)
    def action_leave_field(self) -> None:
        if self.focused is self.table:
            self.app.action_go("ranking")
            return
        self.setup.picker.close()
        self.table.focus()
