"""What a run costs on rented GPUs of which no machine can be bought, as one H200 alone (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from advisor.answers.build_words import hourly_words, rented_words
from advisor.answers.checklist import Doubt, doubt_block, quoted
from advisor.answers.ranking.verdict import days_of
from advisor.answers.wording import mark_at
from advisor.costs.amount_words import age_words, usd_and_cents, usd_rounded
from advisor.costs.rental import RentOffer, rented_usd
from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table

if TYPE_CHECKING:
    from advisor.ranking.candidates import Candidates


@dataclass(frozen=True, slots=True, kw_only=True)
class RentedAlone:
    """GPUs that are rented out and that no seller can be asked for."""

    candidates: Candidates
    position: int
    """Of the candidates; its time is that of its GPUs, whatever holds them."""
    offers: Sequence[RentOffer]
    as_of: date
    obstacle: str
    """Why there is nothing to own, in words."""

    def run_usd(self, offer: RentOffer) -> Decimal | None:
        """What a run costs; None where the contract is paid whether it runs or not."""
        if offer.kind == "reserved":
            return None
        days = self.candidates.days[self.position]
        return rented_usd(offer.price_per_hour_usd, days, Decimal(1))


def rented_sentence(rented: RentedAlone) -> str:
    """In one sentence that could stand alone."""
    candidates, i = rented.candidates, rented.position
    offer, gpus = rented.offers[0], rented_words(candidates.builds[i])
    of = "" if offer.providers == 1 else f", median of {offer.providers} prices"
    day = f"{offer.middle.priced_on:%b %Y}"
    hourly = f"{hourly_words(offer)} ({day}{of})"
    usd, how = rented.run_usd(offer), offer.kind.replace("-", " ")
    start = f"{candidates.model.name} on {gpus} rented {how}"
    days, end = days_of(candidates, i), "no machine with just these GPUs is on sale"
    if usd is None:
        return f"{start} takes {days} at {hourly}; {end}."
    cost = f"{mark_at(candidates, i)}{usd_rounded(usd)}"
    return f"A run of {start} costs {cost}: {days} at {hourly}; {end}."


def rented_doubts(rented: RentedAlone) -> list[Doubt]:
    """Why there is nothing to own, and what can be."""
    build, model = rented.candidates.builds[rented.position], rented.candidates.model
    command = f"advisor rank --model {quoted(model.recipe_id)} --gpus {quoted(build.gpu.gpu_id)}"
    return [Doubt(about="own", words=rented.obstacle, command=command)]


def rented_rows(rented: RentedAlone) -> list[dict[str, Any]]:
    """Each way to rent, exact."""
    rows = []
    for offer in rented.offers:
        usd = rented.run_usd(offer)
        cents = None if usd is None else usd.quantize(Decimal("0.01"))
        rows.append(offer_cells(offer, rented.as_of) | {"experiment_usd": cents})
    return rows


def offer_cells(offer: RentOffer, as_of: date) -> dict[str, Any]:
    """What one way to rent costs an hour, and who asks it."""
    middle = offer.middle
    return {
        "rent": offer.kind,
        "usd_per_hour": offer.price_per_hour_usd,
        "low": offer.low_usd,
        "high": offer.high_usd,
        "providers": offer.providers,
        "middle": middle.provider + (f" {middle.instance}" if middle.instance else ""),
        "date": middle.priced_on,
        "age": age_words(middle.priced_on, as_of),
        "leaves_out": middle.leaves_out,
        "machines": offer.times,
    }


def rented_text(rented: RentedAlone, width: int) -> str:
    """The answer, a row for each way to rent, and what can be bought instead."""
    mark, rows = mark_at(rented.candidates, rented.position), []
    for offer in rented.offers:
        usd = rented.run_usd(offer)
        rows.append(
            {
                "": offer.kind,
                "an hour": usd_and_cents(offer.price_per_hour_usd),
                "others ask": f"{usd_and_cents(offer.low_usd)} to {usd_and_cents(offer.high_usd)}",
                "a run": "–" if usd is None else f"{mark}{usd_rounded(usd)}",
                "price": age_words(offer.middle.priced_on, rented.as_of),
            }
        )
    table = to_table(rows, list(rows[0]), frozenset({"an hour", "a run"}))
    sentence = fill(rented_sentence(rented), width)
    return "\n\n".join(
        [sentence, table, *doubt_block("Before you decide", rented_doubts(rented), width)]
    )
