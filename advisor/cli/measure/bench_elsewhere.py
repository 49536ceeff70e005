"""``advisor bench --on slurm|sky``: the file that a cluster or a rented GPU runs; with --submit,
the job itself.

stdout holds the file alone, so that it can be piped; stderr what to type next.
"""

from __future__ import annotations

import argparse
import math
import sys
from datetime import datetime
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING

from advisor.cli.command import ANSWERED, CANCELLED, open_store, say, terminal_width
from advisor.costs.rental import MINUTES
from advisor.files import typed_path
from advisor.typed_input import InputError, parse_choice, parse_positive, shown
from bench_runner.typed_numbers import read_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.benchmark.jobs.cluster_profile import ClusterProfile
    from advisor.benchmark.jobs.prepare import Prepared
    from advisor.benchmark.measurement_request import Request
    from advisor.prediction.model.askable_models import Ask
    from advisor.store import Store


MAX_MINUTES = 60 * 24 * 30
MAX_SKY_MINUTES = 24 * 60


def job_request(options: argparse.Namespace) -> Request:
    """The measurement itself, from the flags that bench has anyway. Raises InputError."""
    from advisor.benchmark.benchmark_plan import RECORDS, WORK

    if options.gpus is None:
        raise InputError("say how many GPUs the job uses, such as --gpus 4")
    if options.records is not None or options.work is not None:
        raise InputError("--records and --work go without --on: a job has a folder of its own")
    if options.format != "table" or options.details:
        raise InputError("--format and --details go without --on: it prints the job's file")
    return read_request(options, records_file=RECORDS, work_directory=WORK)


def read_request(
    options: argparse.Namespace, *, records_file: Path, work_directory: Path
) -> Request:
    """What to measure, from the flags; one GPU where no number is given. Raises InputError."""
    from advisor.benchmark.measurement_request import Request

    ask = _tuning(options)
    methods = options.methods
    if methods is None:
        methods = "all" if ask is None else TUNING_METHODS
    minutes = options.minutes
    if minutes is not None:
        minutes = parse_positive(minutes, "time", "minutes", MAX_MINUTES)
    return Request(
        recipe=options.model,
        ask=ask,
        gpu_count=1 if options.gpus is None else whole_number(options.gpus, "the number of GPUs"),
        methods=methods,
        search=parse_choice(options.search, ("fast", "exhaustive"), "search"),
        minutes=minutes,
        device=parse_choice(options.device, ("cuda", "cpu"), "device"),
        again=options.again,
        records_file=records_file,
        work_directory=work_directory,
    )


TUNING_METHODS = "naive,all,rounding"
"""Of fine-tuning, where nothing is said: what peft and the library do, the fastest exact settings,
and those that change rounding, apart."""
_OF_TUNING = ("batch", "sequence_length")


def _tuning(options: argparse.Namespace) -> Ask | None:
    """How the model is fine-tuned; None where it is not. Raises InputError."""
    from advisor.cli.choose.predict_options import samples, whole
    from advisor.cli.command import typed_fine_tuning
    from advisor.prediction.model.askable_models import Ask
    from advisor.ranking.fine_tuning import parted

    options.model, named = parted(options.model)
    typed = typed_fine_tuning(options)
    if named is not None and typed is not None:
        raise InputError("the model's name says how it is fine-tuned: leave out --train")
    tuning = typed or named
    if tuning is None:
        for name in _OF_TUNING:
            if getattr(options, name) is not None:
                raise InputError(
                    f"--{name.replace('_', '-')} goes with --train full, lora or qlora"
                )
        return None
    try:
        return Ask(
            batch_size=samples(options.batch, "--batch"),
            sequence_length=whole(options.sequence_length, "--sequence-length", "tokens"),
            tuning=tuning,
        )
    except ValueError as error:
        raise InputError(str(error)) from None


def whole_number(text: str, what: str) -> int:
    """From 1 to 4,095. Raises InputError."""
    value = read_whole(text)
    if value is None or value >= 4096:
        raise InputError(f"{what} {shown(text)} is not a whole number from 1 to 4,095")
    return value


