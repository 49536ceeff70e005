"""What an estimate rests on: how many pieces of evidence, and the nearest of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from advisor.prediction.fitted import Fitted, Piece, known_models
from advisor.prediction.model.workload import Workload
from bench_runner.recipes import load_recipes

OTHER_FAMILY = 1.0
OTHER_GPU = 2.0
FOREIGN = {"own": 0.0, "others": 0.3, "paper": 0.5}
"""How far a piece is, beside a factor of 4 in parameters, which is 1: enough to choose the nearest
by. A judgement; nothing is computed from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestsOn:
    """In numbers and words."""

    pieces: int
    """Cells of the evidence with this model or this type of GPU."""
    nearest: str | None
    """As a person calls it: ``Pythia 1B on 4 × H200``."""


def rests_on(
    fitted: Fitted, workloads: Sequence[Workload], gpus: Sequence[str], counts: Sequence[int]
) -> list[list[list[RestsOn]]]:
    """For each model, each type of GPU and each number of them."""
    import numpy as np

    if not fitted.pieces:
        nothing = RestsOn(pieces=0, nearest=None)
        return [[[nothing for _ in counts] for _ in gpus] for _ in workloads]
    known = known_models(fitted)
    # Of those that are equally near the first counts.
    pieces = sorted(fitted.pieces, key=lambda p: (p.model, p.gpu, p.count))
    words = [_words(piece) for piece in pieces]
    models, families = (np.array([getattr(p, n) for p in pieces]) for n in ("model", "family"))
    parameters = np.array([p.parameters for p in pieces], dtype=float)
    foreign = np.array([FOREIGN[p.by] for p in pieces])
    here = np.array([[p.gpu == gpu for p in pieces] for gpu in gpus])
    elsewhere = np.where(here, 0.0, OTHER_GPU)
    numbers = np.array([p.count for p in pieces])
    doublings = 0.1 * np.abs(np.log2(numbers / np.array(counts)[:, None]))
    found = []
    for workload in workloads:
        name = workload.workload_id
        alike = known.get(workload.alike, name)
        same = (models == name) | (models == alike)
        size = np.abs(np.log(parameters / workload.parameters) / math.log(4.0))
        apart = foreign + np.where(same, 0.0, size)
        apart += np.where(families == workload.family, 0.0, OTHER_FAMILY)
        bearing = here | same
        near = np.where(bearing, apart + elsewhere, math.inf)
        nearest = (near[:, None, :] + doublings).argmin(axis=2).tolist()
        found.append(
            [
                [RestsOn(pieces=many, nearest=words[i] if many else None) for i in row]
                for many, row in zip(bearing.sum(axis=1).tolist(), nearest, strict=True)
            ]
        )
    return found


def _words(piece: Piece) -> str:
    return f"{_names().get(piece.model, piece.model)} on {piece.count} × {piece.gpu}"


@cache
def _names() -> Mapping[str, str]:
    """What a person calls each recipe that ships; other evidence has its name already."""
    return {recipe.recipe_id: recipe.name for recipe in load_recipes()}
