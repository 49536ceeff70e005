"""``advisor rebuild``: the store from the text tables."""

from __future__ import annotations

import argparse
import sys

from advisor.cli.command import ANSWERED, NO_ANSWER, store_path


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    parser.add_argument(
        "--check", action="store_true", help="change nothing; say where the store differs"
    )


def run(options: argparse.Namespace) -> int:
    """Build it, or print where it differs. Raises StoreError."""
    from advisor.store import build_store, check_store

    path = store_path(options)
    if not options.check:
        build_store(path)
        print(f"built {path} from the text tables", file=sys.stderr)
        return ANSWERED
    differences = check_store(path)
    for line in differences:
        print(line)
    if not differences:
        print(f"{path} is what the text tables say", file=sys.stderr)
    return NO_ANSWER if differences else ANSWERED
