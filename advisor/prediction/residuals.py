"""What the fit says of every workload on every chip beside the physics, and how sure it is."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from advisor.prediction.distance import FARTHEST, WIDENING
from advisor.prediction.fitted import (
    KNOWN,
    LEAN_DECODERS,
    LEAN_OTHERS,
    OF_GPU,
    OF_LEAN,
    OF_LINKS,
    OF_MODEL,
    OF_NAIVE,
    OF_SOFTWARE,
    OWN_SOFTWARE,
    OWN_STACK,
    Fitted,
    effect_name,
    known_models,
    model_effect,
)
from advisor.prediction.intervals import MOST, half_of
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip, board_of, gpu_type
from bench_runner.recipes import IMAGE_FAMILIES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

LEAST_LINKS = -1.0
"""Links that seem so much better than reckoned hide the whole exchange; what is beyond is scatter,
and several GPUs would be more than so many times as fast as one."""


@dataclass(frozen=True, slots=True)
class OfPairs:
    """One entry a pair of a workload and a machine; logarithms."""

    shift: Floats
    half: Floats
    """Half of the 90 % interval."""
    foreign_half: Floats
    """The same where somebody else's software is meant."""
    apart: Floats
    """The same for a comparison with another prediction for the same model: what all share is
    left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Spread:
    """An interval's parts on every workload (rows) and chip (columns), the exchange between GPUs
    apart: it is a share of a step, and so is what is not known of the links."""

    base: float
    """Variance of a single time, which is always left."""
    known: Floats
    """Variance of what was measured."""
    links: Floats
    """Variance of the links' effect where they were measured."""
    cross: Floats
    """Its covariance with the others that were."""
    new: Floats
    """Variance of what was not measured."""
    pooled: Floats
    """The same squared over its degrees of freedom (`intervals.half_of`)."""
    new_links: Floats
    links_dof: float
    tail_scale: float
    tail_dof: float

    def at(self, rows: Whole, columns: Whole, exchange: Floats) -> Floats:
        """Half of the interval of each pair, whose steps are this share of exchange."""
        import numpy as np

        def taken(grid: Floats) -> Floats:
            result: Floats = np.broadcast_to(grid, self.known.shape)[rows, columns]
            return result

        known = taken(self.known)
        unseen, pooled = taken(self.new), taken(self.pooled)
        if exchange.any():
            known = known + exchange * (2.0 * taken(self.cross) + exchange * taken(self.links))
            wiring = exchange**2 * taken(self.new_links)
            unseen, pooled = unseen + wiring, pooled + wiring**2 / self.links_dof
        # An effect of one measurement and its scatter are told apart by nothing else.
        known = np.maximum(known, self.base) * self.tail_scale**2
        return half_of(known + unseen, known**2 / self.tail_dof + pooled)


@dataclass(frozen=True, slots=True, kw_only=True)
class Residuals:
    """Of every workload on every chip; `at` takes pairs from it."""

    shift: Floats
    links: Floats
    """What the links of each chip do to the exchange, as far as it is known."""
    half: _Spread
    foreign_half: _Spread
    apart: _Spread

    def at(self, rows: Whole, columns: Whole, exchange: Floats) -> OfPairs:
        """Of each pair, whose steps are this share of exchange."""
        halves = (
            spread.at(rows, columns, exchange)
            for spread in (self.half, self.foreign_half, self.apart)
        )
        shift = self.shift[rows, columns] + exchange * self.links[0, columns]
        return OfPairs(shift, *halves)


def residuals(
    fitted: Fitted,
    workloads: Sequence[Workload],
    chips: Sequence[Chip],
    distance: tuple[Floats, Floats, Floats],
    *,
    naive: bool,
    lean: bool,
) -> Residuals:
    """With one method's settings; ``distance`` from the evidence is of workloads, of chips, and of
    the one (rows) meeting the other."""
    import numpy as np

    unknown = len(fitted.effects)
    means = np.array([*fitted.effect_means, 0.0])
    covariance = np.zeros((unknown + 1, unknown + 1))
    covariance[:unknown, :unknown] = fitted.covariance()
    places_of = _places(fitted, workloads, chips, naive=naive, lean=lean)
    wired = places_of.pop(OF_LINKS[0])
    widths = dict(zip(KNOWN, fitted.widths, strict=True))
    of_model, of_gpu, meeting = distance
    far = WIDENING * np.minimum(of_model[:, None] + of_gpu[None, :] + meeting, FARTHEST)
    far_gpu = WIDENING * np.minimum(of_gpu[None, :] + meeting, FARTHEST)
    base = fitted.factors_sd**2 + fitted.noise**2

    def spread(
        kinds: Collection[str],
        widening: Floats,
        new: Collection[str] = (),
        *,
        of_links: bool = True,
        compared: bool = False,
    ) -> _Spread:
        """With what is known of these kinds, and nothing of the software of ``new`` kinds."""
        variances = {
            kind: (width.sd * (1.0 if compared else width.new)) ** 2
            for kind, width in widths.items()
        }
        at = [places_of[kind] for kind in kinds]
        known = np.full(far.shape, base)
        cross = np.zeros(far.shape)
        for i, x in enumerate(at):
            for j, y in enumerate(at[: i + 1]):
                known += (2.0 - (i == j)) * np.where((x < 0) | (y < 0), 0.0, covariance[x, y])
            cross += np.where(x < 0, 0.0, covariance[x, wired])
        parts = [(widening**2, MOST)]
        parts += [
            (np.where(place == unknown, variances[kind], 0.0), widths[kind].dof)
            for kind, place in zip(kinds, at, strict=True)
        ]
        parts += [(np.full(far.shape, variances[kind]), widths[kind].dof) for kind in new]
        return _Spread(
            base=base,
            known=known,
            links=covariance[wired, wired] * of_links,
            cross=cross * of_links,
            new=sum((variance for variance, _ in parts), np.zeros(far.shape)),
            pooled=sum((variance**2 / dof for variance, dof in parts), np.zeros(far.shape)),
            new_links=np.where((wired == unknown) | (not of_links), variances[OF_LINKS[0]], 0.0),
            links_dof=widths[OF_LINKS[0]].dof,
            tail_scale=fitted.tail.scale,
            tail_dof=fitted.tail.dof,
        )

    return Residuals(
        shift=np.broadcast_to(
            sum(np.where(at < 0, 0.0, means[at]) for at in places_of.values()), far.shape
        ),
        links=np.maximum(means[wired], LEAST_LINKS),
        half=spread(places_of, far),
        foreign_half=spread(
            (*OF_MODEL, *OF_GPU, *OF_NAIVE, *OF_LEAN, "pair"), far, new=OF_SOFTWARE, of_links=False
        ),
        apart=spread((*OF_GPU, "source x gpu", "pair"), far_gpu, compared=True),
    )


