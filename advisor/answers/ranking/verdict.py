"""The answer of a ranking in one sentence: what to buy, its price, how long it trains, how sure.

Every surface begins with `verdict`: the command line, JSON and the terminal program.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

from advisor.answers.build_words import (
    added_words,
    in_machine,
    named_gpus_words,
    over_words,
    owned_words,
)
from advisor.answers.chance_words import SURE, chance_words, makes_words
from advisor.answers.ranking.confidence import how_sure, sum_is_less
from advisor.answers.ranking.no_result import nothing_words
from advisor.answers.ranking.on_sale import (
    LEAST,
    ROOMS,
    Offer,
    Room,
    asked_for,
    asked_words,
    days_at,
    looked_at,
    offer_words,
    orderable,
    quoted_whole,
    sold_words,
)
from advisor.answers.two_lines import LINE, SMALL_LINE, of_two_lines, sentence_lines
from advisor.answers.wording import days_and_ends, estimate_mark, is_unquoted, price_day_words
from advisor.costs.amounts import usd_rounded
from advisor.ranking.named_prices import ABOUT
from advisor.ranking.rank import RankedRow, Ranking
from advisor.ranking.ties import chance_within


class Verdict(NamedTuple):
    """The first line of an answer."""

    sentence: str
    """Could stand alone in an e-mail."""
    medium: str
    """The same for two lines of a terminal of 80 columns: without the model and a rival's price."""
    short: str
    """The same for one line of it: without machine and month too."""
    row: RankedRow | None
    """First place; None where no build answers."""
    chance: float | None
    """That first place keeps the limit of days, 0 to 1; None where none was asked for."""
    orderable: tuple[Offer, ...] = ()
    """Where nobody is known to sell what answers: the fastest machine on sale that misses the days,
    and the cheapest that misses the budget."""


