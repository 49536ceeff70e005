"""From a grant and the store to a problem: what could be bought, rented and used, and why not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from advisor.ask import Snapshot
from advisor.facts import BestTime, Model, TrainingTime
from advisor.field import Field
from advisor.parse import InputError
from advisor.plan.grant import Grant, Owned
from advisor.plan.problem import Experiment, Machine, PriceLine, Problem, Rental, Rules, RunTime
from advisor.plan.toml import Table
from advisor.store import Reader
from price_catalog.builds import Build
from price_catalog.model import Gpu, Host, Quote
from price_catalog.model import Rental as RentalPrice

STALE_DAYS = 365
"""Rental prices older than this are not planned with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A machine or instance that is no candidate, and why."""

    label: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A problem with the rows that its numbers come from."""

    grant: Grant
    problem: Problem
    snapshot: Snapshot
    models: Mapping[str, Model]
    quotes: Mapping[str, Quote]
    rentals: Mapping[str, RentalPrice]
    builds: Mapping[str, Build]
    """By machine id, for machines that could be bought."""
    left_out: tuple[LeftOut, ...]
    today: date


def load(reader: Reader, snapshot: Snapshot, grant: Grant, today: date) -> Loaded:
    """Everything that a plan is made from. Raises InputError."""
    models = {asked.model: _model(snapshot, grant, n) for n, asked in enumerate(grant.asked)}
    recipes = sorted({model.recipe_id for model in models.values()})
    by_recipe = {model.recipe_id: model for model in models.values()}
    best = {recipe: reader.best_times(recipe, grant.evidence) for recipe in recipes}
    left_out: list[LeftOut] = []
    machines, builds, quotes = _buyable(snapshot, grant, by_recipe, best, today, left_out)
    rentals, prices = _rentals(reader, snapshot, grant, best, today, left_out)
    owned = [_owned(snapshot, grant, n, each, best) for n, each in enumerate(grant.owned)]
    problem = Problem(
        start=grant.start,
        year_days=tuple((day - grant.start).days for day in grant.year_dates),
        experiments=_experiments(grant, models),
        machines=(*owned, *machines),
        rentals=tuple(rentals),
        rules=rules_of(grant),
        objective=grant.objective,
        budget_cents=None if grant.budget_usd is None else int(grant.budget_usd * 100),
        year_budget_cents=None
        if grant.year_budget_usd is None
        else tuple(int(usd * 100) for usd in grant.year_budget_usd),
        carry_over=grant.carry_over,
        buy_years=grant.buy_years,
        max_machines=grant.max_machines,
    )
    return Loaded(
        grant=grant,
        problem=problem,
        snapshot=snapshot,
        models=by_recipe,
        quotes=quotes,
        rentals=prices,
        builds=builds,
        left_out=tuple(left_out),
        today=today,
    )


def rules_of(grant: Grant) -> Rules:
    """The money rules of the grant and its institution."""
    house = grant.institution
    return Rules(
        equipment_threshold_usd=house.equipment_threshold_usd,
        overhead_rate=house.overhead_rate,
        equipment_in_base=house.equipment_in_base,
        fabrication_is_equipment=house.fabrication_is_equipment,
        cloud_in_base=house.cloud_in_base,
        electricity_in_base=house.electricity_in_base,
        usd_per_kwh=grant.usd_per_kwh,
        pue=grant.pue,
        utilisation=grant.utilisation,
        queue_days=grant.queue_days,
        lead_days=grant.lead_days,
        lifetime_years=grant.lifetime_years,
    )


def _model(snapshot: Snapshot, grant: Grant, number: int) -> Model:
    try:
        return snapshot.model(grant.asked[number].model)
    except InputError as error:
        table = Table(grant.file, f"experiments[{number + 1}]", {})
        raise table.error("model", str(error)) from None


def _gpu_ids(
    snapshot: Snapshot, grant: Grant, where: str, names: Sequence[str] | None
) -> frozenset[str] | None:
    if names is None:
        return None
    try:
        return snapshot.gpu_ids(names)
    except InputError as error:
        raise Table(grant.file, where, {}).error("gpus", str(error)) from None


def _experiments(grant: Grant, models: Mapping[str, Model]) -> tuple[Experiment, ...]:
    days = [(day - grant.start).days for day in grant.year_dates]
    found: list[Experiment] = []
    for asked in grant.asked:
        spans = [
            (
                f"{asked.name}, year {year + 1}" if asked.each_year else asked.name,
                days[year] if asked.each_year else _day(grant, asked.not_before, 0),
                days[year + 1] if asked.each_year else _day(grant, asked.by, days[-1]),
            )
            for year in range(grant.years if asked.each_year else 1)
        ]
        found.extend(
            Experiment(
                experiment_id=name,
                name=name,
                model=models[asked.model].recipe_id,
                runs=asked.runs,
                release_day=release,
                due_day=due,
                who=asked.who,
                value=asked.value,
            )
            for name, release, due in spans
        )
    return tuple(found)


def _day(grant: Grant, day: date | None, default: int) -> int:
    return default if day is None else (day - grant.start).days


