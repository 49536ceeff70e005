"""What the work takes in GPU-hours, kWh and carbon dioxide: for a proposal, and for a paper's
checklist."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from advisor.planning.grant.institution import rows_of
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.solver.money.charges import days_of_a_run, hours_in_a_day, watts_in_a_kilowatt
from advisor.planning.solver.problem import Machine, Rental

USUAL_PUE = Decimal("1.54")
"""Power with cooling over power without: the mean of the Uptime Institute's survey of 2025."""


def compute_and_carbon(given: Material) -> dict[str, Any]:
    """GPU-hours by experiment, energy and emissions; no ``parts`` where nothing is run."""
    ledger, problem, placed = given.ledger, given.problem, given.plan.placed
    options, experiments = problem.options(), given.experiments
    hours: dict[str, list[Num]] = {}
    energy: list[Num] = []
    pairs = [(p.experiment_id, p.machine_id) for p in placed]
    for experiment, option_id in sorted(set(pairs)):
        e, option = experiments[experiment], options[option_id]
        name = f"{given.loaded.models[e.model].name} on {option.label}"
        days = days_of_a_run(ledger, option.times[e.model], problem.rules, name)
        origin = {"experiment_id": experiment, "option_id": option_id}
        label = f"{e.name} on {option.label}, all its runs"
        runs = pairs.count((experiment, option_id))
        count = ledger.leaf("plan", runs, "runs", label, what="runs there", **origin)
        time = ledger.compute("product", [days, hours_in_a_day(ledger), count], "hours", label)
        of = [time, _gpus(given, option, option_id)]
        spent = ledger.compute("product", of, "gpu-hours", f"GPU-hours, {label}")
        hours.setdefault(e.name.partition(", year ")[0], []).append(spent)
        watts = _watts(given, option, option_id)
        if watts is not None:  # else see carbon_gaps
            of = [watts, watts_in_a_kilowatt(ledger)]
            kw = ledger.compute("ratio", of, "kW", f"kW, {label}")
            energy.append(ledger.compute("product", [kw, time], "kwh", f"kWh, {label}"))
    every = [num for nums in hours.values() for num in nums]
    wholes = {problem.whole(p.machine_id) for p in placed}
    return {
        "hours": ledger.total(every, "GPU-hours, all runs", "gpu-hours"),
        "parts": [
            f"{name} {ledger.total(nums, f'GPU-hours of {name}', 'gpu-hours')}"
            for name, nums in hours.items()
        ],
        "rented": any(isinstance(options[p.machine_id], Rental) for p in placed),
        "reused": wholes <= {m.machine_id for m in problem.machines if m.owned},
        **(_emissions(given, energy) if energy else {"kwh": None}),
    }


def _emissions(given: Material, energy: list[Num]) -> dict[str, Any]:
    """Energy with cooling, and what it emits by the grid's published intensity."""
    ledger, grant = given.ledger, given.grant
    if grant.electricity.pue == 1:
        factor = ledger.leaf("unit", USUAL_PUE, "factor", "usual PUE", name="usual PUE")
    else:
        factor = given.setting("electricity.pue", grant.electricity.pue, "factor", "PUE")
    bare = ledger.total(energy, "kWh of all runs, before cooling", "kwh")
    kwh = ledger.compute("product", [bare, factor], "kwh", "kWh of all runs")
    row, country = _grid(given), grant.procurement.country
    if row is None:
        return {"kwh": kwh, "pue": factor, "mass": None}
    gases = row["gases"]
    label = f"{gases} of a kWh, {country}, {row['year']}"
    intensity = ledger.leaf("unit", Decimal(row["kg_per_kwh"]), "kg", label, name="grid carbon")
    return {
        "kwh": kwh,
        "pue": factor,
        "mass": ledger.compute("product", [kwh, intensity], "kg", f"{gases} of all runs"),
        "gases": gases,
        "intensity": intensity,
        "source": f"{row['source']}; {row['year']}",
    }


def _grid(given: Material) -> Mapping[str, str] | None:
    country = given.grant.procurement.country
    return next((r for r in rows_of("grid_carbon.csv") if r["country"] == country), None)


def carbon_gaps(given: Material) -> dict[str, Any]:
    """What is not known of energy and emissions; for the lab."""
    options = given.problem.options()
    used = sorted({p.machine_id for p in given.plan.placed})
    return {
        "dark": [options[n].label for n in used if _watts(given, options[n], n) is None],
        "no_grid": bool(used) and _grid(given) is None,
        "country": given.grant.procurement.country,
    }


def _gpus(given: Material, option: Machine | Rental, option_id: str) -> Num:
    label, origin = f"GPUs of a run on {option.label}", {"option_id": option_id}
    number = option.gpu_count
    return given.ledger.leaf("unit", number, "pieces", label, name="GPUs of a run", **origin)


def _watts(given: Material, option: Machine | Rental, option_id: str) -> Num | None:
    """At the wall, from the catalogue; of a rented computer its GPUs' rated power alone."""
    if isinstance(option, Machine) and option.running_w is not None and option.share_of is None:
        return given.watts(option)
    gpu = next(gpu for gpu in given.loaded.snapshot.gpus if gpu.gpu_id == option.gpu_id)
    if gpu.tdp_w is None:
        return None
    label, origin = f"rated power of {gpu.short_name}", {"gpu_id": gpu.gpu_id}
    one = given.ledger.leaf("gpu", gpu.tdp_w, "W", label, **origin, column="tdp_w")
    of = [one, _gpus(given, option, option_id)]
    return given.ledger.compute("product", of, "W", f"GPUs of {option.label}, rated power")
