"""A machine whose seller names its price, and the same as a sum that nobody quoted: which of them a
plan buys is decided as a ranking by cost decides it (`advisor.ranking.named_prices`)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace

from advisor.planning.solver.plan import Plan
from advisor.planning.solver.problem import Machine, PlanningProblem
from advisor.ranking.named_prices import WHOLE_WORTH, NamedPrices


def _compared(problem: PlanningProblem) -> list[Machine]:
    """The machines that one orders by themselves."""
    return [
        m
        for m in problem.machines
        if m.lines and m.upgrade_of is None and m.part_of is None and m.share_of is None
    ]


def _kind(machine: Machine) -> Hashable:
    """The same cards, as fast for every model."""
    days = tuple(sorted((recipe, time.days) for recipe, time in machine.times.items()))
    return machine.gpu_id, machine.gpu_count, machine.on_sale, days


def is_summed(machine: Machine) -> bool:
    """Whether its price is a sum of parts or options that nobody quoted."""
    return len(machine.lines) > 1 or machine.lines[0].quote_kind == "parts-list"


def behind_named(problem: PlanningProblem) -> Mapping[str, tuple[Machine, ...]]:
    """The machines at a sum that stand behind named prices, by id, and what those buy, the dearest
    first."""
    machines = _compared(problem)
    kinds = {i: _kind(machine) for i, machine in enumerate(machines)}
    summed = [i for i, machine in enumerate(machines) if is_summed(machine)]
    cents = [int(machine.price_usd * 100) for machine in machines]
    named = NamedPrices(cents, kinds, set(kinds).difference(summed))
    found = {machines[i].machine_id: tuple(machines[j] for j in named.up_to(i)) for i in summed}
    return {machine_id: before for machine_id, before in found.items() if before}


def bought_at_names(problem: PlanningProblem, plan: Plan) -> Plan | None:
    """The plan with what it buys at a sum bought of who names a price; None where nothing is."""
    behind = behind_named(problem)
    instead = {
        p.machine_id: behind[p.machine_id][-1].machine_id
        for p in plan.purchases
        if p.machine_id in behind
    }
    if not instead:
        return None

    def named(machine_id: str) -> str:
        whole = problem.whole(machine_id)
        return machine_id.replace(whole, instead[whole], 1) if whole in instead else machine_id

    return replace(
        plan,
        purchases=tuple(replace(p, machine_id=named(p.machine_id)) for p in plan.purchases),
        work=tuple(replace(w, machine_id=named(w.machine_id)) for w in plan.work),
        placed=tuple(replace(p, machine_id=named(p.machine_id)) for p in plan.placed),
    )


def less_as_sums(problem: PlanningProblem, plan: Plan) -> list[tuple[Machine, Machine]]:
    """What the plan buys at a named price, each with the same for less as a sum."""
    machines = {machine.machine_id: machine for machine in problem.machines}
    bought = dict.fromkeys(p.machine_id for p in plan.purchases)
    sums = sorted(
        (machines[each] for each in behind_named(problem)), key=lambda machine: machine.price_usd
    )
    found = []
    for machine in (machines[each] for each in bought):
        if not machine.lines or is_summed(machine):
            continue
        least = next((each for each in sums if _kind(each) == _kind(machine)), None)
        if least is not None and least.price_usd < machine.price_usd:
            found.append((machine, least))
    return found


def quoted_whole(problem: PlanningProblem, machine: Machine) -> Machine | None:
    """The cheapest whole machine with the cards of one at a sum that a ranking by days puts before
    it; None where there is none."""
    if not is_summed(machine):
        return None
    most = float(machine.price_usd) * WHOLE_WORTH
    whole = (
        each
        for each in _compared(problem)
        if not is_summed(each)
        and each.on_sale
        and float(each.price_usd) <= most
        and _kind(each) == _kind(machine)
    )
    return min(whole, key=lambda each: each.price_usd, default=None)
