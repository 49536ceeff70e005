"""What one run costs on a machine that a plan buys: its part of the machine's life, as a ranking
counts it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from msgspec import structs

from advisor.costs.cost_of_owning import total_cost_of_ownership
from advisor.costs.cost_terms import read_terms
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.solver.plan import Plan
from advisor.typed_input import InputError
from price_catalog.builds import rack_units_of
from price_catalog.power import wall_w


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOwned:
    """One model on one machine, whole."""

    model: str
    machine_id: str
    machine: str
    days: float
    estimated: bool
    cost: Decimal
    """In the grant's currency."""


def with_terms(grant: Grant, typed: Mapping[str, str | None]) -> Grant:
    """The grant under assumptions that were typed beside its file: use, electricity and PUE count
    in the plan too, and all of them in the cost of a run. Raises InputError."""
    terms, errors = read_terms(typed)
    for problem in errors.values():
        raise InputError(problem)
    said = {name for name, text in typed.items() if text is not None}
    changes: dict[str, object] = {}
    if "utilisation" in said:
        use = terms.utilisation
        changes["running"] = structs.replace(
            grant.running, utilisation=use, utilisation_by_year=None
        )
    if "electricity" in said:
        price = grant.currency.rate_of_usd(terms.electricity_usd_per_kwh) or None
        changes |= {"price_per_kwh": price, "pays_electricity": price is not None}
    if "pue" in said:
        changes["electricity"] = structs.replace(grant.electricity, pue=terms.pue)
    return replace(grant, assumed=terms, **changes)  # type: ignore[arg-type]


def costs_of_runs(loaded: Loaded, plan: Plan) -> list[RunOwned]:
    """Of each machine that is bought whole, and each model that it trains on all of its GPUs."""
    problem = loaded.problem
    models = {e.experiment_id: e.model for e in problem.experiments}
    places = sorted({p.place for p in plan.placed if not p.rented})
    pairs = dict.fromkeys((machine_id, models[e]) for e, machine_id, _ in places)
    machines = {m.machine_id: m for m in problem.machines}
    found = []
    for machine_id, model in pairs:
        machine, build = machines[machine_id], loaded.builds.get(machine_id)
        if build is None:
            continue  # owned, a part, or a share that the campus runs
        usd = loaded.grant.currency.in_usd(machine.price)
        watts = wall_w(build, loaded.snapshot.measured_w.get(build.gpu.gpu_id))
        units = rack_units_of(build.host)
        own = total_cost_of_ownership(
            usd,
            loaded.grant.terms,
            wall_w=None if watts is None else Decimal(str(round(watts, 3))),
            rack_units=None if units is None else Decimal(str(units)),
        )
        time = machine.times[model]
        cost = own.experiment_usd(time.days)
        if cost is not None:
            found.append(
                RunOwned(
                    model=model,
                    machine_id=machine_id,
                    machine=machine.label,
                    days=time.days,
                    estimated=time.basis == "predicted",
                    cost=loaded.grant.currency.of_usd(cost),
                )
            )
    return found
