"""``advisor merge``: records, or another store's own rows, into the store."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from advisor.cli.command import ANSWERED, open_store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The files."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="a .jsonl of records or a .duckdb")


def run(options: argparse.Namespace) -> int:
    """Bring them in, one after the other. Raises StoreError."""
    store = open_store(options)
    for file in options.files:
        added = store.merge(Path(file))
        print(f"{file}: {added} new rows", file=sys.stderr)
    return ANSWERED
