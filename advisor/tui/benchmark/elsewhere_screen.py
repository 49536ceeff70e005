"""Measuring elsewhere: a cluster or a rented GPU. The file is shown before anything starts, and
what was submitted is found again."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from textual import on
from textual.widget import Widget

from advisor.benchmark.jobs import slurm
from advisor.benchmark.jobs.cluster_profile import ClusterProfile, read_profiles, settings_file
from advisor.benchmark.jobs.job_files import asked_for
from advisor.benchmark.jobs.job_folder import Job, changed, kept_jobs
from advisor.benchmark.jobs.job_records import merge_job, state_words
from advisor.benchmark.jobs.prepare import Prepared, prepare_sky, prepare_slurm, submit, write
from advisor.costs.amount_words import counted
from advisor.costs.rental import MINUTES
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.tui.pages.screens import ConfirmScreen
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.in_thread import in_thread
from advisor.tui.widgets.lines import (
    FAINT,
    HEADING,
    PLAIN,
    STRONG,
    Line,
    LinesView,
    wrapped,
)
from advisor.tui.widgets.text_input import Field
from advisor.typed_input import InputError, parse_whole

if TYPE_CHECKING:
    from advisor.benchmark.measurement_request import Request
    from price_catalog.builds import Build

SKY = "sky"
ANY_CLUSTER = "a SLURM cluster"
NO_PROFILE = "Your cluster's partition, account and modules: write them as [slurm] into"
OF_CLUSTER = ("account", "partition")
"""What of a cluster's settings is typed here."""
REFRESH_S = 10.0
MOST_JOBS = 5


