"""What one build costs to own or to rent: which build is meant, and what is counted for it."""

from __future__ import annotations

from collections.abc import Iterable
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
from advisor.answers.ranking.question_words import flags, prices_and_evidence
from advisor.answers.wording import PREDICTED_MARK, counted_days, mark_at, price_day_words
from advisor.costs.cost_of_owning import CostTerms, TotalCostOfOwnership
from advisor.costs.price_book import add_command
from advisor.costs.rental import BreakEven, break_even, rent_offers
from advisor.ranking.candidates import NO_PRICE, Candidates
from advisor.ranking.question import CandidatesKey
from advisor.ranking.row_order import named_first
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.ranking.times import EvidenceRule
from advisor.typed_input import InputError, PriceRule, shown
from bench_runner.typed_numbers import percent
from price_catalog.builds import Build, rack_units_of
from price_catalog.csv_table import nearest
from price_catalog.model import Quote, Rental
from price_catalog.power import LEAST_EFFICIENCY, is_estimated

if TYPE_CHECKING:
    from advisor.store import Reader, Store


@dataclass(frozen=True, slots=True, kw_only=True)
class BuildCosts:
    """One build, what it costs to own and to rent, and how long it trains."""

    candidates: Candidates
    position: int
    """Of the candidates."""
    own: TotalCostOfOwnership | None
    """None where no machine with these GPUs can be built: they may be rented all the same."""
    problem: str | None
    """Why there is none, or what it cannot count."""
    training_days: float | None
    evens: tuple[BreakEven, ...]
    """Each way to rent the same GPUs; () where nobody does, and without a time."""
    as_of: date
    power: str
    """Where the power comes from, in words."""
    asked: str = ""
    """What was stated of power, room and prices, as flags of the command."""

    @property
    def build(self) -> Build:
        return self.candidates.builds[self.position]

    @property
    def quotes(self) -> tuple[Quote, ...]:
        """What is paid: of a whole machine one quote, else the machine's and the GPU's."""
        found = [self.candidates.host_quotes[self.position]]
        if self.build.host.gpu_id is None:
            found.append(self.candidates.gpu_quotes[self.position])
        return tuple(quote for quote in found if quote is not None)

    @property
    def tax_words(self) -> str:
        """What is said of tax in these prices."""
        return "".join(dict.fromkeys(quote.tax_words for quote in self.quotes))

    @property
    def priced_on(self) -> date:
        """The day of the older of its prices."""
        return min(quote.quoted_on for quote in self.quotes)

    @property
    def mark(self) -> str:
        """``≈`` where it was not measured how long it trains."""
        return mark_at(self.candidates, self.position)

    @property
    def days_words(self) -> str:
        """``≈79.4 days``; ``no time`` where it is not known how long a run takes."""
        days = self.training_days
        return "no time" if days is None else f"{self.mark}{counted_days(days)}"

    @property
    def watts_words(self) -> str:
        """``≈3,910 W at the wall``; nothing where it is not known."""
        watts = None if self.own is None else self.own.wall_w
        mark = PREDICTED_MARK if is_estimated(self.build) else ""
        return "" if watts is None else f"{mark}{watts:,.0f} W at the wall"

    @property
    def heading(self) -> str:
        """The model, the machine, how long a run takes and how old the price is."""
        model, build = self.candidates.model.name, self.build
        if build.host_owned:
            return f"{model} on {owned_words(build)}: {self.days_words} a run"
        asked = price_day_words(self.priced_on, self.as_of)
        asked = asked if self.priced_on >= self.as_of else f"price of {asked}"
        machine = f"{gpus_words(build)} {in_machine(build)}"
        return f"{model} on {machine}: {self.days_words} a run; {asked}"


def costs_asked(
    store: Store,
    *,
    model: str,
    gpu: str,
    gpu_count: int,
    machine: str | None,
    prices: PriceRule,
    evidence: EvidenceRule,
    terms: CostTerms,
    power_w: float | None,
    rack_units: Decimal | None,
    to_rent: bool = False,
) -> BuildCosts:
    """The cheapest build with this many GPUs, by any of their names, or that ``machine``;
    ``power_w`` is of one GPU. ``to_rent`` also GPUs of which no machine can be built. Raises
    InputError."""
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
        snapshot.check_day(prices)
        recipe_id, gpu_ids = snapshot.model(model).recipe_id, snapshot.gpu_ids([gpu])
        key = CandidatesKey(recipe_id, prices, evidence, gpu_ids=gpu_ids)
        candidates, rentals = make_candidates(reader, snapshot, key), reader.rentals()
    i, obstacle = chosen_build(candidates, gpu_count, machine)
    found = costs_of(
        candidates,
        i,
        rentals,
        terms=terms,
        rule=prices,
        given_w=power_w,
        rack_units=rack_units,
        obstacle=obstacle,
    )
    if obstacle is not None and not (to_rent and found.evens):
        raise InputError(obstacle)
    if obstacle is None and found.problem is not None:
        raise InputError(f"{found.problem}; say them with --rack-units, such as 8")
    stated = flags(power=power_w, rack_units=rack_units)
    return replace(found, asked=prices_and_evidence(key) + stated)


