"""A job from question to submission: what its files hold, its folder, its place in the list."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.benchmark.benchmark_plan import CPU, Plan, make_job_plan
from advisor.benchmark.jobs import slurm
from advisor.benchmark.jobs.cluster_profile import ClusterProfile, checked_path
from advisor.benchmark.jobs.job_files import (
    SCRIPT,
    TASK,
    sbatch_text,
    sky_lines,
    slurm_lines,
    task_text,
)
from advisor.benchmark.jobs.job_folder import (
    Job,
    Where,
    jobs_folder,
    keep_job,
    kept_jobs,
    write_folder,
)
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

    plan: Plan
    job: Job
    file: str
    """The name of the file that a person is shown."""
    text: str
    lines: tuple[str, ...]
    """What to type to start it and to bring its records back."""
    price: SkyPrice | None = None

    @property
    def folder(self) -> Path:
        """Where its files go."""
        return Path(self.job.folder)


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
    job = _job(plan, "slurm", folder, profile.gpu_type)
    return Prepared(
        plan=plan,
        job=job,
        file=SCRIPT,
        text=sbatch_text(plan, profile, job.name, minutes=minutes),
        lines=slurm_lines(job.name, job.folder, profile.login, here=slurm.has_slurm()),
    )


def prepare_sky(
    store: Store,
    rentals: Sequence[Rental],
    request: Request,
    gpu: str,
    *,
    minutes: float,
    folder: Path | None = None,
) -> Prepared:
    """A task for a rented GPU. Raises InputError and StoreError."""
    ends = max(1.0, minutes - SPARE_MINUTES)
    request = replace(request, minutes=min(request.minutes or ends, ends))
    plan = make_job_plan(store, request, gpu=gpu)
    assert plan.gpu is not None
    price = price_of(rentals, plan.gpu.gpu_id, request.gpu_count, minutes, today=date.today())
    job = _job(plan, "sky", folder)
    return Prepared(
        plan=plan,
        job=job,
        file=TASK,
        text=task_text(plan, price, job.name, job.device),
        lines=sky_lines(job.name, job.folder),
        price=price,
    )


def _job(plan: Plan, where: Where, folder: Path | None, gpu_type: str | None = None) -> Job:
    """The job of a plan, under a name that the same question has again, so that asking again goes
    on where it stopped. Raises InputError where its folder cannot be typed."""
    request = plan.request
    gpu_id = plan.gpu.gpu_id if plan.gpu else None
    asked = [request.words(), plan.node_count, request.recipe_text, gpu_id, where]
    digest = hashlib.sha256(json.dumps([*asked, None]).encode()).hexdigest()[:6]
    readable = re.sub(r"[^a-z0-9.]+", "-", plan.recipe_id.lower()).strip("-.")[:40]
    name = f"{readable}-{request.gpu_count}gpu-{digest}"
    place = (folder or jobs_folder() / name).absolute()
    checked_path(str(place), "job's folder")
    # The cluster's own word where the catalogue's was not given.
    gpu = plan.gpu.name if plan.gpu else gpu_type or "GPU"
    nodes = "" if plan.node_count == 1 else f" on {plan.node_count} nodes"
    return Job(
        name=name,
        where=where,
        folder=str(place),
        recipe_id=plan.recipe_id,
        device=f"{request.gpu_count} × {'CPU process' if request.device == CPU else gpu}{nodes}",
        gpu_count=request.gpu_count,
        made_at=datetime.now().isoformat(timespec="seconds"),
    )


def write(prepared: Prepared) -> Job:
    """Write the folder and the list's entry. Raises InputError, also where the same job is under
    way: two would write the same records."""
    for job in kept_jobs():
        open_still = job.name == prepared.job.name and job.number is not None and job.ended is None
        if open_still and not slurm.look(job.number or "").has_ended:
            raise InputError(
                f"this job is under way as {job.number}: advisor jobs follow {job.number}"
            )
    text = prepared.plan.request.recipe_text
    write_folder(prepared.folder, text, {prepared.file: prepared.text})
    return keep_job(prepared.job)


def submit(job: Job) -> Job:
    """Hand a written job to SLURM. Raises InputError with its reason."""
    number = slurm.submit(Path(job.folder), SCRIPT)
    now = datetime.now().isoformat(timespec="seconds")
    return keep_job(replace(job, number=number, submitted_at=now, ended=None))
