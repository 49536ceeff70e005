"""One build of an answered question with all that is known of it, ranked or left out (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from advisor.answers.build_words import machine_words, gpus_words
from advisor.answers.prices.ownership import Ownership, break_evens, ownership_as_far_as_known
from advisor.answers.wording import counted_days
from advisor.costs.rental import BreakEven
from advisor.typed_input import InputError, PriceRule
from advisor.ranking.rank import ExcludedRow, RankedRow, Ranking
from price_catalog.builds import Build
from price_catalog.model import Quote, Rental
from price_catalog.power import Supply


@dataclass(frozen=True, slots=True, kw_only=True)
class OneBuild:
    """A build of an answered question with all that is known of it."""

    ranking: Ranking
    index: int
    """The candidates' index."""
    row: RankedRow | None
    """None where it is left out."""
    left_out: ExcludedRow | None
    owned: Ownership | None
    """What it costs in every term; None without a price."""
    problem: str | None
    """Why ``owned`` is None, or what it cannot count."""
    evens: Sequence[BreakEven]
    supply: Supply | None
    """The lab's circuit, if stated."""
    quotes: Sequence[Quote]
    """Every quote of its machine and its GPUs, the newest first."""
    today: date

    @property
    def build(self) -> Build:
        return self.ranking.candidates.builds[self.index]

    @property
    def name(self) -> str:
        """``4 × A6000, 2U server``."""
        return f"{gpus_words(self.build)}, {machine_words(self.build)}"


def one_build(
    ranking: Ranking,
    index: int,
    *,
    prices: PriceRule,
    rentals: Iterable[Rental],
    supply: Supply | None,
    quotes: Iterable[Quote],
    today: date,
) -> OneBuild:
    """All about one of the builds of an answer, ranked or left out."""
    candidates = ranking.candidates
    row, left_out = None, None
    if index in ranking.places:
        row = ranking.machine(index)
    else:
        order = ranking.excluded_order
        place = next(n for n, (i, _) in enumerate(order) if i == index)
        left_out = ranking.excluded_row(place)
    owned, problem, evens = None, None, []
    if candidates.cost_usd(index) is None:
        problem = "it has no price"
    else:
        try:
            owned, problem = ownership_as_far_as_known(
                candidates, index, terms=ranking.question.terms, rule=prices
            )
            evens = break_evens(owned, rentals)
        except InputError as error:
            problem = str(error)
    build = candidates.builds[index]
    items = {build.gpu.gpu_id, build.host.host_id}
    held = tuple(quotes)
    corrected = {quote.corrects for quote in held}
    return OneBuild(
        ranking=ranking,
        index=index,
        row=row,
        left_out=left_out,
        owned=owned,
        problem=problem,
        evens=evens,
        supply=supply,
        quotes=sorted(
            (q for q in held if q.item_id in items and q.quote_id not in corrected),
            key=lambda quote: quote.quoted_on,
            reverse=True,
        ),
        today=today,
    )


def place_words(one: OneBuild) -> str:
    """``row 2 of 24 for Pythia 1B within 60 days``, or that it is left out."""
    ranking = one.ranking
    limit = ranking.question.max_days
    asked = ranking.candidates.model.name + (
        "" if limit is None else f" within {counted_days(limit)}"
    )
    if one.row is None:
        return f"left out for {asked}"
    offers = len(ranking.table[one.row.group - 1])
    offer = ranking.table[one.row.group - 1].index(one.index) + 1
    which = "" if offers == 1 else f", offer {offer} of {offers}"
    return f"row {one.row.group} of {len(ranking.table)}{which} for {asked}"
