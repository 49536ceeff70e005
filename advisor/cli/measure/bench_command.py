"""``advisor bench``: measure this machine, after asking; the times go into the store as they come.
With ``--on`` it measures elsewhere.

stdout holds the table of settings, stderr what happens meanwhile. It is answered where some setting
has a time.
"""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

from advisor.answers.checklist import Doubt, doubt_block, doubt_objects, quoted
from advisor.cli.command import (
    ANSWERED,
    CANCELLED,
    NO_ANSWER,
    WRONG_INPUT,
    add_fine_tuning,
    add_format,
    open_store,
    say,
    terminal_width,
)
from advisor.cli.measure import bench_elsewhere, bench_own
from advisor.cli.measure.bench_elsewhere import TUNING_METHODS
from advisor.cli.measure.jobs_command import say_event
from advisor.files import typed_path
from advisor.typed_input import InputError
from bench_runner.launch.processes import at_signals
from bench_runner.typed_numbers import plain
from bench_runner.untrusted_text import printable

if TYPE_CHECKING:
    from advisor.benchmark.benchmark_plan import Plan
    from advisor.benchmark.measurement_request import Ending, Request
    from advisor.benchmark.progress import Progress
    from advisor.benchmark.recorder import Recorder


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = parser.add_argument
    add("--model", help="a recipe (pythia-160m), a model that you keep, or a .toml")
    add("--name", help="with -- COMMAND: keep your own training under this name, to rank it")
    add("--steps", metavar="N", help="with -- COMMAND: how many optimiser steps it makes in all")
    add(
        "--share",
        metavar="FILE",
        nargs="?",
        const="my-times.jsonl",
        help="write your times for others: no names, no paths; nothing is sent",
    )
    add("--lab", metavar="NAME", help="with --share: your lab, as it stands beside them")
    parser.set_defaults(training=None)
    add("--gpus", metavar="N", help="how many GPUs (default: all that are here)")
    add(
        "--methods",
        help="naive, free-lunch, paper, all (default), rounding; several by commas",
    )
    add("--batch", metavar="B", help="sequences an optimiser step (default: at most 64)")
    add("--sequence-length", metavar="L", help="tokens a sequence")
    add("--search", default="fast", help="fast (default) or exhaustive")
    add("--minutes", metavar="M", help="stop after 90 or 2h with the best so far")
    add("--again", action="store_true", help="measure what was measured before, too")
    add("--yes", action="store_true", help="start without asking")
    add("--device", default="cuda", help="cuda (default), or cpu to try it out")
    add("--details", action="store_true", help="every setting, those that were left out, too")
    add("--records", metavar="FILE", help="where the runner keeps its records (JSON lines)")
    add("--work", metavar="DIR", help="where it keeps logs and compiled kernels")
    add_format(parser)
    add_fine_tuning(parser)
    bench_elsewhere.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Ask, measure, print. Raises InputError and StoreError."""
    if options.training is not None:
        return bench_own.run(options, options.training)
    _check_recipe_named(options)
    if options.model is None:
        return bench_own.share(options)
    if options.on is not None:
        return bench_elsewhere.run(options)
    bench_elsewhere.check_place(options, None)
    from advisor.benchmark import runner_process
    from advisor.benchmark.progress import Progress, outcome_sentence, outcome_text
    from advisor.benchmark.recorder import Recorder, follow

    plan = _plan(options)
    if not options.yes and not _confirmed(plan):
        return CANCELLED
    recorder = Recorder(open_store(options), plan)
    progress = Progress(plan.labels, plan.estimated_minutes)
    running = runner_process.Run(plan.request, runner=runner_process.RUNNER)
    began = time.monotonic()

    def cancel() -> None:
        again = " again: ending it harder" if running.is_cancelled else "; press ^C again to kill"
        print(f"\ncancelling{again} …", file=sys.stderr)
        running.cancel()

    # Interrupt and terminate end the run instead of this program.
    with at_signals(cancel), closing(follow(running, recorder)) as events:
        for event in events:
            progress.apply(event, time.monotonic() - began)
            say_event(event, progress)
    progress.close()
    ending = running.ending()
    _say_ending(ending, recorder)
    if ending.kind == "refused":
        return WRONG_INPUT
    asked = (progress, plan.recipe_name, plan.device_words, plan.papers_labels)
    doubts = _doubts(progress, plan, options.model)
    if options.format == "table":
        width = terminal_width()
        blocks = [outcome_text(*asked, details=options.details, width=width)]
        blocks += doubt_block("To be sure", doubts, width)
        print("\n".join(map(printable, "\n\n".join(blocks).split("\n"))))
    elif options.format == "json":
        from advisor.tables.plain_values import to_json

        verdict = {"sentence": outcome_sentence(*asked), "doubts": doubt_objects(doubts)}
        print(to_json({"verdict": verdict, "settings": table(progress, plan)}))
    else:
        from advisor.tables.table_formats import render_rows

        print(render_rows(table(progress, plan), options.format, COLUMNS))
    if ending.kind == "cancelled":
        return CANCELLED
    return ANSWERED if progress.best_row is not None else NO_ANSWER


def _check_recipe_named(options: argparse.Namespace) -> None:
    """Raise InputError where a flag of a command of one's own stands without it, or nothing is
    named to measure."""
    for name in ("name", "steps"):
        if getattr(options, name) is not None:
            raise InputError(
                f"--{name} goes with a command of your own: advisor bench --{name} "
                f"{quoted(getattr(options, name))} -- python train.py"
            )
    if options.model is None and options.share is None:
        raise InputError(
            "missing: --model, such as pythia-160m, or a command of your own after --, such as "
            "advisor bench -- python train.py"
        )


def _doubts(progress: Progress, plan: Plan, typed: str) -> list[Doubt]:
    """What to do next: more time where nothing was timed or not all, every setting, where the time
    ranks; ``typed`` is the model as it was named."""
    request, model = plan.request, quoted(typed)
    again = f"advisor bench --model {model} {_again(request)}"
    doubts: list[Doubt] = []

    def add(about: str, words: str, command: str) -> None:
        doubts.append(Doubt(about=about, words=words, command=command))

    if progress.best_row is None:
        if request.minutes is not None:
            longer = f"{again} --minutes {plain(10 * request.minutes, 6)}"
            add("time", f"{plain(request.minutes, 6)} min was not enough", longer)
        return doubts
    if progress.best_row.unsure:
        words = f"{progress.best_row.unsure}; measure it again when the machine is cool and idle"
        add("steps", words, f"{again} --again")
    if progress.is_cut_short:
        most = 60.0 if request.minutes is None else 4 * request.minutes
        words = "not every setting was tried; what is finished is kept, and this goes on"
        if request.search != "fast":
            again += f" --search {request.search}"
        add("time", words, f"{again} --minutes {plain(most, 6)}")
    elif request.search == "fast":
        words = "the fast search leaves out what cannot win by its estimates; this tries everything"
        add("search", words, f"{again} --search exhaustive")
    export = (
        f"python -m bench_runner export --recipe {quoted(request.recipe)} "
        f"--records {quoted(str(request.records_file.absolute()))} --out winner"
    )
    words = "the winner as a plain Trainer script"
    if progress.faster_rounding is not None:
        words, export = f"{words}, of what rounds otherwise", f"{export} --rounding"
    add("export", words, export)
    if request.device == "cuda" and not typed.endswith(".toml"):  # else it has no name to rank by
        name = model if request.ask is None else plan.recipe_id
        add("rank", "what this time changes in a ranking", f"advisor rank --model {name}")
    return doubts


def _again(request: Request) -> str:
    """What else was asked for, but the time and the search, so that what is finished is reused."""
    from advisor.benchmark.benchmark_plan import bench_folders

    words = f"--gpus {request.gpu_count}"
    if request.device == "cpu":
        words = "--device cpu" + (f" {words}" if request.gpu_count > 1 else "")
    if (ask := request.ask) is not None:
        words += "" if ask.tuning is None else ask.tuning.flags()
        given = (("batch", ask.batch_size), ("sequence-length", ask.sequence_length))
        words += "".join(f" --{name} {value}" for name, value in given if value is not None)
    if request.methods != (TUNING_METHODS if ask is not None else "all"):
        words += f" --methods {quoted(request.methods)}"
    records, work = bench_folders()
    if request.records_file != typed_path(records):
        words += f" --records {quoted(str(request.records_file))}"
    if request.work_directory != typed_path(work):
        words += f" --work {quoted(str(request.work_directory))}"
    return words


def _plan(options: argparse.Namespace) -> Plan:
    from advisor.benchmark.benchmark_plan import bench_folders, make_plan
    from advisor.benchmark.measurement_request import check_packages, look_here
    from bench_runner.records import journal

    records, work = bench_folders()
    for flag in ("records", "work"):
        if getattr(options, flag) == "":
            # An unset variable in a script must not end up in the user's own records.
            raise InputError(f"--{flag} is empty: name one, or leave it out")
    request = bench_elsewhere.read_request(
        options,
        records_file=typed_path(options.records or records),
        work_directory=typed_path(options.work or work),
    )
    count = None if options.gpus is None else request.gpu_count
    try:
        journal.read(request.records_file)
        journal.check_place(request.records_file)
    except ValueError as error:
        raise InputError(str(error)) from None
    check_packages()
    here = look_here(request.work_directory)
    return make_plan(open_store(options), request, here, gpu_count=count)


def _confirmed(plan: Plan) -> bool:
    """Show what would happen, and ask. Raises InputError where nobody can answer."""
    lines = [f"{label:>9}  {text}" for label, text in plan.lines()]
    lines += [f"        !  {remark}" for remark in plan.remarks()]
    to_start = f"start a benchmark on {plan.device_words} ({plan.takes_words})"
    return bench_elsewhere.confirmed("Start?", to_start, lines)


def _say_ending(ending: Ending, recorder: Recorder) -> None:
    say(f"{'advisor: ' if ending.kind in ('failed', 'refused') else ''}{ending.message}")
    if ending.kind == "failed":
        for line in ending.log_tail:
            say(f"  {line}")
    if ending.kind == "failed" or (ending.kind == "no-time" and ending.log_tail):
        say(f"log: {ending.log_file}")
    if ending.suggestion is not None:
        say(ending.suggestion)
    if recorder.kept or recorder.problem is not None:
        say(recorder.words())


_OF_A_ROW = (
    *("state", "training_days", "training_days_low", "training_days_high"),
    *("step_s", "micro_batch_size", "peak_memory_gib", "mfu"),
)
COLUMNS = ("model", "gpu", "gpu_count", "settings", *_OF_A_ROW, "best", "reason")


def table(progress: Progress, plan: Plan) -> list[dict[str, Any]]:
    """The settings as rows for a script or a person."""
    best = progress.best_row
    return [
        {
            "model": plan.recipe_id,
            "gpu": plan.gpu_word,
            "gpu_count": plan.request.gpu_count,
            "settings": row.label,
            **{name: getattr(row, name) for name in _OF_A_ROW},
            "best": best is not None and row.label == best.label,
            "reason": row.detail or None,
        }
        for row in progress.rows.values()
    ]
