"""``advisor jobs``: measurements that were handed to a cluster or a rented GPU, found again."""

from __future__ import annotations

import argparse
import sys
from threading import Event
from typing import TYPE_CHECKING, Any

from advisor.cli.command import (
    ANSWERED,
    CANCELLED,
    NO_ANSWER,
    add_format,
    open_store,
    say,
    terminal_width,
)
from advisor.costs.amount_words import are, counted
from advisor.typed_input import InputError
from bench_runner.launch.processes import at_signals
from bench_runner.untrusted_text import printable

if TYPE_CHECKING:
    from advisor.benchmark.jobs.job_folder import Job
    from advisor.benchmark.progress import Progress
    from advisor.store import Store

ACTIONS = ("list", "follow", "cancel", "merge")
COLUMNS = ("job", "where", "number", "model", "device", "state", "records", "folder")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """What to do, and with which job."""
    parser.add_argument(
        "action",
        nargs="?",
        default="list",
        metavar="list|follow|cancel|merge",
        help="default: list",
    )
    parser.add_argument("job", nargs="?", help="a name or a number from the list")
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Answer it. Raises InputError and StoreError."""
    from advisor.benchmark.jobs.job_folder import find_job
    from advisor.typed_input import parse_choice

    action = parse_choice(options.action, ACTIONS, "what to do with jobs")
    if action == "list":
        if options.job is not None:
            raise InputError("advisor jobs list takes no job: name one after follow or merge")
        return _list(options)
    if options.job is None:
        raise InputError(f"which job? write: advisor jobs {action} NAME (advisor jobs lists them)")
    job = find_job(options.job)
    if action == "merge":
        return _merge(open_store(options), job)
    if job.number is None:
        raise InputError(
            f"{job.name} was not submitted from here: its records come back by "
            "advisor merge --mine FILE"
        )
    if action == "cancel":
        from advisor.benchmark.jobs import slurm

        ended = slurm.look(job.number)
        if ended.has_ended:
            print(f"{job.name}: ended before ({ended.state.lower()})", file=sys.stderr)
        else:
            slurm.cancel(job.number)
            print(f"{job.name}: cancelled; what it measured is kept", file=sys.stderr)
        return _merge(open_store(options), job)
    return follow(open_store(options), job)


def _list(options: argparse.Namespace) -> int:
    from advisor.benchmark.jobs.job_folder import kept_jobs
    from advisor.benchmark.jobs.job_records import state_words
    from advisor.tables.table_formats import render_rows

    names = {"job": "name", "model": "recipe_id", "records": "merged"}
    rows: list[dict[str, Any]] = []
    for job in kept_jobs():
        values = {name: getattr(job, names.get(name, name), None) for name in COLUMNS}
        rows.append(values | {"state": state_words(job)})
    if options.format != "table":
        print(render_rows(rows, options.format, COLUMNS))
        return ANSWERED
    if not rows:
        print(
            "no jobs yet; to write one: advisor bench --model pythia-160m --gpus 4 --on slurm",
            file=sys.stderr,
        )
        return ANSWERED
    shown = [name for name in COLUMNS[:-1] if any(row[name] is not None for row in rows)]
    spare = ("records", "where", "number", "model")
    print(render_rows(rows, "table", shown, width=terminal_width(), spare=spare))
    print("\nWhere their folders lie: advisor jobs --format csv")
    return ANSWERED


def _merge(store: Store, job: Job) -> int:
    from advisor.benchmark.jobs.job_records import merge_job

    job, added = merge_job(store, job)
    print(
        f"{job.name}: {counted(job.merged, 'record')}, {added} of them new in the store",
        file=sys.stderr,
    )
    return ANSWERED if job.merged else NO_ANSWER


def follow(store: Store, job: Job, *, poll_s: float | None = None) -> int:
    """Tell what a submitted job does until it ends, keeping what it measures. ^C leaves it alone.
    Raises InputError and StoreError."""
    from advisor.benchmark.jobs.job_folder import changed
    from advisor.benchmark.jobs.job_records import POLL_S, complaint, follow_job, merge_job
    from advisor.benchmark.progress import Progress

    stop, state, fresh = Event(), None, 0
    progress = Progress(labels=(), estimated_minutes=0.0)
    with at_signals(stop.set):
        for state, event in follow_job(job, poll_s=poll_s or POLL_S, stop=stop):
            if event is None:
                say(f"job {job.number}: {state.words()}")
                continue
            progress.apply(event, 0.0)
            say_event(event, progress)
            if event["event"] == "error":
                say(f"the runner says: {event.get('message')}")
            if event["event"] == "trial-finished":
                job, added = merge_job(store, job, predict=False)
                fresh += added
    job, added = merge_job(store, job, predict=False)
    if fresh + added:
        store.update_predictions()
    if stop.is_set():
        say(
            f"the job goes on without this program; see it again: advisor jobs follow {job.name}; "
            f"end it: advisor jobs cancel {job.name}"
        )
        return CANCELLED
    assert state is not None
    job = changed(job, ended=state.state)
    say(f"{counted(job.merged, 'record')} of this job {are(job.merged)} in {store.path}")
    if state.state not in ("COMPLETED", "GONE"):
        for line in complaint(job):
            say(f"  {line}")
        say("what was finished is kept; submit it again and it goes on from there")
    return ANSWERED if job.merged else NO_ANSWER


def say_event(event: dict[str, Any], progress: Progress) -> None:
    """Tell of an event that progress has taken in."""
    from advisor.benchmark.progress import TIME, time_words

    kind = event["event"]
    if kind in ("trial-finished", "left-out", "reused"):
        row = progress.rows[progress.touched]
        words = row.state
        if row.state == TIME and row.training_days is not None:
            words = time_words(row.training_days)
        if row.reused:
            words += " (measured before)"
        if row.detail:
            words += f": {row.detail}"
        print(printable(f"{row.label}: {words}"), file=sys.stderr)
    elif kind == "trial-started":
        print(f"{progress.running}: trying", file=sys.stderr)
    elif kind == "noise":
        print(f"the runner says: {printable(event['text'])}", file=sys.stderr)
