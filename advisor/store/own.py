"""Keeps the predictions true to a user's own records: the shipped ones, moved by these.

A prediction that own records move is a row with ``origin = local`` in the place of the shipped one;
without own records there are none. Written in the transaction of a merge and of a rebuild, and at
the end of a benchmark. Reading never fits anything.
"""

from __future__ import annotations

import duckdb

from advisor.store.rows import Values, insert_missing
from advisor.store.times import COLUMNS
from bench_runner.records import Measurement, Settings

_SETTINGS = COLUMNS[COLUMNS.index("free_lunch") : COLUMNS.index("status")]
_OWN = f"""
    SELECT
        m.measurement_id, m.recipe_id, m.gpu_id, m.gpu_count, m.method, m.training_days,
        m.source_id, {", ".join(_SETTINGS)}
    FROM measurement AS m
    JOIN recipe AS r ON r.recipe_id = m.recipe_id AND r.origin = 'shipped'
    WHERE m.origin = 'local' AND m.status = 'ok' AND m.timing = 'synchronised'
        AND m.gpu_id IS NOT NULL AND m.verdict IN ('plausible', 'doubtful')
        AND (m.recipe_hash IS NULL OR m.recipe_hash = r.recipe_hash)
    ORDER BY m.measurement_id
"""


def own_records(connection: duckdb.DuckDBPyConnection) -> list[Measurement]:
    """The user's own times that a prediction learns from: synchronised, possible, on a GPU."""
    return [_measurement(row) for row in connection.execute(_OWN).fetchall()]


def predict_anew(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the predictions those of the shipped fit and the own records, in the caller's
    transaction."""
    own = own_records(connection)
    held = connection.execute("SELECT 1 FROM prediction WHERE origin = 'local' LIMIT 1").fetchone()
    if not own and held is None:
        return
    from advisor.predict.own import shipped_and_own_rows

    shipped, moved = shipped_and_own_rows(own)
    connection.execute("DELETE FROM prediction")
    for origin, rows in (("local", moved), ("shipped", shipped)):
        insert_missing(connection, "prediction", [{**row, "origin": origin} for row in rows])


def _measurement(row: tuple[object, ...]) -> Measurement:
    """The columns of _OWN as far as prediction asks for them."""
    values: Values = dict(
        zip(
            ("measurement_id", "recipe_id", "gpu", "gpu_count", "method", "training_days",
             "source_id", *_SETTINGS),
            row,
            strict=True,
        )
    )  # fmt: skip
    settings = {name: values.pop(name) for name in _SETTINGS}
    return Measurement(
        **values,
        recipe_hash=None,
        settings=None if settings["free_lunch"] is None else Settings(**settings),
        status="ok",
        reason=None,
        training_days_low=None,
        training_days_high=None,
        timing="synchronised",
        measured_on=None,
    )
