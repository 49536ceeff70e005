"""What owning and renting cost, in sentences."""

from __future__ import annotations

from advisor.answers.build_words import hourly_words, owned_words, rented_words
from advisor.answers.prices.ownership import Ownership
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
    """What owning costs over the life and a run, and what is counted."""
    own, model = owned.own, owned.candidates.model.name
    machine = owned_words(owned.build)
    if own.life_usd is None:
        return f"What owning {machine} costs is not known: no source states what it draws."
    years = f"{own.terms.lifetime_years:f} year{'' if own.terms.lifetime_years == 1 else 's'}"
    candidates, i = owned.candidates, owned.position
    gpu, host = candidates.gpu_quotes[i], candidates.host_quotes[i]
    price = "yours already"
    if own.hardware_usd and gpu is not None and host is not None:
        month = f"{min(gpu.quoted_on, host.quoted_on):%B %Y}"
        price = f"price of {month}"
        if is_unquoted(owned.build, host):
            price = f"{summed_words(host)}, {month}"
        elif not candidates.offered[i]:
            price += ", no seller known"
    counted = "with" if own.terms.electricity_usd_per_kwh else "without"
    words = f"Owning {machine} costs {usd_rounded(own.life_usd)} over {years} "
    words += f"({price}, {counted} electricity)"
    each = None if owned.training_days is None else own.experiment_usd(owned.training_days)
    if each is None:
        return f"{words}. How long {model} trains on it is not known."
    if not finishes(owned):
        return f"{words}, and does not finish a run of {model} by then ({_days_words(owned)})."
    cost = f"{owned.mark}{usd_rounded(each)}"
    return f"{words}. A run of {model} costs {cost} and takes {_days_words(owned)}."


def rent_sentence(owned: Ownership, evens: list[BreakEven]) -> str:
    """What a rented run costs, and from how many runs on buying pays."""
    even, terms = evens[0], owned.own.terms
    words = (
        f"A run of {owned.candidates.model.name} on {rented_words(owned.build)} rented "
        f"{even.offer.kind.replace('-', ' ')} costs "
        f"{owned.mark}{usd_rounded(even.rent_per_experiment_usd)} "
        f"({_days_words(owned)} at {hourly_words(even.offer)})."
    )
    years = f"{terms.lifetime_years:f} years"
    if not finishes(owned):
        return f"{words} A machine of your own does not finish one in its {years}."
    if even.experiments is None or even.utilisation is None:
        return f"{words} Under these terms buying never pays."
    if even.utilisation > 1:
        return f"{words} Buying never pays in the {years}."
    less = "" if terms.electricity_usd_per_kwh else ", without electricity"
    if even.experiments <= 1:
        what = "Your own machine is cheaper" if owned.build.host_owned else "Buying pays"
        return f"{words} {what} from the first run on{less}."
    pays = "Buying pays"
    if not (owned.build.host_owned or owned.candidates.offered[owned.position]):
        pays = "No seller is known; with one buying pays"
    pays = f"{words} {pays} from {runs_words(even.experiments)} on"
    assert owned.training_days is not None  # it comes with the experiments
    most = owned.own.experiments(owned.training_days)
    if even.experiments > most:
        use = percent(terms.utilisation)
        return f"{pays}, but at {use} use the machine makes {int(most)} in its life."
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