def verdict(ranking: Ranking, width: int = LINE) -> Verdict:
    """The answer in one sentence for two lines of so many columns, also where nothing fits."""
    if not len(ranking):
        nothing = tuple(nothing_words(ranking))
        its = f" trains {ranking.candidates.model.name} "
        of_it = [words.replace(its, " trains it ") for words in nothing]
        # The GPUs that were asked for stand in their field, and the months beside the prices.
        such = [_NAMED_GPUS.sub("No such machine", words) for words in (*nothing, *of_it)]
        undated = [_MONTH.sub(_without_month, words) for words in such[len(nothing) :]]
        medium = of_two_lines([*of_it, *such[len(nothing) :], *undated], SMALL_LINE)
        sentence = of_two_lines([*nothing, *such], width)
        return Verdict(sentence=sentence, medium=medium, short=medium, row=None, chance=None)
    row = ranking.row(0)
    chance = chance_of(ranking, row)
    # What to do, at which price, how fast, how sure.
    within = ranking.question.max_days
    limit = [] if chance is None or within is None else [makes_words(chance, within)]
    per_run = ranking.question.rule == "experiment-cost" and row.experiment_cost_usd
    mark = estimate_mark(row.time)
    run = [f"{mark}{usd_rounded(row.experiment_cost_usd)} a run"] if per_run else []
    days = f"{days_words(row)}{over_words(row.build, ranking.candidates.network)}"
    brief = ", ".join([days, *(words.replace("to make", "for") for words in limit), *run])
    without_run = brief.removesuffix(", ".join(["", *run]))
    model = ranking.candidates.model.name
    offers = orderable(ranking)
    if offers:
        none = f"Nothing on sale{looked_at(ranking.candidates)} trains"
        start = f"{none} {model}{asked_for(ranking)}; the nearest is "
        # The budget stands before the price, so that one sees by how much it is missed.
        room: Room = "least" if offers[0].misses == "budget" else "no names"
        return Verdict(
            sentence=of_two_lines(
                (f"{start}{offer_words(ranking, offers[0], each)}." for each in ROOMS), width
            ),
            medium=of_two_lines(
                (
                    f"{which} it{asked_for(ranking)}; the nearest is "
                    f"{offer_words(ranking, offers[0], each)}."
                    for which in (none, "No such machine on sale trains")
                    for each in (room, *LEAST)
                ),
                SMALL_LINE,
            ),
            short=f"No seller known for these; to order: {_short_offer(ranking, offers[0])}.",
            row=row,
            chance=chance,
            orderable=offers,
        )
    does = f"{model} in {', '.join([days, *limit, *run])}"
    # The days of what is safely in time say so themselves.
    safe = chance is not None and chance >= SURE
    briefly = f"{model} in {', '.join([days, *run])}" if safe else does
    says = {True: does, False: briefly, None: f"{model} in {brief}"}
    sure = {
        room: how_sure(ranking, priced=room != "no machine", named=room not in LEAST)
        for room in ROOMS
    }
    if is_unquoted(row.build, row.host_quote) and ranking.candidates.offered[ranking.order[0]]:
        return Verdict(
            sentence=of_two_lines(_to_be_quoted(ranking, row, does, briefly, brief), width),
            medium=of_two_lines(
                (
                    f"{_ask_words(row, room)}: {told}; "
                    f"{how_sure(ranking, priced=False, named=named)}."
                    for told in (brief, without_run)
                    for room, named in (("least", True), *_MEDIUM[-2:])
                ),
                SMALL_LINE,
            ),
            short=f"Ask {row.host_quote.vendor} for {_short_bought(row)}, {brief}; "
            f"{how_sure(ranking, priced=False)}.",
            row=row,
            chance=chance,
        )
    if not (row.build.host_owned or ranking.candidates.offered[ranking.order[0]]):
        # What nobody sells is nothing to buy: it says what was asked for it once.
        starts = {room: f"{_unsold_words(row, room)} it would" for room in ROOMS}
        return Verdict(
            sentence=of_two_lines(
                (
                    f"{starts[room]} train {told}; {sure[room]}."
                    for room, told in (*((room, does) for room in ROOMS), ("no machine", briefly))
                ),
                width,
            ),
            medium=of_two_lines(
                (f"{starts[room]} take {brief}." for room in ROOMS[2:]), SMALL_LINE
            ),
            short=f"No seller known: {_short_bought(row)}, {brief}.",
            row=row,
            chance=chance,
        )
    return Verdict(
        sentence=of_two_lines(
            (
                f"{buy_words(row, room)}{_price_words(ranking, row, room, less=less)}: "
                f"{says[whole]}; {sure[sure_room]}."
                for room, less, sure_room, whole in _SAID
            ),
            width,
        ),
        medium=of_two_lines(
            (
                f"{buy_words(row, room)}{_price_words(ranking, row, room, less=False)}: {told}; "
                f"{how_sure(ranking, priced=False, named=named)}."
                for told in (brief, without_run)
                for room, named in _MEDIUM
            ),
            SMALL_LINE,
        ),
        short=f"{_short_words(row)}, {brief}; {how_sure(ranking, priced=False)}.",
        row=row,
        chance=chance,
    )


def first_lines(ranking: Ranking, width: int) -> list[str]:
    """The first line of an answer, in at most two lines of a terminal of so many columns."""
    found = verdict(ranking, min(width, LINE))
    said = of_two_lines((found.sentence, found.medium, found.short), width)
    return sentence_lines(said, width)


_SAID: tuple[tuple[Room, bool, Room, bool | None], ...] = (
    *((room, True, room, True) for room in ROOMS if room not in LEAST),
    *(("short months", False, sure, True) for sure in ("short months", *LEAST)),
    ("short months", False, "no machine", False),
    ("least", False, "no machine", True),
    ("least", False, "no machine", False),
    ("least", False, "no machine", None),
    ("no machine", False, "least", False),
    ("no machine", False, "no machine", True),
)
"""How much is said of the price, whether the same GPUs for less are, how much of rivals, and
whether it is told that the days are safely kept; None: as briefly as a small terminal has it."""
_MEDIUM: tuple[tuple[Room, bool], ...] = (
    ("no names", True),
    ("short months", True),
    ("short months", False),
    ("no machine", True),
    ("no machine", False),
)
"""What a small terminal has of the price, and whether rivals are named or counted."""


def chance_of(ranking: Ranking, row: RankedRow) -> float | None:
    """How likely a build keeps the limit of days, 0 to 1; None where none was asked for."""
    limit = ranking.question.max_days
    if limit is None:
        return None
    return chance_within(limit, row.training_days, row.training_days_low, row.training_days_high)


