"""The sbatch file of a measurement. It stands in the job's folder and needs nothing outside it."""

from __future__ import annotations

import math
import shlex

from advisor.benchmark.benchmark_plan import CPU
from advisor.benchmark.jobs.cluster_profile import ClusterProfile, is_plain, shell_path
from advisor.benchmark.jobs.job_plan import JobPlan
from advisor.parse import InputError

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


_SETUP = (
    "# Measures training steps and appends each finished record to records.jsonl in this folder.",
    "# Started again, it goes on where it stopped. Nothing is downloaded.",
    'cd "$SLURM_SUBMIT_DIR" || exit 2',
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
    if here:
        return [
            f"cd {shlex.quote(folder)} && sbatch {SCRIPT}",
            "squeue --me",
            "advisor merge records.jsonl",
        ]
    far = login or "$CLUSTER"
    own = folder.rpartition("/")[2]
    if is_plain(own):
        name = own
    target = "" if name == own else name
    return [
        f"scp -r {shlex.quote(folder)} {far}:{target}",
        f"ssh {far} 'cd {name} && sbatch {SCRIPT}'",
        f"scp {far}:{name}/records.jsonl . && advisor merge records.jsonl",
    ]
