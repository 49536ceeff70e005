"""``advisor data``: the evidence itself, as rows."""

from __future__ import annotations

import argparse

from advisor.cli.command import ANSWERED, NO_ANSWER, add_format, open_store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument("table", metavar="times|predictions|settings|prices|gpus|sources")
    add_format(parser)


def run(options: argparse.Namespace) -> int:
    """Print one table of the store. Raises InputError and StoreError."""
    from advisor.answers.evidence import data_rows
    from advisor.tables import render_rows

    rows = data_rows(open_store(options), options.table)
    print(render_rows(rows, options.format))
    return ANSWERED if rows else NO_ANSWER
