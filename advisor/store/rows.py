"""Puts records into tables, many at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from advisor.ranking.audit import Audit, audit_time
from advisor.ranking.times import Model
from advisor.store.engine import duckdb
from advisor.store.measurement_columns import RECORDED, SETTINGS, settings_in
from advisor.store.storage.store_error import StoreError
from bench_runner.records.measurement import Measurement
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu, Host, Quote, Rental, Source

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

Values = dict[str, Any]
Tables = Mapping[str, list[Values]]
"""Rows without their origin, by table."""


def insert_missing(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Values]
) -> int:
    """Insert the rows whose key is not in the table yet; how many those were."""
    if not rows:
        return 0
    types = column_types(connection, table)
    kinds = dict.fromkeys(map(tuple, rows))  # of thousands of rows most have the same names
    columns = list(dict.fromkeys(name for names in kinds for name in names))
    for name in columns:
        if name not in types:
            raise StoreError(f"the table {table} has no column '{name}'; nothing was added")
    key = KEYS[table]
    same = " AND ".join(f"held.{column} = fresh.{column}" for column in key)
    unnested = ", ".join(f"unnest(${name}::{types[name]}[]) AS {name}" for name in columns)
    before = _count(connection, table)
    unique = list(
        {tuple(row.get(column) for column in key): row for row in reversed(rows)}.values()
    )
    unique.reverse()
    for start in range(0, len(unique), BATCH_ROWS):
        batch = unique[start : start + BATCH_ROWS]
        connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)})"
            f" SELECT {', '.join(columns)} FROM (SELECT {unnested}) AS fresh"
            f" WHERE NOT EXISTS (FROM {table} AS held WHERE {same})",
            {name: [row.get(name) for row in batch] for name in columns},
        )
    return _count(connection, table) - before


def column_types(connection: duckdb.DuckDBPyConnection, table: str) -> dict[str, str]:
    """DuckDB's type of each column of a table."""
    return dict(
        connection.execute("SELECT name, type FROM pragma_table_info(?)", [table]).fetchall()
    )


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0


def plain_values(record: Source | Gpu | Quote | Rental | Model) -> Values:
    """A record whose fields are the columns of its table."""
    if isinstance(record, tuple):
        return record._asdict()
    return {field.name: getattr(record, field.name) for field in fields(record)}


def host_values(host: Host) -> Values:
    """A host without its parts list."""
    return {
        field.name: getattr(host, field.name) for field in fields(host) if field.name != "parts"
    }


def part_values(host: Host) -> list[Values]:
    """A host's parts list."""
    return [
        {
            "host_id": host.host_id,
            "position": position,
            "role": part.role,
            "detail": part.detail,
            "price_usd": part.price_usd,
            "priced_on": part.priced_on,
            "source_id": part.source_id,
        }
        for position, part in enumerate(host.parts)
    ]


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

    def verdict(self, values: Values) -> Values:
        """The columns AUDITED of a measurement: its GPU and the audit."""
        gpu = self.gpus.get(normalise(values["gpu"]))
        audit = self._audit(values, gpu) if values["status"] == "ok" else None
        return {
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
