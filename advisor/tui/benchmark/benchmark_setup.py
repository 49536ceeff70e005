"""What a benchmark of this machine would run: the fields, a look at the GPUs, and the plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Grid
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Input, Static

from advisor.benchmark.packages import check_packages
from advisor.benchmark.plan import (
    CPU,
    CPU_REMARK,
    Plan,
    bench_folders,
    make_plan,
)
from advisor.benchmark.progress import Progress
from advisor.benchmark.request import MachineState, Request
from advisor.benchmark.runner_process import RUNNER, Run
from advisor.benchmark.runner_process import look_here as look
from advisor.parse import InputError, parse_positive
from advisor.ranking.typed_question import matching_models
from advisor.tui.benchmark.benchmark_rows import (
    BoardRows,
    columns,
)
from advisor.tui.pages.bars import KeyBar, TitleBar, TooSmall
from advisor.tui.pages.model_picker import ModelInput, ModelPicker
from advisor.tui.pages.sized_screen import SizedScreen
from advisor.tui.program.actions import BENCHMARK
from advisor.tui.program.messages import StoreRead
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.fetch_error import StoreReaderError
from advisor.tui.widgets.lines import FAINT, Line, wrapped
from advisor.tui.widgets.lines_view import LinesView
from advisor.tui.widgets.table import RankTable
from advisor.tui.widgets.text_input import Field

if TYPE_CHECKING:
    from advisor.benchmark.request import Ending
    from advisor.ranking.times import Model
    from advisor.tui.program.program import Program
    from advisor.tui.program.store_reader import Reading

METHODS = {
    "all": "all",
    "naive": "naive",
    "free-lunch": "free lunch",
    "naive,all": "naive and all",
}
SEARCHES = {"fast": "fast", "exhaustive": "exhaustive"}
MAX_MINUTES = 60 * 24 * 30
STORE_WAIT_S = 10.0
NO_GPU = "No GPU here (nvidia-smi lists none)."


class BenchmarkPlanning(SizedScreen):
    """Asks what to measure and says what that means; what runs it is in benchmark.py."""

    app: Program

    @dataclass
    class Looked(Message):
        """The machine was looked at."""

        here: MachineState | None
        problem: str | None

    @dataclass
    class Planned(Message):
        """What would run, or why nothing can."""

        number: int
        plan: Plan | None
        problem: str | None

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
        self._reading: Reading | None = None
        self._here: MachineState | None = None
        self._trouble: str | None = None
        """Why nothing can be measured here."""
        self.plan: Plan | None = None
        """What would run now, or what runs."""
        self._plan_number = 0
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
        yield TitleBar(BENCHMARK)
        with Grid(id="setup"):
            yield Static("Model", classes="label")
            yield ModelPicker(self.app.inputs.model, self._models, self._remark, id="bench_model")
            yield Static("On", classes="label")
            yield Choice({"": "looking …"}, "", id="bench_gpus")
            yield Static("Methods", classes="label")
            yield Choice(METHODS, "all", id="bench_methods")
            yield Static("Search", classes="label")
            yield Choice(SEARCHES, "fast", id="bench_search")
            yield Static("Minutes", classes="label")
            yield Field(placeholder="no limit", id="bench_minutes", max_length=12)
        yield Static("looking at this machine …", id="here", markup=False)
        yield Static("", id="status", markup=False)
        yield RankTable(columns(80), id="table", fixed_columns=1)
        yield LinesView(id="said")
        yield KeyBar(BENCHMARK)
        yield TooSmall()

    def on_mount(self) -> None:
        self.query_one(ModelInput).max_length = 300
        self.table.empty_message = "The settings stand here once it is clear what would run."
        self.read_store()
        self.look_here()

    def on_screen_resume(self) -> None:
        if self._here is not None and not self.is_busy:
            # Somebody else may use the GPUs by now.
            self.look_here()

    @property
    def table(self) -> RankTable:
        return self.query_one("#table", RankTable)

    @property
    def is_busy(self) -> bool:
        """Whether a benchmark runs or is about to."""
        return self._starting or self.run is not None

    # What would run

    @work(thread=True, exclusive=True, group="read", exit_on_error=False)
    def read_store(self) -> None:
        """Read the models, and post them."""
        try:
            self.post_message(StoreRead(self.app.store_reader.read(self.app.inputs)))
        except StoreReaderError as error:
            self.post_message(self.Planned(self._plan_number, None, str(error)))

    @on(StoreRead)
    def _store_read(self, event: StoreRead) -> None:
        self._reading = event.reading
        self._plan_again()

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def look_here(self) -> None:
        """Ask the runner what is here, and post it."""
        try:
            check_packages()
            here = look(self._work, runner=self._runner)
        except InputError as error:
            self.post_message(self.Looked(None, str(error)))
        else:
            self.post_message(self.Looked(here, None))

    @on(Looked)
    def _looked(self, event: Looked) -> None:
        self._here, self._trouble = event.here, event.problem
        choice = self.query_one("#bench_gpus", Choice)
        words = {CPU: "the CPU"}
        if event.here is not None:
            found = len(event.here.gpus)
            counts = sorted({n for n in (1, 2, 4, 8, found) if 0 < n <= found}, reverse=True)
            words = {str(n): f"{n} GPU{'s' if n > 1 else ''}" for n in counts} | words
        choice.words = words
        if choice.value not in words:
            choice.value = next(iter(words))
        choice.refresh()
        self._plan_again()

    def _plan_again(self) -> None:
        """Work out what the fields mean, in a thread."""
        if self.is_busy:
            return
        self._show_here()
        if self._here is None or self._reading is None:
            return
        self._plan_number += 1
        gpus = self.query_one("#bench_gpus", Choice).value
        minutes = self.query_one("#bench_minutes", Input)
        try:
            text = minutes.value.strip()
            limit = parse_positive(text, "time", "minutes", MAX_MINUTES) if text else None
        except InputError as error:
            minutes.add_class("-broken")
            self.post_message(self.Planned(self._plan_number, None, str(error)))
            return
        minutes.remove_class("-broken")
        model = self.query_one(ModelPicker).text.strip()
        found = [] if model.endswith(".toml") else self._models(model)
        request = Request(
            recipe=found[0].recipe_id if found and model else model,
            gpu_count=1,
            methods=self.query_one("#bench_methods", Choice).value,
            search=self.query_one("#bench_search", Choice).value,
            minutes=limit,
            device=CPU if gpus == CPU else "cuda",
            records_file=self._records,
            work_directory=self._work,
        )
        count = 1 if gpus == CPU else int(gpus)
        self._make_plan(self._plan_number, request, self._here, count)

    @work(thread=True, exclusive=True, group="plan", exit_on_error=False)
    def _make_plan(self, number: int, request: Request, here: MachineState, count: int) -> None:
        from advisor.store import Store, StoreError

        store = Store(self.app.store_reader.path, wait_s=STORE_WAIT_S, note=lambda _: None)
        try:
            plan = make_plan(store, request, here, gpu_count=count)
        except (InputError, StoreError) as error:
            self.post_message(self.Planned(number, None, str(error)))
        else:
            self.post_message(self.Planned(number, plan, None))

    @on(Planned)
    def _planned(self, event: Planned) -> None:
        if event.number != self._plan_number or self.is_busy:
            return
        changed = event.plan != self.plan
        self.plan, self._plan_problem = event.plan, event.problem
        if changed and event.plan is not None:
            self.progress = Progress(event.plan.labels, event.plan.estimated_minutes, "")
            self.ending = None
            self.remove_class("-ended", "-bad")
            self._show_rows()
            self._say([("Press s to start: it asks first.", FAINT)])
            self.query_one("#status", Static).update("")
        self._show_here()

    def _show_here(self) -> None:
        """What was found, what would run, and what speaks against it."""
        line, here, plan = self.query_one("#here", Static), self._here, self.plan
        line.set_classes("")
        if self._trouble is not None:
            line.add_class("-error")
            line.update(f"⚠ {self._trouble}")
            return
        if here is None:
            return
        words = NO_GPU + f" {CPU_REMARK[0].upper()}{CPU_REMARK[1:]}."
        if here.gpus:
            names = [gpu.name for gpu in here.gpus]
            memory = here.gpus[0].memory_gib
            kinds = ", ".join(f"{names.count(n)} × {n}" for n in dict.fromkeys(names))
            words = f"Here {kinds}, {memory:.0f} GiB"
        if self._plan_problem is not None:
            line.add_class("-error")
            words = f"⚠ {self._plan_problem}"
        elif plan is not None:
            count = len(plan.labels)
            words += (
                f" · {count} setting{'s' if count > 1 else ''}, {plan.takes_words} · "
                f"{here.disk_free_gib:.0f} GiB disk"
            )
            remarks = [remark for remark in plan.remarks() if remark != CPU_REMARK]
            if here.gpus and plan.request.device == CPU:
                remarks.append(CPU_REMARK)
            if remarks:
                line.add_class("-warning")
                words += f" ! {remarks[0]}" + (" …" if len(remarks) > 1 else "")
        line.update(words)

    @on(ModelPicker.Changed)
    @on(Choice.Changed)
    @on(Input.Changed, "#bench_minutes")
    def _field_changed(self) -> None:
        if self.is_busy:
            self.app.notify("A benchmark is running: this is for the next one.")
        self._plan_again()

    def _models(self, text: str) -> Sequence[Model]:
        reading = self._reading
        if reading is None:
            return []
        return matching_models(text, reading.snapshot, reading.measured)

    def _remark(self, recipe_id: str) -> str:
        times = 0 if self._reading is None else self._reading.measured.get(recipe_id, 0)
        return f"{times:,} times" if times else "not measured"

    # Drawing

    def _show_rows(self) -> None:
        if self.progress is None:
            return
        shown = columns(self.table.size.width or 80)
        if shown != self.table.columns:
            self.table.columns = shown
        self.table.source = BoardRows(self.progress, [column.key for column in shown])

    def _say(self, lines: list[Line]) -> None:
        self.query_one("#said", LinesView).show(lambda width: wrapped(lines, width), from_top=True)

    def on_resize(self) -> None:
        self.call_after_refresh(self._show_rows)

    # The fields

    def action_focus_field(self, name: str) -> None:
        """Go to a field."""
        self.query_one(f"#{name}").focus()

    def action_leave_field(self) -> None:
        """Go from a field to the table, and from there to the ranking."""
        if self.focused is self.table:
            self.app.action_go("ranking")
            return
        self.query_one(ModelPicker).close()
        self.table.focus()

    @on(Input.Submitted)
    def _entered(self) -> None:
        self.action_leave_field()

    def action_undo(self) -> None:
        """Clear the time limit."""
        self.query_one("#bench_minutes", Input).value = ""
