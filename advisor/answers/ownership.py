"""What one build costs to own or to rent: rows for `advisor prices`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import Any

from advisor.answers.before import of_typed_store
from advisor.answers.rented_alone import RentedAlone
from advisor.answers.wording import (
    PREDICTED_MARK,
    build_words,
    counted_days,
    in_machine,
    is_unquoted,
    mark_at,
    named_gpus_words,
    owned_words,
    price_day_words,
    rented_words,
    runs_words,
    summed_words,
)
from advisor.costs.amounts import age_words, usd_and_cents, usd_rounded
from advisor.costs.price_book import add_command
from advisor.costs.rental import (
    BreakEven,
    RentOffer,
    break_even,
    rent_offers,
    rented_usd,
    reserved_usd,
)
from advisor.costs.tco import PAPER_TERMS, CostTerms, TotalCostOfOwnership, total_cost_of_ownership
from advisor.parse import InputError, PriceRule, shown
from advisor.ranking.candidates import NO_PRICE, Candidates
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.ranking.times import EvidenceRule
from advisor.store import Reader, Store
from bench_runner.typed_numbers import percent
from price_catalog.builds import Build, rack_units_of
from price_catalog.csv_table import nearest
from price_catalog.model import Rental
from price_catalog.power import LEAST_EFFICIENCY, is_estimated, wall_w


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnershipRequest:
    """What is asked: the cheapest build of so many GPUs, for one model and under these terms."""

    model: str
    """A recipe's id."""
    gpu: str
    """By any name that it goes by."""
    gpu_count: int
    prices: PriceRule
    evidence: EvidenceRule
    terms: CostTerms
    power_w: float | None = None
    """Of one GPU; None: as measured, else as its maker states."""
    rack_units: Decimal | None = None
    """Of the machine; None: as known."""
    machine: str | None = None
    """Its name or id; None: the cheapest one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ownership:
    """One build, what it costs and how long it trains."""

    build: Build
    candidates: Candidates
    position: int
    own: TotalCostOfOwnership
    training_days: float | None
    as_of: date
    power: str
    """Where the power comes from, in words."""
    asked: str = ""
    """What was stated of power, room and prices, as flags of the command."""

    @property
    def watts_words(self) -> str:
        """``≈3,910 W at the wall``; nothing where it is not known."""
        mark = PREDICTED_MARK if is_estimated(self.build) else ""
        watts = self.own.wall_w
        return "" if watts is None else f"{mark}{watts:,.0f} W at the wall"

    @property
    def mark(self) -> str:
        """``≈`` where nobody measured how long it trains."""
        return mark_at(self.candidates, self.position)

    @property
    def heading(self) -> str:
        candidates, i = self.candidates, self.position
        gpu, host = candidates.gpu_quotes[i], candidates.host_quotes[i]
        assert gpu is not None and host is not None  # only builds with a price are asked about
        oldest = min(gpu.quoted_on, host.quoted_on)
        days = "no time for a run"
        if self.training_days is not None:
            days = f"{self.mark}{counted_days(self.training_days)} a run"
        build = self.build
        if build.host_owned:
            return f"{candidates.model.name} on {owned_words(build)}: {days}"
        machine = f"{named_gpus_words(build)} {in_machine(build)}"
        asked = price_day_words(oldest, self.as_of)
        asked = asked if oldest >= self.as_of else f"price of {asked}"
        return f"{candidates.model.name} on {machine}: {days}; {asked}"


class NothingToOwn(InputError):
    """No machine with these GPUs can be built; what they cost to rent can be told all the same."""

    def __init__(self, words: str, position: int) -> None:
        super().__init__(words)
        self.position = position
        """Of the candidates."""


def cheapest_ownership(
    store: Store, request: OwnershipRequest
) -> tuple[Ownership, Sequence[Rental]]:
    """The cheapest build that is asked about, and every rental. Raises InputError."""
    with store.reading() as reader:
        candidates = _asked_about(reader, request)
        rentals = reader.rentals()
        measured = reader.measured_power_w()
    i = chosen_build(candidates, request.gpu_count, request.machine)
    flags = {
        "prices": None if request.prices == "latest" else request.prices,
        "evidence": None if request.evidence == "sound" else request.evidence,
        "power": request.power_w,
        "rack-units": request.rack_units,
    }
    asked = "".join(f" --{flag} {value}" for flag, value in flags.items() if value is not None)
    owned = ownership_of(
        candidates,
        i,
        terms=request.terms,
        rule=request.prices,
        measured_w=measured.get(candidates.builds[i].gpu.gpu_id),
        given_w=request.power_w,
        rack_units=request.rack_units,
    )
    return replace(owned, asked=asked), rentals


def ownership_of(
    candidates: Candidates,
    i: int,
    *,
    terms: CostTerms,
    rule: PriceRule,
    measured_w: float | None,
    given_w: float | None = None,
    rack_units: Decimal | None = None,
) -> Ownership:
    """What build ``i`` of the candidates costs in every term. Raises InputError."""
    build = candidates.builds[i]
    power_w, power = _power(build, given_w, measured_w)
    stated = rack_units_of(build.host)
    if rack_units is None and stated is not None:
        rack_units = Decimal(str(stated))
    elif rack_units is None and terms.hosting_usd_per_u_month > 0:
        raise InputError(
            f"how many rack units {build.host.name} takes is not known, so hosting cannot be "
            "counted: say it with --rack-units, such as 8"
        )
    own = total_cost_of_ownership(
        Decimal(candidates.cents[i]) / 100,
        terms,
        wall_w=None if power_w is None else Decimal(str(round(power_w, 3))),
        rack_units=rack_units,
    )
    time = candidates.times[i]
    chosen = time.chosen if time is not None and candidates.gap[i] is None else None
    return Ownership(
        build=build,
        candidates=candidates,
        position=i,
        own=own,
        training_days=None if chosen is None else chosen.training_days,
        as_of=_as_of(candidates, rule),
        power=power,
    )


def ownership_as_far_as_known(
    candidates: Candidates, i: int, *, terms: CostTerms, rule: PriceRule, measured_w: float | None
) -> tuple[Ownership, str | None]:
    """The same; hosting is left out, with a word, where nobody states the machine's rack units."""
    try:
        return ownership_of(candidates, i, terms=terms, rule=rule, measured_w=measured_w), None
    except InputError:
        free = replace(terms, hosting_usd_per_u_month=Decimal(0))
        owned = ownership_of(candidates, i, terms=free, rule=rule, measured_w=measured_w)
        name = candidates.builds[i].host.name
        return owned, f"hosting is not counted: nobody states how many rack units {name} takes"


