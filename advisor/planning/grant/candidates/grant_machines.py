"""The machines of a plan: owned, to be bought, and owned ones with more GPUs; who sells them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from typing import NamedTuple

from advisor.costs.price_book import PriceBook
from advisor.planning.grant.grant_keys import Owned
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.toml_reader import wrong
from advisor.planning.solver.problem import Machine, PriceLine, RunTime
from advisor.ranking.candidates import Candidates, price_keys
from advisor.ranking.snapshot import Snapshot
from advisor.ranking.times import BestTime, Model, on_host
from advisor.typed_input import InputError
from price_catalog.builds import Build, rest_w
from price_catalog.model import Gpu, Quote
from price_catalog.power import PowerFigures, power_figures
from price_catalog.vendors import find_vendor

ONLY_TOLD = "only a reported or a used price is known, and no seller of it new"
OVERTAKEN = "its cards alone cost more by now: it is no longer sold at its price"


def gone(quotes: Iterable[Quote], book: PriceBook) -> str | None:
    """Why no order at these prices is possible; None where it may be.

    A price of the user's own is the user's affair.
    """
    for quote in quotes:
        ended = quote.valid_until
        if book.as_of is None or ended is None or quote.origin == "local":
            continue
        if ended < book.as_of:
            return f"{quote.label} has not offered it since {ended}, and no other seller is known"
    return None


def sold(quotes: Iterable[Quote], book: PriceBook) -> bool:
    """Whether a seller at each of these prices is known, new, or the user says so.

    What others sold a used card at is no price that a funder can be asked for.
    """
    return all(
        quote.origin == "local" or (book.is_offered(quote) and quote.kind != "used")
        for quote in quotes
    )


def unquoted(machine: Machine) -> PriceLine | None:
    """The price of a whole machine that was added up from its seller's options, where the
    whole was not quoted."""
    return _whole(machine, "parts-list")


def reported(machine: Machine) -> PriceLine | None:
    """The price of a whole machine that others report of a known seller, who can be asked."""
    line = None if machine.upgrade_of else _whole(machine, "secondary")
    return None if line is None or find_vendor(line.vendor) is None else line


def _whole(machine: Machine, kind: str) -> PriceLine | None:
    whole = machine.lines[0] if len(machine.lines) == 1 else None
    return whole if whole is not None and whole.quote_kind == kind else None


def orderable(
    machines: Sequence[Machine], named: frozenset[str] | None
) -> tuple[list[Machine], list[Machine]]:
    """The machines that can be ordered, and those that others only tell of, which no plan buys,
    whatever the budget: with more money it would else get dearer.

    Of a GPU that the grant names (``named``) and that has no seller, those with a reported price
    stay.
    """
    on_sale = {machine.gpu_id for machine in machines if machine.on_sale}
    asked = (named or frozenset()) - on_sale
    kept = [m for m in machines if m.on_sale or m.gpu_id in asked]
    return kept, [m for m in machines if not m.on_sale and m.gpu_id not in asked]


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A machine or instance that is no candidate, and why."""

    label: str
    reason: str
    by_procurement: bool = False
    needs_quote: bool = False
    """Whether it is left out because no seller quotes its price."""
    saves: Decimal | None = None
    """What a plan with all that is left out so would have cost less, where it has this."""
    more_runs: int | None = None
    """Or how many runs more it would do."""


def gpu_ids_of(
    snapshot: Snapshot, grant: Grant, where: str, names: Sequence[str] | None
) -> frozenset[str] | None:
    if names is None:
        return None
    try:
        return snapshot.gpu_ids(names)
    except InputError as error:
        raise wrong(grant.file, f"{where}.gpus", str(error)) from None


def find_gpu(snapshot: Snapshot, grant: Grant, place: str, name: str) -> Gpu:
    """The GPU that a key of the grant names. Raises InputError."""
    try:
        (gpu_id,) = snapshot.gpu_ids([name])
    except InputError as error:
        raise wrong(grant.file, place, str(error)) from None
    return next(gpu for gpu in snapshot.gpus if gpu.gpu_id == gpu_id)


