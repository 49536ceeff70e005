"""Of a justification: what upkeep, data and other lines of costs are, each with its amount."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.planning.grant.cost_lines import line_words
from advisor.planning.report.material import Material
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.report import Words
from advisor.planning.report.sentences import listed


def upkeep_words(given: Material, by_line: Mapping[str, Num]) -> Words:
    kept = [*_lines(given, "warranty"), *_lines(given, "racks")]
    words: list[str | Num] = ["Upkeep. "]
    power = [r for r in given.costs.running if not r.rented]
    if power:
        total = by_line["electricity"]
        words += ["Electricity costs ", total, ", at ", power[0].charge.price, ". "]
    for name, total in kept:
        words += [f"{name}: ", total, ". "]
    stated = _warranties(given)
    if stated:
        words.append(f"Warranty as the vendor states it: {'; '.join(stated)}. ")
    extras = given.loaded.problem.rules.machine_extras
    paid = [r for r in given.costs.running if r.rented and r.charge.direct.value]
    rentals = [given.book.rentals[r.placed[0].machine_id] for r in paid]
    if any(each.allocation is None for each in rentals):
        words.append("The providers maintain the rented computers. ")
    elif rentals:
        who = list(dict.fromkeys(each.provider for each in rentals))
        words.append(f"{listed(who)} maintain{'s' if len(who) == 1 else ''} the computers. ")
    if extras and any(e.machine.share_of is None for e in given.costs.equipment):
        inside = [line_words(each.kind, each.name) for each in extras if not each.apart]
        beside = [line_words(each.kind, each.name) for each in extras if each.apart]
        if inside:
            words.append(f"In the price of each machine: {listed(inside)}. ")
        if beside:
            words.append(f"Beside each machine: {listed(beside)}.")
    elif not kept:
        more = "further warranty" if stated else "warranty"
        what = ", rack space or staff" if not _lines(given, "staff") else " or rack space"
        words.append(f"No {more}{what} is asked for.")
    return tuple(words)


def staff_words(given: Material) -> Words:
    """People whom the grant pays, each line with its amount."""
    kept = _lines(given, "staff")
    if not kept:
        return ()
    return ("Staff.", *(word for name, total in kept for word in (f" {name}: ", total, ".")))


def _warranties(given: Material) -> list[str]:
    """What comes with each machine that is bought, in its vendor's words."""
    found: dict[str, list[str]] = {}
    for e in given.costs.equipment:
        quotes = [
            given.loaded.quotes[p.line.quote_id] for p in e.lines if p.line.item_kind != "gpu"
        ]
        for warranty in {q.warranty: None for q in quotes if q.warranty}:
            found.setdefault(warranty, []).append(e.machine.label)
    if len(found) == 1 and len(next(iter(found.values()))) == len(given.costs.equipment):
        return list(found)
    return [f"{warranty} ({listed(labels)})" for warranty, labels in found.items()]


def data_words(given: Material) -> Words:
    kept = _lines(given, "storage")
    if not kept:
        return ("Data. No storage is asked for.",)
    return ("Data.", *(word for name, total in kept for word in (f" {name}: ", total, ".")))


def other_words(given: Material) -> Words:
    """What is neither computers nor their upkeep or data, each with its amount."""
    kept = [*_lines(given, "network"), *_lines(given, "other")]
    if not kept:
        return ()
    return ("Other costs.", *(word for name, total in kept for word in (f" {name}: ", total, ".")))


def _lines(given: Material, kind: str) -> list[tuple[str, Num]]:
    """The lines of a kind that cost anything, each with what is asked for it in all."""
    found: dict[str, list[Num]] = {}
    for f in given.costs.fixed:
        if f.fixed.kind == kind and f.fixed.usd:
            found.setdefault(f.fixed.name, []).append(f.charge.direct)
    return [
        (name, given.ledger.total(nums, f"{name}, in all years")) for name, nums in found.items()
    ]
