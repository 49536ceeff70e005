"""A user's own rows: added, corrected, deleted, each call in the transaction of its caller.

Times are audited and predictions renewed. Shipped rows stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from advisor.store.counted_models import model_of_own
from advisor.store.predictions import update_predictions
from advisor.store.row_checks import check_row, row_words
from advisor.store.rows import (
    KEYS,
    Tables,
    Values,
    insert_missing,
    measurement_values,
    plain_values,
)
from advisor.store.shipped_rows import audit_local, auditor_of
from advisor.store.storage.engine import duckdb
from advisor.store.storage.reject_untrusted_store import MAX_ROWS
from advisor.store.storage.store_error import StoreError
from advisor.typed_input import shown
from bench_runner.records.journal import with_id
from bench_runner.records.measurement import Measurement
from price_catalog.builds import GPU_COUNTS
from price_catalog.model import Source

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel
    from advisor.prediction.own_training import OwnTraining

MEASURED_HERE = Source(
    source_id="measured-here",
    title="Your own benchmark",
    url=None,
    how_measured=(
        "bench_runner on a machine of your own: real training steps, timed in step with the "
        "device after a warm-up. Every raw second is in the record."
    ),
    licence=None,
    published_on=None,
)


def own_tables(**records: Iterable[Any]) -> Tables:
    """Records of the program's own making as rows, by table. Raises StoreError."""
    tables: dict[str, list[Values]] = {}
    for table, given in records.items():
        tables[table] = []
        for record in given:
            if table == "measurement":
                values = measurement_values(record)
            else:
                values = model_values(record) if table == "recipe" else plain_values(record)
            try:
                check_row(table, values)
            except ValueError as error:
                said = f"{row_words(table, values)}: {error}; nothing was added"
                raise StoreError(said) from None
            tables[table].append(values)
    return tables


def add_rows(connection: duckdb.DuckDBPyConnection, tables: Tables, *, merged: bool = False) -> int:
    """Add the rows that are not there yet; how many those were."""
    added = 0
    for table, rows in tables.items():
        if table != "measurement":
            added += _insert(connection, table, rows)
    if tables.get("gpu") or tables.get("recipe"):
        audit_local(connection)
    if times := tables.get("measurement"):
        auditor = auditor_of(connection)
        added += _insert(connection, "measurement", [auditor.audited(row) for row in times])
    evidence = merged and any(tables.get(name) for name in ("measurement", "gpu", "recipe"))
    if evidence or any(row["max_gpus"] not in GPU_COUNTS for row in tables.get("host", ())):
        update_predictions(connection)
    return added


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: list[Values]) -> int:
    """Raises StoreError where the table becomes larger than what is read of any store."""
    if not rows:
        return 0
    added = insert_missing(connection, table, rows, "local")
    held = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    if held is not None and held[0] > MAX_ROWS:
        raise StoreError(
            f"with these the store would hold {held[0]:,} rows in the table {table}, and no more "
            f"than {MAX_ROWS:,} are read; nothing was added: keep fewer, or another --store"
        )
    return added


def delete_own(
    connection: duckdb.DuckDBPyConnection, table: str, row_id: str, column: str | None = None
) -> bool:
    """Delete rows of the user's, by their id or by what another column says; whether there were
    any."""
    which = column or KEYS[table][0]
    gone = connection.execute(
        f"DELETE FROM {table} WHERE origin = 'local' AND {which} = $id RETURNING 1", {"id": row_id}
    ).fetchall()
    return bool(gone)


def model_values(own: OwnModel | OwnTraining) -> Values:
    """The row of a model or a timed training of a user's own, its definition in it. Raises
    ValueError."""
    from advisor.prediction.model.own_model import OwnModel, to_text

    if not isinstance(own, OwnModel):
        return training_values(own)
    return {**plain_values(model_of_own(own)), "definition": to_text(own)}


def training_values(own: OwnTraining) -> Values:
    """The row of a training that was timed as it is: of its model only the size is known. Raises
    ValueError where the catalogue has no such GPU."""
    from advisor.prediction.own_training import FAMILY, source_gpu, text_hash, training_text
    from advisor.ranking.times import Model
    from price_catalog.load import load_catalog

    gpu = source_gpu(own, load_catalog().gpus)
    if gpu is None:
        raise ValueError(f"the catalogue has no GPU called {shown(own.run.gpu)}")
    flops = own.flops(gpu)
    model = Model(
        recipe_id=own.recipe_id,
        name=own.name,
        family=FAMILY,
        parameters=max(1, own.run.parameters),
        batch_size=1,
        training_steps=own.steps,
        sequence_length=None,
        image_size=None,
        precision=own.precision,
        optimizer="as run",
        flops_lowest=flops,
        flops_full=flops,
        recipe_hash=text_hash(own),
        source_id="measured-here",
        note="a training of your own, timed as it runs",
        origin="local",
        compiles=False,
    )
    return {**plain_values(model), "definition": training_text(own)}


