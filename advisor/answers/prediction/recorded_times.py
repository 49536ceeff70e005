"""The evidence as rows: what `advisor data` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from operator import attrgetter
from typing import Any

from advisor.answers.wording import SHARDING_AS_PRINTED, item_names
from advisor.ranking.times import TrainingTime
from advisor.store import Reader, Store
from advisor.typed_input import InputError, shown
from bench_runner.settings.batch_and_sharding import label
from price_catalog.csv_table import nearest

_DAYS = "training_days training_days_low training_days_high"
_OF_BUILD = "model=recipe_id gpu=gpu_id gpu_count"
_COLUMNS = {
    "models": "model=recipe_id name family parameters batch_size training_steps sequence_length "
    "image_size precision optimizer training_flops=flops_full source=source_id origin",
    "times": f"{_OF_BUILD} method {_DAYS} feasible=status status reason implied_mfu "
    "implied_mfu_printed verdict verdict_reason timing measured_on source=source_id origin "
    "nodes=node_count lab",
    "predictions": f"{_OF_BUILD} basis {_DAYS} feasible=status reason implied_mfu settings "
    "micro_batch_size=settings source=source_id origin",
    "settings": f"{_OF_BUILD} method free_lunch=settings.free_lunch "
    "activation_checkpointing=settings.activation_checkpointing sharding=settings.sharding "
    "sharding_as_printed=settings.sharding offloading=settings.offloading "
    "micro_batch_size=settings.micro_batch_size "
    "gradient_accumulation_steps=settings.gradient_accumulation_steps training_days "
    "source=source_id",
    "prices": "item_kind item=item_id price_usd kind vendor date=quoted_on price_set "
    "source=source_id url note",
}
"""Each column, and the field of a record that it is where that has another name."""
TABLES = ("models", "times", "predictions", "settings", "prices", "gpus", "sources")


def data_rows(store: Store, table: str) -> list[dict[str, Any]]:
    """One of the tables, as rows with the same keys. Raises InputError for an unknown one."""
    if table not in TABLES:
        raise InputError(f"the table {shown(table)} is not known: {nearest(table, list(TABLES))}")
    with store.reading() as reader:
        if table == "gpus":
            return [asdict(gpu) for gpu in reader.gpus()]
        if table == "sources":
            return [source._asdict() for source in reader.sources()]
        if table == "models":
            return _rows(table, reader.models())
        return _prices(reader) if table == "prices" else _times(reader, table)


def _rows(table: str, records: Iterable[object]) -> list[dict[str, Any]]:
    parted = (column.partition("=") for column in _COLUMNS[table].split())
    named = [(name, attrgetter(of or name)) for name, _, of in parted]
    return [{name: get(record) for name, get in named} for record in records]


def _prices(reader: Reader) -> list[dict[str, Any]]:
    names = item_names(reader.gpus(), reader.hosts())
    rows = _rows("prices", reader.quotes())
    for row in rows:
        row["item"] = names.get((row["item_kind"], row["item"]), row["item"])
    return rows


def _times(reader: Reader, table: str) -> list[dict[str, Any]]:
    """Times, the settings of those that have any, or what follows from them and is no evidence."""
    names = {gpu.gpu_id: gpu.name for gpu in reader.gpus()}
    times = reader.predictions() if table == "predictions" else reader.times()
    if table == "settings":
        times = tuple(t for t in times if t.settings and t.settings.micro_batch_size)
    rows = time_rows(table, times, names)
    if table == "predictions":
        rows.sort(key=lambda row: (row["model"], row["gpu"], row["gpu_count"]))
    return rows


def time_rows(
    table: str, times: Iterable[TrainingTime], names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """These times as rows of one of the tables of times; ``names`` are the GPUs' by their ids."""
    rows = _rows(table, times)
    for row in rows:
        row["gpu"] = names.get(row["gpu"], row["gpu"])
        if table == "settings":
            row["sharding_as_printed"] = SHARDING_AS_PRINTED.get(row["sharding"] or "")
        else:
            row["feasible"] = row["feasible"] == "ok"
        if table == "predictions" and (settings := row["settings"]) is not None:
            row |= {"settings": label(settings), "micro_batch_size": settings.micro_batch_size}
    return rows
