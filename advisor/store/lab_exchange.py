"""Other labs' records in, and a user's own out: where `exchange` meets `lab_records`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from advisor.store.engine import duckdb
from advisor.store.lab_records import SHARED, judge_all, raise_refused
from advisor.store.rows import (
    Values,
    insert_missing,
    measurement_of,
    measurement_values,
    plain_values,
)
from advisor.store.shared_records import can_be_shared, to_shared
from bench_runner.records.journal import to_json


def with_labs_judged(connection: duckdb.DuckDBPyConnection, rows: list[Values]) -> list[Values]:
    """The rows with other labs' recomputed and judged; what is there already is left out.

    Raises StoreError where a lab's record is impossible or cannot be recomputed.
    """
    theirs = [measurement_of(row) for row in rows if row.get("lab") is not None]
    judged, confirmed = judge_all(connection, theirs)
    raise_refused(judged)
    insert_missing(connection, "source", [{**plain_values(SHARED), "origin": "local"}])
    for measurement_id, reason in confirmed:
        connection.execute(
            "UPDATE measurement SET standing = 'confirmed', standing_reason = ?"
            " WHERE measurement_id = ?",
            [reason, measurement_id],
        )
    kept = [
        {
            **measurement_values(replace(each.record, source_id=SHARED.source_id)),
            "standing": each.standing,
            "standing_reason": each.reason,
        }
        for each in judged
    ]
    return [row for row in rows if row.get("lab") is None] + kept


def shared_lines(
    tables: Mapping[str, list[Values]], lab: str, recipes: Iterable[str]
) -> tuple[list[str], int]:
    """The user's own times as JSON lines for other labs, and how many records stay here."""
    known = frozenset(recipes)
    lines, left_out = {}, 0
    for row in tables["measurement"]:
        record = measurement_of(row)
        if can_be_shared(record, known):
            shared = to_shared(record, lab)
            lines[shared.measurement_id] = json.dumps(to_json(shared), separators=(",", ":"))
        else:
            left_out += 1
    return list(lines.values()), left_out
