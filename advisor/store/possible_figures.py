"""Whether the figures of a record that others wrote can be: not above the card's peak or memory.

A time that no GPU can reach is kept and told (`rows.Auditor`): the recipe may be counted wrongly. A
share of a peak and a memory are figures of the card alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from advisor.parse import shown
from advisor.ranking.audit import Peak, dense_peak
from advisor.store.engine import duckdb
from advisor.store.reader import Reader
from advisor.store.rows import Values
from advisor.store.store_error import StoreError
from bench_runner.records.timing import MOST_OF_PEAK_FP8
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu

MEMORY_SLACK = 1.02
"""Of a card's memory as sold, which is rounded."""
MOST_OF_TDP = 1.5
"""Of the watts that a card is made for, over seconds."""
_LARGEST_TIMES = 10
"""Of a card that nobody knows here: so many times the memory of the largest one that is known."""


def check_figures(connection: duckdb.DuckDBPyConnection, rows: Iterable[Values]) -> None:
    """Raise StoreError for the first record with a figure that no such GPU can have; another
    lab's is made anew from its raw seconds, and judged by `lab_records`."""
    told = [row for row in rows if row["lab"] is None and row["status"] == "ok"]
    if not told:
        return
    reader = Reader(connection)
    gpus = index_gpus(reader.gpus())
    precisions = {model.recipe_id: model.precision for model in reader.models()}
    largest_gib = max(gpu.memory_gib for gpu in gpus.values())
    for row in told:
        gpu = gpus.get(normalise(row["gpu"]))
        environment = json.loads(row["environment"])
        why = (
            _share(row, environment.get("peak_tflops"), gpu, precisions.get(row["recipe_id"]))
            or _memory(row, gpu, largest_gib)
            or _watts(environment, gpu)
        )
        if why is not None:
            raise StoreError(
                f"the record {shown(row['measurement_id'])} ({row['recipe_id']} on "
                f"{row['gpu_count']} x {row['gpu']}) says {why}: impossible; mend it or take it "
                "out; nothing was added"
            )


def _share(row: Values, of: object, gpu: Gpu | None, precision: str | None) -> str | None:
    """Why its share of the peak that it names cannot be; None where it can."""
    mfu = row["mfu"]
    if mfu is None or mfu <= 1:
        return None
    fp8 = row["matmul"] == "fp8"
    peak = None if gpu is None else _peak(row, gpu, precision)
    if peak is not None and peak.tflops is not None:
        # The record may name another peak, of which it is a share.
        if not isinstance(of, int | float) or isinstance(of, bool) or of <= 0:
            of = peak.tflops if gpu is None or not fp8 else gpu.bf16_tflops or peak.tflops
        rate = min(mfu * of, sys.float_info.max)
        if rate <= peak.tflops:
            return None
        return (
            f"an MFU of {mfu:.4g}, {rate:.4g} TFLOP/s a GPU, above its dense {peak.label} peak of "
            f"{peak.tflops:g} TFLOP/s"
        )
    most = MOST_OF_PEAK_FP8 if fp8 else 1
    return f"an MFU of {mfu:.4g}, above {most}" if mfu > most else None


def _peak(row: Values, gpu: Gpu, precision: str | None) -> Peak | None:
    if row["matmul"] == "fp8":
        return Peak(tflops=gpu.fp8_tflops, label="fp8")
    if precision is None:
        return None
    return dense_peak(gpu, precision, naive=row["free_lunch"] is False)


def _memory(row: Values, gpu: Gpu | None, largest_gib: float) -> str | None:
    """Why its peak memory cannot be; None where it can."""
    peak_gib = row["peak_memory_gib"]
    if peak_gib is None or (gpu is None and normalise(row["gpu"]) == "cpu"):
        return None
    said = f"that it used {peak_gib:,.6g} GiB"
    if gpu is not None:
        over = peak_gib > MEMORY_SLACK * gpu.memory_gib
        return f"{said} of a GPU that has {gpu.memory_gib:g}" if over else None
    if peak_gib > _LARGEST_TIMES * largest_gib:
        return f"{said}, and the largest GPU that is known here has {largest_gib:g}"
    return None


def _watts(environment: Mapping[str, Any], gpu: Gpu | None) -> str | None:
    """Why its power cannot be; None where it can, or nothing is known."""
    said = environment.get("gpu")
    if gpu is None or gpu.tdp_w is None or not isinstance(said, Mapping):
        return None
    for name in ("counted_w", "power_w"):
        watts = said.get(name)
        if isinstance(watts, bool) or not isinstance(watts, int | float):
            continue
        if watts > MOST_OF_TDP * gpu.tdp_w:
            return f"{watts:,.6g} W of a GPU that is made for {gpu.tdp_w:g}"
    return None
