"""A user's own machines, quotes and models: added, corrected, deleted. Shipped rows stay."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, cast

from advisor.store.counted_models import model_of_own
from advisor.store.engine import duckdb
from advisor.store.merge.adding import add_rows, own_tables
from advisor.store.predictions import predict_anew
from advisor.store.rows import Tables, Values, insert_missing, plain_values
from advisor.store.seed import audit_local, auditor_of
from advisor.store.storage.connection import transaction
from advisor.store.storage.store_error import StoreError
from advisor.typed_input import shown
from bench_runner.records.journal import with_id
from bench_runner.records.measurement import Measurement
from price_catalog.model import Host, Quote, Source

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


def machine_tables(host: Host, quote: Quote | None, sources: Iterable[Source]) -> Tables:
    """The rows of a machine and its price. Raises StoreError."""
    return own_tables(sources=sources, quotes=[] if quote is None else [quote], hosts=[host])


def replace_machine(
    connection: duckdb.DuckDBPyConnection,
    host: Host,
    quote: Quote | None,
    sources: Iterable[Source],
) -> bool:
    """Put a machine in the place of the user's one with its id, in one transaction."""
    tables = machine_tables(host, quote, sources)
    with transaction(connection):
        if not _delete(connection, "host", "host_id = $id", host.host_id):
            return False
        add_rows(connection, tables)
        predict_anew(connection)
    return True


def remove_machine(connection: duckdb.DuckDBPyConnection, host_id: str) -> bool:
    """Delete a machine with the user's prices of it, in one transaction."""
    with transaction(connection):
        if not _delete(connection, "host", "host_id = $id", host_id):
            return False
        _delete(connection, "quote", "item_id = $id AND item_kind IN ('host', 'server')", host_id)
        predict_anew(connection)
    return True


def remove_quote(connection: duckdb.DuckDBPyConnection, quote_id: str) -> bool:
    """Delete a quote of the user's."""
    with transaction(connection):
        return _delete(connection, "quote", "quote_id = $id", quote_id)


def _delete(connection: duckdb.DuckDBPyConnection, table: str, which: str, row_id: str) -> bool:
    gone = connection.execute(
        f"DELETE FROM {table} WHERE origin = 'local' AND {which} RETURNING 1", {"id": row_id}
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
    """Keep a model with its predictions, in one transaction; how many times are predicted.

    ``force`` replaces another of the user's own that has its id; a training that was timed again
    takes its own place. Raises StoreError.
    """
    values = model_values(own)
    timed = values["family"] == "own"
    with transaction(connection):
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
        _delete_model(connection, values["recipe_id"])
        insert_missing(connection, "recipe", [{**values, "origin": "local"}])
        if timed:
            record = training_record(cast("OwnTraining", own))
            add_rows(connection, own_tables(measurements=[record], sources=[MEASURED_HERE]))
        audit_local(connection, auditor_of(connection))
        predict_anew(connection)
        row = connection.execute(
            "SELECT count(*) FROM prediction WHERE recipe_id = ? AND status = 'ok' "
            "AND host_memory_gib = 0",
            [values["recipe_id"]],
        ).fetchone()
    return int(row[0]) if row else 0


def forget_model(connection: duckdb.DuckDBPyConnection, name: str, path: Path) -> int:
    """Forget a model of the user's own with its predictions; how many times measured for it stay.

    Raises StoreError where there is no such one.
    """
    wanted = " ".join(name.split()).casefold()
    with transaction(connection):
        rows = connection.execute(
            "SELECT recipe_id, lower(name), origin FROM recipe ORDER BY recipe_id"
        ).fetchall()
        own = [recipe_id for recipe_id, _, origin in rows if origin == "local"]
        found = next((row for row in rows if wanted in row[:2]), None)
        if found is None:
            known = f"yours are {', '.join(own)}" if own else "you have kept none"
            raise StoreError(f"no model in {path} is called {shown(name)}: {known}")
        recipe_id, _, origin = found
        if origin == "shipped":
            raise StoreError(f"{recipe_id} ships with the program, and stays")
        _delete_model(connection, recipe_id)
        audit_local(connection, auditor_of(connection))
        predict_anew(connection)
        row = connection.execute(
            "SELECT count(*) FROM measurement WHERE recipe_id = ? AND status = 'ok'", [recipe_id]
        ).fetchone()
    return int(row[0]) if row else 0


def _delete_model(connection: duckdb.DuckDBPyConnection, recipe_id: str) -> None:
    connection.execute("DELETE FROM recipe WHERE origin = 'local' AND recipe_id = ?", [recipe_id])
