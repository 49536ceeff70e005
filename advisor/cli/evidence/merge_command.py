"""``advisor merge``: records, or another store's own rows, into the store; ``--check`` only looks.

Rows of a file are marked with it and the day, unless ``--mine`` says that it is the user's own.
stdout has what ``--check`` found, stderr how many rows were new.
"""

from __future__ import annotations

import argparse
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from advisor.answers.prediction.merge_words import merged_words, refused_words
from advisor.cli.command import ANSWERED, NO_ANSWER, add_format, open_store, terminal_width
from advisor.costs.amount_words import counted
from advisor.tables.plain_values import fill
from advisor.typed_input import InputError, shown

if TYPE_CHECKING:
    from advisor.store import Store
    from advisor.store.merge.merging import Merged
    from advisor.store.reader import Reader

COLUMNS = ("file", "row", "model", "gpu", "gpu_count", "training_days", "standing", "reason")
BUDGETS_USD = (10_000, 40_000, 160_000)
"""For which `--check` says whose first row changes."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The files."""
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="a .jsonl of records or a .duckdb")
    add("--mine", action="store_true", help="the file is of your own other machine: believe it")
    add("--check", action="store_true", help="what a merge would change; nothing is kept")
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Bring them in, one after the other, or look. Raises StoreError and InputError."""
    store = open_store(options)
    if options.check:
        return _check(store, options)
    if len(options.files) > 1:  # one that cannot be read leaves none of them merged
        store.try_merge(options.files, lambda _: None, mine=options.mine)
    for file in options.files:
        merged = store.merge(Path(file), mine=options.mine)
        if merged.refused and not (merged.added or merged.held):
            own = "" if options.mine else "; a file of your own comes in with --mine"
            raise InputError(f"{file}: {refused_words(merged)}; nothing was added{own}")
        print(f"{file}: {merged_words(merged)}", file=sys.stderr)
        _tell_unused(store, merged)
    return ANSWERED


def _tell_unused(store: Store, merged: Merged) -> None:
    """Of what came in: prices far off what others ask, and times of models that nothing here
    describes."""
    from advisor.cli.money.prices_own import tell_doubts
    from advisor.ranking.fine_tuning import parted
    from advisor.ranking.snapshot import take_snapshot

    prices = {row["quote_id"] for row in merged.fresh.get("quote", ())}
    timed = [parted(row["recipe_id"])[0] for row in merged.fresh.get("measurement", ())]
    if not prices and not timed:
        return
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
    tell_doubts([quote for quote in snapshot.quotes if quote.quote_id in prices], snapshot)
    known = {model.recipe_id for model in snapshot.models}
    strange = [name for name in timed if name not in known]
    if strange:
        names = [*dict.fromkeys(map(shown, strange))]
        more = f" and {len(names) - 3} more" if len(names) > 3 else ""
        print(
            f"advisor: {counted(len(strange), 'row')} of models that nothing here describes, which "
            f"no command uses: {', '.join(names[:3])}{more}",
            file=sys.stderr,
        )


def _check(store: Store, options: argparse.Namespace) -> int:
    from advisor.tables.plain_values import to_json
    from advisor.tables.table_formats import render_rows

    found, before, after = store.try_merge(options.files, _first_rows, mine=options.mine)
    held = before or {}
    changes = [
        {"model": model, "budget_usd": budget, "first": held.get((model, budget)), "then": row}
        for (model, budget), row in (after or {}).items()
        if row != held.get((model, budget))
    ]
    rows: list[dict[str, Any]] = []
    for file, merged in zip(options.files, found, strict=True):
        rows += _rows(file, merged)
        print(f"{file}: {merged_words(merged)}", file=sys.stderr)
    if options.format == "json":
        print(to_json({"rows": rows, "ranking_changes": changes}))
    elif options.format == "csv":
        print(render_rows(rows, "csv", COLUMNS))
    else:
        width = terminal_width()
        print(render_rows(rows, "table", COLUMNS[1:-1], width=width, spare=("gpu_count",)))
        why = dict.fromkeys(f"{row['row']}: {row['reason']}" for row in rows if row["reason"])
        print(*(fill(each, width, subsequent_indent="  ") for each in ("", *why)), sep="\n")
        for change in changes:
            words = f"{change['model']}, ${change['budget_usd']:,}: {change['then'] or 'nothing'}"
            words += f" would be first, in place of {change['first'] or 'nothing'}"
            print(fill(words, width, subsequent_indent="  "))
        if not changes:
            print("no ranking would begin with another machine")
    return NO_ANSWER if any(row["reason"] for row in rows) else ANSWERED


def _rows(file: str, merged: Merged) -> list[dict[str, Any]]:
    """Every row that a merge would take or refuse."""
    from advisor.store.row_checks import row_words

    rows = [
        {
            "row": row_words(table, row),
            "model": row.get("recipe_id"),
            "gpu": row.get("gpu") or row.get("gpu_id"),
            "gpu_count": row.get("gpu_count"),
            "training_days": row.get("training_days"),
            "standing": "counts",
        }
        for table, rows in merged.fresh.items()
        if table != "source"
        for row in rows
    ]
    for each in merged.refused:
        row, _, why = each.partition(": ")
        rows.append({"row": row, "standing": "refused", "reason": why})
    return [{**dict.fromkeys(COLUMNS), "file": file, **row} for row in rows]


def _first_rows(reader: Reader) -> dict[tuple[str, int], str]:
    """What each model's ranking begins with at these budgets, in words."""
    from advisor.answers.build_words import gpus_words
    from advisor.ranking.question import CandidatesKey, Question
    from advisor.ranking.row_order import rank
    from advisor.ranking.snapshot import make_candidates, take_snapshot

    snapshot = take_snapshot(reader)
    found = {}
    for model in snapshot.models:
        key = CandidatesKey(model.recipe_id, "latest", "sound")
        candidates = make_candidates(reader, snapshot, key)
        for budget in BUDGETS_USD:
            ranking = rank(candidates, Question(budget_usd=Decimal(budget)))
            if not len(ranking):
                continue
            at = ranking.order[0]
            build, quotes = candidates.builds[at], (candidates.gpu_quotes, candidates.host_quotes)
            sellers = dict.fromkeys(quote.label for each in quotes if (quote := each[at]))
            found[model.recipe_id, budget] = (
                f"{gpus_words(build)} in {build.host.label} from {' and '.join(sellers)} for "
                f"${candidates.cents[at] / 100:,.0f}, {candidates.days[at]:.3g} days"
            )
    return found
