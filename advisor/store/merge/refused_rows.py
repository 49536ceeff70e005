"""Which rows of a file come in: what they are for is known, their names are free, their figures
possible; and of somebody else's file nothing that speaks for the user.

A time that no GPU can reach is kept and marked where it is the user's own (`rows.Auditor`), since
the recipe may be counted wrongly. A share of a peak and a memory are figures of the card alone.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from advisor.ranking.audit import Peak, dense_peak
from advisor.store.engine import duckdb
from advisor.store.merge.adding import row_words
from advisor.store.merge.lab_records import SHARED, LabRecordCheck, over_memory, over_power
from advisor.store.reader import Reader
from advisor.store.rows import KEYS, Tables, Values, measurement_of, measurement_values
from advisor.typed_input import shown
from bench_runner.records.timing import MOST_OF_PEAK_FP8
from price_catalog.csv_table import nearest
from price_catalog.gpu_names import index_gpus, normalise
from price_catalog.model import Gpu

_LARGEST_TIMES = 10
"""Of a card that nobody knows here: how many times the memory of the largest one that is known."""


def judge(
    connection: duckdb.DuckDBPyConnection, tables: Tables, merged_from: str | None
) -> tuple[dict[str, list[Values]], list[str]]:
    """The rows that come in, those of somebody else's file marked with it, and why others do not.

    ``merged_from``: the file and its day; None where the file is the user's own (``--mine``).
    """
    reasons = _Reasons(connection, tables, merged_from is not None)
    kept: dict[str, list[Values]] = {}
    refused: list[str] = []
    for table in KEYS:
        kept[table] = []
        for row in tables.get(table, ()):
            if (why := reasons.of(table, row)) is not None:
                refused.append(f"{row_words(table, row)}: {why}")
            elif merged_from is not None and "merged_from" in row:
                kept[table].append({**row, "merged_from": merged_from})
            else:
                kept[table].append(row)
    kept["measurement"], impossible = _judged_times(connection, kept["measurement"], merged_from)
    return kept, refused + impossible


class _Reasons:
    """Why a row does not come in, whatever its figures say."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, tables: Tables, foreign: bool
    ) -> None:
        self._foreign = foreign
        self._known: dict[str, set[str]] = {"gpu": set(), "host": set()}
        self._hosts: set[str] = set()
        self._quotes = {row["quote_id"] for row in tables.get("quote", ())}
        self._taken: dict[str, dict[str, str]] = {}
        for table, names in _NAMES.items():
            key = KEYS[table][0]
            self._taken[table] = {}
            for row_id, *said in connection.execute(
                f"SELECT {key}, {', '.join(names)} FROM {table}"
            ).fetchall():
                self._taken[table] |= dict.fromkeys(_spellings(row_id, *said), row_id)
                self._known.setdefault(table, set()).add(row_id)

    def of(self, table: str, row: Values) -> str | None:
        if table in _NAMES:
            row_id = row[KEYS[table][0]]
            for name in _spellings(row_id, *(row[each] for each in _NAMES[table])):
                holder = self._taken[table].setdefault(name, row_id)
                if holder != row_id:
                    return f"its name is taken by {shown(holder)}: give it another"
        why = None
        if table == "quote" and row["item_kind"] != "part":
            kind = row["item_kind"]
            why = _unknown(kind, row["item_id"], self._known["gpu" if kind == "gpu" else "host"])
        elif table == "rental" or (table == "host" and row["gpu_id"] is not None):
            why = _unknown("gpu", row["gpu_id"], self._known["gpu"])
        if why is None and self._foreign:
            why = self._not_theirs(table, row)
        if why is None and table in self._known:
            self._known[table].add(row[KEYS[table][0]])
            if table == "host":
                self._hosts.add(row["host_id"])
        return why

    def _not_theirs(self, table: str, row: Values) -> str | None:
        """Why somebody else's row would speak for the user, or for what ships."""
        if table in ("host", "quote") and row["kind"] == "owned":
            return f"it says what you own: {MINE}"
        if table == "host_part" and row["host_id"] not in self._hosts:
            return "it is a part of a machine that the file does not describe"
        if table == "quote" and row["price_set"] is not None:
            return "it says that it is a price of the paper's"
        if table == "quote" and row["corrects"] not in {None, *self._quotes}:
            return f"it corrects a quote of another's: {MINE}"
        return None


