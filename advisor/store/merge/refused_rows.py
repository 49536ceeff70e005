"""Which rows of a file come in: what they are for is known, their names are free, and of somebody
else's file nothing that speaks for the user.

A time that no GPU can reach is kept and marked where it is the user's own (`rows.Auditor`), since
the recipe may be counted wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from advisor.store.merge.lab_records import recomputed
from advisor.store.row_checks import row_words
from advisor.store.rows import KEYS, Tables, Values, measurement_of, measurement_values
from advisor.store.shipped_rows import auditor_of
from advisor.store.storage.engine import duckdb
from advisor.typed_input import shown
from bench_runner.recipes import load_recipes
from price_catalog.csv_table import nearest

MINE = "if the file is your own, add --mine"
_NAMES = {"gpu": ("name", "aliases"), "host": ("name",), "recipe": ("name",)}
"""Tables whose rows are asked for by name, and where their names are."""


def judge(
    connection: duckdb.DuckDBPyConnection, tables: Tables, merged_from: str | None
) -> tuple[dict[str, list[Values]], list[str]]:
    """The rows that come in, those of somebody else's file marked with it, and why others do not.

    ``merged_from``: the file and its day; None where the file is the user's own (``--mine``).
    """
    check = _Check(connection, tables, merged_from)
    kept: dict[str, list[Values]] = {}
    refused: list[str] = []
    for table in KEYS:
        kept[table] = []
        for row in tables.get(table, ()):
            try:
                kept[table].append(check.row(table, row))
            except ValueError as error:
                refused.append(f"{row_words(table, row)}: {error}")
    return kept, refused


class _Check:
    """Each row after those that it is for."""

    def __init__(
        self, connection: duckdb.DuckDBPyConnection, tables: Tables, merged_from: str | None
    ) -> None:
        self._merged_from = merged_from
        self._described: set[str] = set()
        """Machines of the file."""
        self._quotes = {None, *(row["quote_id"] for row in tables.get("quote", ()))}
        if tables.get("measurement"):
            self._recipes = {recipe.recipe_id: recipe for recipe in load_recipes()}
            self._auditor = auditor_of(connection)
        self._known: dict[str, set[str]] = {}
        self._taken: dict[str, dict[str, str]] = {}
        for table, names in _NAMES.items():
            rows = connection.execute(f"SELECT {KEYS[table][0]}, {', '.join(names)} FROM {table}")
            self._known[table], self._taken[table] = set(), {}
            for row_id, *said in rows.fetchall():
                self._known[table].add(row_id)
                self._taken[table] |= dict.fromkeys(_spellings(row_id, *said), row_id)

    def row(self, table: str, row: Values) -> Values:
        """The row as it comes in. Raises ValueError."""
        if table == "measurement":
            return self._time(row)
        if table in _NAMES:
            row_id = row[KEYS[table][0]]
            for name in _spellings(row_id, *(row[each] for each in _NAMES[table])):
                holder = self._taken[table].setdefault(name, row_id)
                if holder != row_id:
                    raise ValueError(f"its name is taken by {shown(holder)}: give it another")
        if table == "quote" and row["item_kind"] != "part":
            self._must_be_known(row["item_kind"], row["item_id"])
        elif table == "rental" or (table == "host" and row["gpu_id"] is not None):
            self._must_be_known("gpu", row["gpu_id"])
        if self._merged_from is not None and (why := self._speaks_for_the_user(table, row)):
            raise ValueError(why)
        if table in self._known:
            self._known[table].add(row[KEYS[table][0]])
        if table == "host":
            self._described.add(row["host_id"])
        marked = self._merged_from is not None and "merged_from" in row
        return {**row, "merged_from": self._merged_from} if marked else row

    def _time(self, row: Values) -> Values:
        """The user's own as it is; somebody else's from its raw seconds."""
        if self._merged_from is None and row["lab"] is None:
            return row
        record = recomputed(measurement_of(row), self._recipes, self._auditor)
        values = measurement_values(record)
        if self._merged_from is not None:
            lab = (row["lab"] or "").partition(" (from ")[0]
            values["lab"] = f"{lab} (from {self._merged_from})" if lab else self._merged_from
        return values

    def _must_be_known(self, kind: str, item_id: Any) -> None:
        known = self._known["gpu" if kind == "gpu" else "host"]
        if item_id not in known:
            raise ValueError(
                f"is for the {kind} {shown(str(item_id))}, which is not known here; "
                f"{nearest(str(item_id), known)}"
            )

    def _speaks_for_the_user(self, table: str, row: Values) -> str | None:
        """Why somebody else's row would, or for what ships; None where it does not."""
        if table in ("host", "quote") and row["kind"] == "owned":
            return f"it says what you own: {MINE}"
        if table == "host_part" and row["host_id"] not in self._described:
            return "it is a part of a machine that the file does not describe"
        if table == "quote" and row["price_set"] is not None:
            return "it says that it is a price of the paper's"
        if table == "quote" and row["corrects"] not in self._quotes:
            return f"it corrects a quote of another's: {MINE}"
        return None


def _spellings(row_id: str, *names: str | Iterable[str]) -> set[str]:
    """Every name of a row, as it is whatever its case, blanks and dashes."""
    found = [row_id]
    for name in names:
        found += [name] if isinstance(name, str) else list(name)
    return {re.sub(r"[\W_]+", "", name.casefold()) or name for name in found}