def rented_alone(store: Store, request: OwnershipRequest) -> RentedAlone | None:
    """What the GPUs cost to rent, where no machine with them can be built; None where one can, or
    where nobody rents them out or knows how long they take. Raises InputError."""
    with store.reading() as reader:
        candidates = _asked_about(reader, request)
        rentals = reader.rentals()
    try:
        chosen_build(candidates, request.gpu_count, request.machine)
    except NothingToOwn as error:
        i, why = error.position, str(error)
    else:
        return None
    build, as_of = candidates.builds[i], _as_of(candidates, request.prices)
    offers = rent_offers(rentals, build.gpu.gpu_id, build.gpu_count, today=as_of)
    if not offers or not candidates.days[i]:
        return None
    return RentedAlone(candidates=candidates, position=i, offers=offers, as_of=as_of, obstacle=why)


def _asked_about(reader: Reader, request: OwnershipRequest) -> Candidates:
    """Every build with the GPUs. Raises InputError."""
    snapshot = take_snapshot(reader, request.prices)
    return make_candidates(
        reader,
        snapshot,
        snapshot.model(request.model),
        prices=request.prices,
        evidence=request.evidence,
        gpu_ids=snapshot.gpu_ids([request.gpu]),
    )


def own_or_rent(
    reader: Reader,
    recipe: str,
    rule: PriceRule,
    evidence: EvidenceRule,
    terms: CostTerms = PAPER_TERMS,
    most: int = 60,
    also: tuple[str, int, str] | None = None,
) -> list[tuple[Ownership, list[BreakEven]]]:
    """The ``most`` fastest builds that somebody rents out, fastest first; ``also`` one more, by
    its GPU, count and host."""
    snapshot = take_snapshot(reader, rule)
    model = snapshot.model(recipe)
    candidates = make_candidates(reader, snapshot, model, prices=rule, evidence=evidence)
    rentals = reader.rentals()
    measured = reader.measured_power_w()
    found = []
    for place, i in enumerate(candidates.by_days):
        build = candidates.builds[i]
        if place >= most and (build.gpu.gpu_id, build.gpu_count, build.host.host_id) != also:
            continue
        gpu_id = build.gpu.gpu_id
        owned, _ = ownership_as_far_as_known(
            candidates, i, terms=terms, rule=rule, measured_w=measured.get(gpu_id)
        )
        evens = break_evens(owned, rentals)
        if evens:
            found.append((owned, evens))
    return found


