"""``advisor prices add --machine``, ``correct`` and ``delete``: what the user entered."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterable, Mapping
from datetime import date
from types import MappingProxyType

from advisor.answers.checklist import of_typed_store
from advisor.answers.prices.own_prices import (
    MachineChange,
    cells_of,
    change_machine,
    far_words,
    kept_words,
    quote_to_correct,
)
from advisor.answers.prices.quotes import ledger_items
from advisor.answers.wording import item_names
from advisor.cli.command import ANSWERED
from advisor.costs.amount_words import usd_as_quoted
from advisor.costs.own_machines import (
    MACHINE_COLUMNS,
    QUOTE_COLUMNS,
    OwnMachine,
    find_own,
)
from advisor.costs.own_quotes import COLUMNS, OWN, RowError, make_quote
from advisor.costs.own_quotes_csv import quote_cells
from advisor.ranking.snapshot import Snapshot, take_snapshot
from advisor.store import Store
from advisor.typed_input import InputError, shown
from price_catalog.model import Host, Quote

MAX_LINE = 280


def typed_cells(options: argparse.Namespace, names: Iterable[str]) -> dict[str, str]:
    """What was typed for these columns; an empty text too, where one was typed."""
    typed = ((name, getattr(options, f"cell_{name}", None)) for name in names)
    return {name: text for name, text in typed if text is not None}


def add_machine(options: argparse.Namespace, store: Store) -> int:
    """Keep a machine with its price. Raises InputError."""
    for name in ("item", "item_kind", "corrects"):
        if getattr(options, f"cell_{name}") is not None:
            flag = name.replace("_", "-")
            raise InputError(f"--{flag} and --machine are two things: leave out one of them")
    snapshot = snapshot_of(store)
    cells = typed_cells(options, (*MACHINE_COLUMNS, *QUOTE_COLUMNS))
    made = _changed(cells, snapshot, None).machine
    store.add_quoted_machine(made.host, made.quote, [OWN])
    _tell(made, snapshot, "kept")
    return ANSWERED


def correct(options: argparse.Namespace, store: Store) -> int:
    """Change what was typed of a machine, or correct a quote. Raises InputError."""
    _one_of(options.cell_machine, options.quote)
    snapshot = snapshot_of(store)
    if options.quote is not None:
        given = typed_cells(options, MACHINE_COLUMNS)
        if options.rename is not None:
            given["rename"] = options.rename
        if given:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in given)
            raise InputError(f"{flags} is said of a machine: name that with --machine, no quote")
        return _correct_quote(options, store, snapshot)
    host = _own_machine(options.cell_machine, snapshot)
    given = typed_cells(options, (*MACHINE_COLUMNS, *QUOTE_COLUMNS))
    if given.keys() == {"machine"} and options.rename is None:
        raise InputError("nothing to correct is named: say what changes, as in --price 280000")
    new_name = host.name if options.rename is None else options.rename
    (made, price_changed) = _changed(
        {**cells_of(host, snapshot), **given, "machine": new_name}, snapshot, host
    )
    store.replace_machine(made.host, made.quote if price_changed else None, [OWN])
    _tell(made, snapshot, "corrected")
    return ANSWERED


def _correct_quote(options: argparse.Namespace, store: Store, snapshot: Snapshot) -> int:
    held = quote_to_correct(options.quote, snapshot)
    given = typed_cells(options, QUOTE_COLUMNS)
    if not given:
        raise InputError("nothing to correct is named: say what changes, as in --price 280000")
    names = item_names(snapshot.gpus, snapshot.hosts)
    cells = {**quote_cells(held, names), **given, "corrects": held.quote_id}
    made = make_quote(
        {name: cells.get(name, "") for name in COLUMNS}, ledger_items(snapshot), today=date.today()
    )
    if isinstance(made, list):
        was = f"it stays {quote_words(held, names)}"
        raise InputError(f"{joined([flagged(problem) for problem in made])}; {was}")
    store.add_quotes([made], [OWN])
    print(f"{made.quote_id}: {quote_words(made, names)}; it stands in for {held.quote_id}")
    tell_far([made], snapshot)
    return ANSWERED


def delete(options: argparse.Namespace, store: Store) -> int:
    """Delete what the user entered; shipped rows stay. Raises InputError."""
    _one_of(options.machine, options.quote)
    snapshot = snapshot_of(store)
    if options.machine is not None:
        merged = {h.host_id: h for h in snapshot.hosts if h.origin == "merged"}
        host = merged.get(options.machine.strip()) or _own_machine(options.machine, snapshot)
        store.remove_machine(host.host_id)
        print(f"{host.name} and its prices are deleted", file=sys.stderr)
        return ANSWERED
    wanted = options.quote.strip()
    quote = next((quote for quote in snapshot.quotes if quote.quote_id == wanted), None)
    if quote is None:
        own = of_typed_store("advisor prices list --own")
        raise InputError(f"no quote is called {shown(wanted)}: see {own}")
    if quote.origin == "shipped":
        raise InputError(
            f"{shown(wanted)} ships with the program and stays: put one of your own in its place "
            f"with {of_typed_store(f'advisor prices correct --quote {wanted}')}"
        )
    store.remove_quote(quote.quote_id)
    names = item_names(snapshot.gpus, snapshot.hosts)
    print(f"{quote_words(quote, names)}: deleted", file=sys.stderr)
    return ANSWERED


def _one_of(machine: str | None, quote: str | None) -> None:
    if (machine is None) == (quote is None):
        raise InputError(
            "name one of the two: --machine with its name, or --quote with its id from "
            + of_typed_store("advisor prices list --own")
        )


def _own_machine(name: str, snapshot: Snapshot) -> Host:
    host = find_own(name, snapshot.hosts)
    if host is None:
        own = [host.name for host in snapshot.hosts if host.is_own_quote]
        listed = f"yours are {', '.join(own[:5])}" if own else "you have entered none"
        raise InputError(f"no machine of yours is called {shown(name)}: {listed}")
    return host


def _changed(cells: Mapping[str, str], snapshot: Snapshot, corrected: Host | None) -> MachineChange:
    made = change_machine(cells, snapshot, corrected, today=date.today())
    if isinstance(made, list):
        flags = {} if corrected is None else {"machine": "rename"}
        raise InputError(joined([flagged(problem, flags) for problem in made]))
    return made


_AS_TYPED = re.compile(r"\b(currency|usd_per_unit) (?=[A-Z]{3} (?:and|or)|[0-9]|with )")
"""Columns beside the one that is wrong, in what is said of it."""


def joined(problems: list[str]) -> str:
    """All that is wrong as one line, which stays short enough to be read."""
    text, *rest = problems
    for at, problem in enumerate(rest):
        if len(text) + len(problem) > MAX_LINE:
            return f"{text}; and {len(rest) - at} more"
        text = f"{text}; {problem}"
    return text


def flagged(problem: RowError, flags: Mapping[str, str] = MappingProxyType({})) -> str:
    """What is wrong with a flag, in one line; ``flags`` that are not called as their column."""
    column = problem.column or ""
    column = flags.get(column, column).replace("_", "-")
    message = _AS_TYPED.sub(lambda found: f"--{found[1].replace('_', '-')} ", problem.message)
    between = " " if message.startswith("is ") else ": "
    return f"--{column}{between}{message}" if column else message


def _tell(made: OwnMachine, snapshot: Snapshot, what: str) -> None:
    for line in kept_words(made, snapshot.gpus, what):
        print(line, file=sys.stderr)
    tell_far([made.quote], snapshot, [made.host])


MOST_FAR = 3


def tell_far(quotes: Iterable[Quote], snapshot: Snapshot, hosts: Iterable[Host] = ()) -> None:
    """Say of which of these prices the user should look again."""
    found = [words for quote in quotes if (words := far_words(quote, snapshot, hosts)) is not None]
    for words in found[:MOST_FAR]:
        print(f"advisor: look again: {words}", file=sys.stderr)
    if len(found) > MOST_FAR:
        print(f"advisor: {len(found) - MOST_FAR} more prices are as far off", file=sys.stderr)


def quote_words(quote: Quote, names: Mapping[tuple[str, str], str]) -> str:
    """``RTX 3090 $900.00, used, shop, 2026-11-01``."""
    item = names.get((quote.item_kind, quote.item_id), quote.item_id)
    price = usd_as_quoted(quote.price_usd)
    return f"{item} {price}, {quote.kind}, {quote.vendor}, {quote.quoted_on}"


def snapshot_of(store: Store) -> Snapshot:
    """All of the store that is not of a model."""
    with store.reading() as reader:
        return take_snapshot(reader)
