"""From a grant and the store to a problem: what could be bought, rented and used, and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import chain

from msgspec import structs

from advisor.costs.price_book import STALE_DAYS
from advisor.costs.price_interval import price_today
from advisor.costs.rental import rates_that_count, rent_offers
from advisor.planning.grant.candidates.allocations import allocations_of, shares
from advisor.planning.grant.candidates.cost_lines import fixed_costs, machine_extras, order_days
from advisor.planning.grant.candidates.grant_machines import (
    ONLY_TOLD,
    Best,
    LeftOut,
    Timed,
    buyable,
    day_of,
    gpu_ids_of,
    orderable,
    owned_machines,
    times_of,
    upgrades,
)
from advisor.planning.grant.candidates.prices_from_parts import SUMMED, behind_named, less_as_sum
from advisor.planning.grant.candidates.procurement import is_among, refused, seller_of
from advisor.planning.grant.candidates.split_machines import parts_of
from advisor.planning.grant.cross_field_checks import check_days
from advisor.planning.grant.grant_keys import GrantExperiment
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.toml_reader import Line, wrong
from advisor.planning.solver.money.cents import purchase_cents
from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import (
    BUY_IN,
    Experiment,
    Machine,
    PlanningProblem,
    Rental,
    RentLimit,
    Rules,
    RunTime,
)
from advisor.ranking.fabric import link_of_speed
from advisor.ranking.snapshot import Snapshot
from advisor.ranking.times import Model
from advisor.store import Reader
from advisor.typed_input import InputError
from bench_runner.typed_numbers import plain
from price_catalog.builds import Build
from price_catalog.csv_table import nearest
from price_catalog.model import Quote
from price_catalog.model import Rental as RentalPrice
from price_catalog.providers import provider_name, written_provider

SEVERAL = (2, 4, 8)
"""GPUs of one machine, which are priced by one where a provider names no price of that number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A problem with the rows that its numbers come from."""

    grant: Grant
    problem: PlanningProblem
    snapshot: Snapshot
    models: Mapping[str, Model]
    quotes: Mapping[str, Quote]
    rentals: Mapping[str, RentalPrice]
    builds: Mapping[str, Build]
    """By machine id, for machines that could be bought."""
    left_out: tuple[LeftOut, ...]
    today: date
    unrestricted: PlanningProblem | None = None
    """The problem with what procurement leaves out; None where it leaves out nothing."""
    sums: tuple[Machine, ...] = ()
    """Machines at a sum that no seller quoted, behind quotes for hardly more."""
    with_told: tuple[Machine, ...] = ()
    """The problem's machines with those that are left out as they need a quote; empty where none
    are."""

    def model_of(self, wanted: GrantExperiment) -> Model:
        """What an experiment of the grant trains."""
        number = next(n for n, each in enumerate(self.grant.experiments) if each is wanted)
        return _of_tokens(self.grant, number, self.snapshot.model(wanted.trained))

    def ordered_today(self, machine: Machine) -> tuple[Decimal, Decimal] | None:
        """Between what its price lies if it is ordered today, in 9 of 10 cases; None where its
        prices hold, or are taken at their word. All of them are taken to move together."""
        as_of = self.snapshot.prices(self.grant.prices, today=self.today).as_of
        gpu = next((g for g in self.snapshot.gpus if g.gpu_id == machine.gpu_id), None)
        low = high = Decimal(0)
        for line in machine.lines:
            if line.quote_kind == BUY_IN:
                return None  # the campus names it
            quote = self.quotes[line.quote_id]
            now, price = price_today(quote, gpu, as_of), line.before_tax
            low += price * now.low_usd / quote.price_usd
            high += price * now.high_usd / quote.price_usd
        return None if low == high else (round(low, 2), round(high, 2))

    def among(self, plan: Plan) -> str:
        """`` among what is on sale or for rent and your rules allow``: of what a plan is the best,
        unless it is of all there is."""
        rules = "" if self.unrestricted is None else "your rules allow"
        bought = {each.machine_id for each in plan.purchases}
        machines = [each for each in self.problem.machines if each.machine_id in bought]
        for_nothing = not bought and not plan.rented and self.grant.objective == "cheapest"
        if not plan.runs or for_nothing:
            return ""
        if not self.with_told:
            return f" among what {rules}" if rules else ""
        summed = any(less_as_sum(machine, self.sums) for machine in machines)
        words = f" among what is {'quoted' if summed else 'on sale'}"
        if any(rental.allocation is None for rental in self.problem.rentals):
            words += " or for rent"
        words += "" if all(machine.on_sale for machine in machines) else " or named"
        return f"{words} and {rules}" if rules else words


def load(reader: Reader, snapshot: Snapshot, grant: Grant, today: date) -> Loaded:
    """Everything that a plan is made from. Raises InputError."""
    check_days(grant, today)
    try:
        snapshot.check_day(grant.prices)
    except InputError as error:
        raise wrong(grant.file, "evidence.prices", str(error)) from None
    asked = [_model(snapshot, grant, n) for n in range(len(grant.experiments))]
    models = [_of_tokens(grant, n, model) for n, model in enumerate(asked)]
    # Times are looked up of the recipe as it is, and then of its share of the tokens.
    recipes = {own.recipe_id: (own, of) for own, of in zip(models, asked, strict=True)}
    by_recipe, best, joined = dict[str, Model](), dict[str, Timed](), dict[str, Timed]()
    speed = grant.running.network_gbit
    for key, (own, of) in sorted(recipes.items()):
        share = Decimal(own.training_steps) / of.training_steps
        by_recipe[key] = replace(of, recipe_id=key)
        best[key] = Timed(reader.best_times(of.recipe_id, grant.evidence), share)
        if speed is not None:
            link = link_of_speed(float(speed))
            joined[key] = Timed(reader.asked_times(of.recipe_id, "ours", 2, link), share)
    _check_vendors(snapshot, grant)
    left_out: list[LeftOut] = []
    machines, builds, quotes = buyable(snapshot, grant, by_recipe, best, today, left_out)
    rentals, not_allowed, prices = _rentals(reader, snapshot, grant, best, today, left_out)
    owned = [
        owned_machines(snapshot, grant, n, each, best, left_out)
        for n, each in enumerate(grant.owned)
    ]
    more, quotes_of_more = upgrades(snapshot, grant, owned, best, today, left_out)
    named = gpu_ids_of(snapshot, grant, "purchases", grant.purchases.gpus)
    known = {**quotes, **quotes_of_more}
    why = {m.machine_id: refused(grant.procurement, m, known, today) for m in (*more, *machines)}
    turned_down = [m for m in (*more, *machines) if why[m.machine_id] and m.on_sale]
    allowed = [m for m in (*more, *machines) if why[m.machine_id] is None]
    bought, told = orderable(allowed, named)
    ordered_on = order_days(grant) or _first_days(grant)
    sums = behind_named(bought, rules_of(grant), ordered_on)
    bought = [machine for machine in bought if machine not in sums]
    refusals = [(m.label, why[m.machine_id] or "") for m in turned_down]
    refusals += [(r.label, f"{r.who} is not an allowed provider") for r in not_allowed]
    unquoted = [*((m.label, ONLY_TOLD) for m in told), *((m.label, SUMMED) for m in sums)]
    left_out += [LeftOut(label=at, reason=words, by_procurement=True) for at, words in refusals]
    left_out += [LeftOut(label=at, reason=words, needs_quote=True) for at, words in unquoted]
    condo, quotes_of_condo = shares(snapshot, grant, best, left_out)
    bought += condo
    lab = [*chain.from_iterable(owned)]

    def with_parts(bought: Sequence[Machine]) -> tuple[Machine, ...]:
        wholes = [*lab, *bought]
        return (*wholes, *parts_of(wholes, grant, best, builds, joined))

    allocations, allocated = allocations_of(snapshot, grant, best, left_out)

    problem = PlanningProblem(
        start=grant.start,
        year_days=tuple((day - grant.start).days for day in grant.year_dates),
        experiments=_experiments(grant, models),
        machines=with_parts(bought),
        rentals=(*rentals, *allocated),
        allocations=allocations,
        rent_limits=_rent_limits(snapshot, grant, by_recipe, best, today, rentals),
        fixed=fixed_costs(grant),
        order_days=order_days(grant),
        rules=rules_of(grant),
        objective=grant.objective,
        budget_cents=None if grant.budget is None else grant.reaching(grant.budget, grant.shared),
        year_budget_cents=None if grant.year_budget is None else tuple(years_reach(grant)),
        carry_over=grant.carry_over,
        buy_years=grant.buy_years,
        max_machines=grant.purchases.max_machines,
    )
    problem = _from_today(problem, (today - grant.start).days)
    unrestricted = None
    if turned_down or not_allowed:
        machines_too = with_parts([*bought, *turned_down])
        rentals_too = (*problem.rentals, *not_allowed)
        unrestricted = replace(problem, machines=machines_too, rentals=rentals_too)
    return Loaded(
        grant=grant,
        problem=problem,
        unrestricted=unrestricted,
        snapshot=snapshot,
        models={model.recipe_id: model for model in models},
        quotes={**known, **quotes_of_condo},
        rentals=prices,
        builds=builds,
        left_out=tuple(left_out),
        today=today,
        sums=tuple(sums),
        with_told=with_parts([*bought, *sums, *told]) if sums or told else (),
    )


def _check_vendors(snapshot: Snapshot, grant: Grant) -> None:
    """Whether each accepted seller has quoted anything. Raises InputError."""
    sellers = sorted({seller_of(quote.vendor) for quote in snapshot.quotes})
    for name in grant.procurement.vendors or ():
        if not any(is_among(seller, [name]) for seller in sellers):
            problem = f"no quote is of '{name}'; {nearest(name, sellers)}"
            raise wrong(grant.file, "procurement.vendors", problem)


def _rent_limits(
    snapshot: Snapshot,
    grant: Grant,
    models: Mapping[str, Model],
    best: Best,
    today: date,
    rentals: Sequence[Rental],
) -> tuple[RentLimit, ...]:
    """What the cheapest machine with each rented GPU loses in value, where rent is limited to it,
    whether or not the grant would buy one; none where no such machine has a price."""
    house = grant.institution
    if not house.rent_up_to_depreciation or house.life_months is None:
        return ()
    gpus = tuple(sorted(Line(r.gpu_id) for r in {r.gpu_id: r for r in rentals}.values()))
    anything = replace(grant, purchases=structs.replace(grant.purchases, allowed=True, gpus=gpus))
    if not rentals:
        return ()
    similar, _, _ = buyable(snapshot, anything, models, best, today, [])
    rules = replace(rules_of(grant), life_months=house.life_months, overhead_rate=Decimal(0))
    cheapest: dict[str, Machine] = {}
    for machine in sorted(similar, key=lambda m: (not m.on_sale, m.price, m.machine_id)):
        cheapest.setdefault(machine.gpu_id, machine)
    return tuple(
        RentLimit(gpu_id=gpu, cents=purchase_cents(machine, rules), machine=machine.label)
        for gpu, machine in cheapest.items()
    )


def _from_today(problem: PlanningProblem, day: int) -> PlanningProblem:
    """The problem of a grant that began days ago: nothing is ordered or run in the past."""
    if day <= 0:
        return problem
    return replace(
        problem,
        experiments=tuple(
            replace(e, release_day=max(e.release_day, day)) for e in problem.experiments
        ),
        order_days=(day, *(each for each in problem.orders if each > day)),
    )


def rules_of(grant: Grant) -> Rules:
    """The money rules of the grant and its institution."""
    house = grant.institution
    return Rules(
        equipment_threshold=house.equipment_threshold,
        overhead_rate=house.overhead_rate,
        equipment_in_base=house.equipment_in_base,
        fabrication_is_equipment=house.fabrication_is_equipment,
        cloud_in_base=house.cloud_in_base,
        electricity_in_base=house.electricity_in_base,
        price_per_kwh=grant.price_per_kwh,
        pue=grant.electricity.pue,
        utilisation=grant.utilisation,
        year_utilisation=grant.running.utilisation_by_year,
        queue_days=grant.running.queue_days,
        lead_days=grant.purchases.lead_days,
        lifetime_years=grant.purchases.lifetime_years,
        slack=grant.running.slack,
        longest_run_days=grant.running.longest_run_days,
        failures=grant.running.failures,
        year_overhead=None
        if house.overhead_rate_by_year is None
        else tuple(zip(_first_days(grant), house.overhead_rate_by_year, strict=True)),
        overhead_rate_cloud=house.overhead_rate_cloud,
        overhead_rate_electricity=house.overhead_rate_electricity,
        discount=grant.purchases.educational_discount,
        vat=grant.vat,
        price_change=grant.purchases.price_change,
        rent_change=grant.rentals.price_change,
        electricity_change=grant.electricity.price_change,
        cost_share=grant.purchases.cost_share,
        machine_extras=machine_extras(grant),
        life_months=house.life_months if house.equipment_as == "depreciated" else None,
        use_share=house.use_share,
        grant_months=grant.months,
        first_day=grant.start,
        currency=grant.currency,
    )


def years_reach(grant: Grant) -> list[int]:
    """Which costs the money of each award year pays for, in whole hundredths."""
    theirs = grant.shared_by_year or (Decimal(0),) * len(grant.year_budget or ())
    both = zip(grant.year_budget or (), theirs, strict=True)
    return [grant.reaching(own, their) for own, their in both]


def _first_days(grant: Grant) -> list[int]:
    """The first day of each award year, in days of the grant."""
    return [(day - grant.start).days for day in grant.year_dates[:-1]]


def _model(snapshot: Snapshot, grant: Grant, number: int) -> Model:
    wanted, place = grant.experiments[number], f"experiments[{number + 1}]"
    try:
        model = snapshot.model(wanted.trained)
    except InputError as error:
        raise wrong(grant.file, f"{place}.model", str(error)) from None
    text = model.sequence_length is not None
    if text and wanted.examples is not None and wanted.length is None:
        problem = "is missing: write the tokens of each example, as length = 512"
        raise wrong(grant.file, f"{place}.length", problem)
    if not text and wanted.length is not None:
        raise wrong(grant.file, f"{place}.length", f"{model.name} trains on images: remove it")
    return model


def _of_tokens(grant: Grant, number: int, model: Model) -> Model:
    """The model as an experiment trains it: on its own number of tokens, where it names one."""
    tokens = grant.experiments[number].tokens
    if tokens is None:
        return model
    if model.sequence_length is None:
        place = f"experiments[{number + 1}].tokens"
        raise wrong(grant.file, place, f"{model.name} trains on images: remove this key")
    steps = max(round(tokens / (model.batch_size * model.sequence_length)), 1)
    return replace(
        model,
        recipe_id=f"{model.recipe_id}@{steps}",
        name=f"{model.name} on {plain(float(tokens) / 1e9)} billion tokens",
        training_steps=steps,
    )


def _experiments(grant: Grant, models: Sequence[Model]) -> tuple[Experiment, ...]:
    # Of twelve months each, wherever the turn of a calendar or fiscal year cuts the money.
    days = [(day - grant.start).days for day in grant.anniversaries]
    found: list[Experiment] = []
    for wanted, model in zip(grant.experiments, models, strict=True):
        called = called_by(wanted, model)
        spans = [
            (
                f", year {year + 1}" if wanted.each_year else "",
                days[year] if wanted.each_year else day_of(grant, wanted.not_before, 0),
                days[year + 1] if wanted.each_year else day_of(grant, wanted.by, days[-1]),
            )
            for year in range(len(days) - 1 if wanted.each_year else 1)
        ]
        found.extend(
            Experiment(
                experiment_id=f"{wanted.name}{year}",
                name=f"{called}{year}",
                model=model.recipe_id,
                runs=wanted.runs,
                release_day=release,
                due_day=due,
                who=wanted.who,
                model_name=model.name,
                value=wanted.value,
                min_runs=wanted.min_runs,
            )
            for year, release, due in spans
        )
    return tuple(found)


def called_by(wanted: GrantExperiment, model: Model) -> str:
    """The name that the grant gives an experiment; without one, its model's."""
    return model.name if wanted.name == wanted.model else wanted.name


