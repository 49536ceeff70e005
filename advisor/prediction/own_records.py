"""What a user's own synchronised records teach: the shipped fit, moved by them.

The factors and widths stay. Family, model and GPU effects are what they were, with their
covariance; new are the effect of the user's own stack and one for each measured pair of model and
GPU. All of them are then conditioned on the records (a Kalman update): a few small matrices, no
scipy, no shipped evidence.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from advisor.prediction.distance import reach_of
from advisor.prediction.fitted import (
    KNOWN,
    LINKS,
    Fitted,
    effect_name,
    known_models,
    lower_triangle,
)
from advisor.prediction.intervals import effects_of
from advisor.prediction.model.workload import Workload, workload_of
from advisor.prediction.observed_times import (
    Observation,
    cell,
    chips_by_name,
    own_times,
    pieces_of,
)
from advisor.prediction.own_training import OwnTraining, training_rows
from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.fastest_step import fastest_step
from advisor.prediction.physics.memory import micro_batch, options_for
from advisor.prediction.physics.work_and_traffic import least_seconds, work_terms
from advisor.prediction.shipped_predictions import (
    own_cells,
    predicted_rows,
    shipped_fit,
    shipped_rows,
)
from bench_runner.recipes import Recipe, load_recipes
from bench_runner.records.measurement import Measurement
from bench_runner.records.published import load_published
from price_catalog.load import load_catalog

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from advisor.prediction.model.own_model import OwnModel

    Floats = NDArray[np.float64]


def own_observations(
    records: Iterable[Measurement],
    workloads: Mapping[str, Workload],
    chips: Mapping[str, Chip],
) -> list[Observation]:
    """One time a cell: the fastest that a search found, the naive one where nothing else is."""
    best: dict[object, Observation] = {}
    for o in own_times(records, workloads, chips):
        if o.method == "trial":
            continue
        if cell(o) not in best or o.method == "optimal":
            best[cell(o)] = o
    return list(best.values())


def conditioned(fitted: Fitted, observations: Sequence[Observation]) -> Fitted:
    """The fit, moved by these times; unchanged without any."""
    import numpy as np

    if not observations:
        return fitted
    alike = known_models(fitted)
    names = []
    for o in observations:
        w = o.workload  # a model that is known under another name counts for both
        w = replace(w, workload_id=alike.get(w.alike, w.workload_id))
        keys = effects_of(w, o.chip, o.count, o.settings)
        names.append([effect_name(kind, *key) for kind, key in keys.items()])
    position = {name: i for i, name in enumerate(fitted.effects)}
    known = len(position)
    for name in (name for row in names for name in row):
        position.setdefault(name, len(position))
    size = len(position)
    means = np.zeros(size)
    means[:known] = fitted.effect_means
    covariance = np.zeros((size, size))
    covariance[:known, :known] = fitted.covariance()
    variance = {kind: width.sd**2 for kind, width in zip(KNOWN, fitted.widths, strict=True)}
    for name, i in list(position.items())[known:]:
        covariance[i, i] = variance[name.partition(":")[0]]
    design = np.zeros((len(observations), size))
    logs, shares = _physics_of(fitted, observations)
    for row, held in enumerate(names):
        for name in held:
            of_links = name.partition(":")[0] == LINKS
            design[row, position[name]] = shares[row] if of_links else 1.0
    residuals = (
        np.log(np.array([o.step_s for o in observations], dtype=float)) - logs - design @ means
    )
    noise = np.full(len(observations), math.hypot(fitted.noise, fitted.factors_sd))
    spread = design @ covariance
    inverse = np.linalg.inv(spread @ design.T + np.diag(noise**2))
    means = means + spread.T @ inverse @ residuals
    covariance = covariance - spread.T @ inverse @ spread
    return replace(
        fitted,
        observations=fitted.observations + len(observations),
        own_observations=len(observations),
        effects=tuple(position),
        effect_means=tuple(map(float, means)),
        effect_covariance=lower_triangle(covariance),
        highest_share=max(fitted.highest_share, highest_share(observations)),
        reach=tuple({*fitted.reach, *reach_of((o.workload, o.chip) for o in observations)}),
        pieces=tuple({*fitted.pieces, *pieces_of(observations)}),
    )


def _physics_of(fitted: Fitted, observations: Sequence[Observation]) -> tuple[Floats, Floats]:
    """The logarithm of what the physics says of each step, and the share of it that GPUs exchange
    data: with the settings that were measured, else with the best of the method."""
    import numpy as np

    logs, shares = [], []
    for o in observations:
        naive = o.method == "naive"
        columns = columns_of([o])
        options = (o.option,) if o.option else options_for("naive" if naive else "paper")
        micro = [micro_batch(option, columns, fitted.costs, o.host_gib) for option in options]
        if o.option is not None and o.micro_batch_size:
            micro = [np.array([float(o.micro_batch_size)])]
        elif not any(size[0] for size in micro):
            micro[0] = np.ones(1)  # it ran, whatever the memory model says
        step = fastest_step(columns, options, micro, fitted.factors, naive=naive)
        logs.append(math.log(step.seconds[0]))
        shares.append(step.exchange[0] / step.seconds[0])
    return np.array(logs), np.array(shares)


def columns_of(observations: Sequence[Observation]) -> Columns:
    """One row an observation."""
    import numpy as np

    index = np.arange(len(observations))
    table = WorkloadTable([o.workload for o in observations], [o.chip for o in observations])
    return table.columns(index, index, np.array([o.count for o in observations]))


def highest_share(observations: Sequence[Observation]) -> float:
    """The highest share of the speed of its matrix products alone, with free-lunch settings, that
    any of these trainings reached; 0 without a time. A fused loss computes only the logits that
    have a label."""
    import numpy as np

    timed = [o for o in observations if o.step_s is not None]
    if not timed:
        return 0.0
    columns = columns_of(timed)
    lean, other = (
        least_seconds(columns, work_terms(columns, free_lunch=True, lean=lean), free_lunch=True)
        for lean in (True, False)
    )
    fused = np.array([o.option is not None and o.option.lean for o in timed])
    seconds = np.array([o.step_s for o in timed], dtype=float)
    return float((np.where(fused, lean, other) / seconds).max())


def fit_with(records: Sequence[Measurement], own: Sequence[OwnModel] = ()) -> Fitted:
    """The shipped fit, moved by a user's own records, those of own models among them."""
    fitted = shipped_fit()
    if not records:
        return fitted
    workloads = {recipe.recipe_id: workload_of(recipe) for recipe in load_recipes()}
    workloads |= {model.recipe.recipe_id: model.workload for model in own}
    return conditioned(fitted, own_observations(records, workloads, chips_by_name()))


