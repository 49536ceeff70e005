"""The first words of a ranking's answer: what to do, how long it trains, and how sure that is.

Every surface begins with `verdict`: the command line, JSON and the terminal program.
"""

from __future__ import annotations

from typing import NamedTuple

from advisor.answers.build_words import (
    added_words,
    in_machine,
    named_gpus_words,
    over_words,
    owned_words,
)
from advisor.answers.ranking.confidence import confidence
from advisor.answers.ranking.no_result import nothing_words
from advisor.answers.ranking.on_sale import (
    Offer,
    asked_words,
    cost_at,
    days_of,
    looked_at,
    offer_words,
    orderable,
    sold_words,
)
from advisor.answers.ranking.question_words import asked_for
from advisor.answers.wording import days_and_ends, estimate_mark, is_unquoted, makes_words
from advisor.costs.amounts import usd_rounded
from advisor.ranking.build_prices import ABOUT
from advisor.ranking.rank import RankedRow, Ranking
from advisor.ranking.ties import chance_within


class Verdict(NamedTuple):
    """The first words of an answer, a sentence each."""

    action: str
    """What to buy, from whom and at which price; why nothing fits."""
    result: str
    """How long it trains, and how likely that is in time; empty where no build answers."""
    doubt: str
    """Who may be first instead; empty where no build answers."""
    short: str
    """GPUs, price and days, for the first line of a small terminal."""
    row: RankedRow | None
    """First place; None where no build answers."""
    chance: float | None
    """That first place keeps the limit of days, 0 to 1; None where none was asked for."""
    orderable: tuple[Offer, ...] = ()
    """Where no seller is known for the answer: the fastest machine on sale that misses the days,
    and the cheapest that misses the budget."""

    @property
    def sentence(self) -> str:
        """All of it; could stand alone in an e-mail."""
        return " ".join(filter(None, (self.action, self.result, self.doubt)))

    @property
    def brief(self) -> str:
        """The same where a line has 80 columns: without machine, seller and age of the price."""
        return self.action if self.row is None else f"{self.short}. {self.doubt}".rstrip()


def verdict(ranking: Ranking) -> Verdict:
    """The answer in words, also where nothing fits."""
    if not len(ranking):
        words = nothing_words(ranking)
        return Verdict(action=words, result="", doubt="", short=words, row=None, chance=None)
    row, model = ranking.row(0), ranking.candidates.model.name
    chance, offers = chance_of(ranking, row), orderable(ranking)
    if offers:
        none = f"Nothing on sale{looked_at(ranking.candidates)} trains {model}{asked_for(ranking)}."
        nearest = f"The nearest is {offer_words(ranking, offers[0])}."
        i = offers[0].position
        price = usd_rounded(cost_at(ranking.candidates, i))
        gpus = named_gpus_words(ranking.candidates.builds[i])
        short = f"Nothing on sale fits; nearest: {gpus}: {price}, {days_of(ranking.candidates, i)}"
        return Verdict(none, nearest, "", short, row, chance, offers)
    offered = ranking.candidates.offered[ranking.order[0]]
    trains = "It trains"
    if not (offered or row.build.host_owned):
        trains = "It would train"
    sure = confidence(ranking)
    return Verdict(
        action=f"{_action(ranking, row, offered=offered)}.",
        result=f"{trains} {model} in {_result(ranking, row, chance)}.",
        doubt=f"{sure[:1].upper()}{sure[1:]}.",
        short=f"{_short(row, offered=offered)}, {_result(ranking, row, chance)}",
        row=row,
        chance=chance,
    )


def chance_of(ranking: Ranking, row: RankedRow) -> float | None:
    """How likely a build keeps the limit of days, 0 to 1; None where none was asked for."""
    limit = ranking.question.max_days
    if limit is None:
        return None
    return chance_within(limit, row.training_days, row.training_days_low, row.training_days_high)


def days_words(row: RankedRow) -> str:
    """``≈79.4 days (50.2–126)``; with the mark of an estimate."""
    days, low, high = row.training_days, row.training_days_low, row.training_days_high
    return f"{estimate_mark(row.time)}{days_and_ends(days, low, high)}"


def _action(ranking: Ranking, row: RankedRow, *, offered: bool) -> str:
    """``Buy 2 × RTX 5090 in the Kiebel workstation for $15,300 (January 2026, 11 months old)``."""
    build, price = row.build, usd_rounded(row.overall_cost_usd)
    if build.host_owned:
        return f"Use {owned_words(build)}"
    asked = asked_words(build, row.gpu_quote, row.host_quote)
    machine = f"{named_gpus_words(build)} {in_machine(build)}"
    if not offered:
        told = is_unquoted(build, row.host_quote) or row.host_quote.kind == "secondary"
        if build.host.gpu_id is not None and not told:
            asked = f"{row.host_quote.vendor}, {asked}"
        return f"No seller is known for {machine}, once {price} ({asked})"
    if is_unquoted(build, row.host_quote):
        vendor = row.host_quote.vendor
        machine = machine.replace(f" {vendor} ", " ", 1)
        return f"Ask {vendor} to quote {machine}: about {price} ({asked})"
    bought = f"Buy {sold_words(build, row.gpu_quote, row.host_quote)}"
    if build.gpus_owned:
        bought = f"Add {added_words(build)} {in_machine(build)}"
    i = ranking.order[row.rank - 1]
    since = ", less than its GPUs alone cost now" if ranking.candidates.overtaken[i] else ""
    return f"{bought} for {price} ({asked}{since}{_for_less(ranking, i)})"


def _result(ranking: Ranking, row: RankedRow, chance: float | None) -> str:
    """``≈66.5 days (59.2–74.7), 3 in 4 that it makes 70 days, at ≈$1,060 a run``."""
    words = f"{days_words(row)}{over_words(row.build, ranking.candidates.network)}"
    limit = ranking.question.max_days
    if chance is not None and limit is not None:
        words += f", {makes_words(chance, limit)}"
    if ranking.question.rule == "experiment-cost" and row.experiment_cost_usd:
        words += f", at {estimate_mark(row.time)}{usd_rounded(row.experiment_cost_usd)} a run"
    return words


def _short(row: RankedRow, *, offered: bool) -> str:
    """``Buy 2 × RTX 5090: $15,300``."""
    gpus = named_gpus_words(row.build)
    if row.build.host_owned:
        return f"Use your {gpus}"
    gpus = f"{gpus}: {usd_rounded(row.overall_cost_usd)}"
    if not offered:
        return f"No seller known: {gpus}"
    if is_unquoted(row.build, row.host_quote):
        return f"Ask {row.host_quote.vendor} for {gpus} (a sum)"
    return f"Buy {gpus}"


def _for_less(ranking: Ranking, first: int) -> str:
    """``; $22,000 from parts``: the cheapest on sale with the same GPUs and days, where a dearer
    one that is sold whole comes first."""
    candidates, cents = ranking.candidates, ranking.candidates.cents
    same = (
        i
        for i in candidates.alike[candidates.builds[first].cards]
        if candidates.offered[i] and candidates.days[i] <= candidates.days[first]
    )
    i = min(same, key=cents.__getitem__, default=first)
    # By cost a little less is the reason for the second place.
    hardly = 1.0 if ranking.question.rule != "days" else ABOUT
    if cents[i] * hardly >= cents[first]:
        return ""
    build, quote = candidates.builds[i], candidates.host_quotes[i]
    where = "from parts" if build.host.gpu_id is None else in_machine(build)
    if quote is not None and is_unquoted(build, quote):
        where += " as a sum"
    return f"; {usd_rounded(cost_at(candidates, i))} {where}"
