"""`advisor prices`: the ledger of quotes, what can be built, what it costs to own or to rent."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from advisor.answers.checklist import quoted, with_command
from advisor.answers.prices.quotes import ledger_items, ledger_rows
from advisor.answers.prices.what_can_be_built import build_rows, builds_text
from advisor.answers.wording import KIND_WORDS, item_names
from advisor.cli.command import ANSWERED, NO_ANSWER, WRONG_INPUT, open_store, terminal_width
from advisor.cli.money.prices_arguments import add_arguments
from advisor.cli.money.prices_own import (
    add,
    correct,
    delete,
    quote_words,
    read_snapshot,
    tell_doubts,
)
from advisor.cli.money.prices_reports import answer_cost, answer_rent, check_prices
from advisor.costs.amount_words import counted, day_words, usd_and_cents, usd_rounded
from advisor.costs.own_machines import own_machine
from advisor.costs.own_quotes import OWN
from advisor.costs.own_quotes_csv import quotes_csv, read_quotes
from advisor.costs.price_book import add_command
from advisor.costs.rental_feed import MOVED, PROVIDERS, SOURCE, fetch_rentals
from advisor.files import write_whole
from advisor.ranking.typed_question import match_gpus, parse_circuit
from advisor.store import Store
from advisor.tables.table_formats import render_rows
from advisor.tables.text_table import to_table
from advisor.typed_input import InputError, parse_price_rule, shown
from price_catalog.model import Quote

__all__ = ["add_arguments", "run"]


def run(options: argparse.Namespace) -> int:
    """Run one subcommand. Raises InputError and StoreError."""
    return _RUN[options.prices_command](options, open_store(options))


MOST_LINES = 10
"""Of what a refresh says of one kind."""
_SHORT = ("item", "price", "kind", "vendor", "date", "counts", "marks")
_OF_ONE = ("price", "vendor", "kind", "date", "age", "counts", "marks")
"""Where few are shown; one's own have their ids, too, by which they are corrected and deleted."""
_NOT_COUNTED = {
    "corrected": "corrected",
    "expired": "expired",
    "stale": "a year old or older",
    "": "passed over by the price rule",
}
"""Why a quote does not count, by its mark."""
_SPARE = ("kind", "age", "vendor")
"""Left out first in a narrow terminal."""


def _list(options: argparse.Namespace, store: Store) -> int:
    rule = parse_price_rule(options.prices)
    snapshot = read_snapshot(store)
    wanted = None
    if options.item is not None:
        try:
            wanted = ledger_items(snapshot).find(options.item, "")
        except InputError:  # perhaps a part that no machine's list has
            wanted = ("part", options.item)
            if all((q.item_kind, q.item_id) != wanted for q in snapshot.quotes):
                raise

    ledger = ledger_rows(snapshot, rule, today=date.today())
    entries = [
        (quote, row)
        for quote, row in ledger
        if wanted in (None, (quote.item_kind, quote.item_id))
        and not (options.own and quote.origin != "local")
    ]
    if options.own and not entries:
        add = add_command('"RTX 3090"', date.today())
        print(with_command("no quotes of your own yet:", add, terminal_width()), file=sys.stderr)
    if options.format == "table":
        few = ("quote", "item", *_OF_ONE) if options.own else _OF_ONE if options.item else _SHORT
        print(_ledger_table(options, entries, few))
    else:
        print(render_rows([row for _, row in entries], options.format, list(ledger[0][1])))
    return ANSWERED if entries else NO_ANSWER