def days_words(row: RankedRow) -> str:
    """``≈79.4 days (50.2–126)``; the mark where nobody measured it."""
    days, low, high = row.training_days, row.training_days_low, row.training_days_high
    return f"{estimate_mark(row.time)}{days_and_ends(days, low, high)}"


_NAMED_GPUS = re.compile("^No machine with .+?(?= trains )")
_MONTH = re.compile(r" \((told by others, |a sum, )?[A-Z][a-z]{2} \d{4}(?:, [^)]*)?\)")


def _without_month(dated: re.Match[str]) -> str:
    """What is a sum is told as one without its month, too."""
    return " (a sum)" if dated[1] == "a sum, " else ""


def _unsold_words(row: RankedRow, room: Room) -> str:
    """``No seller is known for 8 × RTX 4090 in the tinybox pro; at $40,000 (tiny corp, Mar 2025)``,
    before what it would do."""
    gpus = named_gpus_words(row.build)
    machine = gpus if room == "no machine" else f"{gpus} {in_machine(row.build)}"
    price = f"at {usd_rounded(row.overall_cost_usd)} ({_once_asked(row, room)})"
    return f"No seller is known for {machine}; {price}"


def buy_words(row: RankedRow, room: Room) -> str:
    """``Buy 2 × RTX 5090 in the tinybox G4 128 GB from tiny corp``."""
    build = row.build
    if build.host_owned:
        return f"Use {owned_words(build)}"
    if room == "no machine" and not build.gpus_owned:
        return f"Buy {named_gpus_words(build)}"
    return f"{'Add' if build.gpus_owned else 'Buy'} {_bought_words(row, room)}"


def _bought_words(row: RankedRow, room: Room) -> str:
    """``2 × RTX 5090 in the tinybox G4 128 GB from tiny corp``; of an upgrade what is added."""
    build = row.build
    if build.gpus_owned:
        return f"{added_words(build)} {in_machine(build)}"
    return sold_words(build, row.gpu_quote, row.host_quote, room)


def _short_words(row: RankedRow) -> str:
    if row.build.host_owned:
        return f"Use your {named_gpus_words(row.build)}"
    return f"Buy {_short_bought(row)}"


def _short_bought(row: RankedRow) -> str:
    summed = " (a sum)" if is_unquoted(row.build, row.host_quote) else ""
    return f"{named_gpus_words(row.build)}: {usd_rounded(row.overall_cost_usd)}{summed}"


def _price_words(ranking: Ranking, row: RankedRow, room: Room, *, less: bool) -> str:
    """`` for $26,000 (April 2026, 7 months old; $22,000 from parts)``; nothing for what is there
    already. Without ``less`` no machine that is cheaper for the same GPUs, unless the order is by
    cost, rivals stand where that would be told and there is room."""
    if row.build.host_owned:
        return ""
    age = asked_words(row.build, row.gpu_quote, row.host_quote, room)
    i, candidates = ranking.order[row.rank - 1], ranking.candidates
    seller = ", less than its GPUs alone cost since" if candidates.overtaken[i] else ""
    rivals = ranking.uncertainty.tied or ranking.uncertainty.outside
    told = less or (rivals and sum_is_less(ranking) and room not in LEAST)
    other = _for_less(ranking, i, room) if told else None
    cheaper = "" if other is None else f"; {other}"
    return f" for {usd_rounded(row.overall_cost_usd)} ({age}{seller}{cheaper})"


def _for_less(ranking: Ranking, first: int, room: Room) -> str | None:
    """``$22,000 from parts``: the cheapest on sale with the same GPUs and days that comes after a
    dearer one, which somebody sells whole."""
    candidates = ranking.candidates
    cents = candidates.cents
    same = (
        i
        for i in candidates.alike[candidates.builds[first].cards]
        if candidates.offered[i] and candidates.days[i] <= candidates.days[first]
    )
    i = min(same, key=cents.__getitem__, default=first)
    cost, build, quote = candidates.cost_usd(i), candidates.builds[i], candidates.host_quotes[i]
    assert cost is not None and quote is not None  # they are rankable
    hardly = 1.0 if ranking.question.rule != "days" else ABOUT  # by cost it is why it is second
    if cents[i] * hardly >= cents[first]:
        return None
    where = "from parts" if build.host.gpu_id is None else in_machine(build)
    if is_unquoted(build, quote):
        where = f"{where} as a sum" if room in ("all", "no age") else "as a sum"
    return f"{usd_rounded(cost)} {where}"


