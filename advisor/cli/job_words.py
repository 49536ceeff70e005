"""What the commands for jobs share: the measurement that the flags name, and words."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from advisor.parse import InputError, parse_choice, parse_positive, shown
from bench_runner.outside import printable
from bench_runner.typed_numbers import read_whole

if TYPE_CHECKING:
    from advisor.benchmark.measurement_request import Request

MAX_MINUTES = 60 * 24 * 30
MAX_GIB = 10_000
SEARCHES = ("fast", "exhaustive")


def job_request(options: argparse.Namespace) -> Request:
    """The measurement itself, from the flags that bench has anyway. Raises InputError."""
    from advisor.benchmark.jobs.job_plan import RECORDS, WORK
    from advisor.benchmark.measurement_request import Request

    if options.gpus is None:
        raise InputError("say how many GPUs the job uses, such as --gpus 4")
    if options.records is not None or options.work is not None:
        raise InputError("--records and --work go without --on: a job has a folder of its own")
    if options.format != "table" or options.details:
        raise InputError("--format and --details go without --on: it prints the job's file")
    minutes, gib = options.minutes, options.memory_limit_gib
    return Request(
        recipe=options.model,
        gpu_count=whole_number(options.gpus, "the number of GPUs"),
        methods=options.methods,
        search=parse_choice(options.search, SEARCHES, "search"),
        minutes=None
        if minutes is None
        else parse_positive(minutes, "time", "minutes", MAX_MINUTES),
        device=parse_choice(options.device, ("cuda", "cpu"), "device"),
        memory_limit_gib=None
        if gib is None
        else parse_positive(gib, "memory limit", "GiB", MAX_GIB),
        again=options.again,
        records_file=RECORDS,
        work_directory=WORK,
    )


def whole_number(text: str, what: str) -> int:
    """From 1 to 4,095. Raises InputError."""
    value = read_whole(text)
    if value is None or value >= 4096:
        raise InputError(f"{what} {shown(text)} is not a whole number from 1 to 4,095")
    return value


def say(text: str) -> None:
    """Talk, not answer."""
    print(printable(text), file=sys.stderr)
