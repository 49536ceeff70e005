"""SLURM's own commands: submit, look, cancel, ask for a start. sacct is not needed."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from advisor.typed_input import InputError, shown

_TIMEOUT_S = 60
_ENDED = {
    "COMPLETED",
    "FAILED",
    "CANCELLED",
    "TIMEOUT",
    "NODE_FAIL",
    "PREEMPTED",
    "OUT_OF_MEMORY",
    "BOOT_FAIL",
    "DEADLINE",
    "REVOKED",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JobState:
    """A job as the controller tells it now."""

    state: str
    """SLURM's word, such as ``PENDING``; ``GONE`` where the controller has forgotten the job."""
    reason: str | None = None
    """Why it waits, or why it ended."""
    nodes: str | None = None
    starts: str | None = None
    """When it is expected to start or has started, as SLURM writes it."""
    restarts: int = 0

    @property
    def has_ended(self) -> bool:
        return self.state in _ENDED or self.state == "GONE"

    def words(self) -> str:
        """``waiting (Resources), expected at 14:10``, ``running on n1``, ``cancelled``."""
        again = f", started {self.restarts + 1} times" if self.restarts else ""
        if self.state == "PENDING":
            why = f" ({self.reason})" if self.reason else ""
            when = f", expected at {self.starts.replace('T', ' ')}" if self.starts else ""
            return f"waiting{why}{when}{again}"
        if self.state == "GONE":
            return "ended some time ago: SLURM has forgotten it"
        words = self.state.lower().replace("_", " ")
        nodes = f" on {self.nodes}" if self.nodes else ""
        why = f" ({self.reason})" if self.reason and self.has_ended else ""
        return f"{words}{nodes}{why}{again}"


def has_slurm() -> bool:
    """Whether jobs can be submitted from this machine."""
    return shutil.which("sbatch") is not None


_OF_SLURM = re.compile(r"(SLURM|SBATCH|SQUEUE|SCANCEL|SCONTROL)_")
_REACHED_BY = ("SLURM_CONF", "SLURM_CONF_SERVER", "SLURM_JWT", "SLURM_CLUSTERS")
"""Variables that say which cluster is asked, not what of it."""


def _environment_of_ours() -> dict[str, str]:
    """Our variables without those that would ask SLURM for something else than the job's file: an
    allocation around this program sets some, a profile others."""
    return {
        name: value
        for name, value in os.environ.items()
        if name in _REACHED_BY or not _OF_SLURM.match(name)
    }


def overrides() -> list[str]:
    """``SBATCH_PARTITION=debug``: what of the environment a job does not get, though it was set to
    change what jobs ask for."""
    return sorted(f"{k}={v}" for k, v in os.environ.items() if k.startswith("SBATCH_") and v)


def _call(*words: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            cwd=folder,
            env=_environment_of_ours(),
            check=False,
        )
    except FileNotFoundError:
        raise InputError(
            f"{words[0]} is not on this machine: type the lines where SLURM is"
        ) from None
    except subprocess.TimeoutExpired:
        raise InputError(
            f"{words[0]} did not answer within {_TIMEOUT_S} s: try again later"
        ) from None


def _complaint(done: subprocess.CompletedProcess[str]) -> str:
    lines = [
        line.split(": ", 2)[-1] if line.startswith(("sbatch: error", "scancel: error")) else line
        for line in done.stderr.splitlines()
        if line.strip()
    ]
    return " ".join(lines)[:400] or f"exit code {done.returncode}"


def _refusal(does: str, why: str) -> str:
    """That SLURM refuses, and what to change: the job, or where it is submitted."""
    return _no_cluster(why) or (
        f"SLURM {does} not take the job: {why}; change what it asks for "
        "(--partition, --gpu-type, --nodes, --time, …)"
    )


def _no_cluster(why: str) -> str:
    """What is said where there is no cluster to ask; empty where one answered."""
    # In SLURM's own words this is several lines on DNS and its configuration.
    if "config" in why and ("DNS SRV" in why or "configuration source" in why):
        return "SLURM is not set up on this machine: submit the job where it is"
    if "contact slurm controller" in why.lower():
        return "SLURM's controller does not answer: try again, or ask who runs the cluster"
    return ""


def submit(folder: Path, script: str) -> str:
    """Submit a folder's job; its number. Raises InputError with SLURM's own reason."""
    done = _call("sbatch", "--parsable", script, folder=folder)
    if done.returncode != 0:
        raise InputError(_refusal("does", _complaint(done)))
    if (number := number_in(done.stdout) or number_in(done.stderr)) is None:
        raise InputError(
            "SLURM has taken the job, but its number is not in what sbatch printed "
            f"({shown(done.stdout.strip())}): do not submit it again; squeue --me lists it"
        )
    return number


def number_in(printed: str) -> str | None:
    """A job's number in what sbatch printed, among whatever a centre adds; None where it is not."""
    named = re.findall(r"(?:^|\bjob(?: id:)?)\s*(\d+)(?:;\S*| on .*)?\s*$", printed, re.M | re.I)
    return named[-1] if named else None


def expected_start(folder: Path, script: str) -> datetime:
    """When SLURM would start a folder's job now, by ``sbatch --test-only``. Raises InputError."""
    done = _call("sbatch", "--test-only", script, folder=folder)
    found = re.search(r"to start at (\S+)", done.stderr)
    if done.returncode != 0 or found is None:
        raise InputError(_refusal("would", _complaint(done)))
    try:
        return datetime.fromisoformat(found[1])
    except ValueError:
        raise InputError(f"SLURM expects the start at {found[1]!r}, which is no time") from None


def queue_days(start: datetime, now: datetime) -> float:
    """Days to wait, as a grant's ``queue_days`` takes them."""
    return max(0.0, round((start - now).total_seconds() / 86_400, 3))


def look(number: str) -> JobState:
    """What the controller knows of a job; it forgets those that ended MinJobAge seconds ago.
    Raises InputError where SLURM does not answer."""
    done = _call("scontrol", "show", "job", "-o", number)
    if done.returncode != 0:
        if "Invalid job id" in done.stderr:
            return JobState(state="GONE")
        why = _complaint(done)
        raise InputError(_no_cluster(why) or f"SLURM does not tell about job {number}: {why}")
    cells = dict(re.findall(r"(?:^| )([A-Za-z:/]+)=(\S*)", done.stdout))

    def told(name: str) -> str | None:
        value = cells.get(name, "")
        return None if value in ("", "None", "(null)", "Unknown", "N/A") else value

    restarts = cells.get("Restarts", "0")
    return JobState(
        state=told("JobState") or "GONE",
        reason=told("Reason"),
        nodes=told("NodeList"),
        starts=told("StartTime"),
        restarts=int(restarts) if restarts.isdigit() else 0,
    )


def cancel(number: str) -> None:
    """End a job, waiting or running. Raises InputError."""
    done = _call("scancel", number)
    if done.returncode != 0:
        why = _complaint(done)
        raise InputError(_no_cluster(why) or f"SLURM does not cancel job {number}: {why}")
