"""What the commands share: exit codes, and the flags that many of them have."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from advisor.ranking.fine_tuning import FineTuning
    from advisor.store import Store

FORMATS = ("table", "json", "csv")
"""In which `advisor.tables` prints rows."""
ANSWERED = 0
NO_ANSWER = 1
"""The question has none: nothing fits the budget, say."""
WRONG_INPUT = 2
CANCELLED = 130
"""As a shell has it for Ctrl-C."""


def add_store(parser: argparse.ArgumentParser) -> None:
    """The flag that names the store, before and after the command."""
    from argparse import SUPPRESS  # late: to open the program, nothing is parsed

    parser.add_argument(
        "--store",
        metavar="PATH",
        default=SUPPRESS,
        help="the evidence: a results.duckdb (else $ADVISOR_STORE, else ./results.duckdb, "
        "else the one in your data folder)",
    )


def add_format(parser: argparse.ArgumentParser, *, csv: bool = True) -> None:
    """The flag that chooses between a table and JSON and, where a command has it, CSV."""
    formats = FORMATS if csv else FORMATS[:2]
    listed = "table (default), json or csv" if csv else "table (default) or json"
    parser.add_argument("--format", default="table", help=listed)
    parser.set_defaults(formats=formats)


def add_terms(parser: argparse.ArgumentParser) -> None:
    """The flags of what owning a machine costs."""
    from advisor.costs.cost_terms import FLAGS, TERMS  # late, as above

    group = parser.add_argument_group("what owning costs, and so a run")
    for term in TERMS:
        names = dict.fromkeys((f"--{FLAGS.get(term.name, term.name)}", f"--{term.name}"))
        group.add_argument(*names, dest=term.name, metavar=term.metavar, help=term.help)


def typed_terms(options: argparse.Namespace) -> dict[str, str | None]:
    """What was typed of them."""
    from advisor.costs.cost_terms import TERMS

    return {term.name: getattr(options, term.name) for term in TERMS}


def add_fine_tuning(parser: argparse.ArgumentParser) -> None:
    """The flags of how a model is trained."""
    group = parser.add_argument_group("fine-tuning")
    add = group.add_argument
    add("--train", default="pretrain", metavar="KIND", help="pretrain (default), full, lora, qlora")
    add("--rank", metavar="R", help="of adapters (default: 16)")
    add("--data", metavar="D", help="tokens, as 50M (default), or examples, as 52000x512")
    add("--epochs", metavar="E", help="how often the data are seen (default: 1)")


def typed_fine_tuning(options: argparse.Namespace) -> FineTuning | None:
    """What was typed of them; None where nothing is fine-tuned. Raises InputError."""
    if options.train == "pretrain" and not (options.rank or options.data or options.epochs):
        return None
    from advisor.ranking.fine_tuning import read_fine_tuning

    return read_fine_tuning(options.train, options.rank, options.data, options.epochs)


MOST_MACHINES = 128
"""For one model: as many as any of the public measurements has; most have 16 or fewer."""
WIDTH = 100
"""Columns of an answer; fewer where the terminal has fewer."""
LEAST_WIDTH = 40
"""In a narrower terminal lines run on."""


def say(text: str) -> None:
    """Print a message for a person on stderr."""
    from bench_runner.untrusted_text import printable

    print(printable(text), file=sys.stderr)


def terminal_width() -> int:
    """How many columns an answer may take: as $COLUMNS says, else as the terminal has."""
    said = os.environ.get("COLUMNS", "")
    if said.isascii() and said.isdigit() and int(said[:5]):
        return min(WIDTH, max(int(said[:5]), LEAST_WIDTH))
    try:
        columns = os.get_terminal_size(sys.stdout.fileno()).columns
        return min(WIDTH, max(columns, LEAST_WIDTH)) if columns else WIDTH  # some say 0
    except (OSError, ValueError, AttributeError):  # no terminal: a pipe, a file, nothing
        return WIDTH


def store_path(options: argparse.Namespace | None) -> Path:
    """Where the store lies, whether or not it exists."""
    from advisor.store import find_store

    return find_store(getattr(options, "store", None))


def open_store(options: argparse.Namespace) -> Store:
    """The store that the options name. What is wrong with it, its first use says."""
    from advisor.store import Store

    return Store(store_path(options), note=NOTES.append)


NOTES: list[str] = []
"""What was done to the store, to be said once the command has understood its input."""


def network_of(nodes: str, fabric: str | None, most: int) -> tuple[int, str | None]:
    """How many machines, and what joins them; neither without the other. Raises InputError."""
    from advisor.typed_input import InputError

    if nodes.strip() == "1" and fabric is None:
        return 1, None
    from advisor.ranking.fabric import FABRICS, parse_machines

    machines = parse_machines(nodes, most)
    if machines == 1:
        raise InputError("--fabric joins several machines: add --nodes 2")
    if fabric is None:
        raise InputError(f"--fabric is missing: name one of {', '.join(FABRICS)}")
    return machines, fabric
