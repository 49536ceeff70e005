"""How a job stands, in words."""

from __future__ import annotations

from advisor.benchmark.jobs import slurm
from advisor.benchmark.jobs.job_folder import Job
from advisor.parse import InputError


def state_words(job: Job) -> str:
    """``running on n1``, ``not submitted``, ``completed``; asks SLURM about those under way."""
    if job.ended is not None:
        return job.ended.lower().replace("_", " ")
    if job.number is None:
        return "to be submitted by hand" if job.where == "slurm" else "to be launched by hand"
    try:
        return slurm.look(job.number).words()
    except InputError as error:
        return f"not known: {error}"
