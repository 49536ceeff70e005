"""``advisor export``: your own rows as a file."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from advisor.cli.command import ANSWERED, NO_ANSWER, open_store
from advisor.costs.amount_words import counted
from advisor.typed_input import InputError, shown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = parser.add_argument
    add("file", metavar="FILE.jsonl", help="where to (must not exist yet)")
    add("--share", action="store_true", help="your times for other labs: no names, no paths")
    add("--lab", metavar="NAME", help="your lab, as it stands beside what it shares")


def run(options: argparse.Namespace) -> int:
    """Write the file. Raises InputError and StoreError."""
    from advisor.store.merge.export_rows import checked_lab

    if not options.file.endswith(".jsonl"):
        raise InputError(
            f"{shown(options.file)} does not end with .jsonl: write one such as mine.jsonl"
        )
    lab = None
    if options.share:
        if options.lab is None:
            raise InputError(
                "name your lab, under which others see it: --lab 'NLP lab, University X'"
            )
        lab = checked_lab(options.lab)
    elif options.lab is not None:
        raise InputError("--lab goes with: advisor export --share FILE.jsonl")
    count, left_out = open_store(options).export(Path(options.file), lab)
    stays = f"; {left_out} other records stay here" if left_out else ""
    if lab is None:
        said = f"{options.file}: {counted(count, 'row')} of your own"
    elif count:
        said = f"{options.file}: {count} times as {lab}{stays}"
    else:
        said = (
            "you have no times to share yet: those count that advisor bench has measured on a GPU "
            f"for a model that ships{stays}"
        )
    print(said, file=sys.stderr)
    return ANSWERED if count or lab is None else NO_ANSWER
