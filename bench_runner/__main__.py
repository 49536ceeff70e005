"""``python -m bench_runner``: a search, one trial, the winner as files.

Stdout holds the answer alone, one JSON object a line where it is a stream; messages go to stderr.
Exit codes: 0 answered; 1 no settings have a time; 2 the input is wrong, with
one line that says what and how to mend it; 75 a node of the job was lost, the rest can go on
elsewhere; 130 cancelled.

Commands
    run --recipe R [--gpus N] [--methods naive,free-lunch,paper,all,rounding | --settings SETTINGS]
        [--search fast|exhaustive] [--micro-batch M] [--largest-micro-batch M]
        [--minutes M] [--trial-minutes M] [--peak-tflops P] [--records FILE]
        [--work DIR] [--again] [--yes] [--device cuda|cpu] [--launcher local|slurm]
        [--source-id ID]
        The search, of the paper's space or of all exact settings (all, the default), or one
        combination alone. Prints the events below; appends each record to FILE (records.jsonl) as
        its trial ends. R is a recipe's id or a TOML file. P is dense TFLOP/s of one GPU with FP32
        accumulation: a number for the recipe's own precision, or fp16=989,tf32=494,fp32=67.
        SIGINT or SIGTERM cancels: the running group is ended, finished trials are kept.
        SETTINGS are naive, or words joined by commas: free-lunch, zero-1, zero-2, zero-3,
        fsdp-shard-grad-op, fsdp-full-shard, offloading, checkpointing; not-compiled, whole or
        regional compilation; fused loss; trimmed inputs; eager, sdpa or flash attention;
        half-weights; pure-half (no FP32 masters) changes the rounding of what is trained.
    export --recipe R --records FILE --out DIR [--id MEASUREMENT] [--rounding]
        The winner (the recipe's fastest exact record, the fastest of those that round otherwise,
        too, or the one named): training_arguments.json,
        deepspeed.json or fsdp.json where it shards, train.py, launch.sh. Prints their paths.

Events of run (one JSON object a line, key "event")
    search-started   labels (of those that are sure to be tried or left out), expected_trials
    trial-started    label, reason
    trial-progress   label, phase (climb, probe, climbed, warm-up, timing, again);
                     probe: micro_batch_size, fits, pass_s, peak_memory_gib, or reason
    trial-finished   label, record: a measurement as bench_runner.records.journal writes it
                     (status ok, infeasible or failed, with its reason)
    left-out         label, record (status pruned, with its reason)
    reused           label, record: measured before on this machine with these versions
    best             label, training_days: after each of the three above
    search-finished  complete, cancelled, best (a record or null), label
    error            message; the exit code is 2
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Any

from bench_runner import export
from bench_runner.arguments import (
    asked_settings,
    asked_setup,
    find_recipe,
    parser,
)
from bench_runner.launch import hardware
from bench_runner.launch.node_links import NODE_LOST
from bench_runner.launch.processes import ending_signals, when_parent_ends
from bench_runner.launch.trial_record import Setup, counted
from bench_runner.recipes import recipe_hash
from bench_runner.records import journal
from bench_runner.records.locks import DeviceInUseError, only_benchmark
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.runner import Search
from bench_runner.settings import batch_and_sharding, search
from bench_runner.streams import fill_closed_streams
from bench_runner.untrusted_text import printable


def emit(event: dict[str, Any]) -> None:
    """Print one event and flush, so that whoever follows sees it at once."""
    print(json.dumps(event, separators=(",", ":")), flush=True)


def _measure(arguments: argparse.Namespace) -> int:
    setup = asked_setup(arguments)
    candidates = asked_settings(arguments, setup)
    trials = search.expected_trials(candidates, setup.strategy)
    # Records that cannot be read are an error before anything is measured.
    journal.read(setup.records_file)
    journal.check_place(setup.records_file)
    offloading = any(settings.offloading for settings in candidates)
    count = counted(setup.recipe) if offloading else None
    concerns = hardware.concerns(setup.machine, setup.gpu_count, count.parameters if count else 0)
    emit(
        {
            "event": "search-started",
            "labels": [
                batch_and_sharding.label(settings)
                for settings in search.named_ahead(candidates, setup.strategy)
            ],
            "expected_trials": round(trials, 1),
        }
    )
    for sentence in concerns:
        print(sentence, file=sys.stderr)
    if concerns and not arguments.yes:
        raise ValueError(f"{concerns[0]}; give --yes to start all the same")
    devices = [gpu.uuid for gpu in setup.machine.gpus[: setup.gpu_count]]
    if setup.device == "cpu":
        # The processors of a job are its own.
        devices = [f"cpu{os.environ.get('SLURM_JOB_ID', '')}"]
    try:
        with only_benchmark(devices):
            return _search(arguments, setup, candidates)
    except DeviceInUseError as error:
        raise ValueError(
            f"another benchmark runs on this machine's {error}, and each would be timed through "
            "the other: wait until it has ended, or choose other GPUs by CUDA_VISIBLE_DEVICES"
        ) from None


def _search(arguments: argparse.Namespace, setup: Setup, candidates: Sequence[Settings]) -> int:
    stop = Event()
    when_parent_ends(stop.set)
    for number in ending_signals():
        signal.signal(number, lambda *_: stop.set())
    methods = {method.strip() for method in arguments.methods.split(",")}
    searches = arguments.settings is None and methods & {"paper", "all"}
    looking = Search(setup, emit, stop)
    best = looking.run(candidates, name_the_best=bool(searches))
    if stop.is_set():
        return 130
    if looking.lost_nodes:
        return NODE_LOST
    return 0 if best is not None else 1


def _export(arguments: argparse.Namespace) -> int:
    recipe, named = find_recipe(arguments.recipe), arguments.id

    def may_win(record: Measurement) -> bool:
        """Whether it is exported: the one that is named, else what is exact, and what rounds
        otherwise where that is asked for."""
        if named is not None:
            return bool(record.measurement_id == named)
        pure = record.settings is not None and record.settings.weights == "pure"
        return record.method != "changes-training" or (arguments.rounding and pure)

    records = [r for r in journal.read(arguments.records) if r.recipe_id == recipe.recipe_id]
    records = [r for r in records if r.status == "ok" and r.step_s is not None and may_win(r)]
    # A model that was defined anew under the same id is another one.
    same = [r for r in records if r.recipe_hash in (None, recipe_hash(recipe))]
    if not same:
        defined = " as it is defined now" if records else ""
        raise ValueError(
            f"{arguments.records} holds no time of {recipe.recipe_id}{defined}"
            f"{'' if named is None else ' under ' + named}: measure it first, as in "
            f"python -m bench_runner run --recipe {recipe.recipe_id} --records {arguments.records}"
        )
    for path in export.write(recipe, min(same, key=lambda r: r.step_s or 0.0), arguments.out):
        print(path)
    return 0


def _words(error: Exception, folder: Path | None = None) -> str:
    """What went wrong, as one line; ``folder`` is where this program writes."""
    if isinstance(error, OSError):
        # A log that is written to says nothing of its name.
        place = error.filename or folder
        name = f" ({os.fsdecode(place)})" if place else ""
        text = f"{error.strerror or error}{name}: free some space, or name another file or folder"
    else:
        text = str(error) or "something is nested too deeply to be read"
    return printable(" ".join(text.split()))


def main(words: Sequence[str] | None = None) -> int:
    """Answer one command; the exit code."""
    arguments = parser().parse_args(words)
    try:
        if arguments.command == "export":
            return _export(arguments)
        return _measure(arguments)
    except BrokenPipeError:
        # Who followed us went away; what was measured is in the records.
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115  # or Python itself would complain
        return 130
    except (ValueError, ModuleNotFoundError, OSError, RecursionError) as error:
        message = _words(error, getattr(arguments, "work", None))
        if isinstance(error, ModuleNotFoundError):
            message += f": install what a benchmark needs ({error.name}) beside this Python"
        if arguments.command == "run":
            emit({"event": "error", "message": message})
        print(f"bench_runner: {message}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    fill_closed_streams()
    sys.exit(main())
