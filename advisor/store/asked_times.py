"""Times that are predicted when they are asked for: of other software, over several machines, or of
fine-tuning.

The store keeps what training from nothing with our own software takes on one machine. What differs
from it is predicted by the same functions when somebody asks (loads numpy).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from advisor.ranking.fine_tuning import FineTuning
from advisor.ranking.times import BestTime, Model, ReachedTime, TrainingTime
from advisor.store.counted_models import fine_tuned_own, model_of_own, named_model
from advisor.store.predictions import own_definitions, own_records
from advisor.store.rows import settings_in
from advisor.store.storage.engine import duckdb
from price_catalog.builds import GPU_COUNTS

if TYPE_CHECKING:
    from advisor.ranking.fabric import Link
    from price_catalog.model import Gpu


def asked_times(
    connection: duckdb.DuckDBPyConnection,
    recipe_id: str,
    software: str,
    machines: int,
    link: Link | None,
) -> tuple[BestTime, ...]:
    """Of one model on every GPU; nothing of a model that cannot be counted."""
    from advisor.prediction.own_records import fit_with
    from advisor.prediction.physics.memory import SOFTWARE, host_gib_of
    from advisor.prediction.shipped_predictions import predicted_rows
    from bench_runner.records.measurement import one_of
    from price_catalog.load import load_catalog

    models = own_definitions(connection).models
    asked = named_model(recipe_id, models)
    if asked is None:
        return ()
    model = model_of_own(asked)
    rows = predicted_rows(
        fit_with(own_records(connection), models),
        [asked.recipe],
        load_catalog().gpus,
        {recipe_id: asked.parameters},
        software=one_of(software, SOFTWARE, "software"),
        machines=machines,
        link=link,
    )
    return tuple(
        BestTime(
            gpu_id=gpu_id,
            gpu_count=count,
            chosen=each.time,
            published=None,
            naive=None,
            host_gib=host_gib_of(each.time, model),
            with_host=each.with_host,
            machines=machines,
        )
        for (_, gpu_id, count), each in _reached(rows, machines).items()
    )


def asked_on(
    connection: duckdb.DuckDBPyConnection,
    gpu: Gpu,
    count: int,
    tuning: FineTuning | None,
) -> tuple[tuple[Model, ...], dict[tuple[str, int], ReachedTime]]:
    """Of every model on ``count`` GPUs of one kind, fine-tuned where that is asked; of what does
    not fit on more of them, too. Also the models, under the ids that say how they are trained."""
    from advisor.prediction.model.own_model import OwnModel
    from advisor.prediction.own_records import fit_with, shipped_recipes
    from advisor.prediction.own_training import training_rows
    from advisor.prediction.shipped_predictions import predicted_rows

    kept, trainings, _ = own_definitions(connection)
    every = [*(OwnModel(recipe=recipe) for recipe in shipped_recipes(kept)), *kept]
    base = {own.recipe.recipe_id: own.recipe for own in every}
    if tuning is not None:
        tuned = [(each, own) for each in every if (own := fine_tuned_own(each, tuning)) is not None]
        base = {own.recipe.recipe_id: each.recipe for each, own in tuned}
        every = [own for _, own in tuned]
    sizes = {own.recipe.recipe_id: own.parameters for own in every}
    recipes = {own.recipe.recipe_id: own.recipe for own in every}
    fitted = fit_with(own_records(connection), kept)
    rows = predicted_rows(fitted, [*recipes.values()], [gpu], sizes, (count,), briefly=True)
    larger = [n for n in GPU_COUNTS if n > count]
    unfit = [recipes[row["recipe_id"]] for row in rows if row["status"] != "ok"]
    if unfit:
        rows += predicted_rows(fitted, unfit, [gpu], sizes, [count, *larger])
    if tuning is None:
        rows += training_rows(trainings, [gpu], fitted.costs, [count, *larger])
    times = _reached(rows, 1).items()
    found = {(recipe_id, n): each for (recipe_id, _, n), each in times}
    if tuning is not None and tuning.train != "qlora" and unfit:
        lean = replace(tuning, train="qlora")
        smaller = {}
        for recipe in unfit:
            own = OwnModel(recipe=base[recipe.recipe_id], parameters=sizes[recipe.recipe_id])
            if (small := fine_tuned_own(own, lean)) is not None:
                smaller[small.recipe.recipe_id] = (recipe.recipe_id, small.recipe)
        asked = [recipe for _, recipe in smaller.values()]
        rows = predicted_rows(fitted, asked, [gpu], None, (count,), briefly=True) if asked else []
        for row in rows:
            place = (smaller[row["recipe_id"]][0], count)
            found[place] = found[place]._replace(as_qlora=_time(row, 1))
    called = ((model_of_own(own), base[own.recipe.recipe_id].name) for own in every)
    return tuple(replace(model, name=name) for model, name in called), found


def _reached(
    rows: Iterable[dict[str, Any]], machines: int
) -> dict[tuple[str, str, int], ReachedTime]:
    """What each model takes on a number of each GPU, with more host memory too."""
    found: dict[tuple[str, str, int], ReachedTime] = {}
    for row in rows:
        build = row["recipe_id"], row["gpu_id"], row["gpu_count"]
        time = _time(row, machines)
        if not row["host_memory_gib"]:
            found[build] = ReachedTime(time, None, time.peak_memory_gib)
        elif build in found:
            found[build] = found[build]._replace(with_host=(row["host_memory_gib"], time))
    return found


def _time(row: dict[str, Any], machines: int) -> TrainingTime:
    """A predicted row as the store would hand it out."""
    days = row.get("training_days")
    said = {
        "measurement_id": f"prediction:{row['recipe_id']}:{row['gpu_id']}:{row['gpu_count']}",
        "method": "optimal",
        "settings": settings_in({**row}) if "free_lunch" in row else None,
        "basis": "predicted",
        "timing": "none",
        "implied_mfu_printed": row.get("implied_mfu"),
        "origin": "local",
        "node_count": machines,
        "rests_on": None if days is None else "estimated",
    }
    given = {field.name: row.get(field.name) for field in fields(TrainingTime)}
    return TrainingTime(**given | said)