def run_time(time: TrainingTime, grant: Grant) -> RunTime | None:
    """The time as a plan uses it; None where a ranking would not use it either."""
    if time.status != "ok" or time.training_days is None:
        return None
    if time.basis == "predicted" and not grant.predictions:
        return None
    if grant.evidence == "sound" and time.verdict == "implausible":
        return None
    return RunTime(
        measurement_id=time.measurement_id,
        days=time.training_days,
        days_low=time.training_days_low,
        days_high=time.training_days_high,
        basis=time.basis,
        timing=time.timing,
        method=time.method,
        verdict=time.verdict,
        verdict_reason=time.verdict_reason,
        source_id=time.source_id,
        measured_on=time.measured_on,
    )


Best = Mapping[str, Sequence[BestTime]]


def _times(best: Best, gpu_id: str, gpu_count: int, grant: Grant) -> dict[str, RunTime]:
    found: dict[str, RunTime] = {}
    for recipe, times in best.items():
        for each in times:
            if (each.gpu_id, each.gpu_count) != (gpu_id, gpu_count) or each.chosen is None:
                continue
            time = run_time(each.chosen, grant)
            if time is not None:
                found[recipe] = time
    return found


def _owned(snapshot: Snapshot, grant: Grant, number: int, owned: Owned, best: Best) -> Machine:
    table = Table(grant.file, f"owned[{number + 1}]", {})
    try:
        (gpu_id,) = snapshot.gpu_ids([owned.gpu])
    except InputError as error:
        raise table.error("gpu", str(error)) from None
    gpu = next(gpu for gpu in snapshot.gpus if gpu.gpu_id == gpu_id)
    watts = None
    if grant.usd_per_kwh is not None:
        if gpu.tdp_w is None:
            raise table.error("gpu", f"the power of {gpu.name} is not known, electricity is asked")
        watts = Decimal(str(gpu.tdp_w)) * owned.gpu_count + grant.host_watts
    return Machine(
        machine_id=f"owned:{number + 1}:{gpu_id}:{owned.gpu_count}",
        label=f"{owned.gpu_count} × {gpu.name} (owned)",
        gpu_id=gpu_id,
        gpu_name=gpu.name,
        gpu_count=owned.gpu_count,
        times=_times(best, gpu_id, owned.gpu_count, grant),
        watts=watts,
        gpu_watts=None if gpu.tdp_w is None else Decimal(str(gpu.tdp_w)),
        owned=owned.machines,
        ready_day=_day(grant, owned.usable_from, 0),
    )


def _buyable(
    snapshot: Snapshot,
    grant: Grant,
    models: Mapping[str, Model],
    best: Best,
    today: date,
    left_out: list[LeftOut],
) -> tuple[list[Machine], dict[str, Build], dict[str, Quote]]:
    """Machines that have a price and a usable time for at least one of the models."""
    quotes: dict[str, Quote] = {}
    builds: dict[str, Build] = {}
    machines: list[Machine] = []
    if not grant.buy:
        return machines, builds, quotes
    book = snapshot.prices(grant.price_rule, today=today)
    wanted = _gpu_ids(snapshot, grant, "purchases", grant.buy_gpus)
    timed = {time.gpu_id for times in best.values() for time in times}
    candidates = tuple(
        build
        for build in snapshot.candidates(grant.price_rule, book)
        if build.host.kind != "owned"
        and not build.gpus_owned
        and build.gpu.gpu_id in (timed if wanted is None else wanted)
    )
    fields = {
        recipe: Field(models[recipe], candidates, times, book, grant.evidence)
        for recipe, times in best.items()
    }
    for i, build in enumerate(candidates):
        gpu = build.gpu
        label = _label(build)
        gaps = {recipe: field.gap[i] for recipe, field in fields.items()}
        times = {}
        for recipe, field in fields.items():
            each = field.times[i]
            if gaps[recipe] is None and each is not None and each.chosen is not None:
                time = run_time(each.chosen, grant)
                if time is not None:
                    times[recipe] = time
        if not times:
            left_out.append(LeftOut(label=label, reason=_reason(gaps.values(), build)))
            continue
        watts = machine_watts(build.host, gpu, build.gpu_count, grant)
        if grant.usd_per_kwh is not None and watts is None:
            left_out.append(LeftOut(label=label, reason="its power is not known"))
            continue
        field = next(iter(fields.values()))
        gpu_quote, host_quote = field.gpu_quotes[i], field.host_quotes[i]
        assert gpu_quote is not None and host_quote is not None  # a gap otherwise
        lines = _price_lines(build, gpu_quote, host_quote)
        machine_id = f"buy:{build.host.host_id}:{gpu.gpu_id}:{build.gpu_count}"
        builds[machine_id] = build
        quotes.update({quote.quote_id: quote for quote in (gpu_quote, host_quote)})
        machines.append(
            Machine(
                machine_id=machine_id,
                label=label,
                gpu_id=gpu.gpu_id,
                gpu_name=gpu.name,
                gpu_count=build.gpu_count,
                times=times,
                lines=lines,
                watts=watts if grant.usd_per_kwh is not None else None,
                gpu_watts=None if gpu.tdp_w is None else Decimal(str(gpu.tdp_w)),
            )
        )
    return machines, builds, quotes


