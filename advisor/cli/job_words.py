"""What the commands for jobs share: the measurement that the flags name, and words."""

from __future__ import annotations

import argparse
import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.parse import InputError, parse_choice, parse_positive, shown

if TYPE_CHECKING:
    from advisor.benchmark.jobs.job_folder import Job
    from advisor.benchmark.jobs.job_plan import JobPlan, Where
    from advisor.benchmark.request import Request

MAX_MINUTES = 60 * 24 * 30
MAX_GIB = 10_000
SEARCHES = ("fast", "exhaustive")


def job_request(options: argparse.Namespace) -> Request:
    """The measurement itself, from the flags that bench has anyway. Raises InputError."""
    from advisor.benchmark.jobs.job_plan import RECORDS, WORK
    from advisor.benchmark.request import Request

    if options.gpus is None:
        raise InputError("say how many GPUs the job is to use: --gpus 4, say")
    if options.records is not None or options.work is not None:
        raise InputError("--records and --work go without --on: a job has a folder of its own")
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
    """1 or more, as digits. Raises InputError."""
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 4096):
        raise InputError(f"{what} {shown(text)} is not a whole number of 1 or more")
    return int(text)


def new_job(
    plan: JobPlan, where: Where, name: str, folder: Path, gpu_type: str | None = None
) -> Job:
    """A job that has a folder and no number yet."""
    from advisor.benchmark.jobs.job_folder import Job

    return Job(
        name=name,
        where=where,
        folder=str(folder),
        recipe_id=plan.recipe_id,
        device=plan.device_words(gpu_type),
        gpu_count=plan.request.gpu_count,
        made_at=datetime.now().isoformat(timespec="seconds"),
    )


def say(text: str) -> None:
    """Talk, not answer."""
    print("".join(ch if ch.isprintable() else "?" for ch in text), file=sys.stderr)