def break_evens(owned: Ownership, rentals: Iterable[Rental]) -> list[BreakEven]:
    """Renting the same GPUs in each way that is offered; [] where there is none, or no time."""
    days, build = owned.training_days, owned.build
    if days is None:
        return []
    offers = rent_offers(rentals, build.gpu.gpu_id, build.gpu_count, today=owned.as_of)
    return [break_even(owned.own, offer, days) for offer in offers]


def _as_of(candidates: Candidates, rule: PriceRule) -> date:
    """The day on which the question is asked: the paper's prices ask on the paper's day."""
    if isinstance(rule, date):
        return rule
    if rule == "paper":
        return max(quote.quoted_on for quote in candidates.prices.values())
    return date.today()


def chosen_build(candidates: Candidates, count: int, machine: str | None) -> int:
    """The build that is meant: of that machine, else the cheapest that a ranking would name. Raises
    InputError."""
    named = [i for i, build in enumerate(candidates.builds) if build.gpu_count == count]
    if named and machine is not None:
        wanted = " ".join(machine.split()).casefold()
        names = dict.fromkeys(candidates.builds[i].host.name for i in named)
        hosts = [candidates.builds[i].host for i in named]
        named = [
            i
            for i, host in zip(named, hosts, strict=True)
            if wanted in (host.name.casefold(), host.host_id.casefold())
        ]
        if not named:
            raise InputError(
                f"no machine with {count} of these GPUs is called {shown(machine)}; "
                f"{nearest(machine, names)}"
            )
    if not named:
        raise InputError(
            f"no machine with {count} of these GPUs is known: see advisor prices builds"
        )
    sound = [i for i in named if candidates.builds[i].obstacle is None]
    if not sound:
        first = candidates.builds[named[0]]
        if machine is not None:
            raise InputError(f"{build_words(first)} cannot be built: {first.obstacle}")
        counts = sorted(
            {
                build.gpu_count
                for build in candidates.builds
                if build.obstacle is None and build.gpu.gpu_id == first.gpu.gpu_id
            }
        )
        known = f"; --count can be {', '.join(map(str, counts))}" if counts else ""
        raise NothingToOwn(
            f"no machine with {rented_words(first)} can be built: {first.obstacle}{known}", named[0]
        )
    priced = [i for i in sound if candidates.cents[i] != NO_PRICE]
    if not priced:
        build, (_, item) = candidates.builds[sound[0]], candidates.unpriced(sound[0])
        add = of_typed_store(add_command(item, date.today()))
        raise InputError(f"{build_words(build)} has no price that counts; add one, as in {add}")
    # Rather what a ranking would name: sold, with a time; then what has a time.
    gap, sold, placed = candidates.gap, candidates.offered, candidates.placed_cents
    return min(
        priced,
        key=lambda i: (gap[i] is not None, not sold[i], placed[i], candidates.is_summed(i)),
    )


