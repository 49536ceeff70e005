"""What a quote of some age would ask if one ordered today, from how far others have moved (pure).

The figures are advisor/costs/price_moves.csv, fitted by tools/price_moves.py.
"""

from __future__ import annotations

import math
from datetime import date
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import NamedTuple

from advisor.costs.cost_of_owning import CENT
from price_catalog.model import Gpu, Quote

DAYS_A_MONTH = 365 / 12
OWN_HOLDS_DAYS = 30
"""How long a seller's quote to the user is taken to hold where it does not say. A convention."""
PATH = Path(__file__).with_name("price_moves.csv")


class PriceMove(NamedTuple):
    """How far the prices of one kind of item move: the logarithm of the later price over the
    earlier, divided by the square root of the months between them plus ``added_months``."""

    kind: str
    added_months: float
    """Two sellers differ on one day by as much as one seller's price moves in this time."""
    low: float
    """Exceeded by 95 % of the pairs."""
    middle: float
    high: float
    """Exceeded by 5 % of the pairs."""
    pairs: int
    items: int
    held_out_pairs: int
    held_out_inside: int
    """Of the pairs of an item, how many an interval holds that was made without that item."""


class PriceToday(NamedTuple):
    """What an item costs if it is ordered today, in US dollars; 9 in 10 are inside."""

    low_usd: Decimal
    middle_usd: Decimal
    high_usd: Decimal


def moving_kind(item_kind: str, gpu: Gpu | None) -> str:
    """The kind of item by which a price moves. ``gpu`` is what a whole machine comes with; one
    with HBM modules is a memory-heavy server, one with cards a workstation."""
    if item_kind == "gpu":
        return "card"
    if item_kind == "server" and gpu is not None:
        return "server" if gpu.form_factor.startswith(("SXM", "OAM")) else "workstation"
    return "other"


@cache
def price_moves() -> dict[str, PriceMove]:
    """The fitted figures by kind of item."""
    rows = [line.split(",") for line in PATH.read_text(encoding="utf-8").splitlines()[1:]]
    return {
        row[0]: PriceMove._make([row[0], *map(float, row[1:5]), *map(int, row[5:])]) for row in rows
    }


def price_factors(move: PriceMove, days: int) -> tuple[float, float, float]:
    """By what a price is multiplied after this many days: low, middle, high. The price itself is
    always between the ends."""
    spread = math.sqrt(max(days, 0) / DAYS_A_MONTH + move.added_months)
    low, high = min(move.low, 0.0) * spread, max(move.high, 0.0) * spread
    return math.exp(low), math.exp(move.middle * spread), math.exp(high)


def price_today(quote: Quote, gpu: Gpu | None, as_of: date | None) -> PriceToday:
    """What the item of a quote costs if it is ordered on a day. The price itself where that is
    taken at its word (no day), where the quote still holds, and where the item is the user's."""
    price = quote.price_usd
    if as_of is None or holds(quote, as_of):
        return PriceToday(price, price, price)
    move = price_moves()[moving_kind(quote.item_kind, gpu)]
    ends = price_factors(move, (as_of - quote.quoted_on).days)
    return PriceToday(*((price * Decimal(f"{end:.4f}")).quantize(CENT) for end in ends))


def holds(quote: Quote, as_of: date) -> bool:
    """Whether the seller still has to sell at the price on a day."""
    if quote.kind == "owned":
        return True
    if quote.valid_until is not None:
        return quote.valid_until >= as_of
    return quote.origin == "local" and (as_of - quote.quoted_on).days <= OWN_HOLDS_DAYS
