"""``advisor data``: the evidence itself, as rows."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from advisor.answers.checklist import with_command
from advisor.answers.wording import KIND_WORDS, STATUS_WORDS, source_name, source_title
from advisor.cli.command import ANSWERED, NO_ANSWER, add_format, open_store, terminal_width
from bench_runner.typed_numbers import count_words

if TYPE_CHECKING:
    from price_catalog.model import Source

_SHOWN: dict[str, tuple[str, str]] = {
    "models": (
        "models that can be ranked, your own among them",
        "model name family parameters batch_size sequence_length precision",
    ),
    "times": (
        "times on record, or why there are none",
        "model gpu gpu_count method training_days verdict source lab",
    ),
    "predictions": (
        "predicted times, with 90 % intervals",
        "model gpu gpu_count training_days training_days_low training_days_high feasible "
        "micro_batch_size",
    ),
    "settings": (
        "times of known settings",
        "model gpu gpu_count sharding activation_checkpointing micro_batch_size "
        "gradient_accumulation_steps training_days",
    ),
    "prices": (
        "quotes (those that count: advisor prices list)",
        "item price_usd kind vendor date source",
    ),
    "gpus": (
        "GPUs, oldest first",
        "name architecture launched_on form_factor memory_gib memory_bandwidth_gb_s bf16_tflops "
        "fp16_tflops tdp_w",
    ),
    "sources": ("sources of the rows in this store", "title published_on"),
}
"""What a table's rows are, and the columns that can be read side by side."""

_HEADINGS = {
    "gpu_count": "gpus",
    "training_days": "days",
    "training_days_low": "low",
    "training_days_high": "high",
    "activation_checkpointing": "checkpointing",
    "micro_batch_size": "micro-batch",
    "gradient_accumulation_steps": "accumulated",
    "memory_gib": "GiB",
    "memory_bandwidth_gb_s": "GB/s",
    "bf16_tflops": "bf16 TFLOP/s",
    "fp16_tflops": "fp16",
    "tdp_w": "W",
    "price_usd": "USD",
    "published_on": "published",
    "launched_on": "launched",
    "form_factor": "form",
    "batch_size": "batch",
    "sequence_length": "a sample",
}
"""Shorter than the names in CSV and JSON, so that a table fits a terminal."""


_SPARE = (
    *("name", "precision", "family", "lab", "form", "architecture", "launched"),
    *("feasible", "micro-batch", "kind", "source", "checkpointing", "accumulated", "verdict"),
    "high",
)
"""Left out first in a narrow terminal."""


def _cell(row: Mapping[str, Any], name: str, sources: Mapping[str, Source]) -> Any:
    """What there is, in words; a time that there is not says why."""
    if name == "source":
        return source_name(sources.get(row[name]), row[name])
    if name == "title":
        return source_title(sources[row["source_id"]])
    if name == "parameters":
        return count_words(row[name])
    if name == "sequence_length":
        tokens, pixels = row[name], row["image_size"]
        return f"{tokens:,} tokens" if tokens else f"{pixels} pixels"
    if name == "kind":
        return KIND_WORDS.get(row[name], row[name])
    missing = name == "verdict" and row["training_days"] is None
    return STATUS_WORDS.get(row["status"], row["status"]) if missing else row[name]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument(
        "table",
        metavar="|".join(_SHOWN),
        help="; ".join(f"{name}: {what}" for name, (what, _) in _SHOWN.items()).replace("%", "%%"),
    )
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Print one table of the store. Raises InputError and StoreError."""
    from advisor.answers.prediction.recorded_times import data_rows
    from advisor.tables.table_formats import render_rows

    store = open_store(options)
    rows = data_rows(store, options.table)
    columns = None
    if options.format == "table" and rows:
        what, names = _SHOWN[options.table]
        columns = [name for name in names.split() if any(row[name] is not None for row in rows)]
        words, command = f"{len(rows):,} {what}. Every column:", f"advisor data {options.table}"
        print(f"{with_command(words, f'{command} --format csv', terminal_width())}\n")
        with store.reading() as reader:
            sources = {source.source_id: source for source in reader.sources()}
        rows = [
            {_HEADINGS.get(name, name): _cell(row, name, sources) for name in columns}
            for row in rows
        ]
        columns = None
    print(render_rows(rows, options.format, columns, width=terminal_width(), spare=_SPARE))
    return ANSWERED if rows else NO_ANSWER