def machine_watts(host: Host, gpu: Gpu, gpu_count: int, grant: Grant) -> Decimal | None:
    """At the wall: a whole server's own figure, else GPUs and processors by their ratings.

    What is not known of the host comes from the grant's ``host_watts``.
    """
    if host.wall_w is not None:
        return Decimal(str(host.wall_w))
    if gpu.tdp_w is None:
        return None
    base = grant.host_watts if host.base_w is None else Decimal(str(host.base_w))
    return Decimal(str(gpu.tdp_w)) * gpu_count + base


def _label(build: Build) -> str:
    if build.host.gpu_id is not None:
        return build.host.name
    return f"{build.gpu_count} × {build.gpu.name} in {build.host.name}"


def _reason(gaps: Iterable[str | None], build: Build) -> str:
    if build.obstacle is not None:
        return build.obstacle
    reasons = sorted({gap.replace("-", " ") for gap in gaps if gap})
    if not reasons:
        return "only predicted times, which the grant leaves out"
    return " or ".join(reasons) + " for every model asked for"


def _price_lines(build: Build, gpu_quote: Quote, host_quote: Quote) -> tuple[PriceLine, ...]:
    host = build.host
    parts = tuple((p.role, p.detail, p.price_usd, p.priced_on) for p in host.parts)
    # A parts list belongs to the price only where the price is its sum.
    listed = parts if sum((p[2] for p in parts), Decimal(0)) == host_quote.price_usd else ()
    lines = [_line("host", host.host_id, host.name, 1, host_quote, listed)]
    if host.gpu_id is None:
        gpu = build.gpu
        lines.append(_line("gpu", gpu.gpu_id, gpu.name, build.gpu_count, gpu_quote, ()))
    return tuple(lines)


def _line(
    kind: str,
    item_id: str,
    label: str,
    quantity: int,
    quote: Quote,
    parts: tuple[tuple[str, str, Decimal, date], ...],
) -> PriceLine:
    return PriceLine(
        item_kind=kind,
        item_id=item_id,
        label=label,
        quantity=quantity,
        unit_usd=quote.price_usd,
        quote_id=quote.quote_id,
        quote_kind=quote.kind,
        vendor=quote.vendor,
        quoted_on=quote.quoted_on,
        source_id=quote.source_id,
        parts=parts,
    )


def _rentals(
    reader: Reader,
    snapshot: Snapshot,
    grant: Grant,
    best: Best,
    today: date,
    left_out: list[LeftOut],
) -> tuple[list[Rental], dict[str, RentalPrice]]:
    """Instances with a fresh price and a usable time for at least one of the models."""
    if not grant.rent or grant.prices == "paper":
        if grant.rent:
            left_out.append(LeftOut(label="every rental", reason="the paper has no rental prices"))
        return [], {}
    rule = grant.price_rule
    as_of = rule if isinstance(rule, date) else today
    wanted = _gpu_ids(snapshot, grant, "rentals", grant.rent_gpus)
    names = {gpu.gpu_id: gpu.name for gpu in snapshot.gpus}
    providers = None if grant.rent_providers is None else set(grant.rent_providers)
    offers = reader.rentals()
    if providers is not None:
        _check_providers(grant, providers, {offer.provider for offer in offers})
    found: list[Rental] = []
    prices: dict[str, RentalPrice] = {}
    stale = 0
    for offer in offers:
        if offer.outlier or offer.kind not in grant.rent_kinds or offer.priced_on > as_of:
            continue
        if providers is not None and offer.provider not in providers:
            continue
        if wanted is not None and offer.gpu_id not in wanted:
            continue
        if as_of - offer.priced_on > timedelta(days=STALE_DAYS):
            stale += 1
            continue
        times = _times(best, offer.gpu_id, offer.gpu_count, grant)
        if not times:
            continue
        prices[offer.rental_id] = offer
        found.append(
            Rental(
                rental_id=offer.rental_id,
                label=f"{offer.gpu_count} × {names.get(offer.gpu_id, offer.gpu_id)}, "
                f"{offer.kind}, {offer.provider}",
                provider=offer.provider,
                kind=offer.kind,
                gpu_id=offer.gpu_id,
                gpu_count=offer.gpu_count,
                usd_per_hour=offer.price_per_hour_usd,
                priced_on=offer.priced_on,
                source_id=offer.source_id,
                times=times,
            )
        )
    if stale:
        left_out.append(LeftOut(label=f"{stale} rental prices", reason="more than a year old"))
    return found, prices


def _check_providers(grant: Grant, wanted: set[str], known: set[str]) -> None:
    from price_catalog.table import nearest

    for name in sorted(wanted - known):
        raise Table(grant.file, "rentals", {}).error(
            "providers", f"'{name}' is not known; {nearest(name, sorted(known))}"
        )