def day_of(grant: Grant, day: date | None, default: int) -> int:
    return default if day is None else (day - grant.start).days


class Timed(NamedTuple):
    """The times of a model that count, and the share of its recipe's tokens that is trained."""

    times: Sequence[BestTime]
    share: Decimal = Decimal(1)


Best = Mapping[str, Timed]
"""By model."""


def run_time(best: BestTime, grant: Grant, share: Decimal) -> RunTime | None:
    """The time that counts as a plan uses it; where the grant takes no predictions, a measured one.
    None where a ranking would not use it either."""
    time = best.chosen
    if time is not None and time.basis == "predicted" and not grant.predictions:
        time = best.published
    if time is None or time.status != "ok" or time.training_days is None:
        return None
    if time.basis == "predicted" and not grant.predictions:
        return None
    if grant.evidence == "sound" and time.verdict == "implausible":
        return None
    low, high, part = time.training_days_low, time.training_days_high, float(share)
    return RunTime(
        measurement_id=time.measurement_id,
        days=time.training_days * part,
        days_low=None if low is None else low * part,
        days_high=None if high is None else high * part,
        basis=time.basis,
        timing=time.timing,
        verdict=time.verdict,
        source_id=time.source_id,
        measured_on=time.measured_on,
        whole=None if share == 1 else (time.training_days, share),
    )


def times_of(
    best: Best, gpu_id: str, gpu_count: int, grant: Grant, memory_gib: float | None = None
) -> dict[str, RunTime]:
    """The usable times of each model on these GPUs, on a host with so much memory for them: None
    where it is not known."""
    found: dict[str, RunTime] = {}
    for recipe, (times, share) in best.items():
        for each in times:
            if (each.gpu_id, each.gpu_count) == (gpu_id, gpu_count):
                time = run_time(on_host(each, memory_gib), grant, share)
                if time is not None:
                    found[recipe] = time
    return found


def owned_machines(
    snapshot: Snapshot,
    grant: Grant,
    number: int,
    owned: Owned,
    best: Best,
    left_out: list[LeftOut],
) -> list[Machine]:
    """What the lab has: one record, or one for each machine where they may be upgraded."""
    place = f"owned[{number + 1}].gpu"
    gpu = find_gpu(snapshot, grant, place, owned.gpu)
    gpu_id = gpu.gpu_id
    if grant.price_per_kwh is not None and gpu.tdp_w is None:
        problem = f"the power of {gpu.short_name} is not known, electricity is asked"
        raise wrong(grant.file, place, problem)
    every = Machine(
        machine_id=f"owned:{number + 1}:{gpu_id}:{owned.gpu_count}",
        label=f"{owned.gpu_count} × {gpu.short_name} (owned)",
        gpu_id=gpu_id,
        gpu_name=gpu.short_name,
        gpu_count=owned.gpu_count,
        times=times_of(best, gpu_id, owned.gpu_count, grant, memory_share(owned, owned.gpu_count)),
        power=_own_power(gpu, owned.gpu_count, grant),
        owned=owned.machines,
        ready_day=day_of(grant, owned.usable_from, 0),
    )
    shares = {n: memory_share(owned, n) for n in range(1, owned.gpu_count + 1)}
    if not any(times_of(best, gpu_id, n, grant, shares[n]) for n in shares):
        reason = f"no time of {gpu.short_name} for any model asked for"
        left_out.append(LeftOut(label=every.label, reason=reason))
    elif not every.times and (owned.free_slots or not grant.running.share_gpus):
        reason = f"no time of {owned.gpu_count} of them together for any model asked for"
        left_out.append(LeftOut(label=every.label, reason=reason))
    if not owned.free_slots or not grant.purchases.allowed or owned.machines == 1:
        return [every]
    return [
        replace(every, machine_id=f"{every.machine_id}:{n}", owned=1)
        for n in range(1, owned.machines + 1)
    ]


