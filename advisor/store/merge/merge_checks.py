"""Checks of rows from other people: unknown words and items, impossible days, times and figures.

A time that no GPU can reach is kept and marked (`rows.Auditor`), since the recipe may be counted
wrongly. A share of a peak and a memory are figures of the card alone.
"""

from __future__ import annotations

import json
import math
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from pathlib import Path
from typing import Any, get_args

from advisor.costs.own_quotes import ITEM_KINDS, KINDS
from advisor.parse import shown
from advisor.ranking.audit import Peak, dense_peak
from advisor.store.engine import duckdb
from advisor.store.reader import Reader
from advisor.store.rows import Values
from advisor.store.storage.reject_untrusted_store import MAX_ROWS
from advisor.store.storage.store_error import StoreError
from bench_runner.records.measurement import STATUSES, Measurement
from bench_runner.records.timing import MOST_OF_PEAK_FP8
from price_catalog.csv_table import nearest
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import RENTAL_KINDS, Gpu, HostKind

MAX_MERGED = 500_000
"""Rows of one file or store; they take a gigabyte in memory."""
_CHOICES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "quote": {"item_kind": ITEM_KINDS, "kind": KINDS},
    "rental": {"kind": RENTAL_KINDS},
    "host": {"kind": get_args(HostKind)},
}
_Rows = Iterable[Mapping[str, Any]]


def check_words(table: str, row: Mapping[str, Any]) -> None:
    """Raise ValueError where a word is none that is known, or text could steer a terminal."""
    for column, known in _CHOICES.get(table, {}).items():
        word = row.get(column)
        if word not in known:
            raise ValueError(
                f"{column} {shown(str(word))} is not known; {nearest(str(word), known)}"
            )
    if table == "recipe" and row.get("definition") is not None:
        from advisor.prediction.own_training import read_definition

        read_definition(row["definition"])
    if (url := row.get("url")) and not re.match(r"https?://[^\s/]+", str(url)):
        raise ValueError(f"url {shown(str(url))} is no web address: begin it with https://")
    for column, value in row.items():
        for text in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(text, str) and not text.isprintable():
                raise ValueError(f"{column} {shown(text)} holds control characters")


def check_room(connection: duckdb.DuckDBPyConnection, table: str) -> None:
    """Raise StoreError where a table has become larger than what is read of any store."""
    row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    if row is not None and row[0] > MAX_ROWS:
        raise StoreError(
            f"with these the store would hold {row[0]:,} rows in the table {table}, and no more "
            f"than {MAX_ROWS:,} are read; nothing was added: keep fewer, or another --store"
        )


def check_number(count: int, path: Path) -> None:
    """Raise StoreError where more rows are to be merged than memory should have to hold."""
    if count > MAX_MERGED:
        raise StoreError(
            f"{path} holds more than {MAX_MERGED:,} rows to merge; nothing was added: ask for "
            "fewer, or read prices in by advisor prices import"
        )


def check_items(connection: duckdb.DuckDBPyConnection, tables: Mapping[str, _Rows]) -> None:
    """Raise StoreError where a price is for a GPU or a machine that nobody knows."""
    gpus = _ids(connection, "SELECT gpu_id FROM gpu") | {
        row["gpu_id"] for row in tables.get("gpu", ())
    }
    hosts = _ids(connection, "SELECT host_id FROM host") | {
        row["host_id"] for row in tables.get("host", ())
    }
    known = {"gpu": gpus, "host": hosts, "server": hosts}
    for row in tables.get("quote", ()):
        items = known.get(row["item_kind"])
        if items is not None and row.get("item_id") not in items:
            raise _unknown("quote", row["quote_id"], row["item_kind"], row.get("item_id"), items)
    for row in tables.get("rental", ()):
        if row.get("gpu_id") not in gpus:
            raise _unknown("rental", row["rental_id"], "gpu", row.get("gpu_id"), gpus)


def _ids(connection: duckdb.DuckDBPyConnection, query: str) -> set[str]:
    return {name for (name,) in connection.execute(query).fetchall()}


def _unknown(table: str, row_id: Any, kind: str, item_id: Any, known: set[str]) -> StoreError:
    return StoreError(
        f"{table} {shown(str(row_id))} is for the {kind} {shown(str(item_id))}, which is not known "
        f"here; {nearest(str(item_id), known)}; nothing was added"
    )


FIRST_DAY = date(2000, 1, 1)
"""Before any GPU that is known here."""
SHORTEST_DAYS, LONGEST_DAYS = 1e-9, 1e9
"""A tenth of a millisecond; a model of 10^26 operations on one old card takes less."""
WIDEST = 100
"""So many times a time may its upper bound be, and it so many times its lower one; those of a time
that is printed in whole days are within 2."""


def _latest() -> date:
    """Elsewhere on earth it may be tomorrow already."""
    return date.today() + timedelta(days=1)


def problem_of(record: Measurement) -> str | None:
    """What is wrong with a record; None where it can be kept."""
    days, measured_on = record.training_days, record.measured_on
    if measured_on is not None and not FIRST_DAY <= measured_on <= _latest():
        # A clock that starts anew with a battery, or runs ahead; the newest time counts most.
        return (
            f"measured_on is {measured_on}, by a clock that was wrong: write the day of the "
            "measurement there"
        )
    if record.status not in STATUSES:
        return f"status '{record.status}' is not one of {', '.join(STATUSES)}"
    if not isinstance(record.gpu_count, int) or record.gpu_count < 1:
        return f"gpu_count is {record.gpu_count}, not a whole number above 0"
    if (record.status == "ok") != (days is not None):
        return "has a time exactly where its status is ok"
    if days is not None and not (math.isfinite(days) and days > 0):
        return f"training_days is {days}, not a number above 0"
    if days is not None and not SHORTEST_DAYS <= days <= LONGEST_DAYS:
        return f"training_days is {days:g}, and no training takes {_beyond(days)}"
    low, high = record.training_days_low, record.training_days_high
    if days is not None and not (low if low is not None else days) <= days <= (
        high if high is not None else days
    ):
        return f"training_days is {days}, not between its bounds {low} and {high}"
    if days is not None and high is not None and high > WIDEST * days:
        return (
            f"training_days_high is {high:g}, more than {WIDEST} times its training_days of "
            f"{days:g}: it bounds nothing"
        )
    if days is not None and low is not None and days > WIDEST * low:
        return (
            f"training_days_low is {low:g}, less than a hundredth of its training_days of "
            f"{days:g}: it bounds nothing"
        )
    return None


def _beyond(days: float) -> str:
    short = days < SHORTEST_DAYS
    return f"less than {SHORTEST_DAYS:g} days" if short else f"more than {LONGEST_DAYS:,.0f} days"


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