def costs_of(
    candidates: Candidates,
    i: int,
    rentals: Iterable[Rental],
    *,
    terms: CostTerms,
    rule: PriceRule,
    given_w: float | None = None,
    rack_units: Decimal | None = None,
    obstacle: str | None = None,
) -> BuildCosts:
    """What build ``i`` of the candidates costs in every term; hosting is left out, and said, where
    its rack units are not stated. ``obstacle`` is why no such machine can be built."""
    build = candidates.builds[i]
    unknown = rack_units is None and rack_units_of(build.host) is None
    problem = obstacle
    if unknown and terms.hosting_usd_per_u_month > 0 and obstacle is None:
        problem = f"hosting is not counted: the rack units of {build.host.name} are not stated"
        terms = terms._replace(hosting_usd_per_u_month=Decimal(0))
    days = None
    if obstacle is not None or candidates.gap[i] in (None, "fit-not-known", "old-price"):
        days = candidates.days[i] or None
    own = None
    if obstacle is None and candidates.cents[i] != NO_PRICE:
        own = candidates.owning(i, terms, gpu_w=given_w, rack_units=rack_units)
    as_of = date.today()
    if rule == "paper":  # it is asked on the paper's day
        as_of = max(quote.quoted_on for quote in candidates.prices.values())
    elif isinstance(rule, date):
        as_of = rule
    evens: list[BreakEven] = []
    if days is not None and build.machines == 1:
        offers = rent_offers(rentals, build.gpu.gpu_id, build.gpu_count, today=as_of)
        # Without a machine there is no life that a reservation could be shared out over.
        evens = [break_even(own, each, days) for each in offers if own or each.kind != "reserved"]
    return BuildCosts(
        candidates=candidates,
        position=i,
        own=own,
        problem="it has no price" if own is None and problem is None else problem,
        training_days=days,
        evens=tuple(evens),
        as_of=as_of,
        power=_power_words(build, given_w, candidates.measured_w.get(build.gpu.gpu_id)),
    )


def own_or_rent(
    reader: Reader,
    recipe: str,
    rule: PriceRule,
    evidence: EvidenceRule,
    terms: CostTerms,
    selected: tuple[str, int, str] | None,
) -> BuildCosts | None:
    """The ``selected`` build, by its GPU, count and host, where somebody rents its GPUs out; else
    the fastest whose GPUs are rented."""
    snapshot = take_snapshot(reader)
    key = CandidatesKey(snapshot.model(recipe).recipe_id, rule, evidence)
    candidates, rentals = make_candidates(reader, snapshot, key), reader.rentals()

    ids = [(b.gpu.gpu_id, b.gpu_count, b.host.host_id) for b in candidates.builds]
    order = sorted(candidates.by_days, key=lambda i: ids[i] != selected)
    costs = (costs_of(candidates, i, rentals, terms=terms, rule=rule) for i in order)
    return next((each for each in costs if each.evens), None)


def chosen_build(candidates: Candidates, count: int, machine: str | None) -> tuple[int, str | None]:
    """The build that is meant: of that machine, else the cheapest that a ranking would name; and
    why nothing with these GPUs can be built, where that is so. Raises InputError."""
    builds = candidates.builds
    named = [i for i, build in enumerate(builds) if build.gpu_count == count]
    if named and machine is not None:
        wanted, names = " ".join(machine.split()).casefold(), [builds[i].host.name for i in named]
        named = [
            i
            for i in named
            if wanted in (builds[i].host.name.casefold(), builds[i].host.host_id.casefold())
        ]
        if not named:
            raise InputError(
                f"no machine with {count} of these GPUs is called {shown(machine)}; "
                f"{nearest(machine, dict.fromkeys(names))}"
            )
    if not named:
        raise InputError(
            f"no machine with {count} of these GPUs is known: see advisor prices builds"
        )
    sound = [i for i in named if builds[i].obstacle is None]
    if not sound:
        first = builds[named[0]]
        if machine is not None:
            raise InputError(f"{build_words(first)} cannot be built: {first.obstacle}")
        counts = sorted({b.gpu_count for b in builds if b.obstacle is None and b.gpu == first.gpu})
        known = f"; --count can be {', '.join(map(str, counts))}" if counts else ""
        words = f"no machine with {rented_words(first)} can be built: {first.obstacle}{known}"
        return named[0], words
    priced = [i for i in sound if candidates.cents[i] != NO_PRICE]
    if not priced:
        build, (_, item) = builds[sound[0]], candidates.unpriced(sound[0])
        add = of_typed_store(add_command(item, date.today()))
        raise InputError(f"{build_words(build)} has no price that counts; add one, as in {add}")
    # Rather what a ranking would name: sold, with a time; then what has a time.
    gap, sold, cents = candidates.gap, candidates.offered, candidates.cents
    order = sorted(priced, key=lambda i: (gap[i] is not None, not sold[i], cents[i]))
    alike = [i for i in order if (gap[i] is None) == (gap[order[0]] is None)]
    return named_first(candidates, alike)[0], None


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
