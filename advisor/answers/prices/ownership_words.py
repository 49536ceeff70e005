"""What owning and renting cost, in sentences."""

from __future__ import annotations

from advisor.answers.build_words import hourly_words, owned_words, rented_words
from advisor.answers.prices.ownership import Ownership
from advisor.answers.two_lines import SMALL_LINE, of_two_lines
from advisor.answers.wording import (
    counted_days,
    is_unquoted,
    runs_words,
    summed_words,
)
from advisor.costs.amounts import usd_and_cents, usd_rounded
from advisor.costs.rental import (
    BreakEven,
    RentOffer,
)
from bench_runner.typed_numbers import percent
from price_catalog.model import Rental
from price_catalog.providers import written_provider


def _days_words(owned: Ownership) -> str:
    """``≈79.4 days``, with the mark where nobody measured it; the time must be known."""
    assert owned.training_days is not None
    return f"{owned.mark}{counted_days(owned.training_days)}"


def finishes(owned: Ownership) -> bool:
    """Whether the machine makes a training run in its life, as far as it is used; the time must be
    known."""
    assert owned.training_days is not None  # else nothing is compared
    return owned.own.experiments(owned.training_days) >= 1


def cost_sentence(owned: Ownership) -> str:
    """What owning costs, in one sentence that could stand alone, of two lines where that is
    possible."""
    return of_two_lines((_cost_sentence(owned, short) for short in range(3)), SMALL_LINE)


def _cost_sentence(owned: Ownership, short: int) -> str:
    """In full at 0; with less of the price and its days at 1, without the model at 2."""
    own, model = owned.own, owned.candidates.model.name
    machine = owned_words(owned.build)
    if own.life_usd is None:
        return f"What owning {machine} costs is not known: nobody states what it draws."
    years = f"{own.terms.lifetime_years:f} year{'' if own.terms.lifetime_years == 1 else 's'}"
    candidates, i = owned.candidates, owned.position
    days = [q.quoted_on for q in (candidates.gpu_quotes[i], candidates.host_quotes[i]) if q]
    month = f"{min(days):%b %Y}" if short else f"{min(days):%B %Y}"
    price = (month if short else f"price of {month}") if own.hardware_usd else "yours already"
    host = candidates.host_quotes[i]
    if host is not None and own.hardware_usd and is_unquoted(owned.build, host):
        price = f"{'a sum' if short else summed_words(host)}, {month}"
    elif own.hardware_usd and not candidates.offered[i]:
        price += ", no seller known"
    counted = "with" if own.terms.electricity_usd_per_kwh else "without"
    words = f"Owning {machine} costs {usd_rounded(own.life_usd)} over {years} "
    words += f"({price}, {counted} electricity)"
    each = None if owned.training_days is None else own.experiment_usd(owned.training_days)
    if each is None:
        return f"{words}; how long {model} trains on it is not known."
    if not finishes(owned):
        return f"{words}, and does not finish a run of {model} by then ({_days_words(owned)})."
    takes = "" if short else f" ({_days_words(owned)} each)"
    of = "" if short > 1 else f" of {model}"
    return f"{words}, {owned.mark}{usd_rounded(each)} a run{of}{takes}."


def rent_sentence(owned: Ownership, evens: list[BreakEven]) -> str:
    """What a rented run costs and from when buying pays, in one sentence that could stand alone, of
    two lines where that is possible."""
    short = (_rent_sentence(owned, evens, each) for each in (False, True))
    return of_two_lines(short, SMALL_LINE)


def _rent_sentence(owned: Ownership, evens: list[BreakEven], short: bool) -> str:
    even = evens[0]
    how = "" if short else f" {even.offer.kind.replace('-', ' ')}"
    words = (
        f"A run of {owned.candidates.model.name} on {rented_words(owned.build)} rented"
        f"{how} costs {owned.mark}{usd_rounded(even.rent_per_experiment_usd)} "
        f"({_days_words(owned)} at {hourly_words(even.offer)})"
    )
    if not finishes(owned):
        years = f"{owned.own.terms.lifetime_years:f} years"
        return f"{words}; a machine of your own does not finish one in its {years}."
    if even.experiments is None or even.utilisation is None:
        return f"{words}; under these terms buying never pays."
    if even.utilisation > 1:
        return f"{words}; buying never pays in the {owned.own.terms.lifetime_years:f} years."
    counted = short or owned.own.terms.electricity_usd_per_kwh  # what is not follows below
    less = "" if counted else ", without electricity"
    if even.experiments <= 1:
        what = "your own machine is cheaper" if owned.build.host_owned else "buying pays"
        return f"{words}; {what} from the first run on{less}."
    pays = "buying pays"
    if not (owned.build.host_owned or owned.candidates.offered[owned.position]):
        pays = "no seller is known, else buying pays"
    pays = f"{words}; {pays} from {runs_words(even.experiments)} on"
    assert owned.training_days is not None  # it comes with the experiments
    most, use = owned.own.experiments(owned.training_days), owned.own.terms.utilisation
    if even.experiments > most:
        return f"{pays}, but at {percent(use)} use the machine makes {int(most)} in its life."
    return f"{pays}{less}."


def offer_words(offer: RentOffer) -> str:
    """What renting costs, from whom and since when, in one sentence."""
    hourly, whose = hourly_words(offer), offer.middle
    one = "" if offer.times == 1 else " of one GPU"
    asked = f"{written_provider(whose.provider)}, {whose.priced_on}{left_out_words(whose)}"
    if offer.providers == 1:
        return f"{offer.kind}: {hourly}, the only offer{one}: {asked}"
    low, high = offer.low_usd / offer.times, offer.high_usd / offer.times
    span = f"{usd_and_cents(low)} to {usd_and_cents(high)}"
    which = "dearer" if offer.providers == 2 else "middle"
    of = f"the {which} of {offer.providers} offers{one} ({span})"
    return f"{offer.kind}: {hourly}, {of}: {asked}"


def left_out_words(rental: Rental) -> str:
    """What is billed on top of a rental price; nothing where it is whole."""
    return f"; {rental.leaves_out} are billed on top" if rental.leaves_out else ""


def even_words(evens: list[BreakEven], *, is_owned: bool) -> list[str]:
    """From when buying pays beside each way to rent, as `rent_sentence` says of the first."""
    lines = []
    pays = "your own machine is cheaper" if is_owned else "buying pays"
    for even in evens:
        kind = even.offer.kind
        if even.experiments is None:
            lines.append(f"{kind}: under these terms buying never pays.")
        elif kind == "reserved" or even.experiments <= 1:
            lines.append(f"{kind}: {pays} from the first run on.")
        elif even.utilisation is not None and even.utilisation > 1:
            lines.append(f"{kind}: buying never pays in the machine's life.")
        else:
            assert even.utilisation is not None  # it comes with the experiments
            lines.append(
                f"{kind}: {pays} from {runs_words(even.experiments)} on, "
                f"{percent(even.utilisation)} of the machine's life."
            )
    return lines
