"""SLURM's own commands: submit, look, cancel, ask for a start. sacct is not needed."""

from __future__ import annotations

import math
import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from advisor.benchmark.benchmark_plan import CPU
from advisor.benchmark.jobs.cluster_profile import ClusterProfile, is_plain, shell_path
from advisor.benchmark.jobs.job_plan import JobPlan
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
            f"{words[0]} is not on this machine: type the three lines where SLURM is"
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


def submit(folder: Path) -> str:
    """Submit a folder's job; its number. Raises InputError with SLURM's own reason."""
    done = _call("sbatch", "--parsable", SCRIPT, folder=folder)
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
    alone = re.findall(r"^\s*(\d+)(?:;\S*)?\s*$", printed, re.MULTILINE)
    named = re.findall(r"\bjob\s+(?:id\s*)?[:#]?\s*(\d+)", printed, re.IGNORECASE)
    found = alone or named or re.findall(r"\b(\d+)(?:;[\w.-]+)?\s*$", printed, re.MULTILINE)
    return found[-1] if found else None


def expected_start(folder: Path) -> datetime:
    """When SLURM would start a folder's job now, by ``sbatch --test-only``. Raises InputError."""
    done = _call("sbatch", "--test-only", SCRIPT, folder=folder)
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


SCRIPT = "job.sh"
WARN_S = 90
"""How long before its end SLURM tells a job: a trial's processes need up to 12 s to end."""
NODE_LOST_EXIT = 75
"""bench_runner's, where nodes of the job do not answer any more."""


def sbatch_text(plan: JobPlan, profile: ClusterProfile, *, minutes: float | None = None) -> str:
    """The whole file. Raises InputError where the cluster cannot be asked for this."""
    if profile.container is not None and plan.node_count > 1:
        raise InputError(
            "a container on several nodes is not offered: name a --venv that every node sees"
        )
    wanted = math.ceil(minutes or profile.time_minutes or plan.job_minutes)
    lines = ["#!/bin/bash"]
    lines += [f"#SBATCH {word}" for word in _directives(plan, profile, wanted)]
    lines += ["", *_SETUP, *_environment(profile), "", *_run(plan, profile), *_ENDING, ""]
    return "\n".join(lines)


def asked_for(text: str) -> list[str]:
    """What a file asks its cluster for: ``partition gpu``, ``time 25`` (minutes), and so on."""
    shown = ("partition", "account", "qos", "constraint", "nodes", "gpus-per-node", "mem", "time")
    asked = dict(
        line.removeprefix("#SBATCH --").partition("=")[::2]
        for line in text.splitlines()
        if line.startswith("#SBATCH --")
    )
    words = [f"{name} {asked[name]}" for name in shown if name in asked]
    return [f"{each} minutes" if each.startswith("time ") else each for each in words]


def _directives(plan: JobPlan, profile: ClusterProfile, minutes: int) -> list[str]:
    per_node = plan.gpus_per_node
    words = [
        f"--job-name=bench-{plan.name('slurm')}",
        f"--nodes={plan.node_count}",
        "--ntasks-per-node=1",
        f"--cpus-per-task={per_node * profile.cpus_per_gpu}",
        f"--time={minutes}",
        "--output=job-%j.out",
        "--error=job-%j.err",
        # What was measured before a requeue stays in the same files.
        "--open-mode=append",
        "--requeue",
        f"--signal=B:USR1@{WARN_S}",
    ]
    if plan.node_count > 1:
        # One node lost is one trial lost: the script decides whether to go on.
        words.append("--no-kill")
    if plan.request.device != CPU or profile.gpu_type is not None:
        kind = "" if profile.gpu_type is None else f"{profile.gpu_type}:"
        words.append(f"--gpus-per-node={kind}{per_node}")
    if profile.memory_gib is not None:
        words.append(f"--mem={profile.memory_gib}G")
    for name in ("partition", "account", "qos", "constraint"):
        if (value := getattr(profile, name)) is not None:
            words.append(f"--{name}={value}")
    return words


