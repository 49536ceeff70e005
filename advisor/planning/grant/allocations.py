"""Allocations as rentals: what a run takes on them, what it costs, how many hours there are."""

from __future__ import annotations

from datetime import date

from advisor.parse import InputError
from advisor.planning.grant.checked_toml import exact, wrong
from advisor.planning.grant.grant_file import GrantAllocation
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.machines import Best, LeftOut, day_of, times_of
from advisor.planning.grant.programmes import year_shares
from advisor.planning.solver.problem import Allocation, Rental
from advisor.ranking.snapshot import Snapshot

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
        gpu_id, gpu_name = _gpu(snapshot, grant, n, asked)
        key = f"allocation:{n}"
        usable = [
            (count, times)
            for count in COUNTS
            if count <= asked.max_gpus and (times := times_of(best, gpu_id, count, grant))
        ]
        if not usable:
            reason = f"no time of {gpu_name} for any model asked for"
            left_out.append(LeftOut(label=asked.name, reason=reason))
            continue
        hours = asked.gpu_hours_a_year
        allocations.append(
            Allocation(
                allocation_id=key,
                name=asked.name,
                gpu_hours_a_year=None if hours is None else exact(hours),
                odds=exact(asked.odds),
                first_day=day_of(grant, asked.starts, 0),
                year_shares=tuple(year_shares(grant.year_dates)),
                last_day=None if asked.ends is None else (asked.ends - grant.start).days,
            )
        )
        price = exact(asked.usd_per_gpu_hour)
        if asked.price_per_gpu_hour is not None:
            price = grant.currency.rate_usd(asked.price_per_gpu_hour)
        for count, times in usable:
            rentals.append(
                Rental(
                    rental_id=f"{key}:{count}",
                    label=f"{count} × {gpu_name}, {asked.name}",
                    provider=asked.name,
                    kind=asked.kind,
                    gpu_id=gpu_id,
                    gpu_count=count,
                    usd_per_hour=price * count,
                    priced_on=asked.starts or grant.start,
                    source_id=asked.source or "the grant's own word",
                    times=times,
                    allocation=key,
                    in_base=asked.overhead == "service",
                    queue_days=exact(asked.queue_days),
                    max_job_days=None if asked.max_job_days is None else exact(asked.max_job_days),
                )
            )
    return tuple(allocations), rentals


def _gpu(snapshot: Snapshot, grant: Grant, number: int, asked: GrantAllocation) -> tuple[str, str]:
    try:
        (gpu_id,) = snapshot.gpu_ids([asked.gpu])
    except InputError as error:
        raise wrong(grant.file, f"allocations[{number}].gpu", str(error)) from None
    return gpu_id, next(gpu.short_name for gpu in snapshot.gpus if gpu.gpu_id == gpu_id)


def first_day(asked: GrantAllocation, grant: Grant) -> date:
    """From when it can be used."""
    return asked.starts or grant.start
