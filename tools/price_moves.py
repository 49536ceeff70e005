"""Fits how far prices move with time, from the items that the ledger has prices of at two days.

    python -m tools.price_moves            writes advisor/costs/price_moves.csv
    python -m tools.price_moves --check    ends with 1 where that file is not what the ledger says

A pair is two prices at which somebody sold one item, at most two years apart. Each item weighs one,
however many pairs it has; the pairs of other kinds of items weigh less, as much as predicts best
what is held out. How much that is, and how many months stand for the difference between two sellers
on one day, is chosen by the loss on items that the figures were made without. Few items say less of
the ends than of the middle: the share that is cut off is the largest of SHARES by which 9 in 10 of
the held-out pairs are inside, and of each kind 85 %.
"""

from __future__ import annotations

import argparse
import io
import itertools
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

from advisor.costs.price_book import kind_class
from advisor.costs.price_interval import DAYS_A_MONTH, PATH, PriceMove, moving_kind, price_factors
from price_catalog.load import Catalog, load_catalog
from price_catalog.model import Quote

KINDS = ("card", "workstation", "server", "other")
"""``other`` (empty machines, parts) has too few pairs of its own: it is all of them together."""
INSIDE, INSIDE_A_KIND = 0.90, 0.85
SHARES = (0.05, 0.04, 0.03, 0.02)
"""Cut off at each end."""
MOST_DAYS = 730
ADDED_MONTHS = (0.5, 1.0, 2.0, 4.0)
WEIGHTS_OF_OTHERS = (0.05, 0.1, 0.25, 0.5)


class Pair(NamedTuple):
    kind: str
    item_id: str
    days: int
    log_move: float


def pairs_of(catalog: Catalog) -> list[Pair]:
    """Every two prices of one item at two days, of those that somebody sold at."""
    gpus = {gpu.gpu_id: gpu for gpu in catalog.gpus}
    comes_with = {host.host_id: gpus.get(host.gpu_id or "") for host in catalog.hosts}
    corrected = {quote.corrects for quote in catalog.quotes}
    items: dict[tuple[str, str], list[Quote]] = defaultdict(list)
    for quote in catalog.quotes:
        if quote.quote_id not in corrected and kind_class(quote.kind) >= 2:
            items[quote.item_kind, quote.item_id].append(quote)
    found = []
    for (item_kind, item_id), quotes in items.items():
        kind = moving_kind(item_kind, comes_with.get(item_id))
        quotes.sort(key=lambda quote: (quote.quoted_on, quote.quote_id))
        for earlier, later in itertools.combinations(quotes, 2):
            days = (later.quoted_on - earlier.quoted_on).days
            if 0 < days <= MOST_DAYS:
                move = math.log(float(later.price_usd / earlier.price_usd))
                found.append(Pair(kind, item_id, days, move))
    return found


class Choice(NamedTuple):
    """What is chosen by what was held out."""

    added_months: float
    weight_of_others: float
    share: float
    """Of the weight, beyond each end."""


def fitted(pairs: Sequence[Pair], kind: str, choice: Choice) -> PriceMove:
    """The figures of a kind from these pairs."""
    counts = Counter(pair.item_id for pair in pairs)
    moves = sorted(
        (
            pair.log_move / math.sqrt(pair.days / DAYS_A_MONTH + choice.added_months),
            (1.0 if kind in (pair.kind, "other") else choice.weight_of_others)
            / counts[pair.item_id],
        )
        for pair in pairs
    )
    low, middle, high = (_quantile(moves, q) for q in (choice.share, 0.5, 1 - choice.share))
    own = _items(pairs, kind)
    count = sum(counts[item] for item in own)
    return PriceMove(kind, choice.added_months, low, middle, high, count, len(own), 0, 0)


def _items(pairs: Sequence[Pair], kind: str) -> list[str]:
    return sorted({pair.item_id for pair in pairs if kind in (pair.kind, "other")})


def _quantile(moves: Sequence[tuple[float, float]], share: float) -> float:
    """The first value at which so much of the weight is reached."""
    wanted, reached = share * sum(weight for _, weight in moves), 0.0
    for value, weight in moves:
        reached += weight
        if reached >= wanted:
            return value
    return moves[-1][0]


def held_out(pairs: Sequence[Pair], kind: str, choice: Choice) -> list[tuple[float, float]]:
    """The width of the interval of each pair of the kind, made without its item, and how far
    beyond it the pair is; both in logarithms."""
    found = []
    for item in _items(pairs, kind):
        move = fitted([pair for pair in pairs if pair.item_id != item], kind, choice)
        for pair in (pair for pair in pairs if pair.item_id == item):
            low, _, high = map(math.log, price_factors(move, pair.days))
            found.append((high - low, max(low - pair.log_move, pair.log_move - high, 0.0)))
    return found


def inside(scores: Sequence[tuple[float, float]]) -> int:
    """How many are inside their interval."""
    return sum(beyond < 1e-9 for _, beyond in scores)


def best_choice(pairs: Sequence[Pair]) -> Choice:
    """By the interval score, and by how many held-out pairs are inside."""

    def scores(choice: Choice) -> list[list[tuple[float, float]]]:
        return [held_out(pairs, kind, choice) for kind in KINDS[:-1]]

    def loss(choice: Choice) -> float:
        return sum(
            width + beyond / choice.share for kind in scores(choice) for width, beyond in kind
        )

    for share in SHARES:
        choices = itertools.product(ADDED_MONTHS, WEIGHTS_OF_OTHERS, (share,))
        choice = min(itertools.starmap(Choice, choices), key=loss)
        kinds = scores(choice)
        every = list(itertools.chain.from_iterable(kinds))
        if inside(every) >= INSIDE * len(every) and all(
            inside(kind) >= INSIDE_A_KIND * len(kind) for kind in kinds
        ):
            break
    return choice


def table(catalog: Catalog) -> str:
    """The file's text."""
    pairs = pairs_of(catalog)
    choice = best_choice(pairs)
    text = io.StringIO()
    text.write(",".join(PriceMove._fields) + "\n")
    for kind in KINDS:
        move, scores = fitted(pairs, kind, choice), held_out(pairs, kind, choice)
        ends = (f"{end:.4f}" for end in (move.low, move.middle, move.high))
        figures = (kind, f"{move.added_months:g}", *ends, move.pairs, move.items)
        text.write(",".join(map(str, (*figures, len(scores), inside(scores)))) + "\n")
    return text.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    arguments = parser.parse_args()
    text = table(load_catalog())
    sys.stdout.write(text)
    if not arguments.check:
        PATH.write_text(text, encoding="utf-8")
        return 0
    if PATH.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write("price_moves.csv is not what the ledger says: python -m tools.price_moves\n")
    return 1


if __name__ == "__main__":
    raise SystemExit(main())
