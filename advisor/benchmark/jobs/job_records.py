"""The records that come back from a job: read from its output, kept in the store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any

from advisor.benchmark.jobs import slurm
from advisor.benchmark.jobs.job_folder import Job, changed
from advisor.benchmark.jobs.slurm import JobState
from advisor.benchmark.recorder import keep_records
from advisor.typed_input import InputError
from bench_runner.launch.processes import log_tail
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel
    from advisor.store import Store


POLL_S = 5.0
_LATE_POLLS = 3
"""Looks after the end: a shared file system shows the last lines late."""


def records_in(job: Job) -> list[Measurement]:
    """What a job has measured: what it printed on a rented machine, else its file of records.
    Raises InputError."""
    try:
        if job.where == "sky" and job.output is not None and job.output.exists():
            return journal.records_in_output(job.output)
        return journal.read(job.records)
    except ValueError as error:
        raise InputError(str(error)) from None


def merge_job(store: Store, job: Job, *, predict: bool = True) -> tuple[Job, int]:
    """Keep in the store what a job has measured; the job, and how many records were new.

    ``predict=False`` leaves it to the caller to bring the predictions in line: once after many
    merges, since it takes about a second. Raises InputError and StoreError.
    """
    records = records_in(job)
    if not records:
        return job, 0
    added = keep_records(store, records, _own_recipe(store, job))
    if predict and added and any(record.status == "ok" for record in records):
        store.update_predictions()
    return changed(job, merged=len(records)), added


def _own_recipe(store: Store, job: Job) -> OwnModel | None:
    """The recipe of the job's folder where the store does not have it."""
    from advisor.benchmark.benchmark_plan import RECIPE
    from advisor.benchmark.trained_recipe import in_one_line, recipe_to_measure
    from advisor.ranking.snapshot import take_snapshot

    path = Path(job.folder) / RECIPE
    if not path.exists():
        return None
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
    if any(model.recipe_id == job.recipe_id for model in snapshot.models):
        return None
    with in_one_line():
        return recipe_to_measure(store, snapshot, str(path)).own


def follow_job(
    job: Job, *, poll_s: float = POLL_S, stop: Event | None = None
) -> Iterator[tuple[JobState, dict[str, Any] | None]]:
    """Each new state of a submitted job, and each event of its runner with the state of then, until
    it has ended or is not to be followed on.

    The job goes on whatever becomes of the follower. Raises InputError.
    """
    assert job.number is not None and job.output is not None
    at, told, late, stop = 0, None, 0, stop or Event()
    while not stop.is_set():
        state = slurm.look(job.number)
        if state != told:
            told = state
            yield state, None
        events, at = journal.events_since(job.output, at)
        for event in events:
            yield state, event
        if state.has_ended:
            late += 1
            if late >= _LATE_POLLS or any(e["event"] == "search-finished" for e in events):
                return
        stop.wait(poll_s)


def complaint(job: Job) -> tuple[str, ...]:
    """The last lines that a job wrote as errors."""
    return () if job.errors is None else log_tail(job.errors, lines=8)


def state_words(job: Job, state: JobState | None = None) -> str:
    """``running on n1``, ``not submitted``, ``completed``; asks SLURM about a
    running job unless ``state`` is given, so that all that is shown of it is of one moment."""
    if job.ended is not None:
        return job.ended.lower().replace("_", " ")
    if job.number is None:
        return "to be submitted by hand" if job.where == "slurm" else "to be launched by hand"
    if state is not None:
        return state.words()
    try:
        return slurm.look(job.number).words()
    except InputError as error:
        return f"not known: {error}"
