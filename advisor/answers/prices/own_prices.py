"""What is said of machines and quotes that the user entered (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from advisor.answers.build_words import gpus_words
from advisor.answers.checklist import of_typed_store
from advisor.answers.prices.price_check import CONTRADICTING
from advisor.answers.prices.quotes import ledger_items
from advisor.costs.amount_words import usd_as_quoted, usd_rounded
from advisor.costs.own_machines import (
    QUOTE_COLUMNS,
    OwnMachine,
    machine_cells,
    quoted,
    read_machine,
)
from advisor.costs.own_quotes import RowError, quote_cells
from advisor.costs.price_book import choose_quotes, is_far_off, usual_prices
from advisor.ranking.snapshot import Snapshot
from advisor.typed_input import InputError, shown
from bench_runner.typed_numbers import percent, plain
from price_catalog.builds import GPU_COUNTS, enumerate_builds
from price_catalog.model import Gpu, Host, Quote


def change_machine(
    cells: Mapping[str, str], snapshot: Snapshot, corrected: Host | None, *, today: date
) -> OwnMachine | list[RowError]:
    """A new machine, or the ``corrected`` one, from all its cells; or all that is wrong."""
    held = None if corrected is None else own_quote_of(corrected, snapshot)
    made = read_machine(
        cells,
        ledger_items(snapshot),
        today=today,
        replaces=corrected,
        corrects="" if held is None else held.quote_id,
    )
    if isinstance(made, list):
        return made
    if corrected is not None and (made.host.gpu_id is None) != (corrected.gpu_id is None):
        message = (
            "a machine stays with its GPUs or without: delete it with "
            + of_typed_store(f"advisor prices delete --machine {quoted(corrected.name)}")
            + ", and add it again"
        )
        return [RowError(row=None, column="gpu", message=message)]
    if held is not None and quote_cells(made.quote._replace(corrects=held.corrects), {}) == (
        quote_cells(held, {})
    ):
        return made._replace(quote=held)  # its price says the same
    return made


def cells_of(host: Host, snapshot: Snapshot) -> dict[str, str]:
    """A machine of the user's with its price, as a person would type both."""
    held = own_quote_of(host, snapshot)
    prices = {} if held is None else quote_cells(held, {})
    return {name: prices.get(name, "") for name in QUOTE_COLUMNS} | machine_cells(
        host, snapshot.gpus
    )


def own_quote_of(host: Host, snapshot: Snapshot) -> Quote | None:
    """The newest quote that the user entered for a machine; None where there is none."""
    corrected = {quote.corrects for quote in snapshot.quotes}
    own = [
        quote
        for quote in snapshot.quotes
        if quote.item_id == host.host_id
        and quote.item_kind in ("host", "server")
        and quote.origin == "local"
        and quote.quote_id not in corrected
    ]
    return max(own, key=lambda quote: (quote.quoted_on, quote.quote_id), default=None)


def quote_to_correct(
    quote_id: str, snapshot: Snapshot, listed_by: str = "advisor prices list"
) -> Quote:
    """The quote of this id. Raises InputError."""
    wanted = quote_id.strip()
    for quote in snapshot.quotes:
        if quote.quote_id == wanted:
            return quote
    raise InputError(f"no quote is called {shown(wanted)}: see {of_typed_store(listed_by)}")


def far_words(quote: Quote, snapshot: Snapshot, hosts: Iterable[Host] = ()) -> str | None:
    """That a price is far from what others ask for the item, or for machines with the same GPUs;
    None where it is not. ``hosts`` are machines that the snapshot lacks. Of a machine that has a
    price already, that of one of its two GPUs is far."""
    machines = (*snapshot.hosts, *hosts)
    usual = usual_prices(snapshot.quotes, machines)(quote)
    if usual is None:
        return None
    share = quote.price_usd / usual
    known = quote.item_kind == "server" and any(
        q.item_id == quote.item_id and q.origin == "shipped" for q in snapshot.quotes
    )
    if not (is_far_off(quote, usual) or (known and share * CONTRADICTING < 1)):
        return None
    times = f"{percent(float(share))} of" if share < 1 else f"{plain(float(share))} times"
    book = choose_quotes((*snapshot.quotes, quote), "latest", hosts=machines)
    counts = book[quote.item_kind, quote.item_id].quote_id == quote.quote_id
    then = "" if counts else " It does not count beside them"
    return (
        f"{usd_rounded(quote.price_usd)} is {times} what others ask ({usd_rounded(usual)}): is it "
        f"for one piece, new, and in US dollars?{then}"
    )


def kept_words(made: OwnMachine, gpus: Iterable[Gpu], what: str) -> list[str]:
    """What was kept of a machine, and what becomes of it in a ranking."""
    host, quote = made
    lines = [
        f"{what}: {host.name}, {usd_as_quoted(quote.price_usd)}, {quote.vendor}, {quote.quoted_on}"
    ]
    for build in enumerate_builds(gpus, [host], {*GPU_COUNTS, host.max_gpus}):
        if build.obstacle is not None and build.gpu.gpu_id in (host.gpu_id, *host.supported):
            lines.append(f"{gpus_words(build)} in it is not ranked: {build.obstacle}")
    return lines