def _to_be_quoted(
    ranking: Ranking, row: RankedRow, does: str, briefly: str, brief: str
) -> Iterator[str]:
    """The sentence for a machine whose options its seller sells and whose total nobody quoted: what
    to ask for, and what is quoted whole in its place; then what is shorter."""
    rooms: tuple[Room, ...] = ("all", "no age")
    for named in (True, False):
        for room in rooms:
            words = _quoted_or_sure(ranking, named=named)
            yield f"{_ask_words(row, room)}: {does}; {words}."
        rooms = ("no age", "short months")
    short: tuple[Room, ...] = ("short months", "least")
    for told in (does, briefly):
        for room in short:
            yield f"{_ask_words(row, room)}: {told}; {how_sure(ranking, named=False)}."
    sure = how_sure(ranking, priced=False, named=False)
    for told in (briefly, f"{ranking.candidates.model.name} in {brief}"):
        yield f"{_ask_words(row, 'least')}: {told}; {sure}."
    yield f"{_ask_words(row, 'no machine')}: {does}; {how_sure(ranking, named=False)}."


def _ask_words(row: RankedRow, room: Room) -> str:
    """``Ask BIZON to quote 4 × RTX PRO 6000 in the Z5000 G2 ($89,400 by its options of January
    2026, 10 months old)``."""
    vendor = row.host_quote.vendor
    machine = in_machine(row.build).replace(f" {vendor} ", " ", 1)
    day, price = row.host_quote.quoted_on, usd_rounded(row.overall_cost_usd)
    month = f"{day:%B %Y}" if room == "no age" else f"{day:%b %Y}"
    if room == "all":
        month = price_day_words(day, date.today())
    told = f"{price} by its options of {month}"
    if room in LEAST:
        told = f"a sum of {price}, {month}"
    machine = "" if room == "no machine" else f" {machine}"
    return f"Ask {vendor} to quote {named_gpus_words(row.build)}{machine} ({told})"


def _quoted_or_sure(ranking: Ranking, *, named: bool) -> str:
    """What is quoted whole where first place is no such price: the machine is ``named``, or its
    GPUs alone. How sure first place is where others may be first, or nothing is quoted."""
    i = quoted_whole(ranking)
    uncertainty = ranking.uncertainty
    if i is None or uncertainty.tied or uncertainty.outside:
        return how_sure(ranking, priced=named)
    candidates = ranking.candidates
    cost = candidates.cost_usd(i)
    assert cost is not None  # it is ranked
    build = candidates.builds[i]
    words = f"quoted whole: {named_gpus_words(build)}"
    words += f" {in_machine(build)}" if named else ""
    return f"{words} for {usd_rounded(cost)}, {days_at(ranking, i)}"


def _once_asked(row: RankedRow, room: Room) -> str:
    """``dihuni.com, September 2023, 3.2 years old``: who asked a price that nobody asks now."""
    words = asked_words(row.build, row.gpu_quote, row.host_quote, room)
    told = row.host_quote.kind == "secondary" or is_unquoted(row.build, row.host_quote)
    if row.build.host.gpu_id is None or told:
        return words
    return f"{row.host_quote.vendor}, {words}"


def _short_offer(ranking: Ranking, offer: Offer) -> str:
    candidates, i = ranking.candidates, offer.position
    cost = candidates.cost_usd(i)
    assert cost is not None  # it is on sale
    quote = candidates.host_quotes[i]
    summed = quote is not None and is_unquoted(candidates.builds[i], quote)
    words = f"{named_gpus_words(candidates.builds[i])}, {usd_rounded(cost)}"
    words += " (a sum), " if summed else ", "
    words += days_at(ranking, i)
    return words if offer.misses == "budget" else f"{words}, {chance_words(offer.chance or 0.0)}"