_LEFT_BEHIND = (
    *("MEM_PER_CPU", "MEM_PER_GPU", "MEM_PER_NODE", "TIME_FORMAT", "CPU_BIND", "DISTRIBUTION"),
    *("EXCLUSIVE", "GPUS_PER_TASK", "HINT", "LABELIO", "THREADS_PER_CORE", "EXPORT_ENV"),
)
"""Variables that srun reads as flags, and that are not set for a job of ours."""
_SETUP = (
    "# Measures training steps and appends each finished record to records.jsonl in this folder.",
    "# Started again, it goes on where it stopped. Nothing is downloaded.",
    'cd "$SLURM_SUBMIT_DIR" || exit 2',
    "# What an allocation around sbatch left behind would be asked of this job's steps.",
    f"unset {' '.join(f'SLURM_{name}' for name in _LEFT_BEHIND)}",
)


def _environment(profile: ClusterProfile) -> list[str]:
    lines = [f"module load {shlex.quote(module)} || exit 2" for module in profile.modules]
    if lines:
        lines.insert(0, "type module >/dev/null 2>&1 || . /etc/profile")
    if profile.venv is not None:
        lines.append(f". {shell_path(profile.venv)}/bin/activate || exit 2")
    lines.append('export PYTHONPATH="$PWD/node${PYTHONPATH:+:$PYTHONPATH}"')
    lines.append("export PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1")
    return lines


def _run(plan: JobPlan, profile: ClusterProfile) -> list[str]:
    python = shell_path(profile.python)
    words = " ".join(shlex.quote(word) for word in plan.request.words(relative=True))
    start = f"{python} -m bench_runner {words}"
    if profile.container is not None:
        nv = "" if plan.request.device == CPU else "--nv "
        image = shell_path(profile.container)
        start = f'apptainer exec {nv}--bind "$PWD" --pwd "$PWD" {image} {start}'
    return [
        "finished() { grep -c . records.jsonl 2>/dev/null || true; }",
        "before=$(finished) late=no",
        "# Near the end of its time, or when SLURM takes the node away: end the running trial.",
        'end() { kill -TERM "$runner" 2>/dev/null; }',
        "trap 'late=yes; end' USR1",
        "trap end TERM INT",
        f"{start} & runner=$!",
        "while :; do",
        '  wait "$runner"; code=$?',
        '  kill -0 "$runner" 2>/dev/null || break',
        "done",
    ]


_ENDING = (
    "# Out of time or a node lost, and something was finished: wait in the queue and go on.",
    f'if [ "$late" = yes ] || [ "$code" = {NODE_LOST_EXIT} ]; then',
    '  if [ "$(finished)" != "$before" ]; then scontrol requeue "$SLURM_JOB_ID" && sleep 60; fi',
    "fi",
    'exit "$code"',
)


def lines_to_type(name: str, folder: str, login: str | None, *, here: bool) -> list[str]:
    """What submits the job and brings its records back: three lines for a shell.

    ``here``: sbatch is on this machine. ``name`` is the folder's there, where its own could mean
    something to one of the shells in between.
    """
    names = [shlex.quote(each.partition("=")[0]) for each in overrides()]
    without = f"env -u {' -u '.join(names)} " if names else ""
    if here:
        return [
            f"cd {shlex.quote(folder)} && {without}sbatch {SCRIPT}",
            "squeue --me",
            "advisor merge --mine records.jsonl",
        ]
    far = login or "$CLUSTER"
    own = folder.rpartition("/")[2]
    if is_plain(own):
        name = own
    target = "" if name == own else name
    return [
        f"scp -r {shlex.quote(folder)} {far}:{target}",
        f"ssh {far} 'cd {name} && sbatch {SCRIPT}'",
        f"scp {far}:{name}/records.jsonl . && advisor merge --mine records.jsonl",
    ]
