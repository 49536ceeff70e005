"""Some of the GPUs of a machine, and two machines together, as machines of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from advisor.planning.grant.candidates.grant_machines import Best, memory_share, times_of
from advisor.planning.grant.grant_keys import Owned
from advisor.planning.grant.grant_record import Grant
from advisor.planning.solver.problem import Machine, RunTime
from price_catalog.builds import Build

PREDICTED = " (scaling predicted)"
"""Ends the name of two machines together."""


def parts_of(
    machines: Sequence[Machine],
    grant: Grant,
    best: Best,
    builds: Mapping[str, Build],
    joined: Best,
) -> list[Machine]:
    """Parts with fewer GPUs that have a time, each with its share of the memory of its
    build's host, and pairs where the network is known: ``joined`` has their times.

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
        for count in range(1, whole.gpu_count) if grant.running.share_gpus else ():
            share = None if held is None else held * count / whole.gpu_count
            if own is not None:
                share = memory_share(own, count)
            key = (whole.gpu_id, count, share)
            if key not in timed:
                timed[key] = times_of(best, whole.gpu_id, count, grant, share)
            if timed[key]:
                label = f"{count} GPU{'' if count == 1 else 's'} of {whole.label}"
                found.append(_part(whole, count, label, timed[key]))
        if grant.running.network_gbit is None or whole.upgrade_of is not None or whole.owned == 1:
            continue
        if whole.share_of is not None:
            continue  # its network is the campus's
        both = 2 * whole.gpu_count
        pair = {
            recipe: time
            for recipe, time in times_of(
                joined, whole.gpu_id, both, grant, None if held is None else 2 * held
            ).items()
            if recipe not in whole.times or time.days < whole.times[recipe].days
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
