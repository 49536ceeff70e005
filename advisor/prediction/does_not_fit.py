"""Why a model does not fit on some GPUs, and what it would fit with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.memory import (
    ANY,
    HOST_GIB_A_GPU,
    MemoryCosts,
    Option,
    Wanted,
    host_gib_needed,
)
from bench_runner.recipes import TEXT_FAMILIES
from bench_runner.typed_numbers import count_words, plain

if TYPE_CHECKING:
    from advisor.prediction.physics.columns import Columns

_LARGER = (2, 3, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Numbers of GPUs that are tried where a model does not fit on fewer."""
_TRIED = {
    "naive": " with naive settings",
    "free-lunch": " without memory-saving methods",
    "paper": " with any memory-saving method of the paper",
    "optimal": "",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Misfit:
    """Why it does not fit."""

    reason: str
    host_gib: float | None = None
    """Host memory for each GPU with which it would, where it lacks nothing else."""


def misfit(
    workload: Workload,
    chip: Chip,
    count: int,
    method: str,
    wanted: Wanted,
    options: Sequence[Option],
    costs: MemoryCosts,
) -> Misfit:
    """What keeps the model from ``count`` of the GPUs: the batch, the host's memory, what is kept
    of one sample, or the model itself."""
    import numpy as np

    from advisor.prediction.physics.columns import WorkloadTable

    if workload.batch_size < count:
        return Misfit(
            reason=f"does not fit: a batch of {workload.batch_size:,} cannot be shared by "
            f"{count:,} GPUs; give --batch {count} or more"
        )
    tried = _TRIED[method]
    if replace(wanted, host_gib=HOST_GIB_A_GPU) != ANY:
        tried = " with the settings that were asked for"
    table = WorkloadTable([workload], [chip])

    def columns(*counts: int) -> Columns:
        zeros = np.zeros(len(counts), dtype=int)
        return table.columns(zeros, zeros, np.array(counts))

    here = columns(count)
    anything = replace(wanted, host_gib=math.inf)
    offloading = [o for o in options if anything.micro_batch(o, here, costs)[0]]
    if offloading:
        there = wanted.host_gib
        has = f"{there:,.0f}" if there >= 10 else plain(there, 2)
        host = min(host_gib_for(o, workload, count) for o in offloading)
        each = "" if count == 1 else " for each GPU"
        return Misfit(
            reason=f"does not fit: its optimiser states need at least {host:,.0f} GiB of host "
            f"memory{each}, "
            f"and {has} GiB are there",
            host_gib=host,
        )
    nothing_kept = np.ones(1)
    held = any(
        replace(anything, micro_batch_size=None).micro_batch(o, here, costs, nothing_kept)[0]
        for o in options
    )
    if held:
        return Misfit(
            reason=f"does not fit: {_samples(workload, wanted)} more than {chip.memory_gib:g} GiB "
            f"a GPU beside the model{tried}"
        )
    larger = [more for more in _LARGER if count < more <= workload.batch_size]
    fitting = np.zeros(len(larger))
    if larger:
        fitting += sum(wanted.micro_batch(o, columns(*larger), costs) for o in options)
    enough = next((more for more, n in zip(larger, fitting, strict=True) if n), None)
    mend = "" if enough is None else f"; it fits on {enough}"
    return Misfit(
        reason=f"does not fit: {count_words(workload.parameters)} parameters need more than "
        f"{chip.memory_gib:g} GiB a GPU{tried}{mend}"
    )


def host_gib_for(option: Option, workload: Workload, count: int) -> float:
    """Host memory for each of the GPUs that an option needs, in whole GiB."""
    half = workload.precision != "fp32"
    return float(math.ceil(host_gib_needed(option, workload.parameters, half=half) / count))


def _samples(workload: Workload, wanted: Wanted) -> str:
    """``a sequence of 1,000,000 tokens needs``: what a pass holds at once."""
    size = wanted.micro_batch_size or 1
    if workload.family in TEXT_FAMILIES:
        what = f"{{}} of {workload.tokens:,} tokens"
        one, many = "a sequence", "sequences"
    else:
        what, one, many = "{}", "an image of this size", "images"
    return f"{what.format(one)} needs" if size == 1 else f"{what.format(f'{size:,} {many}')} need"