def own_effects(w: Workload, chip: Chip, count: int, method: str) -> tuple[str, ...]:
    """The effects that a time of our own software has, as `Fitted.effects` names them; ``method``
    is ``naive``, ``tuned`` or ``lean``."""
    model, gpu = w.workload_id, gpu_type(chip)
    keys: list[tuple[str, tuple[str, ...]]] = [
        ("family", (w.family,)),
        ("image model" if w.family in IMAGE_FAMILIES else "model", (model,)),
        ("generation", (chip.generation,)),
        ("gpu", (gpu,)),
        ("board", (board_of(chip),)),
    ]
    if count > 1:
        keys.append(("links", (OWN_STACK, gpu)))
    keys += [
        ("software", (OWN_SOFTWARE,)),
        ("source", (OWN_STACK,)),
        ("source x method", (OWN_STACK, method)),
        ("source x gpu", (OWN_STACK, gpu)),
    ]
    if method == "naive":
        keys.append((OF_NAIVE[0], (model,)))
    for kind, families in zip(OF_LEAN, (LEAN_DECODERS, LEAN_OTHERS), strict=True):
        if method == "lean" and w.family in families:
            keys.append((kind, (model,)))
    keys.append(("pair", (model, gpu)))
    return tuple(effect_name(kind, *key) for kind, key in keys)


def _places(
    fitted: Fitted,
    workloads: Sequence[Workload],
    chips: Sequence[Chip],
    *,
    naive: bool,
    lean: bool,
) -> dict[str, Whole]:
    """Of each of KNOWN where the effect of each workload (rows) on each chip (columns) stands;
    beyond the last where it was not measured, below 0 where there is none."""
    import numpy as np

    position = {name: i for i, name in enumerate(fitted.effects)}
    unknown = len(position)
    types = [gpu_type(chip) for chip in chips]
    alike = known_models(fitted)
    models = [
        w.workload_id
        if model_effect(w.family, w.workload_id) in position
        else alike.get(w.alike, w.workload_id)
        for w in workloads
    ]

    def places(kind: str, keys: Sequence[tuple[str, ...]]) -> Whole:
        return np.array([position.get(effect_name(kind, *key), unknown) for key in keys])

    method = "naive" if naive else "lean" if lean else "tuned"
    return {
        "family": places("family", [(w.family,) for w in workloads])[:, None],
        **{
            kind: np.where(
                [(w.family in IMAGE_FAMILIES) == images for w in workloads],
                places(kind, [(name,) for name in models]),
                -1,
            )[:, None]
            for kind, images in (("model", False), ("image model", True))
        },
        "generation": places("generation", [(chip.generation,) for chip in chips])[None, :],
        "gpu": places("gpu", [(name,) for name in types])[None, :],
        "board": places("board", [(board_of(chip),) for chip in chips])[None, :],
        "links": places("links", [(OWN_STACK, name) for name in types])[None, :],
        "software": places("software", [(OWN_SOFTWARE,)])[None, :],
        "source": places("source", [(OWN_STACK,)])[None, :],
        "source x method": places("source x method", [(OWN_STACK, method)])[None, :],
        "source x gpu": places("source x gpu", [(OWN_STACK, name) for name in types])[None, :],
        "source x model": np.full((1, 1), -1),  # ours is one program for all models
        OF_NAIVE[0]: places(OF_NAIVE[0], [(name,) for name in models])[:, None]
        if naive
        else np.full((1, 1), -1),
        **{
            kind: np.where(
                [lean and w.family in of for w in workloads],
                places(kind, [(name,) for name in models]),
                -1,
            )[:, None]
            for kind, of in zip(OF_LEAN, (LEAN_DECODERS, LEAN_OTHERS), strict=True)
        },
        "pair": _pair_places(position, models, types),
    }


def _pair_places(position: Mapping[str, int], models: Sequence[str], types: Sequence[str]) -> Whole:
    """Where the effect of each model (rows) on each type of GPU (columns) stands; beyond the last
    where nobody measured the two. The effects are fewer than the pairs that may be asked for."""
    import numpy as np

    found = np.full((len(models), len(types)), len(position))
    rows: dict[str, list[int]] = {}
    columns: dict[str, list[int]] = {}
    for i, name in enumerate(models):
        rows.setdefault(name, []).append(i)
    for i, name in enumerate(types):
        columns.setdefault(name, []).append(i)
    for name, place in position.items():
        kind, _, key = name.partition(":")
        model, _, gpu = key.rpartition("|")
        if kind == "pair" and model in rows and gpu in columns:
            found[np.ix_(rows[model], columns[gpu])] = place
    return found
