"""Machines whose price is a sum that no seller quoted, and the quoted ones that come before them
(the rule of `advisor.ranking.candidates.ABOUT`)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from advisor.planning.solver.money.cents import purchase_cents
from advisor.planning.solver.problem import Machine, Rules
from advisor.ranking.candidates import ABOUT

WHOLE_WORTH = 1.5
"""Of machines as fast as each other: up to this many times the price of the same cards and a host
from parts, or of a seller's options added up, a whole machine at a price that its seller names
comes first: it is one order with one warranty, and somebody has shown that it runs."""
SUMMED = "a sum of parts or options, and a seller quotes the same for hardly more"


def _compared(machines: Iterable[Machine]) -> list[Machine]:
    """The machines that one orders by themselves."""
    return [m for m in machines if m.lines and not (m.upgrade_of or m.part_of or m.share_of)]


def _kind(machine: Machine) -> Hashable:
    """The same cards, as fast for every model."""
    days = tuple(sorted((recipe, time.days) for recipe, time in machine.times.items()))
    return machine.gpu_id, machine.gpu_count, machine.on_sale, days


def is_summed(machine: Machine) -> bool:
    """Whether its price is a sum of parts or options that no seller quoted."""
    return len(machine.lines) > 1 or machine.lines[0].quote_kind == "parts-list"


def behind_named(machines: Iterable[Machine], rules: Rules, days: Iterable[int]) -> list[Machine]:
    """The sums for which a seller quotes the same cards for hardly more, by what the grant is
    charged on every day of an order. A dearer sum is what there is without that quote."""
    every, named, found = _compared(machines), dict[Hashable, list[Machine]](), list[Machine]()
    days = [*days]
    for machine in every:
        if not is_summed(machine):
            named.setdefault(_kind(machine), []).append(machine)
    for machine in every:
        same = named.get(_kind(machine))
        if not is_summed(machine) or not same:
            continue
        sums = [purchase_cents(machine, rules, day) for day in days]
        least = [min(purchase_cents(each, rules, day) for each in same) for day in days]
        if all(ours <= asked <= ABOUT * ours for ours, asked in zip(sums, least, strict=True)):
            found.append(machine)
    return found


def less_as_sum(machine: Machine, sums: Iterable[Machine]) -> Machine | None:
    """The same as a quoted machine for less, as a sum; None where there is none."""
    if not machine.lines or is_summed(machine):
        return None
    less = (m for m in sums if m.price < machine.price and _kind(m) == _kind(machine))
    return min(less, key=lambda each: each.price, default=None)


def quoted_whole(machines: Sequence[Machine], machine: Machine) -> Machine | None:
    """The cheapest whole machine with the cards of one at a sum that a ranking by days puts before
    it; None where there is none."""
    if not is_summed(machine):
        return None
    most = float(machine.price) * WHOLE_WORTH
    whole = (
        each
        for each in _compared(machines)
        if not is_summed(each)
        and each.on_sale
        and float(each.price) <= most
        and _kind(each) == _kind(machine)
    )
    return min(whole, key=lambda each: each.price, default=None)
