"""Where it is chosen what a benchmark measures."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Grid
from textual.message import Message
from textual.widgets import Input, Static

from advisor.benchmark.benchmark_plan import CPU, RECORDS, WORK
from advisor.benchmark.measurement_request import Request
from advisor.tui.pages.model_picker import ModelPicker
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.text_input import Field
from advisor.typed_input import InputError, parse_positive

if TYPE_CHECKING:
    from advisor.tui.program.program import Program
    from bench_runner.launch.hardware import Machine

METHODS = {
    "all": "all",
    "naive": "naive",
    "free-lunch": "free lunch",
    "paper": "the paper's",
    "naive,paper,all": "naive, the paper's and all",
    "naive,all,rounding": "naive, all, other rounding",
}
SEARCHES = {"fast": "fast", "exhaustive": "exhaustive"}
MAX_MINUTES = 60 * 24 * 30


class BenchmarkSetup(Grid):
    """The model, what it runs on, which settings are tried, and for how long at most."""

    app: Program

    class Changed(Message):
        """The person wants something else."""

    def __init__(self, model: str) -> None:
        super().__init__(id="setup")
        self._model = model

    def compose(self) -> ComposeResult:
        yield Static("Model", classes="label")
        yield ModelPicker(self._model, id="bench_model")
        yield Static("On", classes="label")
        yield Choice({"": "looking …"}, "", id="bench_gpus")
        yield Static("Methods", classes="label")
        yield Choice(METHODS, "all", id="bench_methods")
        yield Static("Search", classes="label")
        yield Choice(SEARCHES, "fast", id="bench_search")
        yield Static("Minutes", classes="label")
        yield Field(placeholder="no limit", id="bench_minutes", max_length=12)

    def on_mount(self) -> None:
        self.query_one(ModelPicker).field.max_length = 300  # a path, too

    @on(ModelPicker.Changed)
    @on(Choice.Changed)
    @on(Input.Changed, "#bench_minutes")
    def _changed(self, event: Message) -> None:
        event.stop()
        self.post_message(self.Changed())

    @property
    def picker(self) -> ModelPicker:
        return self.query_one(ModelPicker)

    @property
    def minutes(self) -> Input:
        return self.query_one("#bench_minutes", Input)

    def offer(self, here: Machine | None) -> None:
        """Let the person choose among what this machine has."""
        choice = self.query_one("#bench_gpus", Choice)
        words = {CPU: "the CPU"}
        if here is not None:
            found = len(here.gpus)
            counts = sorted({n for n in (1, 2, 4, 8, found) if 0 < n <= found}, reverse=True)
            words = {str(n): f"{n} GPU{'s' if n > 1 else ''}" for n in counts} | words
        choice.words = words
        if choice.value not in words:
            choice.value = next(iter(words))
        choice.refresh()

    def job_request(self, gpu_count: int) -> Request:
        """What is wanted, of ``gpu_count`` GPUs elsewhere. Raises InputError."""
        wanted = self.request(records_file=RECORDS, work_directory=WORK)
        return replace(wanted, gpu_count=gpu_count, device="cuda")

    def request(self, *, records_file: Path, work_directory: Path) -> Request:
        """What is wanted. Raises InputError."""
        gpus, minutes = self.query_one("#bench_gpus", Choice).value, self.minutes
        try:
            text = minutes.value.strip()
            limit = parse_positive(text, "time", "minutes", MAX_MINUTES) if text else None
        except InputError:
            minutes.add_class("-broken")
            raise
        minutes.remove_class("-broken")
        model = self.picker.text.strip()
        found = [] if model.endswith(".toml") else self.app.session.models(model)
        return Request(
            recipe=found[0].recipe_id if found and model else model,
            gpu_count=1 if gpus in (CPU, "") else int(gpus),
            methods=self.query_one("#bench_methods", Choice).value,
            search=self.query_one("#bench_search", Choice).value,
            minutes=limit,
            device=CPU if gpus == CPU else "cuda",
            records_file=records_file,
            work_directory=work_directory,
        )