def _ledger_table(
    options: argparse.Namespace,
    entries: Sequence[tuple[Quote, dict[str, Any]]],
    names: Sequence[str],
) -> str:
    """What is said of quotes in a terminal: how many count, and the most important of each."""
    if not entries:
        return to_table([], names)
    rows = [row for _, row in entries]
    counting = sum(row["counts"] for row in rows)
    of = f"{rows[0]['item']}: " if options.item else ""
    day = parse_price_rule(options.prices)
    when = f"on {day_words(day)}" if isinstance(day, date) else "now"
    when = "in the paper" if day == "paper" else when
    words = f"{of}{counting:,} of {len(rows):,} quotes count{'s' * (counting == 1)} {when}"
    if when == "now" and counting < len(rows):
        words += f"; not counted: {_not_counted(rows)}"
    words += ". All of each, with its id:"
    if len(rows) == 1:
        words = f"{of}one quote, which {'counts' if counting else 'does not count'}. All of it:"
    ends = [(row["today_low_usd"], row["today_high_usd"]) for row in rows]
    spans = [f"{usd_rounded(low)} to {usd_rounded(high)}" for low, high in ends if low != high]
    if options.item and len(spans) == 1:
        words = f"{of}{spans[0]} if ordered today; {words.removeprefix(of)}"
    command = f"{_same_command(options)} --format csv"
    cells = [
        row
        | {
            "vendor": quote.label,
            "kind": KIND_WORDS.get(quote.kind, quote.kind),
            "marks": row["marks"] or "-",
            "price": usd_and_cents(quote.price_usd),
            "quote": quote.quote_id,
        }
        for quote, row in entries
    ]
    table = to_table(cells, names, frozenset({"price"}), width=terminal_width(), spare=_SPARE)
    return f"{with_command(words, command, terminal_width())}\n\n{table}"


def _not_counted(rows: Sequence[Mapping[str, Any]]) -> str:
    """Why quotes do not count, and how many for each reason."""
    reasons = Counter(
        next(mark for mark in _NOT_COUNTED if mark in row["marks"])
        for row in rows
        if not row["counts"]
    )
    return ", ".join(f"{reasons[m]:,} {words}" for m, words in _NOT_COUNTED.items() if reasons[m])


def _same_command(options: argparse.Namespace) -> str:
    item = f" --item {quoted(options.item)}" if options.item is not None else ""
    return f"advisor prices list{item}{' --own' if options.own else ''}"


def _import(options: argparse.Namespace, store: Store) -> int:
    path = Path(options.file)
    snapshot = read_snapshot(store)
    preview = read_quotes(path, ledger_items(snapshot), today=date.today())
    name = shown(path.name or options.file, 80)[1:-1]
    if len(preview.problems) == 1:
        raise InputError(f"{name}: {preview.problems[0]}; nothing was imported")
    if preview.problems:
        for problem in preview.problems:
            print(f"advisor: {name}: {problem}", file=sys.stderr)
        least = "at least " if preview.stopped else ""
        print(
            f"advisor: {least}{len(preview.problems)} problems; nothing was imported",
            file=sys.stderr,
        )
        return WRONG_INPUT
    if options.dry_run:
        names = item_names(snapshot.gpus, [*snapshot.hosts, *preview.hosts])
        for quote in preview.quotes:
            print(quote_words(quote, names))
        print(
            f"{counted(len(preview.quotes), 'quote')} can be read; none was kept", file=sys.stderr
        )
        tell_doubts(preview.quotes, snapshot, preview.hosts)
        return ANSWERED
    store.add([OWN], quote=preview.quotes, host=preview.hosts)
    held = {quote.quote_id for quote in snapshot.quotes}
    new = sum(quote.quote_id not in held for quote in preview.quotes)
    there, machines = len(preview.quotes) - new, len(preview.hosts)
    said = f"{path}: {counted(new, 'new quote')}"
    if there:
        said += f", {there:,} {'was' if there == 1 else 'were'} there"
    if machines:
        said += f"; {counted(machines, 'new machine')}"
    print(said, file=sys.stderr)
    tell_doubts(preview.quotes, snapshot, preview.hosts)
    return ANSWERED


def _export(options: argparse.Namespace, store: Store) -> int:
    snapshot = read_snapshot(store)
    own = [quote for quote in snapshot.quotes if quote.origin == "local"]
    path = Path(options.file)
    try:
        names = item_names(snapshot.gpus, snapshot.hosts)
        text = quotes_csv(own, names, snapshot.gpus, snapshot.hosts)
        write_whole(path, text, overwrite=False)
    except FileExistsError:
        raise InputError(f"{path} is already there: name a new file") from None
    print(f"{path}: {len(own)} quote{'s' * (len(own) != 1)} of your own", file=sys.stderr)
    return ANSWERED