def memory_share(owned: Owned, gpu_count: int) -> float | None:
    """GiB of a machine's host memory for this number of its GPUs; None where it is not known."""
    if owned.host_memory_gib is None:
        return None
    return float(owned.host_memory_gib) * gpu_count / owned.gpu_count


def _own_power(gpu: Gpu, gpu_count: int, grant: Grant) -> PowerFigures | None:
    """Of a machine of the lab, which the catalogue does not know."""
    if gpu.tdp_w is None:
        return None
    gpu_w, stated = Decimal(str(gpu.tdp_w)), grant.electricity.host_watts or None
    return PowerFigures(
        gpu_w=gpu_w,
        gpu_count=gpu_count,
        base_w=stated or Decimal(str(rest_w(gpu, gpu_count))),
        basis="estimated" if stated is None else "parts",
    )


def upgrades(
    snapshot: Snapshot,
    grant: Grant,
    owned: Sequence[Sequence[Machine]],
    best: Best,
    today: date,
    left_out: list[LeftOut],
) -> tuple[list[Machine], dict[str, Quote]]:
    """Owned machines with more GPUs of their kind in them, where the grant says there is room.

    ``owned`` holds the machines of each table of the grant.
    """
    found: list[Machine] = []
    quotes: dict[str, Quote] = {}
    book = snapshot.prices(grant.prices, today=today)
    wanted = gpu_ids_of(snapshot, grant, "purchases", grant.purchases.gpus)
    gpus = {gpu.gpu_id: gpu for gpu in snapshot.gpus}
    for table, machines in zip(grant.owned, owned, strict=True):
        for base in machines if grant.purchases.allowed else ():
            gpu = gpus[base.gpu_id]
            for more in range(1, table.free_slots + 1):
                count = base.gpu_count + more
                label = (
                    f"{more} more {gpu.short_name} in the lab's {base.gpu_count} × {gpu.short_name}"
                )
                times = times_of(
                    best, gpu.gpu_id, count, grant, memory_share(table, table.gpu_count)
                )
                quote, reason = book.get(("gpu", gpu.gpu_id)), None
                if wanted is not None and gpu.gpu_id not in wanted:
                    reason = "the grant buys other GPUs"
                elif quote is None:
                    reason = f"no price of {gpu.short_name}"
                elif (reason := gone([quote], book)) is None and not times:
                    reason = f"no time of {count} × {gpu.short_name} for any model asked for"
                if reason is not None or quote is None:
                    left_out.append(LeftOut(label=label, reason=reason or ""))
                    continue
                quotes[quote.quote_id] = quote
                line = price_line(grant, "gpu", gpu.gpu_id, gpu.short_name, more, quote)
                found.append(
                    replace(
                        base,
                        machine_id=f"upgrade:{base.machine_id}:{count}",
                        label=f"{label} ({count} in all)",
                        gpu_count=count,
                        times=times,
                        lines=(line,),
                        power=_own_power(gpu, count, grant),
                        owned=0,
                        ready_day=0,
                        upgrade_of=base.machine_id,
                        on_sale=sold([quote], book),
                    )
                )
    return found, quotes


