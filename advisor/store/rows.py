"""Puts records into tables, many at a time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import duckdb

from advisor.audit import Audit, audit_time
from advisor.facts import Model
from bench_runner.records import Measurement
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu, Host, Quote, Source

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
}
"""What identifies a row of each table that has an origin."""

_NOT_COLUMNS = {"settings", "environment"}
_SETTINGS = (
    "free_lunch",
    "activation_checkpointing",
    "sharding",
    "offloading",
    "micro_batch_size",
    "gradient_accumulation_steps",
)

Values = dict[str, Any]


def insert_missing(
    connection: duckdb.DuckDBPyConnection, table: str, rows: Sequence[Values]
) -> int:
    """Insert the rows whose key is not in the table yet; how many those were."""
    if not rows:
        return 0
    types = dict(
        connection.execute(
            "SELECT column_name, data_type FROM duckdb_columns()"
            " WHERE database_name = current_database() AND table_name = ?",
            [table],
        ).fetchall()
    )
    key = KEYS[table]
    same = " AND ".join(f"held.{column} = fresh.{column}" for column in key)
    columns = list(rows[0])
    unnested = ", ".join(f"unnest(${name}::{types[name]}[]) AS {name}" for name in columns)
    before = _count(connection, table)
    unique = list({tuple(row[column] for column in key): row for row in reversed(rows)}.values())
    unique.reverse()
    for start in range(0, len(unique), BATCH_ROWS):
        batch = unique[start : start + BATCH_ROWS]
        connection.execute(
            f"INSERT INTO {table} ({', '.join(columns)})"
            f" SELECT {', '.join(columns)} FROM (SELECT {unnested}) AS fresh"
            f" WHERE NOT EXISTS (FROM {table} AS held WHERE {same})",
            {name: [row[name] for row in batch] for name in columns},
        )
    return _count(connection, table) - before


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    return int(row[0]) if row else 0


def plain_values(record: Source | Gpu | Quote | Model) -> Values:
    """A record whose fields are the columns of its table."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def host_values(host: Host) -> Values:
    """A host without its parts list."""
    return {
        "host_id": host.host_id,
        "name": host.name,
        "kind": host.kind,
        "max_gpus": host.max_gpus,
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


def measurement_values(record: Measurement, auditor: Auditor) -> Values:
    """A measurement with its settings as columns, and what the audit says."""
    values = {
        field.name: getattr(record, field.name)
        for field in fields(record)
        if field.name not in _NOT_COLUMNS
    }
    settings = record.settings
    for name in _SETTINGS:
        values[name] = None if settings is None else getattr(settings, name)
    values["environment"] = json.dumps(record.environment, sort_keys=True, default=str)
    tuned = settings.free_lunch if settings is not None else record.method != "naive"
    values.update(
        auditor.columns(
            gpu=record.gpu,
            gpu_count=record.gpu_count,
            recipe_id=record.recipe_id,
            tuned=tuned,
            training_days=record.training_days if record.status == "ok" else None,
            training_days_high=record.training_days_high,
        )
    )
    return values


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

    def columns(
        self,
        *,
        gpu: str,
        gpu_count: int,
        recipe_id: str,
        tuned: bool,
        training_days: float | None,
        training_days_high: float | None,
    ) -> Values:
        """The columns of a measurement that follow from the catalogue: device and verdict.

        ``tuned``: whether the settings let fp32 products run as TF32.
        """
        known = self.gpus.get(normalise(gpu))
        audit = self._audit(
            known, gpu, gpu_count, recipe_id, tuned, training_days, training_days_high
        )
        return {
            "gpu_id": known.gpu_id if known is not None else None,
            "implied_mfu": audit.implied_mfu if audit else None,
            "implied_mfu_printed": audit.implied_mfu_printed if audit else None,
            "verdict": audit.verdict if audit else None,
            "verdict_reason": audit.reason if audit else None,
        }

    def _audit(
        self,
        known: Gpu | None,
        gpu: str,
        gpu_count: int,
        recipe_id: str,
        tuned: bool,
        training_days: float | None,
        training_days_high: float | None,
    ) -> Audit | None:
        if training_days is None:
            return None
        missing = f"no GPU of the catalogue is called {gpu}" if known is None else None
        if recipe_id not in self.recipes:
            missing = f"the recipe {recipe_id} is not known here"
        if known is None or missing is not None:
            return Audit(
                implied_mfu=None,
                implied_mfu_printed=None,
                verdict="unchecked",
                reason=f"not checked against the hardware: {missing}",
            )
        precision, flops = self.recipes[recipe_id]
        return audit_time(
            gpu=known,
            gpu_count=gpu_count,
            precision=precision,
            naive=not tuned,
            flops=flops,
            training_days=training_days,
            training_days_high=training_days_high,
        )
