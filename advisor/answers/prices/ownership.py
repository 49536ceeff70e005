"""What one build costs to own or to rent: which build is meant, and what is counted for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from advisor.answers.build_words import (
    build_words,
    gpus_words,
    in_machine,
    owned_words,
    rented_words,
)
from advisor.answers.checklist import of_typed_store
from advisor.answers.prices.rented_alone import RentedAlone
from advisor.answers.wording import (
    PREDICTED_MARK,
    counted_days,
    mark_at,
    price_day_words,
)
from advisor.costs.cost_of_owning import CostTerms, TotalCostOfOwnership
from advisor.costs.price_book import add_command
from advisor.costs.rental import (
    BreakEven,
    break_even,
    rent_offers,
)
from advisor.ranking.candidates import NO_PRICE, Candidates
from advisor.ranking.question import CandidatesKey
from advisor.ranking.rank import named_first
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.ranking.times import EvidenceRule
from advisor.typed_input import InputError, PriceRule, shown
from bench_runner.typed_numbers import percent
from price_catalog.builds import Build, rack_units_of
from price_catalog.csv_table import nearest
from price_catalog.model import Rental
from price_catalog.power import LEAST_EFFICIENCY, is_estimated

if TYPE_CHECKING:
    from advisor.store import Reader, Store

MOST_RENTED = 60
"""Builds that are looked at for who rents them out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnershipRequest:
    """What is asked: the cheapest build of this many GPUs, for one model and under these terms."""

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
        """``≈`` where it was not measured how long it trains."""
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
        machine = f"{gpus_words(build)} {in_machine(build)}"
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
    given_w: float | None = None,
    rack_units: Decimal | None = None,
) -> Ownership:
    """What build ``i`` of the candidates costs in every term. Raises InputError."""
    build = candidates.builds[i]
    unknown = rack_units is None and rack_units_of(build.host) is None
    if unknown and terms.hosting_usd_per_u_month > 0:
        raise InputError(
            f"how many rack units {build.host.name} takes is not known, so hosting cannot be "
            "counted: say it with --rack-units, such as 8"
        )
    time = candidates.times[i]
    chosen = time.chosen if time is not None and candidates.gap[i] is None else None
    return Ownership(
        build=build,
        candidates=candidates,
        position=i,
        own=candidates.owning(i, terms, gpu_w=given_w, rack_units=rack_units),
        training_days=None if chosen is None else chosen.training_days,
        as_of=_as_of(candidates, rule),
        power=_power_words(build, given_w, candidates.measured_w.get(build.gpu.gpu_id)),
    )


def ownership_as_far_as_known(
    candidates: Candidates, i: int, *, terms: CostTerms, rule: PriceRule
) -> tuple[Ownership, str | None]:
    """The same; hosting is left out, with a word, where the rack units are not stated."""
    try:
        return ownership_of(candidates, i, terms=terms, rule=rule), None
    except InputError:
        free = replace(terms, hosting_usd_per_u_month=Decimal(0))
        owned = ownership_of(candidates, i, terms=free, rule=rule)
        name = candidates.builds[i].host.name
        return owned, f"hosting is not counted: the rack units of {name} are not stated"


def rented_alone(store: Store, request: OwnershipRequest) -> RentedAlone | None:
    """What the GPUs cost to rent, where no machine with them can be built; None where one can, or
    where no provider rents them out or knows how long they take. Raises InputError."""
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
    snapshot = take_snapshot(reader)
    snapshot.check_day(request.prices)
    key = CandidatesKey(
        recipe_id=snapshot.model(request.model).recipe_id,
        prices=request.prices,
        evidence=request.evidence,
        gpu_ids=snapshot.gpu_ids([request.gpu]),
    )
    return make_candidates(reader, snapshot, key)


def own_or_rent(
    reader: Reader,
    recipe: str,
    rule: PriceRule,
    evidence: EvidenceRule,
    terms: CostTerms,
    also: tuple[str, int, str] | None,
) -> list[tuple[Ownership, list[BreakEven]]]:
    """The `MOST_RENTED` fastest builds that somebody rents out, fastest first; ``also`` one more,
    by its GPU, count and host."""
    snapshot = take_snapshot(reader)
    key = CandidatesKey(snapshot.model(recipe).recipe_id, rule, evidence)
    candidates = make_candidates(reader, snapshot, key)
    rentals = reader.rentals()
    found = []
    for place, i in enumerate(candidates.by_days):
        build = candidates.builds[i]
        if place >= MOST_RENTED and (build.gpu.gpu_id, build.gpu_count, build.host.host_id) != also:
            continue
        owned, _ = ownership_as_far_as_known(candidates, i, terms=terms, rule=rule)
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
    gap, sold, cents = candidates.gap, candidates.offered, candidates.cents
    order = sorted(priced, key=lambda i: (gap[i] is not None, not sold[i], cents[i]))
    alike = [i for i in order if (gap[i] is None) == (gap[order[0]] is None)]
    return named_first(candidates, alike)[0]


def _power_words(build: Build, given_w: float | None, measured_w: float | None) -> str:
    """Where the power comes from."""
    if given_w is not None:
        return f"{given_w:g} W a GPU as given"
    if measured_w is not None:
        return f"{measured_w:.0f} W a GPU as measured"
    own, efficiency = build.host.is_own_quote, "the supplies' efficiency"
    if build.host.wall_w is not None:
        return "as you entered it" if own else "as the maker states for the whole server"
    if build.host.base_w is None:
        return "GPUs at TDP; the rest is estimated, as it is not stated"
    least = f"{percent(LEAST_EFFICIENCY)} for the supplies, the least of 80 PLUS"
    if own:
        return f"GPUs at TDP over {least}; the rest as you entered it"
    efficiency = least if build.host.psu_efficiency is None else efficiency
    return f"GPUs at TDP and processors; fans, memory and drives estimated; over {efficiency}"
