"""Measuring elsewhere: a cluster or a rented GPU. The file is shown before anything starts, and
what was submitted is found again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Grid, Vertical
from textual.message import Message
from textual.widgets import Input, Static

from advisor.benchmark.jobs import slurm
from advisor.benchmark.jobs.cluster_profile import ClusterProfile, read_profiles, settings_file
from advisor.benchmark.jobs.job_folder import Job, changed, kept_jobs
from advisor.benchmark.jobs.job_records import merge_job, state_words
from advisor.benchmark.jobs.prepare import Prepared, prepare_sky, prepare_slurm, submit, write
from advisor.benchmark.jobs.slurm import asked_for
from advisor.costs.amounts import counted
from advisor.costs.rental import MINUTES
from advisor.parse import InputError, parse_positive, shown
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.screens import SLIM, Dialog
from advisor.tui.pages.text_pages import ConfirmScreen
from advisor.tui.program.actions import ELSEWHERE, bindings_of
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.lines import (
    FAINT,
    HEADING,
    PLAIN,
    STRONG,
    WARNING,
    Line,
    LinesView,
    wrapped,
)
from advisor.tui.widgets.text_input import Field

if TYPE_CHECKING:
    from advisor.benchmark.measurement_request import Request
    from price_catalog.builds import Build

SKY = "sky"
ANY_CLUSTER = "a SLURM cluster"
NO_PROFILE = "Your cluster's partition, account and modules: write them as [slurm] into"
REFRESH_S = 10.0
MOST_JOBS = 5


class ElsewhereScreen(Dialog[None]):
    """Where else can it be measured?"""

    CSS_PATH = "elsewhere.tcss"
    WHERE = ELSEWHERE
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(ELSEWHERE)]
    HELP = """\
## Measuring elsewhere

