"""A job from question to submission: what its files hold, its folder, its place in the list."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.benchmark.jobs import slurm
from advisor.benchmark.jobs.cluster_profile import ClusterProfile, checked_path
from advisor.benchmark.jobs.job_folder import Job, jobs_folder, keep_job, kept_jobs, write_folder
from advisor.benchmark.jobs.job_plan import JobPlan, Where, make_job_plan
from advisor.benchmark.jobs.sky_task import TASK, task_text
from advisor.benchmark.jobs.sky_task import lines_to_type as sky_lines
from advisor.benchmark.jobs.slurm import SCRIPT, sbatch_text
from advisor.benchmark.jobs.slurm import lines_to_type as slurm_lines
from advisor.costs.rental import SkyPrice, price_of
from advisor.typed_input import InputError

if TYPE_CHECKING:
    from advisor.benchmark.measurement_request import Request
    from advisor.store import Store
    from price_catalog.model import Rental


SPARE_MINUTES = 2.0
"""So long before a rented task's timeout the search ends by itself, with the best so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A job as it would be; nothing is written yet."""

    plan: JobPlan
    where: Where
    name: str
    folder: Path
    file: str
    """The name of the file that a person is shown."""
    text: str
    device: str
    lines: tuple[str, ...]
    """What to type to start it and to bring its records back."""
    price: SkyPrice | None = None


def prepare_slurm(
    store: Store,
    request: Request,
    profile: ClusterProfile,
    *,
    node_count: int,
    gpu: str | None,
    minutes: float | None = None,
    folder: Path | None = None,
) -> Prepared:
    """A job on a cluster. Raises InputError and StoreError."""
    plan = make_job_plan(store, request, node_count=node_count, gpu=gpu)
    name = plan.name("slurm")
    place = _place(folder, name)
    return Prepared(
        plan=plan,
        where="slurm",
        name=name,
        folder=place,
        file=SCRIPT,
        text=sbatch_text(plan, profile, minutes=minutes),
        device=plan.device_words(profile.gpu_type),
        lines=tuple(slurm_lines(name, str(place), profile.login, here=slurm.has_slurm())),
    )


def prepare_sky(
    store: Store,
    rentals: Sequence[Rental],
    request: Request,
    gpu: str,
    *,
    minutes: float,
    folder: Path | None = None,
    wheel: str | None = None,
) -> Prepared:
    """A task for a rented GPU. Raises InputError and StoreError."""
    ends = max(1.0, minutes - SPARE_MINUTES)
    request = replace(request, minutes=min(request.minutes or ends, ends))
    plan = make_job_plan(store, request, gpu=gpu)
    assert plan.gpu is not None
    price = price_of(rentals, plan.gpu.gpu_id, request.gpu_count, minutes, today=date.today())
    name = plan.name("sky")
    place = _place(folder, name)
    cluster = f"bench-{name.replace('.', '-')}"[:40].strip("-")
    return Prepared(
        plan=plan,
        where="sky",
        name=name,
        folder=place,
        file=TASK,
        text=task_text(plan, price, wheel=wheel),
        device=plan.device_words(),
        lines=tuple(sky_lines(str(place), cluster)),
        price=price,
    )


def _place(folder: Path | None, name: str) -> Path:
    """Where the job's folder lies: a path that can be typed. Raises InputError."""
    place = (folder or jobs_folder() / name).absolute()
    checked_path(str(place), "job's folder")
    return place


def write(prepared: Prepared) -> Job:
    """Write the folder and the list's entry. Raises InputError, also where the same job is under
    way: two would write the same records."""
    for job in kept_jobs():
        open_still = job.name == prepared.name and job.number is not None and job.ended is None
        if open_still and not slurm.look(job.number or "").has_ended:
            raise InputError(
                f"this job is under way as {job.number}: advisor jobs follow {job.number}"
            )
    write_folder(prepared.folder, prepared.plan, {prepared.file: prepared.text})
    return keep_job(
        Job(
            name=prepared.name,
            where=prepared.where,
            folder=str(prepared.folder),
            recipe_id=prepared.plan.recipe_id,
            device=prepared.device,
            gpu_count=prepared.plan.request.gpu_count,
            made_at=datetime.now().isoformat(timespec="seconds"),
        )
    )


def submit(job: Job) -> Job:
    """Hand a written job to SLURM. Raises InputError with its reason."""
    number = slurm.submit(Path(job.folder))
    now = datetime.now().isoformat(timespec="seconds")
    return keep_job(replace(job, number=number, submitted_at=now, ended=None))