def _refresh(options: argparse.Namespace, store: Store) -> int:
    with store.reading() as reader:
        gpus, held = reader.gpus(), reader.rentals()
    found = fetch_rentals(gpus, held, today=date.today())
    if not found.rentals:
        why = "; ".join(f"{name} {words}" for name, words in list(found.failed.items())[:2])
        print(
            f"advisor: no rental price could be read ({why}): check the network, or HTTPS_PROXY; "
            "the prices that are there stay",
            file=sys.stderr,
        )
        return NO_ANSWER
    store.add([SOURCE], rental=found.rentals)
    named = len(PROVIDERS) - len(found.failed)
    print(
        f"{counted(len(found.rentals), 'rental price')} of {date.today()} from "
        f"{counted(named, 'provider')}: {found.new} new, {len(found.changed)} changed; "
        f"{found.left_out} offers left out (GPU or its form not known)",
        file=sys.stderr,
    )
    for title, lines in (
        ("changed", found.changed),
        (f"held back, moved by more than {MOVED} times", found.held_back),
        ("refused", found.refused),
        ("not read, what is there stays", [f"{n}: {why}" for n, why in found.failed.items()]),
    ):
        for line in lines[:MOST_LINES]:
            print(f"{title}: {line}", file=sys.stderr)
        if len(lines) > MOST_LINES:
            print(f"{title}: {len(lines) - MOST_LINES} more", file=sys.stderr)
    return ANSWERED


def _builds(options: argparse.Namespace, store: Store) -> int:
    snapshot = read_snapshot(store)
    gpu_ids = None if options.gpus is None else match_gpus(options.gpus, snapshot)
    supply = None if options.circuit is None else parse_circuit(options.circuit)
    rows = build_rows(snapshot, gpu_ids, supply)
    if options.format == "table" and rows:
        flags = {"--gpus": options.gpus, "--circuit": options.circuit}
        asked = "".join(f" {flag} {quoted(text)}" for flag, text in flags.items() if text)
        command = f"advisor prices builds{asked} --format csv"
        print(builds_text(rows, command, terminal_width()))
    else:
        print(render_rows(rows, options.format))
    return ANSWERED if rows else NO_ANSWER


def _own(options: argparse.Namespace, store: Store) -> int:
    snapshot = read_snapshot(store)
    if options.machine is None:
        names = {gpu.gpu_id: gpu.name for gpu in snapshot.gpus}
        rows = [
            {"machine": f"{host.max_gpus} x {names[host.gpu_id or '']}", "id": host.host_id}
            for host in snapshot.hosts
            if host.kind == "owned"
        ]
        if not rows:
            add = 'advisor prices own "2 x A6000"'
            print(
                with_command("none of your own yet; to add one:", add, terminal_width()),
                file=sys.stderr,
            )
        if rows or options.format != "table":
            print(render_rows(rows, options.format, ("machine", "id")))
        return ANSWERED if rows else NO_ANSWER
    host = own_machine(options.machine, snapshot.gpus)
    if options.remove:
        if not store.remove("host", host.host_id):
            raise InputError(f"{host.name} is not among your machines: see advisor prices own")
        print(f"{host.name} is forgotten", file=sys.stderr)
        return ANSWERED
    added = store.add(host=[host])
    said = "kept; every ranking counts it from now on" if added else "known already"
    print(f"{host.name} is {said}", file=sys.stderr)
    return ANSWERED


_RUN: Mapping[str, Callable[[argparse.Namespace, Store], int]] = {
    "list": _list,
    "add": add,
    "correct": correct,
    "delete": delete,
    "import": _import,
    "export": _export,
    "refresh": _refresh,
    "builds": _builds,
    "own": _own,
    "cost": answer_cost,
    "rent": answer_rent,
    "check": check_prices,
}
