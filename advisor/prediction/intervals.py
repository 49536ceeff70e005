"""How far the fit moves each prediction from the physics, and its 90 % interval.

A normal distribution with the fitted widths promises too much, for two reasons that the evidence
shows. Single measurements scatter with heavy tails. And a width that a few groups gave (seven GPU
types, a dozen software stacks) is itself uncertain: what is new is drawn from Student's t with as
many degrees of freedom as the likelihood of the width is sharp. Sums of such parts are taken as
Student's t with Satterthwaite's degrees of freedom (1946).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from advisor.prediction.distance import FARTHEST, WIDENING
from advisor.prediction.fitted import (
    KNOWN,
    LINKS,
    NAIVE,
    OF_LEAN,
    OF_SOFTWARE,
    OWN_STACK,
    Fitted,
    effect_name,
    known_models,
    model_effect,
)
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip, chip_of, gpu_type
from bench_runner.recipes import IMAGE_FAMILIES
from bench_runner.typed_numbers import NORMAL_90
from price_catalog.load import load_catalog

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

FEWEST = 2.5
MOST = 30.0
"""Bounds of the degrees of freedom: beyond them nothing changes, or nothing can be estimated."""
LEAST_LINKS = -1.0
"""Links that seem so much better than reckoned hide the whole exchange; what is beyond is scatter,
and would make several GPUs faster than linear."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Corrections:
    """One entry a pair of a model and a machine; logarithms."""

    shift: Floats
    """By how much the fit moves the physics' time."""
    half: Floats
    """Half of the 90 % interval."""
    apart: Floats
    """The same for a comparison with another prediction for the same model: what all share is
    left out."""


def corrections(
    fitted: Fitted,
    workloads: Sequence[Workload],
    chips: Sequence[Chip],
    pairs: tuple[Whole, Whole],
    exchange: Floats,
    distance: tuple[Floats, Floats, Floats],
    *,
    method: str,
    own: bool,
) -> Corrections:
    """Of ``pairs`` (which workload, which chip), a share ``exchange`` of whose steps GPUs exchange
    data. ``distance`` from the evidence is of workloads, of chips, and of a workload (rows) on a
    chip (columns). ``method`` is ``naive``, ``tuned`` or ``lean``; ``own``: whether our software
    runs it, else one of which nothing is known."""
    import numpy as np

    unknown = len(fitted.effects)
    position = {name: i for i, name in enumerate(fitted.effects)}
    means = np.array([*fitted.effect_means, 0.0])
    covariance = np.zeros((unknown + 1, unknown + 1))
    covariance[:unknown, :unknown] = fitted.covariance()
    places_of = _places(fitted, workloads, chips, method)
    if not own:  # what our own program and machines gain says nothing of another's
        for kind in (*OF_SOFTWARE, LINKS):
            places_of[kind] = np.full_like(places_of[kind], unknown)
        for kind in (NAIVE, *OF_LEAN.values()):
            places_of.pop(kind, None)
    wired = places_of.pop(LINKS)
    widths = dict(zip(KNOWN, fitted.widths, strict=True))
    of_model, of_gpu, meeting = distance
    far = WIDENING * np.minimum(of_model[:, None] + of_gpu[None, :] + meeting, FARTHEST)
    far_gpu = WIDENING * np.minimum(of_gpu[None, :] + meeting, FARTHEST)
    base = fitted.factors_sd**2 + fitted.noise**2

    def taken(grid: Floats) -> Floats:
        return np.broadcast_to(grid, far.shape)[pairs]

    def half(
        kinds: Collection[str],
        widening: Floats,
        *,
        compared: bool = False,
    ) -> Floats:
        """With what is known of these kinds."""
        variances = {
            kind: (width.sd * (1.0 if compared else width.new)) ** 2
            for kind, width in widths.items()
        }
        at = [places_of[kind] for kind in kinds]
        measured = np.full(far.shape, base)
        cross = np.zeros(far.shape)
        for i, x in enumerate(at):
            for j, y in enumerate(at[: i + 1]):
                measured += (2.0 - (i == j)) * np.where((x < 0) | (y < 0), 0.0, covariance[x, y])
            cross += np.where(x < 0, 0.0, covariance[x, wired])
        parts = [(widening**2, MOST)]
        parts += [
            (np.where(place == unknown, variances[kind], 0.0), widths[kind].dof)
            for kind, place in zip(kinds, at, strict=True)
        ]
        known = taken(measured)
        unseen = taken(sum((variance for variance, _ in parts), np.zeros(far.shape)))
        pooled = taken(sum((variance**2 / dof for variance, dof in parts), np.zeros(far.shape)))
        if exchange.any():
            links = taken(covariance[wired, wired])
            known = known + exchange * (2.0 * taken(cross) + exchange * links)
            new_links = np.where(wired == unknown, variances[LINKS], 0.0)
            wiring = exchange**2 * taken(new_links)
            unseen, pooled = unseen + wiring, pooled + wiring**2 / widths[LINKS].dof
        # An effect of one measurement and its scatter cannot be told apart in any other way.
        known = np.maximum(known, base) * fitted.tail.scale**2
        return half_of(known + unseen, known**2 / fitted.tail.dof + pooled)

    nothing = np.zeros((1, 1))
    moved = {kind: np.where(at < 0, 0.0, means[at]) for kind, at in places_of.items()}
    links = np.maximum(means[wired], LEAST_LINKS)
    # What was measured of a GPU holds for those that are no worse in anything.
    for column, chip in enumerate(chips):
        for worse in no_better(chip.gpu_id):
            for held, place in ((moved["gpu"], "gpu"), (links, LINKS if own else "")):
                key = (OWN_STACK, worse) if place == LINKS else (worse,)
                if (at := position.get(effect_name(place, *key))) is not None:
                    held[0, column] = min(held[0, column], max(means[at], LEAST_LINKS))
    shifts = sum(moved.values(), nothing)
    return Corrections(
        shift=taken(shifts) + exchange * links[0, pairs[1]],
        half=half(places_of, far),
        apart=half(("generation", "gpu"), far_gpu, compared=True),
    )


