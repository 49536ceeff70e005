"""``advisor merge``: records, or another store's own rows, into the store; ``--check`` only looks.

A file that other labs wrote (``advisor export --share``) is recomputed and audited. stdout has what
``--check`` found, stderr how many rows were new.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.answers.checklist import of_typed_store
from advisor.answers.prediction.merge_words import held_words, merged_words
from advisor.cli.command import ANSWERED, NO_ANSWER, add_format, open_store, terminal_width
from advisor.costs.amounts import counted
from advisor.parse import InputError
from advisor.tables.plain_values import fill

if TYPE_CHECKING:
    from advisor.store import Store
    from advisor.store.merge.lab_records import CheckedRecord

COLUMNS = ("lab", "model", "gpu", "gpu_count", "nodes", "training_days", "standing", "reason")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The files."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a .jsonl of records or a .duckdb")
    parser.add_argument(
        "--check",
        action="store_true",
        help="what a merge would do with labs' records; nothing is kept",
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="put the file's rows in the place of yours with the same id",
    )
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Bring them in, one after the other, or look. Raises StoreError and InputError."""
    if options.check and options.replace:
        raise InputError(
            "--check keeps nothing, so --replace does nothing beside it: leave one out"
        )
    store = open_store(options)
    if options.check:
        return _check(store, options)
    before = _impossible(store)
    for file in options.files:
        merged = store.merge(Path(file), replace=options.replace)
        after = _impossible(store) if merged.added or merged.replaced else before
        print(f"{file}: {merged_words(merged, file)}{_told(after - before)}", file=sys.stderr)
        before = after
    return ANSWERED


def _impossible(store: Store) -> int:
    with store.reading() as reader:
        return reader.own_impossible()


def _told(impossible: int) -> str:
    """Of new rows, those that no ranking uses."""
    if impossible <= 0:
        return ""
    they = "one of a time" if impossible == 1 else f"{impossible:,} of times"
    listed = of_typed_store("advisor data times")
    return f", {they} that no such GPU can reach, which no ranking uses ({listed})"


def _check(store: Store, options: argparse.Namespace) -> int:
    from advisor.tables.table_formats import render_rows

    rows: list[dict[str, Any]] = []
    found = store.check_lab_records(options.files)
    for file, (checked, known, held) in zip(options.files, found, strict=True):
        rows += [_row(each) for each in checked]
        bad = sum(each.refused is not None for each in checked)
        print(
            f"{file}: {counted(len(checked), 'new record')} of labs, {len(checked) - bad} count, "
            f"{bad} refused, {known} known already{held_words(held, file)}",
            file=sys.stderr,
        )
    if options.format == "table":
        width = terminal_width()
        print(render_rows(rows, "table", COLUMNS[:-1], width=width, spare=("nodes",)))
        why = dict.fromkeys(f"{row['standing']}: {row['reason']}" for row in rows if row["reason"])
        if why:
            print("\n" + "\n".join(fill(each, width, subsequent_indent="  ") for each in why))
    else:
        print(render_rows(rows, options.format, COLUMNS))
    return NO_ANSWER if any(row["reason"] for row in rows) else ANSWERED


def _row(checked: CheckedRecord) -> dict[str, Any]:
    return {
        "lab": checked.record.lab,
        "model": checked.record.recipe_id,
        "gpu": checked.record.gpu,
        "gpu_count": checked.record.gpu_count,
        "nodes": checked.record.node_count,
        "training_days": checked.record.training_days,
        "standing": "counts" if checked.refused is None else "refused",
        "reason": checked.refused,
    }
