"""``advisor export``: your own rows as a file, or the paper's figures."""

from __future__ import annotations

import argparse
import sys
from datetime import date
from pathlib import Path

from advisor.answers.checklist import of_typed_store, quoted
from advisor.cli.command import ANSWERED, NO_ANSWER, open_store
from advisor.costs.price_book import add_command
from advisor.parse import InputError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = parser.add_argument
    add(
        "file",
        metavar="FILE.jsonl|figures",
        help="where to (must not exist yet), or figures: draw the paper's figures from the store",
    )
    add("--share", action="store_true", help="your times for other labs: no names, no paths")
    add("--lab", metavar="NAME", help="your lab, as it stands beside what it shares")
    add("--out", metavar="FOLDER", help="for figures (default: ./figures)")
    add("--force", action="store_true", help="overwrite figures that are there")


def run(options: argparse.Namespace) -> int:
    """Write the file or the figures. Raises InputError and StoreError."""
    if options.file == "figures":
        if options.share or options.lab is not None:
            raise InputError("--share and --lab go with: advisor export --share FILE.jsonl")
        return _figures(options)
    if options.out is not None or options.force:
        raise InputError("--out and --force go with: advisor export figures")
    if options.share:
        return _share(options)
    if options.lab is not None:
        raise InputError("--lab goes with: advisor export --share FILE.jsonl")
    count = open_store(options).export_local(Path(options.file))
    print(f"{options.file}: {count} rows of your own", file=sys.stderr)
    return ANSWERED


def _share(options: argparse.Namespace) -> int:
    from advisor.store.shared_records import checked_lab

    if options.lab is None:
        raise InputError("name your lab, under which others see it: --lab 'NLP lab, University X'")
    lab = checked_lab(options.lab)
    count, left_out = open_store(options).export_shared(Path(options.file), lab)
    stays = f"; {left_out} other records stay here" if left_out else ""
    if not count:
        print(
            "you have no times to share yet: those count that advisor bench has measured on a GPU "
            f"for a model that ships{stays}",
            file=sys.stderr,
        )
        return NO_ANSWER
    print(f"{options.file}: {count} times as {lab}{stays}", file=sys.stderr)
    return ANSWERED


def _figures(options: argparse.Namespace) -> int:
    from advisor.answers.paper.figures import write_figures

    folder = Path(options.out or "figures")
    drawn, unpriced = write_figures(open_store(options), folder, options.force)
    for path in drawn:
        print(f"wrote {path}", file=sys.stderr)
    if unpriced:
        item = unpriced[0].partition(" × ")[2]
        print(
            f"no price, and so in no figure of costs: {'; '.join(unpriced)}. To give one, as in "
            f"{of_typed_store(add_command(quoted(item), date.today()))}",
            file=sys.stderr,
        )
    return ANSWERED