@cache
def no_better(gpu_id: str) -> tuple[str, ...]:
    """The types of GPU of the same generation that are better in nothing."""
    chips = {gpu.gpu_id: chip_of(gpu) for gpu in load_catalog().gpus}
    if (mine := chips.get(gpu_id)) is None:
        return ()
    found = [
        gpu_type(other)
        for other in chips.values()
        if (other.generation, other.half_rate) == (mine.generation, mine.half_rate)
        and all((getattr(other, f) or 0.0) <= (getattr(mine, f) or 0.0) for f in _FACTS)
    ]
    return tuple(dict.fromkeys(kind for kind in found if kind != gpu_type(mine)))


_FACTS = (
    *("memory_gib", "bandwidth_gb_s", "tdp_w", "fp32_tflops", "tf32_tflops", "fp16_tflops"),
    *("bf16_tflops", "pcie_gb_s", "group_gb_s"),
)


def half_of(total: Floats, pooled: Floats) -> Floats:
    """Half of the 90 % interval, from the sum of the variances of its parts and the sum of their
    squares over their degrees of freedom."""
    import numpy as np

    dof = np.maximum(total**2 / np.maximum(pooled, 1e-300), FEWEST)
    return np.sqrt(total) * quantile(dof)


def quantile(dof: Floats) -> Floats:
    """The 95th percentile of Student's t, from 2.5 degrees of freedom within 1 % (Cornish and
    Fisher's expansion: so that predicting needs no scipy)."""
    z, one = NORMAL_90, 1.0 / dof
    first = (z**3 + z) / 4.0
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96.0
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384.0
    return z + one * (first + one * (second + one * third))


def effects_of(
    w: Workload, chip: Chip, count: int, method: str, stack: str = OWN_STACK
) -> dict[str, tuple[str, ...]]:
    """The kinds of effects that a time has, with their keys; ``method`` is ``naive``, ``tuned`` or
    ``lean``, ``stack`` whose software it is."""
    keys = _of_model(w, w.workload_id, method) | _of_chip(chip, stack) | _of_software(method, stack)
    if count == 1:
        del keys[LINKS]
    if stack != OWN_STACK:
        for kind in (NAIVE, *OF_LEAN.values()):
            keys.pop(kind, None)
    return keys


def _of_model(w: Workload, name: str, method: str) -> dict[str, tuple[str, ...]]:
    keys: dict[str, tuple[str, ...]] = {"family": (w.family,)}
    keys["image model" if w.family in IMAGE_FAMILIES else "model"] = (name,)
    if method == "naive":
        keys[NAIVE] = (name,)
    if method == "lean" and w.family in OF_LEAN:
        keys[OF_LEAN[w.family]] = (name,)
    return keys


def _of_chip(chip: Chip, stack: str = OWN_STACK) -> dict[str, tuple[str, ...]]:
    """One table is of one machine, and the same cards exchange three times as fast in another."""
    kind = gpu_type(chip)
    return {"generation": (chip.generation,), "gpu": (kind,), LINKS: (stack, kind)}


def _of_software(method: str, stack: str = OWN_STACK) -> dict[str, tuple[str, ...]]:
    return {"source": (stack,), "source x method": (stack, method)}


def _places(
    fitted: Fitted, workloads: Sequence[Workload], chips: Sequence[Chip], method: str
) -> dict[str, Whole]:
    """For each of KNOWN, the index in the fit's effects of each workload (rows) on each chip
    (columns): one past the last where it was not measured, below 0 where it does not apply."""
    import numpy as np

    position = {name: i for i, name in enumerate(fitted.effects)}
    alike = known_models(fitted)

    def places(keys: Sequence[dict[str, tuple[str, ...]]]) -> dict[str, Whole]:
        return {
            kind: np.array(
                [
                    position.get(effect_name(kind, *held[kind]), len(position))
                    if kind in held
                    else -1
                    for held in keys
                ]
            )
            for kind in dict.fromkeys(kind for held in keys for kind in held)
        }

    models = []
    for w in workloads:
        known = model_effect(w.family, w.workload_id) in position
        name = w.workload_id if known else alike.get(w.alike, w.workload_id)
        models.append(_of_model(w, name, method))
    return {
        **{kind: found[:, None] for kind, found in places(models).items()},
        **{kind: found[None, :] for kind, found in places(list(map(_of_chip, chips))).items()},
        **{kind: found[None, :] for kind, found in places([_of_software(method)]).items()},
    }
