"""From each row of a report back to the store, the grant, the plan or a new solve."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import replace
from datetime import date
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any

from advisor.costs.price_interval import price_today
from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.institution import rows_of
from advisor.planning.planned_grant import Planned
from advisor.planning.sensitivity.changes import vary
from advisor.planning.sensitivity.trials import decision
from advisor.planning.solver.plan import Placed, Plan, last_day
from advisor.planning.solver.search_clock import NoPlan
from advisor.planning.solver.solve import cheapest_with_runs, solve
from advisor.ranking.snapshot import take_snapshot
from advisor.store import Store
from price_catalog.power import wall_w
from tests.planning.forms_for_tests import TODAY


def setting(grant: Grant, key: str) -> Decimal:
    """A setting by the key that the report gives."""
    if key.startswith("institution."):
        return Decimal(getattr(grant.institution, key.removeprefix("institution.")))
    if match := re.fullmatch(r"experiments\[(\d+)\]\.runs", key):
        return Decimal(grant.experiments[int(match[1]) - 1].runs)
    if match := re.fullmatch(r"owned\[(\d+)\]\.(machines|free_slots)", key):
        return Decimal(getattr(grant.owned[int(match[1]) - 1], match[2]))
    if match := re.fullmatch(r"budget\.per_year\[(\d+)\]", key):
        assert grant.year_budget is not None
        return grant.year_budget[int(match[1]) - 1]
    table, _, name = key.partition(".")
    if key == "budget.total":
        return Decimal(str(grant.budget))
    own = getattr(grant, name, None)  # as converted, or a mean
    return Decimal(own if own is not None else getattr(getattr(grant, table), name))


class Walk:
    """Takes each row of a report back to the store, the grant, the plan or a new solve."""

    def __init__(self, planned: Planned, store_path: Path) -> None:
        assert planned.plan is not None
        self.plan, self.problem = planned.plan, planned.loaded.problem
        self.with_told = replace(self.problem, machines=planned.loaded.with_told)
        self.plans: dict[str, Plan] = {}
        self.grant = planned.loaded.grant
        with Store(store_path).reading() as reader:
            self.quotes = {q.quote_id: q for q in reader.quotes()}
            self.book = take_snapshot(reader).prices(self.grant.prices, today=TODAY)
            self.rentals = {r.rental_id: r for r in reader.rentals()}
            self.times = {
                time.measurement_id: time
                for recipe_id in planned.loaded.models
                for best in reader.best_times(recipe_id, self.grant.evidence)
                for time in (best.chosen, best.published)
                if time is not None
            }
            self.models = {m.recipe_id: m for m in reader.models()}
            self.gpus = {g.gpu_id: g for g in reader.gpus()}
            self.hosts = {h.host_id: h for h in reader.hosts()}
        self.builds = planned.loaded.builds
        self.measured_w = planned.loaded.snapshot.measured_w
        self.machines = {m.machine_id: m for m in self.problem.machines}

    def value(self, row: dict[str, Any]) -> Decimal:
        origin = row["origin"]
        return Decimal(str(getattr(self, row["kind"])(origin, row)))

    def quote(self, origin: Any, _: Any) -> Any:
        return self.quotes[origin["quote_id"]].price_usd

    def asked(self, origin: Any, _: Any) -> Any:
        key = (origin["item_kind"], origin["item"])
        if origin["column"] == "newer_usd":
            return self.book.newer[key].price_usd
        return getattr(self.book.ranges[key], origin["column"])

    def part(self, origin: Any, _: Any) -> Any:
        return self.hosts[origin["host_id"]].parts[origin["position"]].price_usd

    def rental(self, origin: Any, _: Any) -> Any:
        return self.rentals[origin["rental_id"]].price_per_hour_usd

    def time(self, origin: Any, _: Any) -> Any:
        return getattr(self.times[origin["measurement_id"]], origin["column"])

    def gpu(self, origin: Any, _: Any) -> Any:
        return getattr(self.gpus[origin["gpu_id"]], origin["column"])

    def host(self, origin: Any, _: Any) -> Any:
        return getattr(self.hosts[origin["host_id"]], origin["column"])

    def model(self, origin: Any, _: Any) -> Any:
        model = self.models[origin["model"]]
        seen = model.batch_size * model.training_steps
        of = {"images": seen, "tokens": seen * (model.sequence_length or 0)}
        return of.get(origin["column"], model.parameters)

    def setting(self, origin: Any, _: Any) -> Any:
        return setting(self.grant, origin["key"])

    def unit(self, origin: Any, _: Any) -> Any:
        if origin["name"] == "hours in a day":
            return 24
        if origin["name"] == "W in a kW":
            return 1000
        if origin["name"] == "months of a year":
            return 12
        if origin["name"] == "one":
            return 1
        if origin["name"] == "middle":
            return Decimal(self.grant.months * 365) / 24
        if origin["name"] == "usual PUE":
            return Decimal("1.54")
        if origin["name"] == "grid carbon":
            rows = rows_of("grid_carbon.csv")
            country = self.grant.procurement.country
            return next(row["kg_per_kwh"] for row in rows if row["country"] == country)
        if origin["name"] == "assumption":
            return getattr(self.grant.terms, origin["term"])
        if origin["name"] == "GPUs of a run":
            return self.problem.options()[origin["option_id"]].gpu_count
        if origin["name"] == "GPUs of a job":
            rentals = {r.rental_id: r for r in self.problem.rentals}
            return rentals[origin["rental_id"]].gpu_count
        machine = self.machines[origin["machine_id"]]
        if origin["name"] == "if ordered today":
            gpu, in_all = self.gpus[machine.gpu_id], Decimal(0)
            for line in machine.lines:
                quote = self.quotes[line.quote_id]
                now = getattr(price_today(quote, gpu, TODAY), f"{origin['end']}_usd")
                in_all += line.unit_price * line.quantity * now / quote.price_usd
            return in_all.quantize(Decimal("0.01"), ROUND_HALF_EVEN)
        if origin["name"] == "a run":
            life = self.grant.terms.lifetime_years * 365 * self.grant.terms.utilisation
            days = Decimal(str(machine.times[origin["model"]].days))
            own, build = machine.price * days / life, self.builds[machine.machine_id]
            kw = Decimal(str(wall_w(build, self.measured_w.get(build.gpu.gpu_id)))) / 1000
            kwh = kw * 24 * days * self.grant.terms.pue
            price = self.grant.terms.electricity_usd_per_kwh
            return (own + kwh * price).quantize(Decimal("0.01"), ROUND_HALF_UP)
        if origin["name"] == "GPUs of a machine":
            return machine.gpu_count
        if origin["name"] == "power beside the GPUs":
            return machine.power.base_w
        if origin["name"] == "power of fans, memory and drives":
            return machine.power.beside_w
        if origin["name"] == "efficiency of the power supplies":
            return machine.power.psu_efficiency
        assert origin["name"] == "pieces of a machine"
        return next(x.quantity for x in machine.lines if x.item_id == origin["item_id"])

    def plan_(self, origin: Any, row: Any) -> Any:
        plan = self.plan
        if "award_year" in origin and "what" not in origin:
            return len(self.started(origin, origin["award_year"]))
        if origin.get("what") == "runs there":
            where = (origin["experiment_id"], origin["option_id"])
            return sum((p.experiment_id, p.machine_id) == where for p in plan.placed)
        if "order" in origin:
            return sum(
                p.count
                for p in plan.purchases
                if (p.machine_id, p.order) == (origin["machine_id"], origin["order"])
            )
        if origin["what"] == "runs on owned":
            owned = f"owned:{origin['owned']}:"
            return sum(self.problem.whole(p.machine_id).startswith(owned) for p in plan.placed)
        if origin["what"] == "runs on the same days":
            first, last = (
                (date.fromisoformat(origin[key]) - self.problem.start).days
                for key in ("starts", "ends")
            )
            return sum(
                (p.experiment_id, p.machine_id) == (origin["experiment_id"], origin["option_id"])
                and (int(p.pieces[0][0]), last_day(p.pieces[-1][1])) == (first, last)
                for p in plan.placed
            )
        if origin["what"] == "runs on upgraded machines":
            grown = {m for m in self.machines if self.machines[m].upgrade_of is not None}
            return sum(self.problem.whole(p.machine_id) in grown for p in plan.placed)
        if origin["what"] == "share of runs in an award year":
            mine = self.started(origin, origin["starts_in"])
            low, high = self.problem.year_days[origin["award_year"] :][:2]
            days = [sum(b - a for a, b in p.pieces) for p in mine]
            within = [sum(max(min(b, high) - max(a, low), 0) for a, b in p.pieces) for p in mine]
            share = sum(a / b for a, b in zip(within, days, strict=True)) / len(mine)
            assert abs(share - float(row["value"])) < 1e-9
            return row["value"]
        if origin["what"] == "left out":
            only = origin.get("experiment_id")
            return sum(n for e, n in plan.left_out.items() if only in (None, e))
        assert origin["what"] in ("runs", "finish")
        return plan.runs if origin["what"] == "runs" else round(plan.finish_day, 2)

    def started(self, origin: Any, year: int) -> list[Placed]:
        """The runs of an experiment on a machine that start in an award year."""
        wanted = (origin["experiment_id"], origin["option_id"], year)
        return [
            p
            for p in self.plan.placed
            if (p.experiment_id, p.machine_id, self.problem.year_of(p.pieces[0][0])) == wanted
        ]

    def solve(self, origin: Any, row: Any) -> Any:
        change, reads = origin["change"], origin["reads"]
        if "needs_quote" in change:
            return Decimal(self.plan.cost_cents - solve(self.with_told).cost_cents) / 100
        if reads == "direct":
            return self.direct(change)
        if reads == "threshold":
            with suppress(NoPlan):
                assert decision(self.solved(change)) != decision(self.plan)
            (value,) = change.values()
            return value[1] if isinstance(value, list) else value
        # Of several that are as good, the one that the report found: no ties are settled there.
        tied = reads == "bought" or (reads == "later" and "min_runs" not in change)
        plan = self.solved(change, settle=not tied)
        if reads == "bought":
            wanted = (origin["machine_id"], origin["order"])
            return sum(p.count for p in plan.purchases if (p.machine_id, p.order) == wanted)
        here = self.plan
        budget = self.problem.budget_cents or 0
        return {
            "cost": Decimal(plan.cost_cents) / 100,
            "runs": plan.runs,
            "over-budget": Decimal(plan.cost_cents - budget) / 100,
            "difference": abs(Decimal(plan.cost_cents - here.cost_cents)) / 100,
            "saves": Decimal(here.judged_cents - plan.judged_cents) / 100,
            "more-runs": plan.runs - here.runs,
            "fewer-runs": here.runs - plan.runs,
            "later": round(plan.finish_day - here.finish_day),
        }[reads]

    def solved(self, change: Any, *, settle: bool = True) -> Plan:
        """The plan under a change, solved anew once however many rows were read from it."""
        key = json.dumps([change, settle], default=str)
        if key not in self.plans:
            problem = vary(self.problem, change)
            if not settle:
                self.plans[key] = solve(problem, known=(self.plan,), settle=False)
            elif "min_runs" in change:
                self.plans[key] = cheapest_with_runs(problem)
            else:
                self.plans[key] = solve(problem)
        return self.plans[key]

    def direct(self, change: Any) -> Any:
        if "quote" in change:
            return self.quotes[change["quote"]].price_usd
        if "rental" in change:
            row, _, times = change["rental"].partition("*")
            return self.rentals[row].price_per_hour_usd * int(times or 1)
        if "measurement" in change:
            return self.times[change["measurement"]].training_days
        return getattr(self.problem.rules, change["rule"])
