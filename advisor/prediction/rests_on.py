"""What an estimate rests on: how many pieces of evidence, and the nearest of them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
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
    fitted: Fitted,
    workload: Workload,
    gpu: str,
    counts: Sequence[int],
    known: Mapping[tuple[str, int], str] | None = None,
) -> list[RestsOn]:
    """For each number of GPUs of a type. ``known`` are the fit's `known_models`, where many ask."""
    known = known_models(fitted) if known is None else known
    alike = known.get((workload.family, workload.parameters))
    models = {workload.workload_id, alike}
    bearing = [p for p in fitted.pieces if p.model in models or p.gpu == gpu]
    # Of the pieces with one number of GPUs the nearest is the same whatever number is asked for.
    far: dict[int, tuple[float, str, str, Piece]] = {}
    for piece in bearing:
        mine = (_distance(piece, workload, models, gpu), piece.model, piece.gpu, piece)
        if piece.count not in far or mine[:3] < far[piece.count][:3]:
            far[piece.count] = mine
    found = []
    for count in counts:
        nearest = min(
            (
                (apart + 0.1 * abs(math.log2(number / count)), model, kind, number)
                for number, (apart, model, kind, _) in far.items()
            ),
            default=None,
        )
        words = None if nearest is None else _words(far[nearest[3]][3])
        found.append(RestsOn(pieces=len(bearing), nearest=words))
    return found


def _distance(piece: Piece, workload: Workload, models: Collection[str | None], gpu: str) -> float:
    apart = FOREIGN[piece.by]
    if piece.model not in models:
        apart += abs(math.log(piece.parameters / workload.parameters, 4.0))
    if piece.family != workload.family:
        apart += OTHER_FAMILY
    return apart + (0.0 if piece.gpu == gpu else OTHER_GPU)


def _words(piece: Piece) -> str:
    return f"{_names().get(piece.model, piece.model)} on {piece.count} × {piece.gpu}"


@cache
def _names() -> Mapping[str, str]:
    """What a person calls each recipe that ships; other evidence has its name already."""
    return {recipe.recipe_id: recipe.name for recipe in load_recipes()}
