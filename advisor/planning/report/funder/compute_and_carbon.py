"""What the work takes in GPU-hours, kWh and carbon dioxide: for a proposal, and for a paper's
checklist."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from advisor.planning.grant.institution import rows_of
from advisor.planning.report.number_ledger import Num
from advisor.planning.report.plan_costs import Material
from advisor.planning.report.templates import filled
from advisor.planning.solver.money.charges import days_of_a_run, hours_in_a_day, watts_in_a_kilowatt
from advisor.planning.solver.plan import Placed
from advisor.planning.solver.problem import Machine, Rental

USUAL_PUE = Decimal("1.54")
"""Power with cooling over power without: the mean of the Uptime Institute's survey of 2025."""


def compute_and_carbon(given: Material) -> str:
    """GPU-hours by experiment, energy and emissions; empty where nothing is run."""
    ledger, problem = given.ledger, given.loaded.problem
    options, experiments = problem.options(), given.book.experiments
    hours: dict[str, list[Num]] = {}
    energy: list[Num] = []
    for (experiment, option_id), runs in _alike(given).items():
        e, option = experiments[experiment], options[option_id]
        name = f"{given.loaded.models[e.model].name} on {option.label}"
        days = days_of_a_run(ledger, option.times[e.model], problem.rules, name)
        origin = {"experiment_id": experiment, "option_id": option_id}
        label = f"{e.name} on {option.label}, all its runs"
        count = ledger.leaf("plan", len(runs), "runs", label, what="runs there", **origin)
        time = ledger.compute("product", [days, hours_in_a_day(ledger), count], "hours", label)
        gpus = _gpus(given, option)
        spent = ledger.compute("product", [time, gpus], "gpu-hours", f"GPU-hours, {label}")
        hours.setdefault(e.name.partition(", year ")[0], []).append(spent)
        watts = _watts(given, option)
        if watts is None:
            continue  # see carbon_gaps
        kw = ledger.compute("ratio", [watts, watts_in_a_kilowatt(ledger)], "kW", f"kW, {label}")
        energy.append(ledger.compute("product", [kw, time], "kwh", f"kWh, {label}"))
    if not hours:
        return ""
    parts = [
        f"{name} {ledger.total(nums, f'GPU-hours of {name}', 'gpu-hours')}"
        for name, nums in hours.items()
    ]
    every = [num for nums in hours.values() for num in nums]
    values: dict[str, object] = {
        "kwh": None,
        "pue": None,
        "carbon": None,
        "gases": "",
        "intensity": "",
        "source": "",
    }
    if energy:
        values |= _emissions(given, energy)
    owned = {m.machine_id for m in problem.machines if m.owned}
    mine = {problem.whole(p.machine_id) for p in given.plan.placed} & owned
    reused = "It reuses machines that the laboratory has: none is made for these runs."
    return filled(
        "compute_and_carbon.txt",
        start="Compute and carbon. The runs take",
        hours=ledger.total(every, "GPU-hours, all runs", "gpu-hours"),
        parts=parts,
        rented=any(isinstance(options[p.machine_id], Rental) for p in given.plan.placed),
        reused=reused if mine and len(mine) == len(_machines(given)) else "",
        **values,
    ).strip()


def _emissions(given: Material, energy: list[Num]) -> dict[str, object]:
    """Energy with cooling, and what it emits by the grid's published intensity."""
    ledger, grant = given.ledger, given.loaded.grant
    pue = grant.pue if grant.pue != 1 else USUAL_PUE
    factor = given.book.setting("electricity.pue", pue, "factor", "PUE")
    if pue != grant.pue:
        factor = ledger.leaf("unit", pue, "factor", "usual PUE", name="usual PUE")
    bare = ledger.total(energy, "kWh of all runs, before cooling", "kwh")
    kwh = ledger.compute("product", [bare, factor], "kwh", "kWh of all runs")
    row, country = _grid(given), grant.procurement.country
    found: dict[str, object] = {"kwh": kwh, "pue": factor}
    if row is None:
        return found
    label = f"{row['gases']} of a kWh, {country}, {row['year']}"
    intensity = ledger.leaf("unit", Decimal(row["kg_per_kwh"]), "kg", label, name="grid carbon")
    carbon = ledger.compute("product", [kwh, intensity], "kg", f"{row['gases']} of all runs")
    source = f"{row['source']}; {row['year']}"
    return found | {
        "carbon": carbon,
        "gases": row["gases"],
        "intensity": intensity,
        "source": source,
    }


def _grid(given: Material) -> Mapping[str, str] | None:
    country = given.loaded.grant.procurement.country
    return next((r for r in rows_of("grid_carbon.csv") if r["country"] == country), None)


def carbon_gaps(given: Material) -> list[str]:
    """What is not known of energy and emissions; for the lab."""
    options = given.loaded.problem.options()
    used = [options[name] for name in sorted({p.machine_id for p in given.plan.placed})]
    dark = [option.label for option in used if _watts(given, option) is None]
    found = [f"The power of {', '.join(dark)} is not known: no energy is counted."] * bool(dark)
    if used and _grid(given) is None:
        where = given.loaded.grant.procurement.country
        of = f"of the grid of {where}" if where else "without procurement.country"
        found.append(f"No carbon intensity is known {of}: add your supplier's to the paragraph.")
    return found


def _alike(given: Material) -> dict[tuple[str, str], list[Placed]]:
    found: dict[tuple[str, str], list[Placed]] = {}
    for placed in given.plan.placed:
        found.setdefault((placed.experiment_id, placed.machine_id), []).append(placed)
    return dict(sorted(found.items()))


def _machines(given: Material) -> set[str]:
    return {given.loaded.problem.whole(p.machine_id) for p in given.plan.placed}


def _gpus(given: Material, option: Machine | Rental) -> Num:
    option_id = option.machine_id if isinstance(option, Machine) else option.rental_id
    label = f"GPUs of a run on {option.label}"
    return given.ledger.leaf(
        "unit", option.gpu_count, "pieces", label, name="GPUs of a run", option_id=option_id
    )


def _watts(given: Material, option: Machine | Rental) -> Num | None:
    """At the wall, from the catalogue; of a rented computer its GPUs' rated power alone."""
    ledger = given.ledger
    if isinstance(option, Machine) and option.running_w is not None and option.share_of is None:
        return given.book.watts(option)
    gpu = next(gpu for gpu in given.loaded.snapshot.gpus if gpu.gpu_id == option.gpu_id)
    if gpu.tdp_w is None:
        return None
    label, origin = f"rated power of {gpu.short_name}", {"gpu_id": gpu.gpu_id}
    one = ledger.leaf("gpu", gpu.tdp_w, "W", label, **origin, column="tdp_w")
    return ledger.compute(
        "product", [one, _gpus(given, option)], "W", f"GPUs of {option.label}, rated power"
    )