def buyable(
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
    if not grant.purchases.allowed:
        return machines, builds, quotes
    book = snapshot.prices(grant.prices, today=today)
    wanted = gpu_ids_of(snapshot, grant, "purchases", grant.purchases.gpus)
    timed = {time.gpu_id for times, _ in best.values() for time in times}
    considered = tuple(
        build
        for build in snapshot.builds_under(grant.prices, book)
        if build.host.kind != "owned"
        and not build.gpus_owned
        and build.gpu.gpu_id in (timed if wanted is None else wanted)
    )
    by_recipe = {
        recipe: Candidates(models[recipe], considered, times, book, grant.evidence)
        for recipe, (times, _) in best.items()
    }
    for i, build in enumerate(considered):
        gpu = build.gpu
        label = _label(build)
        gaps = {recipe: candidates.gap[i] for recipe, candidates in by_recipe.items()}
        times = {
            recipe: time
            for recipe, candidates in by_recipe.items()
            if gaps[recipe] is None
            and (each := candidates.times[i]) is not None
            and (time := run_time(each, grant, best[recipe].share)) is not None
        }
        # Whoever pays for electricity, a report states what energy the runs take.
        watts = grant.electricity.host_watts or None
        power = power_figures(build, base_w=watts) if times else None
        if power is not None and power.wall_w is None:
            power = None
        candidates = next(iter(by_recipe.values()))
        # As quoted: the plan takes out the tax itself, by the grant's rate.
        both = [*filter(None, map(book.get, price_keys(build)))]
        reason: str | None = None
        if not times:  # as where there is no price
            reason = _reason(gaps.values(), build)
        elif power is None and grant.price_per_kwh is not None:
            reason = "its power is not known"
        elif (reason := gone(both, book)) is None and candidates.overtaken[i]:
            reason = None if both[1].origin == "local" else OVERTAKEN
        if reason is not None:
            left_out.append(LeftOut(label=label, reason=reason))
            continue
        lines = _price_lines(grant, build, both[0], both[1])
        machine_id = f"buy:{build.host.host_id}:{gpu.gpu_id}:{build.gpu_count}"
        builds[machine_id] = build
        quotes.update({quote.quote_id: quote for quote in both})
        machines.append(
            Machine(
                machine_id=machine_id,
                label=label,
                gpu_id=gpu.gpu_id,
                gpu_name=gpu.short_name,
                gpu_count=build.gpu_count,
                times=times,
                lines=lines,
                power=power,
                on_sale=sold(both, book),
            )
        )
    return machines, builds, quotes


def _label(build: Build) -> str:
    if build.host.gpu_id is not None:
        return build.host.label
    return f"{build.gpu_count} × {build.gpu.short_name} in {build.host.label}"


def _reason(gaps: Iterable[str | None], build: Build) -> str:
    if build.obstacle is not None:
        return build.obstacle
    reasons = sorted({gap.replace("-", " ") for gap in gaps if gap})
    if not reasons:
        return "only predicted times, which the grant leaves out"
    return " or ".join(reasons) + " for every model asked for"


def _price_lines(
    grant: Grant, build: Build, gpu_quote: Quote, host_quote: Quote
) -> tuple[PriceLine, ...]:
    host = build.host
    parts = tuple((p.role, p.detail, p.price_usd, p.priced_on) for p in host.parts)
    # A parts list belongs to the price only where the price is its sum.
    listed = parts if sum((p[2] for p in parts), Decimal(0)) == host_quote.price_usd else ()
    whole = price_line(grant, "host", host.host_id, host.label, 1, host_quote, listed)
    if host.gpu_id is not None:
        return (whole,)
    gpu, count = build.gpu, build.gpu_count
    return whole, price_line(grant, "gpu", gpu.gpu_id, gpu.short_name, count, gpu_quote)


def price_line(
    grant: Grant,
    kind: str,
    item_id: str,
    label: str,
    quantity: int,
    quote: Quote,
    parts: tuple[tuple[str, str, Decimal, date], ...] = (),
) -> PriceLine:
    """What is bought at a quote."""
    # What its seller asks in the grant's own currency, where that is known.
    own = quote.price_quoted if quote.currency == grant.currency.code else None
    if grant.currency.code == "USD":
        own = quote.price_usd
    return PriceLine(
        item_kind=kind,
        item_id=item_id,
        label=label,
        quantity=quantity,
        unit_price=grant.currency.of_usd(quote.price_usd) if own is None else own,
        quoted_usd=quote.price_usd if own is None else None,
        quote_id=quote.quote_id,
        quote_kind=quote.kind,
        vendor=quote.label,
        quoted_on=quote.quoted_on,
        source_id=quote.source_id,
        parts=parts,
        tax=grant.vat if quote.has_tax else Decimal(0),
    )
