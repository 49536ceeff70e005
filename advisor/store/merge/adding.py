"""Adds rows of the user's own, all of a call or none; times are audited, predictions renewed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import date, timedelta

from advisor.store.engine import duckdb
from advisor.store.predictions import predict_anew
from advisor.store.rows import (
    KEYS,
    Tables,
    Values,
    host_values,
    insert_missing,
    measurement_values,
    plain_values,
)
from advisor.store.seed import audit_local, auditor_of
from advisor.store.storage.connection import transaction
from advisor.store.storage.reject_untrusted_store import MAX_ROWS
from advisor.store.storage.store_error import StoreError
from advisor.typed_input import shown
from bench_runner.records.measurement import STATUSES, Measurement
from price_catalog.builds import GPU_COUNTS
from price_catalog.model import Host, Quote, Rental, Source


def own_tables(
    *,
    sources: Iterable[Source] = (),
    measurements: Iterable[Measurement] = (),
    quotes: Iterable[Quote] = (),
    rentals: Iterable[Rental] = (),
    hosts: Iterable[Host] = (),
) -> Tables:
    """Records of the program's own making as rows. Raises StoreError."""
    records = list(measurements)
    for record in records:
        if problem := problem_of(record):
            raise StoreError(f"record '{record.measurement_id}': {problem}; nothing was added")
    prices = {"quote": list(map(plain_values, quotes)), "rental": list(map(plain_values, rentals))}
    for table, rows in prices.items():
        for row in rows:
            _check_price(table, row)
            del row["origin"]
    return {
        "source": [plain_values(source) for source in sources],
        **prices,
        "host": [{**host_values(host), "origin": "local"} for host in hosts],
        "measurement": [measurement_values(record) for record in records],
    }


def _check_price(table: str, row: Values) -> None:
    price = row["price_usd" if table == "quote" else "price_per_hour_usd"]
    if not price.is_finite() or price <= 0:
        named = row[KEYS[table][0]]
        raise StoreError(f"{table} '{named}': the price {price} is not above 0; nothing was added")


def add_local(connection: duckdb.DuckDBPyConnection, tables: Tables) -> int:
    """Add the rows that are not there yet, all in one transaction; how many those were."""
    with transaction(connection):
        return add_rows(connection, tables)


def add_rows(connection: duckdb.DuckDBPyConnection, tables: Tables, *, merged: bool = False) -> int:
    """The same inside a transaction that is open already."""
    added = 0
    for table, rows in tables.items():
        if table != "measurement":
            added += _insert(connection, table, rows)
    if tables.get("gpu") or tables.get("recipe"):
        audit_local(connection, auditor_of(connection))
    if measurements := tables.get("measurement"):
        auditor = auditor_of(connection)
        rows = [{**row, **auditor.verdict(row)} for row in measurements]
        added += _insert(connection, "measurement", rows)
    evidence = merged and any(tables.get(name) for name in ("measurement", "gpu", "recipe"))
    if evidence or any(row["max_gpus"] not in GPU_COUNTS for row in tables.get("host", ())):
        predict_anew(connection)
    return added


def _insert(connection: duckdb.DuckDBPyConnection, table: str, rows: list[Values]) -> int:
    """Raises StoreError where the table becomes larger than what is read of any store."""
    if not rows:
        return 0
    added = insert_missing(connection, table, [{**row, "origin": "local"} for row in rows])
    held = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
    if held is not None and held[0] > MAX_ROWS:
        raise StoreError(
            f"with these the store would hold {held[0]:,} rows in the table {table}, and no more "
            f"than {MAX_ROWS:,} are read; nothing was added: keep fewer, or another --store"
        )
    return added


FIRST_DAY = date(2000, 1, 1)
"""Before any GPU that is known here."""
SHORTEST_DAYS, LONGEST_DAYS = 1e-9, 1e9
"""A tenth of a millisecond; a model of 10^26 operations on one old card takes less."""
WIDEST = 100
"""How many times a time its upper bound may be, and it its lower one; those of a time that is
printed in whole days are within 2."""


def problem_of(record: Measurement) -> str | None:
    """What is wrong with a record; None where it can be kept."""
    days, measured_on = record.training_days, record.measured_on
    low, high = record.training_days_low, record.training_days_high
    latest = date.today() + timedelta(days=1)  # elsewhere on earth it may be tomorrow already
    if measured_on is not None and not FIRST_DAY <= measured_on <= latest:
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
    if days is None:
        return None
    if not (math.isfinite(days) and days > 0):
        return f"training_days is {days}, not a number above 0"
    if not SHORTEST_DAYS <= days <= LONGEST_DAYS:
        beyond = f"less than {SHORTEST_DAYS:g} days"
        if days > LONGEST_DAYS:
            beyond = f"more than {LONGEST_DAYS:,.0f} days"
        return f"training_days is {days:g}, and no training takes {beyond}"
    if not (days if low is None else low) <= days <= (days if high is None else high):
        return f"training_days is {days}, not between its bounds {low} and {high}"
    bounds = "of its training_days of {:g}: it bounds nothing"
    if high is not None and high > WIDEST * days:
        return f"training_days_high is {high:g}, more than {WIDEST} times {bounds[3:].format(days)}"
    if low is not None and days > WIDEST * low:
        return f"training_days_low is {low:g}, less than a hundredth {bounds.format(days)}"
    return None


def row_words(table: str, row: Values) -> str:
    """``quote 'q-1'``: what a person calls a row."""
    named = " ".join(str(row.get(column)) for column in KEYS[table])
    return f"{ROW_WORDS.get(table, table)} {shown(named)}"


ROW_WORDS = {"measurement": "record", "host": "machine", "host_part": "part", "recipe": "model"}