PLACES = ("slurm", "sky")
_FLAGS: tuple[tuple[str, str, str, str], ...] = (
    ("folder", "", "DIR", "where the job's folder lies (default: in your data)"),
    ("gpu", "", "NAME", "the GPU, as the catalogue calls it (needed for sky)"),
    ("nodes", "slurm", "N", "machines that share the GPUs (slurm; default 1)"),
    ("time", "", "MIN", "the job's time limit: 90 or 2h"),
    ("cluster", "slurm", "NAME", "a [slurm.NAME] table of the settings"),
    ("partition", "slurm", "NAME", "of the cluster"),
    ("account", "slurm", "NAME", "who pays, as the cluster calls it"),
    ("qos", "slurm", "NAME", "quality of service, as the cluster calls it"),
    ("constraint", "slurm", "WORDS", "features of the node, as h100&ib"),
    ("gpu_type", "slurm", "TYPE", "the GPU, as the cluster calls it"),
    ("cpus_per_gpu", "slurm", "N", "default 4"),
    ("memory_gib", "slurm", "G", "host memory of each node: 256 or 1TiB"),
    ("module", "slurm", "NAME", "an environment module; repeatable"),
    ("container", "slurm", "IMAGE", "an Apptainer image to run in"),
    ("venv", "slurm", "DIR", "a virtual environment to run in"),
    ("python", "slurm", "PATH", "default: python3"),
    ("login", "slurm", "YOU@HOST", "where the cluster is reached by ssh"),
)
"""The flags of --on: name, the place that it goes with where it is one alone, what is typed, what
it means."""
_CLUSTER_TEXTS = (
    *("partition", "account", "qos", "constraint", "gpu_type", "container", "venv", "python"),
    "login",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of --on."""
    parser.add_argument("--on", metavar="slurm|sky", help="measure on a cluster or a rented GPU")
    group = parser.add_argument_group("with --on")
    words = "submit the job, follow it, keep what it measures"
    group.add_argument("--submit", action="store_true", help=words)
    for name, _, metavar, words in _FLAGS:
        action = "append" if name == "module" else "store"
        flag = f"--{name.replace('_', '-')}"
        group.add_argument(flag, metavar=metavar, help=words, action=action)


def check_place(options: argparse.Namespace, place: str | None) -> None:
    """Raise InputError where a flag is given that goes with another place than is named."""
    for name, goes_with, *_ in (("submit", "slurm"), *_FLAGS):
        right = place is not None and goes_with in ("", place)
        if not right and getattr(options, name) not in (None, False):
            with_what = f"--on {goes_with}" if place is not None else "--on slurm or --on sky"
            raise InputError(f"--{name.replace('_', '-')} goes with {with_what}")


def run(options: argparse.Namespace) -> int:
    """Write the folder, show the file, say or do what comes next. Raises InputError, StoreError."""
    from advisor.benchmark.jobs import prepare, slurm

    place = parse_choice(options.on, PLACES, "the place after --on")
    check_place(options, place)
    store, here = open_store(options), slurm.has_slurm()
    prepared = _on_slurm(options, store) if place == "slurm" else _on_sky(options, store)
    print(prepared.text, end="")
    job = prepare.write(prepared)
    if prepared.price is not None:
        say(prepared.price.words())
    elif options.submit or here:
        try:
            start = slurm.expected_start(prepared.folder, prepared.file)
        except InputError as error:
            if options.submit:
                raise
            for line in wrap(f"! {error}", terminal_width(), subsequent_indent="  "):
                say(line)
        else:
            days = slurm.queue_days(start, datetime.now())
            say(f"expected start: {start:%Y-%m-%d %H:%M}; in a grant: queue_days = {days:g}")
    if not options.submit:
        say(f"Nothing was submitted. {prepared.folder} has all that is needed. Type:")
        for line in prepared.lines:
            say(f"  {line}")
        return ANSWERED
    if not options.yes and not confirmed(f"Submit {job.device}?", "submit the job"):
        return CANCELLED
    from advisor.cli.measure.jobs_command import follow

    for each in slurm.overrides():
        say(f"! {each} of your environment is not used: the job asks for what its file says")
    job = prepare.submit(job)
    say(f"submitted as job {job.number}; ^C leaves it alone: advisor jobs follow {job.number}")
    return follow(store, job)


def _minutes(options: argparse.Namespace, most: int) -> float | None:
    if options.time is None:
        return None
    return parse_positive(options.time, "job's time", "minutes", most)


def _folder(options: argparse.Namespace) -> Path | None:
    return typed_path(options.folder) if options.folder else None


def _on_slurm(options: argparse.Namespace, store: Store) -> Prepared:
    from advisor.benchmark.jobs.prepare import prepare_slurm

    return prepare_slurm(
        store,
        job_request(options),
        _profile(options),
        node_count=1 if options.nodes is None else whole_number(options.nodes, "number of nodes"),
        gpu=options.gpu,
        minutes=_minutes(options, MAX_MINUTES),
        folder=_folder(options),
    )


def _on_sky(options: argparse.Namespace, store: Store) -> Prepared:
    from advisor.benchmark.jobs.prepare import prepare_sky

    if options.device == "cpu":
        raise InputError("a CPU is not rented for this: leave --device out")
    minutes = _minutes(options, MAX_SKY_MINUTES) or float(MINUTES)
    if options.gpu is None:
        raise InputError("name the GPU to rent, as the catalogue calls it: --gpu H100")
    with store.reading() as reader:
        rentals = reader.rentals()
    request, folder = job_request(options), _folder(options)
    return prepare_sky(store, rentals, request, options.gpu, minutes=minutes, folder=folder)


def _profile(options: argparse.Namespace) -> ClusterProfile:
    from advisor.benchmark.jobs.cluster_profile import (
        MAX_NODE_GIB,
        choose_profile,
        read_profiles,
        settings_file,
    )

    counts = {}
    if options.cpus_per_gpu is not None:
        counts["cpus_per_gpu"] = whole_number(options.cpus_per_gpu, "--cpus-per-gpu")
    if options.memory_gib is not None:
        gib = parse_positive(options.memory_gib, "host memory", "GiB", MAX_NODE_GIB)
        counts["memory_gib"] = math.ceil(gib)
    return choose_profile(
        read_profiles(settings_file()),
        options.cluster,
        modules=tuple(options.module or ()),
        **{name: getattr(options, name) for name in _CLUSTER_TEXTS},
        **counts,
    )


def confirmed(question: str, to_start: str, lines: Sequence[str] = ()) -> bool:
    """Ask, below these lines. Raises InputError where nobody can answer."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise InputError(f"this is no terminal to ask in: add --yes to {to_start}")
    for line in lines:
        print(line, file=sys.stderr)
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")
