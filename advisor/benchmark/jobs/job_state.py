"""How a job stands, in words."""

from __future__ import annotations

from advisor.benchmark.jobs import slurm
from advisor.benchmark.jobs.job_folder import Job
from advisor.benchmark.jobs.slurm import JobState
from advisor.parse import InputError


def state_words(job: Job, state: JobState | None = None) -> str:
    """``running on n1``, ``not submitted``, ``completed``; asks SLURM about those under way
    unless their state was just looked up: what is told beside it belongs to that one."""
    if job.ended is not None:
        return job.ended.lower().replace("_", " ")
    if job.number is None:
        return "to be submitted by hand" if job.where == "slurm" else "to be launched by hand"
    if state is not None:
        return state.words()
    try:
        return slurm.look(job.number).words()
    except InputError as error:
        return f"not known: {error}"