MINE = "if the file is your own, add --mine"
_NAMES = {"gpu": ("name", "aliases"), "host": ("name",), "recipe": ("name",)}
"""Tables whose rows are asked for by name, and where their names are."""


def _spellings(row_id: str, *names: str | Iterable[str]) -> set[str]:
    """Every name of a row, as it is whatever its case, blanks and dashes."""
    found = [row_id]
    for name in names:
        found += [name] if isinstance(name, str) else list(name)
    return {re.sub(r"[\W_]+", "", name.casefold()) or name for name in found}


def _unknown(kind: str, item_id: Any, known: set[str]) -> str | None:
    if item_id in known:
        return None
    return (
        f"is for the {kind} {shown(str(item_id))}, which is not known here; "
        f"{nearest(str(item_id), known)}"
    )


def _judged_times(
    connection: duckdb.DuckDBPyConnection, rows: list[Values], merged_from: str | None
) -> tuple[list[Values], list[str]]:
    """Times that are possible: the user's own by their figures, others' from their raw seconds."""
    if not rows:
        return [], []
    kept, refused = [], []
    theirs = [row for row in rows if merged_from is not None or row["lab"] is not None]
    own = [row for row in rows if merged_from is None and row["lab"] is None]
    figures = _Figures(connection)
    for row in own:
        if (why := figures.impossible(row)) is not None:
            words = f"{row['recipe_id']} on {row['gpu_count']} x {row['gpu']}"
            refused.append(f"{row_words('measurement', row)} ({words}) says {why}: impossible")
        else:
            kept.append(row)
    for checked in LabRecordCheck(connection).new_records(map(measurement_of, theirs))[0]:
        row = measurement_values(checked.record) | {"source_id": SHARED.source_id}
        if checked.refused is not None:
            refused.append(f"{row_words('measurement', row)}: {checked.refused}")
            continue
        if merged_from is not None:
            lab = (row["lab"] or "").partition(" (from ")[0]
            row["lab"] = f"{lab} (from {merged_from})" if lab else merged_from
        kept.append(row)
    return kept, refused


class _Figures:
    """Figures of a user's own record that no such GPU can have."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        reader = Reader(connection)
        self._gpus = index_gpus(reader.gpus())
        self._precisions = {model.recipe_id: model.precision for model in reader.models()}
        self._largest_gib = max(gpu.memory_gib for gpu in self._gpus.values())

    def impossible(self, row: Values) -> str | None:
        """Why one of them cannot be; None where all can, or the record has no time."""
        if row["status"] != "ok":
            return None
        gpu = self._gpus.get(normalise(row["gpu"]))
        environment = json.loads(row["environment"])
        peak = environment.get("peak_tflops")
        return (
            _share(row, peak, gpu, self._precisions.get(row["recipe_id"]))
            or self._memory(row, gpu)
            or over_power(environment, gpu)
        )

    def _memory(self, row: Values, gpu: Gpu | None) -> str | None:
        peak_gib = row["peak_memory_gib"]
        if gpu is not None:
            return over_memory(peak_gib, gpu)
        most = _LARGEST_TIMES * self._largest_gib
        if peak_gib is None or normalise(row["gpu"]) == "cpu" or peak_gib <= most:
            return None
        return (
            f"that it used {peak_gib:,.6g} GiB, and the largest GPU that is known here has "
            f"{self._largest_gib:g}"
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


def _peak(row: Mapping[str, Any], gpu: Gpu, precision: str | None) -> Peak | None:
    if row["matmul"] == "fp8":
        return Peak(tflops=gpu.fp8_tflops, label="fp8")
    if precision is None:
        return None
    return dense_peak(gpu, precision, naive=row["free_lunch"] is False)
