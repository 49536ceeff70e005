"""Puts records into tables, many at a time; what the columns of a measurement are called.

A new column of a measurement is a field of `Measurement`, where it is shown of
`ranking.times.TrainingTime` too, and a migration that adds it and makes the views of times again.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from advisor.ranking.audit import Audit, audit_time
from advisor.ranking.times import Model
from advisor.store.storage.engine import duckdb
from advisor.store.storage.store_error import StoreError
from advisor.store.stored_time import SETTINGS, columns_of
from bench_runner.records.measurement import Measurement, Settings
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu, Host

BATCH_ROWS = 20_000

KEYS: Mapping[str, tuple[str, ...]] = {
    "source": ("source_id",),
    "gpu": ("gpu_id",),
    "host": ("host_id",),
    "host_part": ("host_id", "position"),
    "recipe": ("recipe_id",),
    "measurement": ("measurement_id",),
    "quote": ("quote_id",),
    "rental": ("rental_id",),
    "prediction": ("recipe_id", "gpu_id", "gpu_count", "host_memory_gib"),
}
"""What identifies a row of each table that has an origin."""
DERIVED = ("prediction",)
"""Tables that follow from the others: never handed on."""

RECORDED = columns_of(Measurement)
"""Of the table measurement: what was recorded."""
AUDITED = ("gpu_id", "implied_mfu", "implied_mfu_printed", "verdict", "verdict_reason")
"""Of the same table: what follows from the catalogue (`Auditor`); never handed on."""
Values = dict[str, Any]
"""A row without its origin."""
Tables = Mapping[str, list[Values]]


def settings_in(columns: dict[str, object]) -> Settings | None:
    """Take the settings out of the columns of one row."""
    values = {name: columns.pop(name) for name in SETTINGS}
    return None if values["free_lunch"] is None else Settings(**values)  # type: ignore[arg-type]


def insert_missing(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Values], origin: str
) -> int:
    """Insert the rows whose key is not in the table yet; how many those were."""
    key = KEYS[table]
    first = {tuple(row[name] for name in key): row for row in reversed(rows)}
    fresh = [{**row, "origin": origin} for row in reversed(first.values())]
    columns = list(dict.fromkeys(name for names in {*map(tuple, fresh)} for name in names))
    same = " AND ".join(f"held.{name} = fresh.{name}" for name in key)
    added = 0
    for start in range(0, len(fresh), BATCH_ROWS):
        batch = fresh[start : start + BATCH_ROWS]
        answer = connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)})"
            f" SELECT {', '.join(columns)} FROM ({unnested(connection, table, columns)}) AS fresh"
            f" WHERE NOT EXISTS (FROM {table} AS held WHERE {same})",
            {name: [row.get(name) for row in batch] for name in columns},
        )
        added += (answer.fetchone() or (0,))[0]
    return added


def unnested(connection: duckdb.DuckDBPyConnection, table: str, columns: Iterable[str]) -> str:
    """A query for rows of a table whose columns are given as lists, each by its name."""
    types = column_types(connection, table)
    for name in columns:
        if name not in types:
            raise StoreError(f"the table {table} has no column '{name}'; nothing was added")
    return f"SELECT {', '.join(f'unnest(${each}::{types[each]}[]) AS {each}' for each in columns)}"


def column_types(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """DuckDB's type of each column of a table."""
    return dict(
        connection.execute("SELECT name, type FROM pragma_table_info(?)", [table]).fetchall()
    )


def plain_values(record: Any) -> Values:
    """A record whose fields are the columns of its table, without its origin; a host without its
    parts."""
    if isinstance(record, tuple):
        values = record._asdict()  # type: ignore[attr-defined]
    else:
        values = {field.name: getattr(record, field.name) for field in fields(record)}
    return {name: value for name, value in values.items() if name not in ("origin", "parts")}


def part_values(host: Host) -> list[Values]:
    """A host's parts list."""
    parts = enumerate(host.parts)
    return [{"host_id": host.host_id, "position": n, **plain_values(part)} for n, part in parts]


def measurement_values(record: Measurement) -> Values:
    """A measurement with its settings as columns, not audited yet."""
    values = {
        name: getattr(record.settings, name, None) if name in SETTINGS else getattr(record, name)
        for name in RECORDED
    }
    values["environment"] = json.dumps(record.environment, sort_keys=True, default=str)
    return values


def measurement_of(values: Values) -> Measurement:
    """The measurement whose columns these are, as `measurement_values` made them."""
    row = {name: values[name] for name in RECORDED}
    settings = settings_in(row)
    seconds = {name: tuple(value) for name, value in row.items() if isinstance(value, list | tuple)}
    environment = json.loads(row["environment"])
    return Measurement(**row | seconds | {"environment": environment, "settings": settings})


@dataclass(frozen=True, slots=True)
class Auditor:
    """Knows the GPUs and recipes that times are held against."""

    gpus: Mapping[str, Gpu]
    """By each normalised spelling."""
    recipes: Mapping[str, tuple[str, float]]
    """Precision and lowest FLOPs by recipe."""

    @classmethod
    def of(cls, gpus: Iterable[Gpu], models: Iterable[Model]) -> Auditor:
        return cls(
            gpus=index_gpus(gpus),
            recipes={model.recipe_id: (model.precision, model.flops_lowest) for model in models},
        )

    def audited(self, values: Values) -> Values:
        """A measurement with the columns AUDITED: its GPU and the audit, where it has a time."""
        gpu = self.gpus.get(normalise(values["gpu"]))
        audit = self._audit(values, gpu) if values["status"] == "ok" else None
        return {
            **values,
            "gpu_id": gpu.gpu_id if gpu is not None else None,
            "implied_mfu": audit.implied_mfu if audit else None,
            "implied_mfu_printed": audit.implied_mfu_printed if audit else None,
            "verdict": audit.verdict if audit else None,
            "verdict_reason": audit.reason if audit else None,
        }

    def _audit(self, values: Values, gpu: Gpu | None) -> Audit:
        recipe = self.recipes.get(values["recipe_id"])
        if gpu is None or recipe is None:
            missing = (
                f"no GPU of the catalogue is called {values['gpu']}"
                if gpu is None
                else f"the recipe {values['recipe_id']} is not known here"
            )
            return Audit(
                implied_mfu=None,
                implied_mfu_printed=None,
                verdict="unchecked",
                reason=f"not checked against the hardware: {missing}",
            )
        precision, flops = recipe
        free_lunch = values["free_lunch"]
        return audit_time(
            gpu=gpu,
            gpu_count=values["gpu_count"],
            precision=precision,
            # Without the free lunch an fp32 recipe runs in FP32, whatever the method is called.
            naive=values["method"] == "naive" if free_lunch is None else not free_lunch,
            flops=flops,
            training_days=values["training_days"],
            training_days_high=values["training_days_high"],
        )
