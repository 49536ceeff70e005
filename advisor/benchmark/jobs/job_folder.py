"""Jobs on disk: a folder each, with all that its machine needs, and a list to find them again."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import msgspec

import bench_runner
from advisor.benchmark.benchmark_plan import RECIPE, RECORDS, bench_folders
from advisor.files import private_folder, write_whole
from advisor.typed_input import InputError, shown
from bench_runner.untrusted_text import MIB, json_outside, text_outside

Where = Literal["slurm", "sky"]
NODE = "node"
"""The part of a job's folder that Python finds bench_runner in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One job, as it is kept between runs of this program."""

    name: str
    where: Where
    folder: str
    recipe_id: str
    device: str
    """``4 × H100 on 2 nodes``."""
    gpu_count: int
    made_at: str
    """ISO, local time."""
    number: str | None = None
    """The scheduler's; None where it was not submitted from here."""
    submitted_at: str | None = None
    ended: str | None = None
    """The scheduler's word for how it ended, once that was seen."""
    merged: int = 0
    """Records that are in the store."""

    @property
    def records(self) -> Path:
        return Path(self.folder) / RECORDS

    @property
    def output(self) -> Path | None:
        """Where SLURM, or the line that launches a task, writes what the runner prints."""
        if self.where == "sky":
            return Path(self.folder) / "sky.log"
        return None if self.number is None else Path(self.folder) / f"job-{self.number}.out"

    @property
    def errors(self) -> Path | None:
        return None if self.number is None else Path(self.folder) / f"job-{self.number}.err"


def jobs_folder() -> Path:
    """Where jobs are kept, unless $ADVISOR_JOBS names another folder."""
    if named := os.environ.get("ADVISOR_JOBS"):
        return Path(named)
    return bench_folders()[0].parent / "jobs"


def write_folder(folder: Path, recipe_text: str | None, files: dict[str, str]) -> None:
    """A folder that a machine can run alone: bench_runner itself, the recipe, the job's files.

    What was measured in it before stays. Raises InputError.
    """
    fresh = not folder.exists()
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)  # one that was there is not ours
        package = folder / NODE / "bench_runner"
        shutil.copytree(
            bench_runner.__path__[0],
            package,
            ignore=shutil.ignore_patterns("__pycache__", "published", "*.pyc"),
            dirs_exist_ok=True,
        )
        if recipe_text is not None:
            write_whole(folder / RECIPE, recipe_text, overwrite=True, private=True)
        for name, text in files.items():
            write_whole(folder / name, text, overwrite=True, private=True)
    except OSError as error:  # shutil's among them
        if fresh:
            shutil.rmtree(folder, ignore_errors=True)
        why = error.strerror or "not all of bench_runner can be copied there"
        raise InputError(
            f"the job's folder {folder} cannot be written ({why}): name another with --folder"
        ) from None


def keep_job(job: Job) -> Job:
    """Write a job into the list. Raises InputError."""
    try:
        place = jobs_folder() / f"{job.name}.json"
        private_folder(place.parent)
        write_whole(place, json.dumps(asdict(job), indent=1) + "\n", overwrite=True, private=True)
    except OSError as error:
        raise InputError(
            f"the list of jobs in {jobs_folder()} cannot be written ({error.strerror}): make room, "
            "or name another folder in ADVISOR_JOBS"
        ) from None
    return job


def changed(job: Job, **values: object) -> Job:
    """The job as it is kept now, with these values. Raises InputError.

    Several look after one job (a screen's next look begins before the last is done, a follower
    runs in another terminal): what another has found meanwhile stays, an end is final, and what a
    look at a former submission found says nothing of the one that followed.
    """
    kept = _read_job(jobs_folder() / f"{job.name}.json") or job
    if kept.number != job.number:
        return kept
    if isinstance(merged := values.get("merged"), int):
        values["merged"] = max(merged, kept.merged)  # a job's records only grow
    return keep_job(replace(kept, **values))  # type: ignore[arg-type]


def kept_jobs() -> list[Job]:
    """Every job of the list, newest first; what cannot be read is passed over."""
    found = []
    for path in jobs_folder().glob("*.json"):
        if (job := _read_job(path)) is not None:
            found.append(job)
    return sorted(found, key=lambda job: (job.submitted_at or job.made_at, job.name), reverse=True)


def _read_job(path: Path) -> Job | None:
    """The job that is kept in a file; None where it cannot be read, or tells of none: what it says
    is handed on to the scheduler's commands, as a number and not as a flag."""
    try:
        job = msgspec.convert(json_outside(text_outside(path, MIB)), Job)
    except (OSError, ValueError, RecursionError):
        return None
    texts = [value for value in asdict(job).values() if isinstance(value, str)]
    number = job.number or "0"
    sound = all(map(str.isprintable, texts)) and number.isascii() and number.isdigit()
    return job if sound and job.merged >= 0 and job.name == path.stem else None


def jobs_under_way() -> int:
    """How many jobs were submitted whose end nobody has seen; the scheduler is not asked."""
    return sum(job.number is not None and job.ended is None for job in kept_jobs())


def find_job(word: str) -> Job:
    """A job by its name, a scheduler's number, or the beginning of a name. Raises InputError."""
    jobs = kept_jobs()
    exact = [job for job in jobs if word in (job.name, job.number)]
    near = exact or [job for job in jobs if word and job.name.startswith(word)]
    if len(near) == 1 or exact:
        return near[0]
    if near:
        raise InputError(f"{shown(word)} may be {' or '.join(job.name for job in near[:4])}")
    raise InputError(f"no job is called {shown(word)}: see advisor jobs")
