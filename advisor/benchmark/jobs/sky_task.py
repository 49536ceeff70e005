"""A measurement on a rented GPU: SkyPilot's task file and what it may cost. SkyPilot itself is not
needed to write it; the file is plain text, whose strings are JSON's."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable
from decimal import ROUND_UP, Decimal
from importlib import metadata

from advisor.benchmark.jobs.job_plan import JobPlan
from advisor.benchmark.measurement_request import BENCH_PACKAGES
from advisor.costs.rental import IDLE_MINUTES, SETUP_MINUTES, SkyPrice, skypilot_name
from advisor.typed_input import InputError

TASK = "task.yaml"
LOG = "sky.log"
_NEEDED = (*BENCH_PACKAGES, "torchvision", "psutil", "nvidia-ml-py")


def task_text(plan: JobPlan, price: SkyPrice, *, wheel: str | None) -> str:
    """The whole file. Raises InputError where SkyPilot's name of the GPU is not known."""
    if plan.gpu is None or (name := skypilot_name(plan.gpu.gpu_id)) is None:
        shown = "the GPU" if plan.gpu is None else plan.gpu.name
        raise InputError(
            f"what SkyPilot calls {shown} is not known: add a row to "
            "price_catalog/skypilot_names.csv, or choose another --gpu"
        )
    count = plan.request.gpu_count
    limit = price.offer.price_per_hour_usd.quantize(Decimal("0.0001"), rounding=ROUND_UP)
    lines = [
        f"# {plan.recipe_name} on {plan.device_words()}: bench_runner measures training steps.",
        f"# {price.words()}.",
        f"name: {_text(plan.name('sky'))}",
        "resources:",
        f"  accelerators: {_text(f'{name}:{count}')}",
        "  use_spot: false",
        "  # No provider that asks more by SkyPilot's own list; half of those we know ask less.",
        f"  max_hourly_cost: {float(limit)}",
        "  autostop:",
        f"    idle_minutes: {IDLE_MINUTES}",
        "    down: true",
        "workdir: .",
        "setup: |",
        *_indented(_setup(wheel)),
        "run: |",
        *_indented(_run(plan, price)),
    ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    return json.dumps(value)


def _indented(lines: Iterable[str]) -> list[str]:
    return [f"  {line}" for line in lines]


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


def _setup(wheel: str | None) -> list[str]:
    wanted = " ".join(shlex.quote(word) for word in requirements())
    if wheel is not None:
        wanted = shlex.quote(f"./{wheel}[bench]")
    return [
        "set -e",
        "python3 -m venv ~/bench-venv",
        ". ~/bench-venv/bin/activate",
        f"timeout {SETUP_MINUTES}m pip install --quiet {wanted}",
    ]


def _run(plan: JobPlan, price: SkyPrice) -> list[str]:
    words = " ".join(shlex.quote(word) for word in plan.request.words(relative=True))
    return [
        ". ~/bench-venv/bin/activate",
        'export PYTHONPATH="$PWD/node" PYTHONSAFEPATH=1 PYTHONUNBUFFERED=1',
        "# TERM lets it end the running trial; what is finished is kept and printed.",
        f"timeout --signal=TERM --kill-after=60 {price.minutes}m \\",
        f"  python3 -m bench_runner {words}",
    ]


def lines_to_type(folder: str, name: str) -> list[str]:
    """What launches the task, makes sure that the rental ends, and merges what was printed.

    SkyPilot keeps a machine whose start or copying went wrong, so that one can look into it; only
    what came as far as the task ends by itself.
    """
    return [
        f"cd {shlex.quote(folder)}",
        f"sky launch --yes --cluster {name} {TASK} 2>&1 | tee {LOG}",
        f"sky down --yes {name}",
        f"advisor merge --mine {LOG}",
    ]
