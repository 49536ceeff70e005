"""Writes a user's own rows as JSON lines: all of them, or times as another lab may read them.

What is shared is a list of what may be, not of what may not: no host name, no user, no path.
"""

from __future__ import annotations

import getpass
import json
import platform
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from advisor.files import write_whole
from advisor.store.merge.lab_records import SHARED
from advisor.store.rows import AUDITED, DERIVED, KEYS, Tables, Values, measurement_of, settings_in
from advisor.store.storage.engine import duckdb
from advisor.store.storage.store_error import StoreError
from advisor.typed_input import InputError, shown
from bench_runner.recipes import load_recipes
from bench_runner.records.journal import to_json, with_id
from bench_runner.records.measurement import Measurement
from bench_runner.records.record_checks import is_name


def local_tables(connection: duckdb.DuckDBPyConnection) -> Tables:
    """The rows of an open store that are a user's own, with every source that they name."""
    tables = {
        table: _rows(connection, f"{table} WHERE origin = 'local' ORDER BY ALL")
        for table in KEYS
        if table not in DERIVED
    }
    for row in tables["measurement"]:
        for name in AUDITED:
            del row[name]
    named = {row["source_id"] for rows in tables.values() for row in rows if "source_id" in row}
    named -= {row["source_id"] for row in tables["source"]}
    sources = _rows(connection, "source ORDER BY source_id")
    tables["source"] += [row for row in sources if row["source_id"] in named]
    return tables


def _rows(connection: duckdb.DuckDBPyConnection, which: str) -> list[Values]:
    answer = connection.execute(f"SELECT * EXCLUDE (origin) FROM {which}")
    names = [column[0] for column in answer.description or ()]
    return [dict(zip(names, row, strict=True)) for row in answer.fetchall()]


def own_lines(tables: Tables) -> list[str]:
    """Rows as JSON lines, which a merge reads."""
    lines = []
    for table, rows in tables.items():
        for row in rows:
            record = journal_record(row) if table == "measurement" else {"table": table, **row}
            lines.append(json.dumps(record, separators=(",", ":"), default=str))
    return lines


def write_lines(lines: list[str], path: Path) -> None:
    """Write a new file whole or not at all. Raises StoreError."""
    if path.exists() or path.is_symlink():
        raise StoreError(f"{path} exists already, and is left as it is: name a new file")
    try:
        write_whole(path, "".join(f"{line}\n" for line in lines), overwrite=False)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written ({error.strerror}): name a file in a folder of yours"
        ) from None


def journal_record(row: Values) -> Values:
    """A measurement as bench_runner.records.journal writes it."""
    record = dict(row)
    settings = settings_in(record)
    record["settings"] = None if settings is None else asdict(settings)
    record["environment"] = json.loads(record["environment"])
    return record


_FACTS = (
    *("cpu", "cpu_count", "host_memory_gib", "driver", "gpus", "gpu", "nodes", "exchange"),
    *("versions", "about", "parameters", "settled", "warm_up_s", "step_s_by_rank", "timed_passes"),
    *("peak_reserved_gib", "peak_tflops", "energy_j", "energy", "not_free_lunch_because"),
    *("flops_per_step_lowest", "flops_per_step_full"),
)
"""What of a record's environment may be handed on, without the texts in it that name somebody."""


def checked_lab(name: str) -> str:
    """A lab's name as it stands beside its records. Raises InputError."""
    text = name.strip()
    if not is_name(text) or len(text) > 60 or "/" in text or "\\" in text:
        raise InputError(
            f"the lab {shown(name)} is no name: one line of at most 60 letters, such as "
            "'NLP lab, University of X'"
        )
    return text


def shared_lines(tables: Tables, lab: str) -> tuple[list[str], int]:
    """The user's own times and timed trainings as JSON lines for other labs, and how many records
    stay here."""
    known = {recipe.recipe_id for recipe in load_recipes()}
    lines, left_out = {}, 0
    trainings = [row for row in tables["recipe"] if row["family"] == "own"]
    for row in trainings:
        line = json.dumps({"table": "recipe", **row}, separators=(",", ":"))
        lines[row["recipe_id"]] = line
    timed = {row["recipe_id"] for row in trainings}
    for row in tables["measurement"]:
        if row["recipe_id"] in timed:
            continue  # its definition says as much
        record = measurement_of(row)
        if _can_be_shared(record, known):
            shared = _to_shared(record, lab)
            lines[shared.measurement_id] = json.dumps(to_json(shared), separators=(",", ":"))
        else:
            left_out += 1
    return list(lines.values()), left_out


def _can_be_shared(record: Measurement, recipes: set[str]) -> bool:
    """Whether others could recompute it: a time with its raw seconds, of a recipe that ships."""
    return (
        record.status == "ok"
        and record.timing == "synchronised"
        and record.lab is None
        and record.settings is not None
        and record.method not in ("optimal", "changes-training")
        and bool(record.sync_pass_s)
        and bool(record.update_s)
        and record.recipe_id in recipes
        and not record.environment.get("memory_limit_gib")
    )


def _to_shared(record: Measurement, lab: str) -> Measurement:
    """The record as it is handed on, under the id of what is left of it."""
    held, names = record.environment, _names_of(record.environment)
    facts = {key: _without(held[key], names) for key in _FACTS if key in held}
    return with_id(
        replace(record, reason=None, source_id=SHARED.source_id, environment=facts, lab=lab)
    )


def _names_of(environment: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of this machine and of whoever uses it, which may stand anywhere in a text."""
    found = {str(environment.get("host") or ""), platform.node()}
    with suppress(OSError, KeyError, ImportError):
        found.add(getpass.getuser())
    short = {name.partition(".")[0] for name in found}
    return tuple(name for name in found | short if len(name) > 2 and name != "root")


def _without(value: Any, names: tuple[str, ...]) -> Any:
    """The value with None for each text that holds a name or looks like a path."""
    if isinstance(value, Mapping):
        return {str(key): _without(each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without(each, names) for each in value]
    if isinstance(value, str):
        words = value.lower()
        path = words.startswith(("/", "~")) or " /" in words or ":\\" in words or "=/" in words
        return None if path or any(name.lower() in words for name in names) else value
    return value
