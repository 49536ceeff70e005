"""How far a model and a GPU are from everything that was measured."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING

from advisor.prediction.fitted import Reach
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip, gpu_type

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

WIDENING = 0.15
"""Standard deviation (of the logarithm) that a unit of distance adds. A judgement, not a fit: the
evidence cannot say how wrong physics is where nothing was measured."""
FARTHEST = 2.0
"""Distance beyond which there is no prediction."""
UNKNOWN_VENDOR = 10.0
"""Distance of a GPU from a maker without measurements."""
OTHER_VENDOR = 1.0
"""Distance of a GPU of such a maker that others measured, while our own stack never ran on one."""
ROUNDED = 1e-4
"""Coordinates are kept to six digits: what was measured is no distance from itself."""
THIRSTY = "watts"
"""What of `Reach` begins so is of a generation: how many FLOPs its cards are asked for a joule."""
UNLIKE = 1.0
"""Distance of a model whose layers are unlike all that were measured of its family: experts,
encoder-decoders, disentangled attention, windows. A judgement, as `WIDENING` is."""
LOOPED = 0.8
"""Distance of a mixture of experts on a GPU for which torch has no grouped product: it has one for
compute capabilities 9 and 10 (those with tensor memory accelerators) and loops over the experts on
others (ATen's GroupedBlas.cpp), where none was measured. How long the loop keeps the GPU waiting
was seen on an H100 (`loop_seconds`), and hangs on the host."""
OLD_CORES = 0.5
"""Distance that tensor cores older than any measured add (Volta and Turing; no BF16)."""


def _of_model(w: Workload) -> tuple[float, float]:
    """Coordinates of a model: a factor of 4 in parameters is 1, so is one of 8 in tokens."""
    return math.log(w.parameters) / math.log(4.0), math.log(w.tokens) / math.log(8.0)


def _of_chip(bandwidth: float, peak: float) -> tuple[float, float]:
    """Coordinates of a GPU: a factor of 3 in bandwidth is 1, so is one in peak over bandwidth."""
    return math.log(bandwidth) / math.log(3.0), math.log(peak / bandwidth) / math.log(3.0)


def _of_watts(peak: float, tdp_w: float) -> float:
    """How far the power limit holds a GPU back: half the watts for the same peak is 1, which
    widens the interval by about as much as a card was off that the fit of `TRAINING_DRAW` had not
    seen (docs/prediction.md)."""
    return math.log2(peak / tdp_w)


def _reach(kind: str, *coordinates: float) -> Reach:
    """With six digits: more than they are good for, and the same on every processor."""
    return Reach(kind=kind, coordinates=tuple(float(f"{each:.6g}") for each in coordinates))


def reach_of(measured: Iterable[tuple[Workload, Chip]]) -> set[Reach]:
    """Where measured models and GPUs are."""
    reach = set()
    for workload, chip in measured:
        reach |= {_reach(kind, *_of_model(workload)) for kind in (workload.family, _kin(workload))}
        peak, bandwidth = chip.peak_tflops("fp16", free_lunch=True), chip.bandwidth_gb_s
        if peak is not None and bandwidth is not None:
            reach.add(_reach("gpu", *_of_chip(bandwidth, peak)))
            if chip.tdp_w is not None:
                reach.add(_reach(f"{THIRSTY} {chip.generation}", _of_watts(peak, chip.tdp_w)))
    return reach


def _thirst(reach: Iterable[Reach], chip: Chip, peak: float) -> float:
    """How much further than any measured card of its generation one is held back by its watts."""
    measured = [r.coordinates[0] for r in reach if r.kind == f"{THIRSTY} {chip.generation}"]
    if chip.tdp_w is None or not measured:
        return 0.0
    return max(0.0, _of_watts(peak, chip.tdp_w) - max(measured) - ROUNDED)


def _nearest(reach: Iterable[Reach], kind: str, coordinates: tuple[float, ...]) -> float:
    apart = [
        max(abs(a - b) for a, b in zip(seen.coordinates, coordinates, strict=True))
        for seen in reach
        if seen.kind == kind
    ]
    return min(apart, default=float("inf"))


def model_distances(reach: Iterable[Reach], workloads: Sequence[Workload]) -> Floats:
    """From the nearest measured model of the family; infinite without one. A model
    whose layers are unlike the family's is compared with such, else it is `UNLIKE` further."""
    import numpy as np

    measured: dict[str, list[tuple[float, ...]]] = {}
    for seen in reach:
        measured.setdefault(seen.kind, []).append(seen.coordinates)
    apart = np.full(len(workloads), np.inf)
    here = np.array([_of_model(w) for w in workloads])
    kin = [_kin(w) for w in workloads]
    nearest = [
        each if each in measured else w.family for each, w in zip(kin, workloads, strict=True)
    ]
    for kind in set(nearest) & measured.keys():
        rows = np.array([each == kind for each in nearest])
        there = np.array(measured[kind])
        apart[rows] = np.abs(here[rows, None, :] - there).max(axis=2).min(axis=1)
    return apart + UNLIKE * np.array([a != b for a, b in zip(kin, nearest, strict=True)])


def meeting_distances(workloads: Sequence[Workload], chips: Sequence[Chip]) -> Floats:
    """What a model (rows) and a GPU (columns) are further apart where they meet: `LOOPED`."""
    import numpy as np

    experts = np.array([workload.expert_flops > 0.0 for workload in workloads])
    loops = np.array([not chip.tensor_memory for chip in chips])
    apart: Floats = LOOPED * (experts[:, None] & loops[None, :])
    return apart


def _kin(workload: Workload) -> str:
    return f"{workload.family}, {workload.unlike}" if workload.unlike else workload.family


def chip_distance(
    reach: Iterable[Reach], gpus: Collection[str], own: Collection[str], chip: Chip
) -> float:
    """From the nearest measured GPU. ``gpus`` are the types that anybody measured, ``own`` those
    that our own stack ran on."""
    kind = gpu_type(chip)
    if not chip.measured_vendor and kind not in gpus:
        return UNKNOWN_VENDOR
    peak = chip.peak_tflops("fp16", free_lunch=True)
    if peak is None or chip.bandwidth_gb_s is None:
        return 0.0  # without a rate there are no days in any case
    apart = 0.0 if chip.bf16_tflops is not None else OLD_CORES
    if not chip.measured_vendor and kind not in own:
        apart += OTHER_VENDOR
    apart += _thirst(reach, chip, peak)
    return apart + _nearest(reach, "gpu", _of_chip(chip.bandwidth_gb_s, peak))


def nearness(distance: float) -> str:
    """How near the evidence is, in words."""
    if distance < 0.01:
        return "between measured models and GPUs"
    return f"{distance:.1f} away from what was measured ({FARTHEST:g} is too far)"