def training_record(own: OwnTraining) -> Measurement:
    """Its time where it was measured, as a benchmark's."""
    from advisor.prediction.own_training import text_hash

    run, days = own.run, own.training_days / own.run.step_s
    return with_id(
        Measurement(
            measurement_id="",
            recipe_id=own.recipe_id,
            recipe_hash=text_hash(own),
            gpu=run.gpu,
            gpu_count=run.gpu_count,
            method="optimal",
            settings=None,
            status="ok",
            reason=None,
            training_days=own.training_days,
            training_days_low=run.step_s_low * days,
            training_days_high=run.step_s_high * days,
            timing="synchronised",
            source_id="measured-here",
            measured_on=own.measured_on,
            step_s=run.step_s,
            peak_memory_gib=run.memory_gib or None,
        )
    )


def keep_model(
    connection: duckdb.DuckDBPyConnection, own: OwnModel | OwnTraining, *, force: bool
) -> int:
    """Keep a model with its predictions; how many times are predicted.

    ``force`` replaces another of the user's own that has its id; a training that was timed again
    takes its own place. Raises StoreError.
    """
    values = model_values(own)
    timed = values["family"] == "own"
    held = connection.execute(
        "SELECT recipe_id, origin, definition FROM recipe"
        " WHERE recipe_id = $id OR lower(name) IN ($id, lower($name))"
        " OR lower(recipe_id) = lower($name) ORDER BY origin DESC",
        {"id": values["recipe_id"], "name": values["name"]},
    ).fetchall()
    for recipe_id, origin, definition in held:
        if origin == "shipped":
            raise StoreError(
                f"{shown(values['name'])} is a model that ships ({recipe_id}): keep yours "
                "under another name"
            )
        if recipe_id != values["recipe_id"]:
            raise StoreError(
                f"{shown(values['name'])} is what your model {recipe_id} is called: keep this "
                "one under another name"
            )
        again = timed and str(definition).startswith('{"own_training"')
        if definition != values["definition"] and not (force or again):
            raise StoreError(
                f"you have another model called {recipe_id}: replace it with --force, or keep "
                "this one under another name"
            )
    delete_own(connection, "recipe", values["recipe_id"])
    tables: dict[str, list[Values]] = {"recipe": [values]}
    if timed:
        record = training_record(cast("OwnTraining", own))
        tables |= own_tables(measurement=[record], source=[MEASURED_HERE])
    add_rows(connection, tables)
    update_predictions(connection)
    return _count(
        connection, "prediction WHERE recipe_id = $id AND host_memory_gib = 0", values["recipe_id"]
    )


def forget_model(connection: duckdb.DuckDBPyConnection, name: str) -> int:
    """Forget a model of the user's own with its predictions; how many times measured for it stay.

    Raises StoreError where there is no such one.
    """
    wanted = " ".join(name.split()).casefold()
    rows = connection.execute(
        "SELECT recipe_id, lower(name), origin FROM recipe ORDER BY recipe_id"
    ).fetchall()
    own = [recipe_id for recipe_id, _, origin in rows if origin == "local"]
    found = next((row for row in rows if wanted in row[:2]), None)
    if found is None:
        known = f"yours are {', '.join(own)}" if own else "you have kept none"
        raise StoreError(f"no model is called {shown(name)}: {known}")
    recipe_id, _, origin = found
    if origin == "shipped":
        raise StoreError(f"{recipe_id} ships with the program, and stays")
    delete_own(connection, "recipe", recipe_id)
    audit_local(connection)
    update_predictions(connection)
    return _count(connection, "measurement WHERE recipe_id = $id", recipe_id)


def _count(connection: duckdb.DuckDBPyConnection, which: str, recipe_id: str) -> int:
    """How many of these rows of a model have a time."""
    row = connection.execute(
        f"SELECT count(*) FROM {which} AND status = 'ok'", {"id": recipe_id}
    ).fetchone()
    return int(row[0]) if row else 0
