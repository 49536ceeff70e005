"""``advisor merge``: records, or another store's own rows, into the store; ``--check`` only looks.

A file that other labs wrote (``advisor export --share``) is recomputed, audited and held against
the prediction. stdout has the verdicts of ``--check``, stderr how many rows were new.
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
from advisor.tables.filled import fill

if TYPE_CHECKING:
    from advisor.store import Store
    from advisor.store.lab_records import Judged

COLUMNS = (
    "lab",
    "model",
    "gpu",
    "gpu_count",
    "nodes",
    "training_days",
    "expected_low",
    "expected_high",
    "standing",
    "reason",
)
SPARE = ("nodes", "expected_low", "expected_high")
"""Columns that a narrow terminal does without first."""
REFUSED = "refused"


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

    rows, refused = [], 0
    found = store.judge_labs(options.files)
    for file, (judged, known, held) in zip(options.files, found, strict=True):
        rows += [_row(each) for each in judged]
        bad = sum(each.standing is None for each in judged)
        refused += bad
        counts = sum(each.standing in ("single", "confirmed") for each in judged)
        print(
            f"{file}: {counted(len(judged), 'new record')} of labs, {counts} count, "
            f"{len(judged) - counts - bad} unconfirmed, {bad} refused, {known} known already"
            + held_words(held, file),
            file=sys.stderr,
        )
    if options.format == "table":
        width = terminal_width()
        print(render_rows(rows, "table", COLUMNS[:-1], width=width, spare=SPARE))
        why = dict.fromkeys(f"{row['standing']}: {row['reason']}" for row in rows if row["reason"])
        if why:
            print("\n" + "\n".join(fill(each, width, subsequent_indent="  ") for each in why))
    else:
        print(render_rows(rows, options.format, COLUMNS))
    return NO_ANSWER if refused else ANSWERED


def _row(judged: Judged) -> dict[str, Any]:
    low, high = judged.expected or (None, None)
    return {
        "lab": judged.record.lab,
        "model": judged.record.recipe_id,
        "gpu": judged.record.gpu,
        "gpu_count": judged.record.gpu_count,
        "nodes": judged.record.node_count,
        "training_days": judged.record.training_days,
        "expected_low": low,
        "expected_high": high,
        "standing": judged.standing or REFUSED,
        "reason": judged.reason,
    }