class ElsewhereScreen(Form):
    """Where else can it be measured?"""

    WHERE = "elsewhere"
    SIZE = "page tall"
    GRID = "pairs"
    STUDIES = True
    HELP = """\
## Measuring elsewhere

Choose a cluster of your settings or a rented GPU; the file is shown below before anything starts.
`Account` and `Partition` are the cluster's own names. `F5` or `Enter` writes its folder and says
what to type. Where SLURM is on this machine it asks, then submits. Jobs are found again after the
program was closed; `F9` cancels the newest one. `Esc` goes back to this machine.
"""

    def __init__(self, request: Callable[[int], Request], build: Build | None) -> None:
        """``request`` makes the measurement for so many GPUs; raises InputError. ``build`` is what
        the fields begin with."""
        self._request = request
        self._profiles: dict[str, ClusterProfile] = {}
        self._settings_problem = ""
        try:
            self._profiles = read_profiles(settings_file())
        except InputError as error:
            self._settings_problem = str(error)
        clusters = {name: f"cluster {name}" for name in self._profiles}
        places = (clusters or {ANY_CLUSTER: ANY_CLUSTER}) | {SKY: "a rented GPU"}
        profile = next(iter(self._profiles.values()), ClusterProfile())
        gpu, count, nodes = "H100", 1, 1
        if build is not None:
            count, nodes = build.gpu_count * build.machines, build.machines
            gpu = build.gpu.name
        begins = {"place": next(iter(places)), "gpu": gpu, "gpus": str(count), "nodes": str(nodes)}
        begins |= {name: getattr(profile, name) or "" for name in OF_CLUSTER}
        super().__init__("Measure elsewhere", begins)
        self.FIELDS = (
            FormField("place", "On", choices=places),
            FormField("gpu", "GPU", "H100", 60),
            FormField("gpus", "GPUs", "1", 4),
            FormField("nodes", "Nodes", "1", 4),
            FormField("account", "Account", "the cluster's default", 60),
            FormField("partition", "Partition", "the cluster's default", 60),
        )

    def more(self) -> Iterable[Widget]:
        return (*super().more(), LinesView(id="jobs"))

    def on_mount(self) -> None:
        self.look(self.texts)
        self._list_jobs()
        self.set_interval(REFRESH_S, self._list_jobs)

    @on(Choice.Changed, "#place")
    def _place_chosen(self, event: Choice.Changed) -> None:
        profile = self._profiles.get(event.value, ClusterProfile())
        for name in OF_CLUSTER:
            self.query_one(f"#{name}", Field).value = getattr(profile, name) or ""

    def typed(self) -> None:
        """The values at the start would run, too."""
        self.studied = None
        self.look(self.texts)

    def judge(self, texts: dict[str, str]) -> Judged:
        from advisor.store import StoreError

        lines: list[Line] = []
        if not self._profiles and texts["place"] == ANY_CLUSTER:
            lines += [("", PLAIN), (f"{NO_PROFILE} {settings_file()}.", FAINT)]
        try:
            prepared = self._prepare(texts)
        except (InputError, StoreError) as error:
            words = self._settings_problem or str(error)
            return Judged(words, page=lambda width: wrapped(lines, width))
        price = [] if prepared.price is None else [(prepared.price.words(), STRONG)]
        lines = [
            *price,
            (f"{prepared.file}, before anything starts:", HEADING),
            *((line, PLAIN) for line in prepared.text.splitlines()),
            *lines,
        ]
        keep = partial(self._go_on, prepared)
        return Judged(self._settings_problem, keep, page=lambda width: wrapped(lines, width))

    def _prepare(self, texts: dict[str, str]) -> Prepared:
        """What would run. Raises InputError and StoreError."""
        nodes = parse_whole(texts["nodes"], "the number of nodes", ("nodes", "node"))
        request = self._request(parse_whole(texts["gpus"], "the number of GPUs", ("gpus", "gpu")))
        store = self.app.store_reader.patient_store()
        if texts["place"] != SKY:
            profile = self._profiles.get(texts["place"], ClusterProfile())
            account, partition = texts["account"] or None, texts["partition"] or None
            profile = replace(profile, account=account, partition=partition)
            gpu = texts["gpu"] or None
            return prepare_slurm(store, request, profile, node_count=nodes, gpu=gpu)
        if not texts["gpu"]:
            raise InputError("name the GPU to rent, as the catalogue calls it")
        with store.reading() as reader:
            rentals = reader.rentals()
        minutes = request.minutes or MINUTES
        return prepare_sky(store, rentals, request, texts["gpu"], minutes=minutes)

    def _go_on(self, prepared: Prepared) -> None:
        """Write the folder; submit it where SLURM is on this machine, after asking."""
        if prepared.job.where == "sky" or not slurm.has_slurm():
            self._write(prepared, submitting=False)
            return
        lines: list[Line] = [(f"{prepared.plan.recipe_name} on {prepared.job.device}", STRONG)]
        lines += [(f"  {words}", PLAIN) for words in asked_for(prepared.text)]
        lines.append((f"Its folder: {prepared.job.folder}", PLAIN))
        lines.append(("It goes on when this program is closed; F9 cancels it.", FAINT))

        def answered(yes: bool | None) -> None:
            if yes:
                self._write(prepared, submitting=True)

        self.app.push_screen(ConfirmScreen("Submit this job?", lines, "submit"), answered)

    def _write(self, prepared: Prepared, *, submitting: bool) -> None:
        def write_job() -> str:
            job = write(prepared)
            if not submitting:
                return "Written. Type:\n" + "\n".join(prepared.lines)
            words = f"Submitted as job {submit(job).number}."
            return f"{words} It goes on when this program is closed."

        self.does(write_job)()

    def done(self, words: str) -> None:
        """The page stays: the job is in its list."""
        self.say(words)
        self._list_jobs()

    # The jobs

    def _list_jobs(self) -> None:
        in_thread(self, "jobs", self._look_at_jobs, self._listed)

    def _look_at_jobs(self) -> list[tuple[Job, str]]:
        """The newest jobs with the state of each; what those under way have measured is kept."""
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
        return found

    def _listed(self, jobs: list[tuple[Job, str]]) -> None:
        lines: list[Line] = [("Jobs", HEADING)]
        for job, state in jobs:
            number = f" {job.number}" if job.number else ""
            kept = f", {counted(job.merged, 'record')}" if job.merged else ""
            lines.append(
                (f"{job.where}{number}  {job.recipe_id}, {job.device}: {state}{kept}", PLAIN)
            )
        if not jobs:
            lines.append(("None yet. What is submitted here is found again.", FAINT))
        self.query_one("#jobs", LinesView).show(lambda width: wrapped(lines, width), from_top=True)

    def action_cancel_job(self) -> None:
        self.does(_cancel)()


def _cancel() -> str:
    under_way = [job for job in kept_jobs() if job.number is not None and job.ended is None]
    if not under_way:
        raise InputError("No job is under way.")
    slurm.cancel(under_way[0].number or "")
    return f"Job {under_way[0].number} is cancelled; what it measured is kept."
