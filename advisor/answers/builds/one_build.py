"""One build of an answered question with all that is known of it, ranked or left out (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

from advisor.answers.build_words import gpus_words, machine_words
from advisor.answers.prices.owning_and_renting import BuildCosts, costs_of
from advisor.answers.wording import counted_days
from advisor.ranking.row_order import ExcludedRow, RankedRow, Ranking
from advisor.typed_input import PriceRule
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
    costs: BuildCosts
    """What it costs to own and to rent, as far as that is known."""
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
    candidates, row, left_out = ranking.candidates, None, None
    if index in ranking.places:
        row = ranking.machine(index)
    else:
        order = [i for i, _ in ranking.excluded_order]
        left_out = ranking.excluded_row(order.index(index))
    build, held = candidates.builds[index], tuple(quotes)
    items, corrected = {build.gpu.gpu_id, build.host.host_id}, {quote.corrects for quote in held}
    of_it = (q for q in held if q.item_id in items and q.quote_id not in corrected)
    return OneBuild(
        ranking=ranking,
        index=index,
        row=row,
        left_out=left_out,
        costs=costs_of(candidates, index, rentals, terms=ranking.question.terms, rule=prices),
        supply=supply,
        quotes=sorted(of_it, key=lambda quote: quote.quoted_on, reverse=True),
        today=today,
    )


def place_words(one: OneBuild) -> str:
    """``row 2 of 24 for Pythia 1B within 60 days``, or that it is left out."""
    table, limit = one.ranking.table, one.ranking.question.max_days
    asked = one.ranking.candidates.model.name
    asked += "" if limit is None else f" within {counted_days(limit)}"
    if one.row is None:
        return f"left out for {asked}"
    offers = table[one.row.group - 1]
    which = f", offer {offers.index(one.index) + 1} of {len(offers)}" if len(offers) > 1 else ""
    return f"row {one.row.group} of {len(table)}{which} for {asked}"
