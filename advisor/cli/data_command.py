"""``advisor data``: the evidence itself, as rows."""

from __future__ import annotations

import argparse

from advisor.cli.command import ANSWERED, NO_ANSWER, add_format, open_store

_SHOWN: dict[str, tuple[str, str]] = {
    "times": (
        "times on record, or the reasons why there are none",
        "model gpu gpu_count method training_days status verdict timing source lab standing",
    ),
    "predictions": (
        "predicted times, with 90 % intervals",
        "model gpu gpu_count training_days training_days_low training_days_high feasible "
        "micro_batch_size",
    ),
    "settings": (
        "times of known settings",
        "model gpu gpu_count method sharding offloading activation_checkpointing "
        "micro_batch_size gradient_accumulation_steps training_days source",
    ),
    "prices": (
        "quotes; advisor prices list says which count",
        "item price_usd kind vendor date source",
    ),
    "gpus": (
        "GPUs, oldest first",
        "name architecture launched_on form_factor memory_gib memory_bandwidth_gb_s bf16_tflops "
        "fp16_tflops tdp_w slot_width",
    ),
    "sources": ("sources of the rows in this store", "source_id title published_on"),
}
"""What a table's rows are, and the columns that can be read side by side."""


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
    from advisor.answers.evidence import data_rows
    from advisor.tables import render_rows

    rows = data_rows(open_store(options), options.table)
    columns = None
    if options.format == "table" and rows:
        what, names = _SHOWN[options.table]
        columns = [name for name in names.split() if any(row[name] is not None for row in rows)]
        print(f"{len(rows):,} {what}. Every column: advisor data {options.table} --format csv\n")
    print(render_rows(rows, options.format, columns))
    return ANSWERED if rows else NO_ANSWER
