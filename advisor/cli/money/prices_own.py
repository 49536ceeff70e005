"""``advisor prices add``, ``correct`` and ``delete``: what the user entered."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Collection, Iterable, Mapping
from datetime import date

from advisor.answers.checklist import of_typed_store
from advisor.answers.prices.own_prices import (
    cells_of,
    change_machine,
    far_words,
    kept_words,
    quote_to_correct,
)
from advisor.answers.prices.quotes import ledger_items
from advisor.answers.wording import KIND_WORDS, item_names
from advisor.cli.command import ANSWERED
from advisor.costs.amount_words import usd_as_quoted
from advisor.costs.own_machines import DEFAULT_KIND, MACHINE_COLUMNS, QUOTE_COLUMNS
from advisor.costs.own_quotes import COLUMNS, OWN, RowError, make_quote, quote_cells
from advisor.ranking.snapshot import Snapshot, take_snapshot
from advisor.store import Store
from advisor.typed_input import InputError, shown
from price_catalog.csv_table import nearest
from price_catalog.model import Host, Quote

MAX_LINE = 280
MOST_NAMED = 3
NOTHING_NAMED = "nothing to correct is named: say what changes, as in --price 280000"


def add(options: argparse.Namespace, store: Store) -> int:
    """Keep a quote, or a machine with its price. Raises InputError."""
    snapshot = read_snapshot(store)
    if options.cell_machine is not None:
        given = _typed(options, ("item", "item_kind", "corrects"))
        if given:
            raise InputError(f"{_flags(given)} and --machine are two things: leave out one of them")
        _keep_machine(_typed(options, (*MACHINE_COLUMNS, *QUOTE_COLUMNS)), store, snapshot, None)
        return ANSWERED
    _of_no_machine(_typed(options, MACHINE_COLUMNS))
    if options.cell_item is None:
        raise InputError(
            'what is the price for? Name a GPU or a machine that is known with --item "RTX 3090", '
            'or a new machine with --machine "NAME" --gpu H200 --count 8'
        )
    cells = {"kind": DEFAULT_KIND, **_typed(options, COLUMNS)}
    made = make_quote(cells, ledger_items(snapshot), today=date.today())
    if isinstance(made, list):
        words = _joined(made)
        if any(problem.column == "item" for problem in made) and cells["item"]:
            words += " A" if words.endswith("?") else "; a"
            words += ' machine that is new is entered with --machine "NAME" --gpu H200 --count 8'
            words += " in place of --item"
        raise InputError(words)
    added = store.add([OWN], quote=[made])
    again = "" if added else " (it was there already)"
    words = quote_words(made, item_names(snapshot.gpus, snapshot.hosts))
    back = of_typed_store(f"advisor prices delete --quote {made.quote_id}")
    print(f"{made.quote_id}: {words}{again}; kept ({back} takes it back)", file=sys.stderr)
    tell_doubts([made], snapshot)
    return ANSWERED


def correct(options: argparse.Namespace, store: Store) -> int:
    """Change what was typed of a machine, or correct a quote. Raises InputError."""
    _one_of(options.cell_machine, options.quote)
    snapshot = read_snapshot(store)
    if options.quote is None:
        host = _own_machine(options.cell_machine, snapshot)
        given = _typed(options, (*MACHINE_COLUMNS, *QUOTE_COLUMNS))
        given |= {"machine": host.name if options.rename is None else options.rename}
        if given == {"machine": host.name}:
            raise InputError(NOTHING_NAMED)
        _keep_machine({**cells_of(host, snapshot), **given}, store, snapshot, host)
        return ANSWERED
    renamed = {} if options.rename is None else {"rename": options.rename}
    _of_no_machine(_typed(options, MACHINE_COLUMNS) | renamed)
    held = quote_to_correct(options.quote, snapshot)
    if not (given := _typed(options, QUOTE_COLUMNS)):
        raise InputError(NOTHING_NAMED)
    names = item_names(snapshot.gpus, snapshot.hosts)
    cells = {**quote_cells(held, names), **given, "corrects": held.quote_id}
    made = make_quote(cells, ledger_items(snapshot), today=date.today())
    if isinstance(made, list):
        raise InputError(f"{_joined(made)}; it stays {quote_words(held, names)}")
    store.add([OWN], quote=[made])
    print(f"{made.quote_id}: {quote_words(made, names)}; it stands in for {held.quote_id}")
    tell_doubts([made], snapshot)
    return ANSWERED


def delete(options: argparse.Namespace, store: Store) -> int:
    """Delete what the user entered; shipped rows stay. Raises InputError."""
    _one_of(options.machine, options.quote)
    snapshot = read_snapshot(store)
    if options.machine is not None:
        merged = {h.host_id: h for h in snapshot.hosts if h.origin == "merged"}
        host = merged.get(options.machine.strip()) or _own_machine(options.machine, snapshot)
        store.remove("host", host.host_id)
        print(f"{host.name} and its prices are deleted", file=sys.stderr)
        return ANSWERED
    quote = quote_to_correct(options.quote, snapshot, listed_by="advisor prices list --own")
    if quote.origin == "shipped":
        instead = of_typed_store(f"advisor prices correct --quote {quote.quote_id}")
        raise InputError(
            f"{shown(quote.quote_id)} ships with the program and stays: put one of your own in its "
            f"place with {instead}"
        )
    store.remove("quote", quote.quote_id)
    names = item_names(snapshot.gpus, snapshot.hosts)
    print(f"{quote_words(quote, names)}: deleted", file=sys.stderr)
    return ANSWERED


def read_snapshot(store: Store) -> Snapshot:
    """What the store holds now."""
    with store.reading() as reader:
        return take_snapshot(reader)


def _typed(options: argparse.Namespace, names: Iterable[str]) -> dict[str, str]:
    """What was typed for these columns; an empty text too, where one was typed."""
    typed = ((name, getattr(options, f"cell_{name}", None)) for name in names)
    return {name: text for name, text in typed if text is not None}


def _flags(columns: Iterable[str]) -> str:
    return ", ".join(f"--{name.replace('_', '-')}" for name in columns)


def _of_no_machine(given: Iterable[str]) -> None:
    if given:
        raise InputError(
            f'{_flags(given)} is said of a machine: name it, as in --machine "8 x H200"'
        )


def _one_of(machine: str | None, quote: str | None) -> None:
    if (machine is None) == (quote is None):
        raise InputError(
            "name one of the two: --machine with its name, or --quote with its id from "
            + of_typed_store("advisor prices list --own")
        )


def _own_machine(name: str, snapshot: Snapshot) -> Host:
    host = ledger_items(snapshot).own_machine(name)
    if host is None:
        own = [host.name for host in snapshot.hosts if host.is_own_quote]
        listed = f"yours are {', '.join(own[:5])}" if own else "you have entered none"
        raise InputError(f"no machine of yours is called {shown(name)}: {listed}")
    return host


def _keep_machine(
    cells: Mapping[str, str], store: Store, snapshot: Snapshot, corrected: Host | None
) -> None:
    """Keep a machine with its price, new or ``corrected``. Raises InputError."""
    made = change_machine(cells, snapshot, corrected, today=date.today())
    if isinstance(made, list):
        raise InputError(_joined(made, renames=corrected is not None))
    if corrected is None:
        store.add([OWN], host=[made.host], quote=[made.quote])
    else:
        store.replace_machine(made.host, made.quote, [OWN])
    for line in kept_words(made, snapshot.gpus, "kept" if corrected is None else "corrected"):
        print(line, file=sys.stderr)
    tell_doubts([made.quote], snapshot, [made.host])


_AS_TYPED = re.compile(r"\b(currency|usd_per_unit) (?=[A-Z]{3} (?:and|or)|[0-9]|with )")
"""Columns beside the one that is wrong, in what is said of it."""


def _joined(problems: Iterable[RowError], *, renames: bool = False) -> str:
    """All that is wrong, flag by flag, as one line, which stays short enough to be read."""
    text, *rest = [_flagged(problem, renames) for problem in problems]
    for at, problem in enumerate(rest):
        if len(text) + len(problem) > MAX_LINE:
            return f"{text}; and {len(rest) - at} more"
        text = f"{text}; {problem}"
    return text


def _flagged(problem: RowError, renames: bool) -> str:
    flags = {name: _flags([name]) for name in (*COLUMNS, *MACHINE_COLUMNS)}
    flags |= {"machine": "--rename"} if renames else {}
    message = _AS_TYPED.sub(lambda found: f"{flags[found[1]]} ", problem.message)
    return problem._replace(message=message).said(flags)


def tell_doubts(quotes: Collection[Quote], snapshot: Snapshot, hosts: Iterable[Host] = ()) -> None:
    """Say of which of these quotes the user should look again, and which no build uses."""
    far = [words for quote in quotes if (words := far_words(quote, snapshot, hosts)) is not None]
    for words in far[:MOST_NAMED]:
        print(f"advisor: look again: {words}", file=sys.stderr)
    if len(far) > MOST_NAMED:
        print(f"advisor: {len(far) - MOST_NAMED} more prices are as far off", file=sys.stderr)
    if not (of_parts := {quote.item_id for quote in quotes if quote.item_kind == "part"}):
        return
    known = ledger_items(snapshot).parts
    if unused := sorted(part for part in of_parts if part.casefold() not in known):
        more = f" and {len(unused) - MOST_NAMED} more" if len(unused) > MOST_NAMED else ""
        print(
            "advisor: no machine's parts list has "
            f"{', '.join(map(shown, unused[:MOST_NAMED]))}{more}: no build uses it; "
            f"{nearest(unused[0], known.values())}",
            file=sys.stderr,
        )


def quote_words(quote: Quote, names: Mapping[tuple[str, str], str]) -> str:
    """``RTX 3090 $900.00, list price, shop, 2026-11-01``."""
    item = names.get((quote.item_kind, quote.item_id), quote.item_id)
    price = usd_as_quoted(quote.price_usd)
    kind = KIND_WORDS.get(quote.kind, quote.kind)
    return f"{item} {price}, {kind}, {quote.vendor}, {quote.quoted_on}"
