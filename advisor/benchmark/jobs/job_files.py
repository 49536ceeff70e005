"""The file that a cluster or a rented GPU runs, from its template; what is typed to start it."""

from __future__ import annotations

import json
import math
import shlex
from decimal import ROUND_UP, Decimal
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.benchmark.benchmark_plan import CPU, Plan
from advisor.benchmark.jobs.cluster_profile import ClusterProfile, is_plain, shell_path
from advisor.benchmark.jobs.slurm import overrides
from advisor.benchmark.measurement_request import BENCH_PACKAGES
from advisor.costs.rental import IDLE_MINUTES, SETUP_MINUTES, SkyPrice, skypilot_names
from advisor.typed_input import InputError
from bench_runner.launch.node_links import NODE_LOST

if TYPE_CHECKING:
    from jinja2 import Environment

SCRIPT = "job.sh"
TASK = "task.yaml"
LOG = "sky.log"
WARN_S = 90
"""How long before its end SLURM tells a job: a trial's processes need up to 12 s to end."""
_SPARE_MINUTES = 10
"""Of a job's time, for what comes before the first trial."""
_NEEDED = (*BENCH_PACKAGES, "torchvision", "psutil", "nvidia-ml-py")
_LEFT_BEHIND = (
    *("MEM_PER_CPU", "MEM_PER_GPU", "MEM_PER_NODE", "TIME_FORMAT", "CPU_BIND", "DISTRIBUTION"),
    *("EXCLUSIVE", "GPUS_PER_TASK", "HINT", "LABELIO", "THREADS_PER_CORE", "EXPORT_ENV"),
)
"""Variables that srun reads as flags, and that are not set for a job of ours."""


@cache
def _templates() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        undefined=StrictUndefined,
        autoescape=False,  # shell and YAML, quoted by these
        keep_trailing_newline=True,
    )
    found.filters |= {"quoted": shlex.quote, "path": shell_path, "json": json.dumps}
    return found


def _filled(file: str, /, **values: Any) -> str:
    return _templates().get_template(f"{file}.jinja").render(**values)


def sbatch_text(
    plan: Plan, profile: ClusterProfile, name: str, *, minutes: float | None = None
) -> str:
    """The job's whole file. Raises InputError where the cluster cannot be asked for this."""
    if profile.container is not None and plan.node_count > 1:
        raise InputError(
            "a container on several nodes is not offered: name a --venv that every node sees"
        )
    on_cpu = plan.request.device == CPU
    gpus = plan.request.gpu_count // plan.node_count
    # Where nobody said: the search and a start, in fives.
    estimated = 5 * -(-int(plan.estimated_minutes + _SPARE_MINUTES) // 5)
    flags = {
        "gpus-per-node": ":".join(filter(None, (profile.gpu_type, str(gpus)))),
        "mem": None if profile.memory_gib is None else f"{profile.memory_gib}G",
        **{each: getattr(profile, each) for each in ("partition", "account", "qos", "constraint")},
    }
    if on_cpu and profile.gpu_type is None:
        del flags["gpus-per-node"]
    return _filled(
        SCRIPT,
        name=name,
        nodes=plan.node_count,
        cpus=gpus * profile.cpus_per_gpu,
        minutes=math.ceil(minutes or profile.time_minutes or estimated),
        warn_s=WARN_S,
        flags=[f"{each}={value}" for each, value in flags.items() if value is not None],
        left_behind=" ".join(f"SLURM_{each}" for each in _LEFT_BEHIND),
        modules=profile.modules,
        venv=profile.venv,
        container=profile.container,
        nv="" if on_cpu else "--nv ",
        python=profile.python,
        words=plan.request.words(),
        node_lost=NODE_LOST,
    )


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


def task_text(plan: Plan, price: SkyPrice, name: str, device: str) -> str:
    """SkyPilot's whole file. Raises InputError where its name of the GPU is not known."""
    gpu = plan.gpu
    if gpu is None or (called := skypilot_names().get(gpu.gpu_id)) is None:
        raise InputError(
            f"what SkyPilot calls {'the GPU' if gpu is None else gpu.name} is not known: add a row "
            "to price_catalog/skypilot_names.csv, or choose another --gpu"
        )
    most = price.offer.price_per_hour_usd.quantize(Decimal("0.0001"), rounding=ROUND_UP)
    return _filled(
        TASK,
        title=f"{plan.recipe_name} on {device}",
        price=price.words(),
        name=name,
        accelerators=f"{called}:{plan.request.gpu_count}",
        most_per_hour=float(most),
        idle_minutes=IDLE_MINUTES,
        setup_minutes=SETUP_MINUTES,
        packages=requirements(),
        minutes=price.minutes,
        words=plan.request.words(),
    )


def requirements() -> list[str]:
    """What a bare GPU machine needs, with the bounds that this installation states."""
    try:
        stated = metadata.requires("gpu-grant-advisor") or []
    except metadata.PackageNotFoundError:
        stated = []
    bounds = {}
    for line in stated:
        word = line.partition(";")[0].strip()
        name = word.partition(">")[0].partition("=")[0].partition("[")[0].strip()
        bounds[name] = word
    return [bounds.get(name, name) for name in _NEEDED]


def slurm_lines(name: str, folder: str, login: str | None, *, here: bool) -> tuple[str, ...]:
    """What submits the job and brings its records back, as lines for a shell.

    ``here``: sbatch is on this machine. ``name`` is the folder's there, where its own could mean
    something to one of the shells in between.
    """
    names = [shlex.quote(each.partition("=")[0]) for each in overrides()]
    without = f"env -u {' -u '.join(names)} " if names else ""
    if here:
        return (
            f"cd {shlex.quote(folder)} && {without}sbatch {SCRIPT}",
            "squeue --me",
            "advisor merge --mine records.jsonl",
        )
    far = login or "$CLUSTER"
    own = folder.rpartition("/")[2]
    if is_plain(own):
        name = own
    target = "" if name == own else name
    return (
        *(() if login else ("CLUSTER=you@login.cluster.edu",)),
        f"scp -r {shlex.quote(folder)} {far}:{target}",
        f"ssh {far} 'cd {name} && sbatch {SCRIPT}'",
        f"scp {far}:{name}/records.jsonl . && advisor merge --mine records.jsonl",
    )


def sky_lines(name: str, folder: str) -> tuple[str, ...]:
    """What launches the task, makes sure that the rental ends, and merges what was printed.

    SkyPilot keeps a machine whose start or copying went wrong, so that one can look into it; only
    what came as far as the task ends by itself.
    """
    cluster = f"bench-{name.replace('.', '-')}"[:40].strip("-")
    return (
        f"cd {shlex.quote(folder)}",
        f"sky launch --yes --cluster {cluster} {TASK} 2>&1 | tee {LOG}",
        f"sky down --yes {cluster}",
        f"advisor merge --mine {LOG}",
    )
