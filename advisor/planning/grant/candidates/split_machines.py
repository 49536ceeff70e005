"""Some of the GPUs of a machine, and two machines together, as machines of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from advisor.planning.grant.candidates.grant_machines import Best, memory_share, times_of
from advisor.planning.grant.grant_file import Owned
from advisor.planning.grant.grant_record import Grant
from advisor.planning.solver.problem import Machine, RunTime
from advisor.ranking.fabric import link_of_speed, scaled_days, shared_settings
from advisor.ranking.times import Model
from price_catalog.builds import Build

PREDICTED = " (scaling predicted)"
"""Ends the name of two machines together."""


def parts_of(
    machines: Sequence[Machine],
    grant: Grant,
    best: Best,
    models: Mapping[str, Model],
    builds: Mapping[str, Build],
) -> list[Machine]:
    """Parts with fewer GPUs that have a time, each with its share of the memory of its
    build's host, and pairs where the network is known.

    An owned machine that may be given more GPUs has none: it is another one by then.
    """
    upgraded = {m.upgrade_of for m in machines if m.upgrade_of is not None}
    found: list[Machine] = []
    timed: dict[tuple[str, int, float | None], dict[str, RunTime]] = {}
    for whole in machines:
        if whole.machine_id in upgraded:
            continue
        build = builds.get(whole.machine_id)
        own = _table_of(whole, grant)
        held = None if build is None else build.host.memory_gib
        for count in range(1, whole.gpu_count) if grant.share_gpus else ():
            share = None if held is None else held * count / whole.gpu_count
            if own is not None:
                share = memory_share(own, count)
            key = (whole.gpu_id, count, share)
            if key not in timed:
                timed[key] = times_of(best, whole.gpu_id, count, grant, share)
            if timed[key]:
                label = f"{count} GPU{'' if count == 1 else 's'} of {whole.label}"
                found.append(_part(whole, count, label, timed[key]))
        if grant.network_gbit is None or whole.upgrade_of is not None or whole.owned == 1:
            continue
        if whole.share_of is not None:
            continue  # its network is the campus's
        both = 2 * whole.gpu_count
        pair = {
            recipe: joined
            for recipe, time in whole.times.items()
            if models[recipe].batch_size >= both
            and (joined := over_two(time, models[recipe], both, grant.network_gbit)) is not None
        }
        if pair:
            label = f"two of {whole.label}{PREDICTED}"
            found.append(_part(whole, both, label, pair))
    return found


def _table_of(machine: Machine, grant: Grant) -> Owned | None:
    """Which table of the grant an owned machine is of."""
    kind, _, rest = machine.machine_id.partition(":")
    if kind != "owned" or not grant.owned:
        return None
    return grant.owned[int(rest.partition(":")[0]) - 1]


def _part(whole: Machine, count: int, label: str, times: Mapping[str, RunTime]) -> Machine:
    return replace(
        whole,
        machine_id=f"{whole.machine_id}:part:{count}",
        label=label,
        gpu_count=count,
        times=times,
        lines=(),
        owned=0,
        upgrade_of=None,
        part_of=whole.machine_id,
        whole_gpus=whole.gpu_count,
    )


def over_two(time: RunTime, model: Model, gpu_count: int, gbit: Decimal) -> RunTime | None:
    """The time on two machines with this number of GPUs in all and a network between them, as
    `advisor.ranking.fabric` predicts it; None where they are no faster."""
    one = time.days, time.days_low or time.days, time.days_high or time.days
    scaled = scaled_days(
        one,
        shared_settings(time.settings, model.batch_size, gpu_count),
        model.parameters,
        model.training_steps,
        model.precision,
        2,
        link_of_speed(float(gbit)),
    )
    if scaled.days >= time.days:
        return None
    return replace(
        time,
        measurement_id=f"{time.measurement_id}:two machines",
        days=scaled.days,
        days_low=scaled.low,
        days_high=scaled.high,
        basis="predicted",
        verdict_reason=(
            f"over two machines, predicted: {scaled.slowdown.middle:.2f} times half the time of one"
        ),
    )