def shipped_without(own: Sequence[OwnModel]) -> list[dict[str, Any]]:
    """The predictions of the shipped fit for `shipped_recipes`."""
    return _shipped_rows(tuple(recipe.recipe_id for recipe in shipped_recipes(own)))


@lru_cache(maxsize=1)  # records of a user's own may ask for them again and again
def _shipped_rows(names: tuple[str, ...]) -> list[dict[str, Any]]:
    recipes = [recipe for recipe in load_recipes() if recipe.recipe_id in names]
    return shipped_rows(recipes, load_catalog().gpus, load_published())


def shipped_recipes(own: Sequence[OwnModel]) -> list[Recipe]:
    """The shipped recipes whose names no own model has."""
    names = {model.recipe.recipe_id for model in own}
    return [recipe for recipe in load_recipes() if recipe.recipe_id not in names]


def own_rows(
    records: Sequence[Measurement],
    own: Sequence[OwnModel],
    machines: Collection[tuple[str, int]],
    trainings: Sequence[OwnTraining] = (),
) -> list[dict[str, Any]]:
    """The user's own predictions: those that own records move, and all of own models.

    ``machines`` are the GPU and the count of own machines of a size that no shipped one has.
    """
    sizes = {model.recipe.recipe_id: model.parameters for model in own}
    recipes = shipped_recipes(own)
    gpus = load_catalog().gpus
    moved = fit_with(records, own)
    rows = training_rows(trainings, gpus, moved.costs)
    if own:
        rows += predicted_rows(moved, [model.recipe for model in own], gpus, sizes)
    if moved.own_observations:
        cells = own_cells([*load_published(), *records], gpus)
        again = predicted_rows(moved, recipes, gpus, measured=cells, gains_by=shipped_fit())
        rows += [row for row in again if row["status"] == "ok"]
    theirs = [gpu for gpu in gpus if gpu.gpu_id in {gpu_id for gpu_id, _ in machines}]
    if theirs:
        counts = sorted({count for _, count in machines})
        every = [*recipes, *(model.recipe for model in own)]
        found = predicted_rows(moved, every, theirs, sizes, counts)
        found += training_rows(trainings, theirs, moved.costs, counts)
        rows += [row for row in found if (row["gpu_id"], row["gpu_count"]) in machines]
    return rows