def _rental(
    grant: Grant, gpu: str, rate: RentalPrice, count: int, times: Mapping[str, RunTime]
) -> Rental:
    """A machine with several GPUs at a rate of its own, or at that many times the rate of one."""
    of_one, usd = rate.gpu_count < count, rate.price_per_hour_usd
    pieces = count if of_one else 1
    return Rental(
        rental_id=f"{rate.rental_id}*{count}" if of_one else rate.rental_id,
        label=f"{count} × {gpu}, {rate.kind}, {written_provider(rate.provider)}",
        provider=rate.provider,
        kind=rate.kind,
        gpu_id=rate.gpu_id,
        gpu_count=count,
        price_per_hour=grant.currency.rate_of_usd(usd) * pieces,
        quoted_usd=None if grant.currency.code == "USD" else usd * pieces,
        priced_on=rate.priced_on,
        source_id=rate.source_id,
        times=times,
        row_of_one=rate.rental_id if of_one else "",
    )


def _rentals(
    reader: Reader,
    snapshot: Snapshot,
    grant: Grant,
    best: Best,
    today: date,
    left_out: list[LeftOut],
) -> tuple[list[Rental], list[Rental], dict[str, RentalPrice]]:
    """Instances with a fresh price and a usable time for at least one of the models, each at the
    median of its providers' rates, and those of providers that procurement does not allow."""
    if not grant.rentals.allowed:
        return [], [], {}
    if grant.prices == "paper":
        left_out.append(LeftOut(label="every rental", reason="the paper has no rental prices"))
        return [], [], {}
    as_of = grant.prices if isinstance(grant.prices, date) else today
    wanted = gpu_ids_of(snapshot, grant, "rentals", grant.rentals.gpus)
    names = {gpu.gpu_id: gpu.short_name for gpu in snapshot.gpus}
    offers = reader.rentals()
    providers = {provider_name(name) for name in grant.rent_providers or ()}
    known = {offer.provider for offer in offers}
    for name in sorted(providers - known):
        problem = f"'{name}' is not known; {nearest(name, sorted(known))}"
        own = grant.rent_providers != grant.procurement.providers
        raise wrong(grant.file, f"{'rentals' if own else 'procurement'}.providers", problem)
    usable: dict[tuple[bool, str], list[RentalPrice]] = {}
    prices: dict[str, RentalPrice] = {}
    unfit = {"leave out processor and memory, which are paid beside": 0, "more than a year old": 0}
    bare, stale = unfit
    for offer in rates_that_count(offers, as_of):
        if offer.kind not in grant.rentals.kinds:
            continue
        if offer.leaves_out:
            unfit[bare] += 1
            continue
        allowed = not providers or offer.provider in providers
        if not allowed and grant.procurement.providers is None:
            continue
        if wanted is not None and offer.gpu_id not in wanted:
            continue
        if as_of - offer.priced_on > timedelta(days=STALE_DAYS):
            unfit[stale] += 1
            continue
        prices[offer.rental_id] = offer
        usable.setdefault((allowed, offer.gpu_id), []).append(offer)
    found: list[Rental] = []
    others: list[Rental] = []
    for (allowed, gpu_id), rates in usable.items():
        for count in sorted({*SEVERAL, *(rate.gpu_count for rate in rates)}):
            times = times_of(best, gpu_id, count, grant)
            # As a ranking counts them: a plan on the cheapest rate would rest on one provider.
            for asked in rent_offers(rates, gpu_id, count, today=as_of) if times else ():
                name = names.get(gpu_id, gpu_id)
                same = tuple(_rental(grant, name, rate, count, times) for rate in asked.rates)
                middle = same[asked.rates.index(asked.middle)]
                (found if allowed else others).append(replace(middle, offers=same))
    left_out += [LeftOut(label=f"{n} rental prices", reason=why) for why, n in unfit.items() if n]
    return found, others, prices
