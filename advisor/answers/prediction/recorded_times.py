"""The evidence as rows: what `advisor data` prints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from advisor.answers.wording import SHARDING_AS_PRINTED, item_names
from advisor.ranking.times import TrainingTime
from advisor.store import Reader, Store
from advisor.typed_input import InputError, shown
from bench_runner.settings.paper_space import label
from price_catalog.csv_table import nearest

TABLES = ("models", "times", "predictions", "settings", "prices", "gpus", "sources")


def data_rows(store: Store, table: str) -> list[dict[str, Any]]:
    """One of the tables, as rows with the same keys. Raises InputError for an unknown one."""
    if table not in TABLES:
        raise InputError(f"the table {shown(table)} is not known: {nearest(table, list(TABLES))}")
    with store.reading() as reader:
        return _ROWS[table](reader)


def _gpu_names(reader: Reader) -> dict[str, str]:
    return {gpu.gpu_id: gpu.name for gpu in reader.gpus()}


def _of_build(time: TrainingTime, names: Mapping[str, str]) -> dict[str, Any]:
    """The columns that say what a time is of."""
    return {
        "model": time.recipe_id,
        "gpu": names.get(time.gpu_id, time.gpu_id),
        "gpu_count": time.gpu_count,
    }


def _fields(of: object, names: str) -> dict[str, Any]:
    """The fields of a record that a table shows under their own names."""
    return {name: getattr(of, name) for name in names.split()}


def _models(reader: Reader) -> list[dict[str, Any]]:
    shown = "name family parameters batch_size training_steps sequence_length image_size precision"
    return [
        {
            "model": model.recipe_id,
            **_fields(model, f"{shown} optimizer"),
            "training_flops": model.flops_full,
            "source": model.source_id,
            "origin": model.origin,
        }
        for model in reader.models()
    ]


_DAYS = "training_days training_days_low training_days_high"
_AUDIT = "status reason implied_mfu implied_mfu_printed verdict verdict_reason timing measured_on"


def _times(reader: Reader) -> list[dict[str, Any]]:
    names = _gpu_names(reader)
    return [
        {
            **_of_build(time, names),
            **_fields(time, f"method {_DAYS}"),
            "feasible": time.status == "ok",
            **_fields(time, _AUDIT),
            "source": time.source_id,
            "origin": time.origin,
            "nodes": time.node_count,
            "lab": time.lab,
        }
        for time in reader.times()
    ]


def _predictions(reader: Reader) -> list[dict[str, Any]]:
    """No evidence, but what follows from it: kept apart from the times."""
    names = _gpu_names(reader)
    found = [
        {
            **_of_build(time, names),
            **_fields(time, f"basis {_DAYS}"),
            "feasible": time.status == "ok",
            **_fields(time, "reason implied_mfu"),
            "settings": None if time.settings is None else label(time.settings),
            "micro_batch_size": None if time.settings is None else time.settings.micro_batch_size,
            "source": time.source_id,
            "origin": time.origin,
        }
        for time in reader.predictions()
    ]
    return sorted(found, key=lambda row: (row["model"], row["gpu"], row["gpu_count"]))


def _settings(reader: Reader) -> list[dict[str, Any]]:
    names = _gpu_names(reader)
    return [
        {
            **_of_build(time, names),
            "method": time.method,
            **_fields(time.settings, "free_lunch activation_checkpointing sharding"),
            "sharding_as_printed": SHARDING_AS_PRINTED.get(time.settings.sharding or ""),
            **_fields(time.settings, "offloading micro_batch_size gradient_accumulation_steps"),
            "training_days": time.training_days,
            "source": time.source_id,
        }
        for time in reader.times()
        if time.settings is not None and time.settings.micro_batch_size is not None
    ]


def _prices(reader: Reader) -> list[dict[str, Any]]:
    names = item_names(reader.gpus(), reader.hosts())
    return [
        {
            "item_kind": quote.item_kind,
            "item": names.get((quote.item_kind, quote.item_id), quote.item_id),
            "price_usd": quote.price_usd,
            "kind": quote.kind,
            "vendor": quote.vendor,
            "date": quote.quoted_on,
            "price_set": quote.price_set,
            "source": quote.source_id,
            "url": quote.url,
            "note": quote.note,
        }
        for quote in reader.quotes()
    ]


def _gpus(reader: Reader) -> list[dict[str, Any]]:
    return [asdict(gpu) for gpu in reader.gpus()]


def _sources(reader: Reader) -> list[dict[str, Any]]:
    return [source._asdict() for source in reader.sources()]


_ROWS = {
    "models": _models,
    "times": _times,
    "predictions": _predictions,
    "settings": _settings,
    "prices": _prices,
    "gpus": _gpus,
    "sources": _sources,
}
