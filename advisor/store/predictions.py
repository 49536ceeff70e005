"""Keeps the predictions true to a user's own records and models.

A prediction that own records move is a row with ``origin = local`` in the place of the shipped one,
and so are all of an own model; without own records and models there are none. Written in the
transaction of a merge, of a rebuild and of keeping a model, and at the end of a benchmark. Reading
never fits anything.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.store.rows import KEYS, RECORDED, insert_missing, measurement_of, unnested
from advisor.store.storage.engine import duckdb
from bench_runner.records.measurement import Measurement
from price_catalog.builds import GPU_COUNTS

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel
    from advisor.prediction.own_training import OwnTraining

_KEY = KEYS["prediction"]
_LEARNT_FROM = {"gpu": "m.gpu_id AS gpu", "environment": "'{}' AS environment"}
_OWN = f"""
    SELECT DISTINCT ON (m.recipe_id, m.gpu_id, m.gpu_count, m.method, m.training_days)
        {", ".join(_LEARNT_FROM.get(name, f"m.{name}") for name in RECORDED)}
    FROM measurement AS m
    JOIN recipe AS r ON r.recipe_id = m.recipe_id
        AND (r.origin = 'shipped' OR r.definition IS NOT NULL) AND r.family <> 'own'
    WHERE m.origin = 'local' AND m.status = 'ok' AND m.timing = 'synchronised'
        AND coalesce(m.node_count, 1) = 1
        AND m.method <> 'changes-training'
        AND m.gpu_id IS NOT NULL
        AND (m.verdict = 'plausible' OR (m.verdict = 'doubtful' AND m.lab IS NULL))
        AND (m.recipe_hash IS NULL OR m.recipe_hash = r.recipe_hash)
    ORDER BY m.measurement_id
"""


class OwnDefinitions(NamedTuple):
    """The models that a user keeps."""

    models: list[OwnModel]
    trainings: list[OwnTraining]
    """Timed as they run."""
    uncounted: dict[str, str]
    """Why one that an earlier version kept is counted no longer, by its id."""


def own_records(connection: duckdb.DuckDBPyConnection) -> list[Measurement]:
    """The times that a prediction learns from: synchronised, possible, on a GPU, each once; of
    other people's none that are doubtful."""
    rows = connection.execute(_OWN).fetchall()
    return [measurement_of(dict(zip(RECORDED, row, strict=True))) for row in rows]


def own_definitions(connection: duckdb.DuckDBPyConnection) -> OwnDefinitions:
    """The models and timed trainings of the user's own, as they were kept."""
    found = OwnDefinitions([], [], {})
    rows = connection.execute(
        "SELECT recipe_id, definition FROM recipe"
        " WHERE origin = 'local' AND definition IS NOT NULL ORDER BY recipe_id"
    ).fetchall()
    if not rows:
        return found
    from advisor.prediction.model.own_model import OwnModel
    from advisor.prediction.own_training import read_definition

    for recipe_id, definition in rows:
        # All were read when they were written; one that this program no longer counts has no
        # prediction, and must not keep the store from being brought up to date.
        try:
            own = read_definition(definition)
        except ValueError as error:
            found.uncounted[recipe_id] = str(error)
            continue
        if isinstance(own, OwnModel):
            found.models.append(replace(own, recipe=replace(own.recipe, recipe_id=recipe_id)))
        else:
            found.trainings.append(replace(own, recipe_id=recipe_id))
    return found


def own_sizes(connection: duckdb.DuckDBPyConnection) -> set[tuple[str, int]]:
    """The GPU and the count of own machines of a size that no prediction ships for."""
    rows = connection.execute(
        "SELECT unnest(CASE WHEN gpu_id IS NULL THEN supported ELSE [gpu_id] END), max_gpus"
        " FROM host WHERE origin = 'local'"
    ).fetchall()
    return {(gpu_id, count) for gpu_id, count in rows if count not in GPU_COUNTS}


def update_predictions(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the predictions those of the shipped fit, the own records and the own models, in the
    caller's transaction.

    Shipped ones that are there stay, since the text alone says what they are. They are made only
    where own ones stood in their place and do so no longer: all of them take a second.
    """
    records, (models, trainings, _) = own_records(connection), own_definitions(connection)
    machines = own_sizes(connection)
    stood = _keys(connection, "WHERE origin = 'local'")
    if not any((records, models, trainings, machines, stood)):
        return
    from advisor.prediction.own_records import own_rows, shipped_recipes, shipped_without

    own = own_rows(records, models, machines, trainings)
    names = [model.recipe.recipe_id for model in models] + [own.recipe_id for own in trainings]
    connection.execute(
        "DELETE FROM prediction WHERE origin = 'local' OR recipe_id IN (SELECT unnest($1))", [names]
    )
    # A shipped one with the key of one's own makes room for it.
    same = " AND ".join(f"held.{column} = mine.{column}" for column in _KEY)
    connection.execute(
        f"DELETE FROM prediction AS held USING ({unnested(connection, 'prediction', _KEY)}) AS mine"
        f" WHERE {same}",
        {column: [row[column] for row in own] for column in _KEY},
    )
    insert_missing(connection, "prediction", own, "local")
    held = _keys(connection)
    known = {recipe.recipe_id for recipe in shipped_recipes(models)}
    # One's own model may have had the name of one that ships, and no prediction.
    bare = known.difference(recipe_id for recipe_id, *_ in held)
    if bare or not known.isdisjoint(recipe_id for recipe_id, *_ in stood - held):
        insert_missing(connection, "prediction", shipped_without(models), "shipped")


def _keys(connection: duckdb.DuckDBPyConnection, which: str = "") -> set[tuple[Any, ...]]:
    return {*connection.execute(f"SELECT {', '.join(_KEY)} FROM prediction {which}").fetchall()}
