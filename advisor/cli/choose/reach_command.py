"""``advisor reach``: what some GPUs, or this machine's, can train within a time."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from advisor.answers.reach import (
    ASSUMED_DAYS,
    COLUMNS,
    PERHAPS,
    WITHIN,
    ReachQuestion,
    reach_sentence,
    reach_text,
    reached,
)
from advisor.cli.command import (
    ANSWERED,
    NO_ANSWER,
    add_fine_tuning,
    add_format,
    open_store,
    terminal_width,
    typed_fine_tuning,
)
from advisor.typed_input import InputError, parse_max_days, parse_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from price_catalog.model import Gpu


MOST_GPUS = 16
"""Of one machine."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = parser.add_argument
    add(
        "--gpu",
        metavar="NAME",
        help="a GPU of the catalogue, such as A6000 (default: this machine's)",
    )
    add("--count", metavar="N", help="how many of them (default: 1, or all that are here)")
    add("--max-days", metavar="D", help="longest training: 30, 8w or 2 months (default: 90)")
    add("--details", action="store_true", help="every model")
    add_fine_tuning(parser)
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Look up and print. Raises InputError and StoreError."""
    max_days = None if options.max_days is None else parse_max_days(options.max_days)
    count = (
        None if options.count is None else parse_whole(options.count, "--count", ("gpus", "gpu"))
    )
    tuning = typed_fine_tuning(options)
    with open_store(options).reading() as reader:
        gpu, count = _machine(options.gpu, count, reader.gpus())
        asked = ReachQuestion(gpu=gpu, count=count, max_days=max_days, tuning=tuning)
        rows = reached(*reader.times_on(gpu, count, tuning), asked)
    if options.format == "json":
        from advisor.tables.plain_values import to_json

        content = {
            "gpu": gpu.gpu_id,
            "gpu_count": count,
            "max_days": max_days or ASSUMED_DAYS,
            "training": None if tuning is None else tuning.as_object(text=True),
            "verdict": {"sentence": reach_sentence(rows, asked)},
            "models": [row.as_row() for row in rows],
        }
        print(to_json(content))
    elif options.format == "csv":
        from advisor.tables.table_formats import render_rows

        print(render_rows([row.as_row() for row in rows], "csv", COLUMNS))
    else:
        print(reach_text(rows, asked, width=terminal_width(), details=options.details))
    return ANSWERED if any(row.reach in (WITHIN, PERHAPS) for row in rows) else NO_ANSWER


def _machine(named: str | None, count: int | None, gpus: Sequence[Gpu]) -> tuple[Gpu, int]:
    """The GPUs that are asked about. Raises InputError."""
    from price_catalog.gpu_names import find_gpu, index_gpus, normalise

    index = index_gpus(gpus)
    if named is not None:
        try:
            gpu = find_gpu(named, index)
        except ValueError as error:
            raise InputError(str(error)) from None
        count = count or 1
    else:
        from pathlib import Path

        from advisor.benchmark.measurement_request import look_here
        from bench_runner.launch.hardware import why_no_gpu

        here = look_here(Path.cwd())
        if not here.gpus:
            raise InputError(f"{why_no_gpu()}; or name GPUs, such as --gpu A6000 --count 4")
        name = here.gpus[0].name
        found = index.get(normalise(name))
        if found is None:
            raise InputError(f"the catalogue has no GPU called {name}: name one like it by --gpu")
        gpu, here_count = found, sum(each.name == name for each in here.gpus)
        count = count or min(here_count, MOST_GPUS)
    if count > MOST_GPUS:
        raise InputError(
            f"--count {count:,} is more than {MOST_GPUS} GPUs of one machine: ask about one model "
            "on several machines by advisor predict --nodes"
        )
    return gpu, count