def _power(
    build: Build, given_w: float | None, measured_w: float | None
) -> tuple[float | None, str]:
    if given_w is not None:
        return wall_w(build, given_w), f"{given_w:g} W a GPU as given"
    if measured_w is not None:
        return wall_w(build, measured_w), f"{measured_w:.0f} W a GPU as measured"
    if build.host.wall_w is not None:
        if build.host.is_own_quote:
            return wall_w(build), "as you entered it"
        return wall_w(build), "as the maker states for the whole server"
    if build.host.base_w is None:
        return wall_w(build), "GPUs at TDP; the rest estimated, since nobody states it"
    efficiency = "the supplies' efficiency"
    if build.host.is_own_quote:
        return wall_w(build), (
            f"GPUs at TDP over {percent(LEAST_EFFICIENCY)} for the supplies, the least of 80 PLUS; "
            "the rest as you entered it"
        )
    if build.host.psu_efficiency is None:
        efficiency = f"{percent(LEAST_EFFICIENCY)} for the supplies, the least of 80 PLUS"
    return wall_w(build), (
        f"GPUs at TDP and processors; fans, memory and drives estimated; over {efficiency}"
    )


def cost_rows(owned: Ownership) -> list[dict[str, Any]]:
    """Every term over the life, a year and, where there is a time, a training run."""
    own, days = owned.own, owned.training_days
    years, busy = own.terms.lifetime_years, own.busy_days

    def row(term: str, life: Decimal | None, how: str) -> dict[str, Any]:
        each = None
        if life is not None and days is not None:
            each = life * Decimal(str(days)) / busy
        return {
            "term": term,
            "life_usd": _cents(life),
            "year_usd": _cents(None if life is None else life / years),
            "experiment_usd": _cents(each),
            "how": how,
        }

    terms = own.terms
    watts = owned.watts_words or "power not known"
    kwh = _kwh_words(terms.electricity_usd_per_kwh)
    use, resale, rate = (
        f"{share * 100:g} %"
        for share in map(float, (terms.utilisation, terms.resale_share, terms.financing_rate))
    )
    rows = [
        row("hardware", own.hardware_usd, f"over {years} years at {use} use"),
        row("resale", own.resale_usd, f"{resale} of the price comes back"),
        row("financing", own.financing_usd, f"{rate} a year, monthly parts"),
        row("hosting", own.hosting_usd, f"${terms.hosting_usd_per_u_month} a rack unit and month"),
        row("staff", own.staff_usd, f"${terms.staff_usd_per_year} a year"),
        row(
            "electricity",
            own.electricity_usd,
            f"{watts} × PUE {terms.pue} × {kwh} a kWh; {owned.power}",
        ),
        row("whole", own.life_usd, "everything above"),
    ]
    if days is not None:
        rows[-1]["experiment_usd"] = own.experiment_usd(days)
    return rows


def _cents(amount: Decimal | None) -> Decimal | None:
    return None if amount is None else amount.quantize(Decimal("0.01"))


def rent_row(
    owned: Ownership, even: BreakEven, days: float, number: Decimal | None
) -> dict[str, Any]:
    offer, years = even.offer, owned.own.terms.lifetime_years
    whole = offer.kind == "reserved"
    row: dict[str, Any] = {
        "rent": offer.kind,
        "usd_per_hour": offer.price_per_hour_usd,
        "low": offer.low_usd,
        "high": offer.high_usd,
        "providers": offer.providers,
        "middle": offer.middle.provider
        + (f" {offer.middle.instance}" if offer.middle.instance else ""),
        "date": offer.middle.priced_on,
        "age": age_words(offer.middle.priced_on, owned.as_of),
        "leaves_out": offer.middle.leaves_out,
        "machines": offer.times,
        "experiment_usd": _cents(even.rent_per_experiment_usd),
        "break_even_experiments": None if even.experiments is None else round(even.experiments, 1),
        "break_even_utilisation": None
        if even.utilisation is None
        else f"{percent(even.utilisation)}",
        "whole_life_usd": _cents(
            reserved_usd(offer.price_per_hour_usd, years)
            if whole
            else rented_usd(offer.price_per_hour_usd, days, owned.own.experiments(days))
        ),
    }
    if number is not None:
        row[f"{number:f}_experiments_usd"] = (
            row["whole_life_usd"]
            if whole
            else _cents(rented_usd(offer.price_per_hour_usd, days, number))
        )
    return row