Choose a cluster of your settings or a rented GPU; the file stands below before anything starts.
`F5` writes its folder and tells what to type. Where SLURM is on this machine it asks, then submits.
Jobs are found again after the program was closed; `F9` cancels the newest one. `Esc` goes back to
this machine.
"""

    @dataclass
    class Shown(Message):
        """What would run, or why nothing can."""

        number: int
        prepared: Prepared | None
        problem: str | None

    @dataclass
    class Done(Message):
        """A job was written, submitted or cancelled; or why not."""

        words: str
        problem: bool

    @dataclass
    class Listed(Message):
        """The jobs and how each stands."""

        jobs: list[tuple[Job, str]]

    def __init__(self, request: Callable[[int], Request], build: Build | None) -> None:
        """``request`` makes the measurement for so many GPUs; raises InputError. ``build`` is what
        the fields begin with."""
        super().__init__()
        self._request = request
        self._begins = ("H100", 1, 1)
        if build is not None:
            whole = build.gpu_count * build.machines
            self._begins = (build.gpu.name, whole, build.machines)
        self._number = 0
        self.prepared: Prepared | None = None
        self._problem: str | None = None
        self._said: list[Line] = []
        self._profiles: dict[str, ClusterProfile] = {}

    def compose(self) -> ComposeResult:
        words, problem = self._places()
        self._problem = problem
        gpu, count, nodes = self._begins
        with Vertical(classes="page") as box:
            box.border_title = "Measure elsewhere"
            with Grid(id="where"):
                yield Static("On", classes="label")
                yield Choice(words, next(iter(words)), id="place")
                yield Static("GPU", classes="label")
                yield Field(gpu, id="gpu", max_length=60)
                yield Static("GPUs", classes="label")
                yield Field(str(count), id="gpus", max_length=4)
                yield Static("Nodes", classes="label")
                yield Field(str(nodes), id="nodes", max_length=4)
            yield LinesView(id="file")
            yield LinesView(id="jobs")
            yield DialogKeys(ELSEWHERE)

    def _places(self) -> tuple[dict[str, str], str | None]:
        problem = None
        try:
            self._profiles = read_profiles(settings_file())
        except InputError as error:
            problem = str(error)
        words = {name: f"cluster {name}" for name in self._profiles}
        return (words or {ANY_CLUSTER: ANY_CLUSTER}) | {SKY: "a rented GPU"}, problem

    def on_mount(self) -> None:
        self._prepare_again()
        self._list_jobs()
        self.set_interval(REFRESH_S, self._list_jobs)

    def on_resize(self) -> None:
        self.set_class(self.app.size.width < SLIM, "-slim")

    @on(Choice.Changed)
    @on(Input.Changed)
    def _prepare_again(self) -> None:
        self._number += 1
        place = self.query_one("#place", Choice).value
        texts = {name: self.query_one(f"#{name}", Input).value for name in ("gpu", "gpus", "nodes")}
        try:
            nodes = _count(texts["nodes"], "nodes")
            request = self._request(_count(texts["gpus"], "GPUs"))
        except InputError as error:
            self._shown(self.Shown(self._number, None, str(error)))
        else:
            self._prepare(self._number, place, request, nodes, texts["gpu"].strip() or None)

    @work(thread=True, exclusive=True, group="prepare", exit_on_error=False)
    def _prepare(
        self, number: int, place: str, request: Request, nodes: int, gpu: str | None
    ) -> None:
        from advisor.store import StoreError

        try:
            store = self.app.store_reader.patient_store()
            if place == SKY:
                if gpu is None:
                    raise InputError("name the GPU to rent, as the catalogue calls it")
                with store.reading() as reader:
                    rentals = reader.rentals()
                minutes = request.minutes or MINUTES
                prepared = prepare_sky(store, rentals, request, gpu, minutes=minutes)
            else:
                profile = self._profiles.get(place, ClusterProfile())
                prepared = prepare_slurm(store, request, profile, node_count=nodes, gpu=gpu)
        except (InputError, StoreError) as error:
            self.post_message(self.Shown(number, None, str(error)))
        else:
            self.post_message(self.Shown(number, prepared, None))

    @on(Shown)
    def _shown(self, event: Shown) -> None:
        if event.number != self._number:
            return
        self.prepared, self._problem = event.prepared, event.problem
        self._said = []
        self._show_file()

    def _show_file(self) -> None:
        lines: list[Line] = list(self._said)
        if self._problem is not None:
            lines.append((self._problem, WARNING))
        if self.prepared is not None:
            if self.prepared.price is not None:
                lines.append((self.prepared.price.words(), STRONG))
            lines.append((f"{self.prepared.file}, before anything starts:", HEADING))
            lines += [(line, PLAIN) for line in self.prepared.text.splitlines()]
        if not self._profiles and self.query_one("#place", Choice).value == ANY_CLUSTER:
            lines += [("", PLAIN), (f"{NO_PROFILE} {settings_file()}.", FAINT)]
        self.query_one("#file", LinesView).show(lambda width: wrapped(lines, width), from_top=True)

    def action_go_on(self) -> None:
        """Write the folder; submit it where SLURM is on this machine, after asking."""
        prepared = self.prepared
        if prepared is None:
            self.app.notify(self._problem or "Still looking …", severity="warning", markup=False)
            return
        if prepared.where == "sky" or not slurm.has_slurm():
            self._write(prepared, submitting=False)
            return
        lines: list[Line] = [(f"{prepared.plan.recipe_name} on {prepared.device}", STRONG)]
        lines += [(f"  {words}", PLAIN) for words in asked_for(prepared.text)]
        lines += [
            (f"Its folder: {prepared.folder}", PLAIN),
            (
                "It goes on when this program is closed; F9 cancels it.",
                FAINT,
            ),
        ]

        def answered(yes: bool | None) -> None:
            if yes:
                self._write(prepared, submitting=True)

        self.app.push_screen(ConfirmScreen("Submit this job?", lines, "submit"), answered)

    @work(thread=True, group="submit", exit_on_error=False)
    def _write(self, prepared: Prepared, *, submitting: bool) -> None:
        try:
            job = write(prepared)
            if submitting:
                job = submit(job)
        except InputError as error:
            self.post_message(self.Done(str(error), True))
            return
        words = f"Submitted as job {job.number}. It goes on when this program is closed."
        if not submitting:
            words = "Written. Type:\n" + "\n".join(prepared.lines)
        self.post_message(self.Done(words, False))

    @on(Done)
    def _done(self, event: Done) -> None:
        look = WARNING if event.problem else STRONG
        self._said = [(line, look) for line in event.words.splitlines()] + [("", PLAIN)]
        self._show_file()
        self._list_jobs()

    # The jobs

    @work(thread=True, exclusive=True, group="jobs", exit_on_error=False)
    def _list_jobs(self) -> None:
        """Look at the newest jobs, and keep what those under way have measured."""
        from advisor.store import StoreError

        found = []
        for held in kept_jobs()[:MOST_JOBS]:
            job, state = held, None
            if job.number is not None and job.ended is None:
                try:
                    state = slurm.look(job.number)
                    job, _ = merge_job(self.app.store_reader.patient_store(), job)
                    if state.has_ended:
                        job = changed(job, ended=state.state)
                except (InputError, StoreError) as error:
                    found.append((job, str(error)))
                    continue
            found.append((job, state_words(job, state)))
        self.post_message(self.Listed(found))

    @on(Listed)
    def _listed(self, event: Listed) -> None:
        lines: list[Line] = [("Jobs", HEADING)]
        for job, state in event.jobs:
            number = f" {job.number}" if job.number else ""
            kept = f", {counted(job.merged, 'record')}" if job.merged else ""
            lines.append(
                (f"{job.where}{number}  {job.recipe_id}, {job.device}: {state}{kept}", PLAIN)
            )
        if not event.jobs:
            lines.append(("None yet. What is submitted here is found again.", FAINT))
        self.query_one("#jobs", LinesView).show(lambda width: wrapped(lines, width), from_top=True)

    def action_cancel_job(self) -> None:
        """End the newest job that is under way; what it measured is kept."""
        self._cancel()

    @work(thread=True, group="cancel", exit_on_error=False)
    def _cancel(self) -> None:
        under_way = [job for job in kept_jobs() if job.number is not None and job.ended is None]
        if not under_way:
            self.post_message(self.Done("No job is under way.", True))
            return
        try:
            slurm.cancel(under_way[0].number or "")
        except InputError as error:
            self.post_message(self.Done(str(error), True))
        else:
            words = f"Job {under_way[0].number} is cancelled; what it measured is kept."
            self.post_message(self.Done(words, False))


def _count(text: str, what: str) -> int:
    value = parse_positive(text, f"number of {what}", what, 4095)
    if value != int(value):
        raise InputError(f"the number of {what} {shown(text)} is no whole number")
    return int(value)
