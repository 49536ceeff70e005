"""Allocations as rentals, and shares of a condo as machines: times, prices, hours."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from advisor.planning.grant.allocation_programmes import OWN_WORD, year_shares
from advisor.planning.grant.candidates.grant_machines import (
    Best,
    LeftOut,
    day_of,
    find_gpu,
    price_line,
    times_of,
)
from advisor.planning.grant.grant_keys import GrantAllocation
from advisor.planning.grant.grant_record import Grant
from advisor.planning.solver.problem import BUY_IN, Allocation, Machine, Rental
from advisor.ranking.snapshot import Snapshot
from price_catalog.model import Quote
from price_catalog.power import PowerFigures

COUNTS = (1, 2, 4, 8, 16, 32, 64)


def allocations_of(
    snapshot: Snapshot, grant: Grant, best: Best, left_out: list[LeftOut]
) -> tuple[tuple[Allocation, ...], list[Rental]]:
    """Every allocation of the grant, and a rental for each number of GPUs that a job may take."""
    allocations: list[Allocation] = []
    rentals: list[Rental] = []
    for n, asked in enumerate(grant.allocations, start=1):
        if asked.buy_in is not None:
            continue  # a machine
        gpu = find_gpu(snapshot, grant, f"allocations[{n}].gpu", asked.gpu)
        key, gpu_id, gpu_name = f"allocation:{n}", gpu.gpu_id, gpu.short_name
        usable = [
            (count, times)
            for count in COUNTS
            if count <= asked.max_gpus and (times := times_of(best, gpu_id, count, grant))
        ]
        if not usable:
            reason = f"no time of {gpu_name} for any model asked for"
            left_out.append(LeftOut(label=asked.name, reason=reason))
            continue
        allocations.append(
            Allocation(
                allocation_id=key,
                name=asked.name,
                gpu_hours_a_year=asked.gpu_hours_a_year,
                gpu_hours=asked.gpu_hours,
                odds=asked.odds,
                first_day=day_of(grant, asked.starts, 0),
                year_shares=tuple(year_shares(grant.year_dates)),
                last_day=None if asked.ends is None else (asked.ends - grant.start).days,
            )
        )
        price = asked.price_per_gpu_hour
        if price is None:
            price = grant.currency.rate_of_usd(asked.usd_per_gpu_hour)
        for count, times in usable:
            rentals.append(
                Rental(
                    rental_id=f"{key}:{count}",
                    label=f"{count} × {gpu_name}, {asked.name}",
                    provider=asked.name,
                    kind=asked.kind,
                    gpu_id=gpu_id,
                    gpu_count=count,
                    price_per_hour=price * count,
                    priced_on=asked.starts or grant.start,
                    source_id=asked.source or OWN_WORD,
                    times=times,
                    allocation=key,
                    in_base=asked.overhead == "service",
                    queue_days=asked.queue_days,
                    max_job_days=asked.max_job_days,
                )
            )
    return tuple(allocations), rentals


CENT = Decimal("0.01")
NOT_IN_BASE = ("none", "rental")


def shares(
    snapshot: Snapshot, grant: Grant, best: Best, left_out: list[LeftOut]
) -> tuple[list[Machine], dict[str, Quote]]:
    """What each ``buy_in`` of the grant buys, and its price. Raises InputError."""
    machines: list[Machine] = []
    quotes: dict[str, Quote] = {}
    for n, asked in enumerate(grant.allocations, start=1):
        if asked.buy_in is None:
            continue
        priced_on = asked.buy_in_on
        assert priced_on is not None
        gpu = find_gpu(snapshot, grant, f"allocations[{n}].gpu", asked.gpu)
        gpu_id, gpu_name = gpu.gpu_id, gpu.short_name
        label = f"share of {asked.name}, {asked.max_gpus} × {gpu_name}"
        counts = range(1 if grant.running.share_gpus else asked.max_gpus, asked.max_gpus + 1)
        if not any(times_of(best, gpu_id, count, grant) for count in counts):
            reason = f"no time of {gpu_name} for any model asked for"
            left_out.append(LeftOut(label=asked.name, reason=reason))
            continue
        quote = Quote(
            quote_id=f"allocations[{n}].buy_in",
            item_kind="server",
            item_id=f"condo:{n}",
            price_usd=grant.currency.in_usd(asked.buy_in).quantize(CENT),
            kind="reseller-quote",
            vendor=asked.name,
            quoted_on=priced_on,
            source_id=asked.source or OWN_WORD,
            url=None,
            note=None,
            price_set=None,
        )
        quotes[quote.quote_id] = quote
        line = price_line(grant, quote.item_kind, quote.item_id, label, 1, quote)
        price = grant.currency.rounded(asked.buy_in)
        line = replace(line, unit_price=price, quoted_usd=None, quote_kind=BUY_IN)
        machines.append(
            Machine(
                machine_id=f"condo:{n}:{gpu_id}:{asked.max_gpus}",
                label=label,
                gpu_id=gpu_id,
                gpu_name=gpu_name,
                gpu_count=asked.max_gpus,
                times=times_of(best, gpu_id, asked.max_gpus, grant),
                lines=(line,),
                # Its power is the campus's.
                power=PowerFigures(
                    gpu_w=None, gpu_count=asked.max_gpus, base_w=None, stated_w=Decimal(0)
                ),
                share_of=asked.name,
                in_base=_in_base(asked),
            )
        )
    return machines, quotes


def _in_base(asked: GrantAllocation) -> bool | None:
    """Whether overhead is charged; None: as on equipment, by its price."""
    if asked.overhead == "equipment":
        return None
    return asked.overhead not in NOT_IN_BASE