def _kwh_words(usd: Decimal) -> str:
    """``$0.30``, ``$0.125``: cents at least."""
    return usd_and_cents(usd) if usd == usd.quantize(Decimal("0.01")) else f"${usd.normalize():f}"


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
    """What owning costs, in one sentence that could stand alone."""
    own, model = owned.own, owned.candidates.model.name
    machine = owned_words(owned.build)
    if own.life_usd is None:
        return f"What owning {machine} costs is not known: nobody states what it draws."
    years = f"{own.terms.lifetime_years:f} year{'' if own.terms.lifetime_years == 1 else 's'}"
    candidates, i = owned.candidates, owned.position
    days = [q.quoted_on for q in (candidates.gpu_quotes[i], candidates.host_quotes[i]) if q]
    price = f"price of {min(days):%B %Y}" if own.hardware_usd else "yours already"
    host = candidates.host_quotes[i]
    if host is not None and own.hardware_usd and is_unquoted(owned.build, host):
        price = f"{summed_words(host)}, {min(days):%B %Y}"
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
    return f"{words}, {owned.mark}{usd_rounded(each)} a run of {model} ({_days_words(owned)} each)."


def rent_sentence(owned: Ownership, evens: list[BreakEven]) -> str:
    """What a rented run costs and from when buying pays, in one sentence that could stand alone."""
    even = evens[0]
    words = (
        f"A run of {owned.candidates.model.name} on {rented_words(owned.build)} rented "
        f"{even.offer.kind} costs {owned.mark}{usd_rounded(even.rent_per_experiment_usd)} "
        f"({_days_words(owned)} at {usd_and_cents(even.offer.price_per_hour_usd)} an hour)"
    )
    if not finishes(owned):
        years = f"{owned.own.terms.lifetime_years:f} years"
        return f"{words}; a machine of your own does not finish one in its {years}."
    if even.experiments is None or even.utilisation is None:
        return f"{words}; under these terms buying never pays."
    if even.utilisation > 1:
        return f"{words}; buying never pays in the {owned.own.terms.lifetime_years:f} years."
    if even.experiments <= 1:
        what = "your own machine is cheaper" if owned.build.host_owned else "buying pays"
        return f"{words}; {what} from the first run on."
    pays = f"{words}; buying pays from {runs_words(even.experiments)} on"
    if not (owned.build.host_owned or owned.candidates.offered[owned.position]):
        pays = (
            f"{words}; no seller is known, else buying pays from {runs_words(even.experiments)} on"
        )
    assert owned.training_days is not None  # it comes with the experiments
    most, use = owned.own.experiments(owned.training_days), owned.own.terms.utilisation
    if even.experiments > most:
        return f"{pays}, but at {percent(use)} use the machine makes {int(most)} in its life."
    return f"{pays}."


def offer_words(offer: RentOffer) -> str:
    """What renting costs, from whom and since when, in one sentence."""
    price, whose = usd_and_cents(offer.price_per_hour_usd), offer.middle
    asked = f"{whose.provider}, {whose.priced_on}{left_out_words(whose)}"
    if offer.providers == 1:
        return f"{offer.kind}: {price} an hour, the only offer: {asked}"
    span = f"{usd_and_cents(offer.low_usd)} to {usd_and_cents(offer.high_usd)}"
    which = "dearer" if offer.providers == 2 else "middle"
    of = f"the {which} of {offer.providers} offers ({span})"
    return f"{offer.kind}: {price} an hour, {of}: {asked}"


def left_out_words(rental: Rental) -> str:
    """What is billed on top of a rental price; nothing where it is whole."""
    return f"; {rental.leaves_out} are billed on top" if rental.leaves_out else ""


def even_words(evens: list[BreakEven], *, is_owned: bool = False) -> list[str]:
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
