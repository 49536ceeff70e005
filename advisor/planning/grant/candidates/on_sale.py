"""What is requested can be ordered: who sells a machine decides whether a plan may buy it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from advisor.costs.price_book import PriceBook
from advisor.planning.solver.problem import Machine, PriceLine
from price_catalog.model import Quote

ONLY_TOLD = "others tell of its price or sold it used, and nobody is known to sell it new"
OVERTAKEN = "its cards alone cost more by now: nobody sells it at its price any longer"


def gone(quotes: Iterable[Quote], book: PriceBook) -> str | None:
    """Why nobody can order at these prices; None where somebody may.

    A price of the user's own is the user's affair.
    """
    for quote in quotes:
        ended = quote.valid_until
        if book.as_of is None or ended is None or quote.origin == "local":
            continue
        if ended < book.as_of:
            return f"{quote.label} has not offered it since {ended}, and nobody else is known to"
    return None


def sold(quotes: Iterable[Quote], book: PriceBook) -> bool:
    """Whether somebody is known to sell at each of these prices, new, or the user says so.

    What others sold a used card at is no price that a funder can be asked for.
    """
    return all(
        quote.origin == "local" or (book.is_offered(quote) and quote.kind != "used")
        for quote in quotes
    )


def unquoted(machine: Machine) -> PriceLine | None:
    """The price of a whole machine that was added up from its seller's options, where nobody
    quoted the whole."""
    whole = machine.lines[0] if len(machine.lines) == 1 else None
    return whole if whole is not None and whole.quote_kind == "parts-list" else None


def orderable(
    machines: Sequence[Machine], named: frozenset[str] | None
) -> tuple[list[Machine], list[Machine]]:
    """The machines that can be ordered, and those that others only tell of.

    Of a GPU that the grant names (``named``) and nobody sells, those stay that others tell of.
    """
    on_sale = {machine.gpu_id for machine in machines if machine.on_sale}
    asked = (named or frozenset()) - on_sale
    kept = [m for m in machines if m.on_sale or m.gpu_id in asked]
    return kept, [m for m in machines if not m.on_sale and m.gpu_id not in asked]


def told_first(told: Sequence[Machine], bought: Sequence[Machine]) -> list[list[Machine]]:
    """Machines that others only tell of, in the order in which they are turned to: first those with
    a GPU that is sold in other machines, then all, also with cards that nobody makes any longer."""
    on_sale = {machine.gpu_id for machine in bought if machine.on_sale}
    current = [machine for machine in told if machine.gpu_id in on_sale]
    stages = [current] if current else []
    return stages if len(current) == len(told) else [*stages, list(told)]
