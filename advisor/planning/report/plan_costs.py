"""The costs of a plan as ledger rows, each amount from its quotes, times and settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from typing import Any

from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.number_ledger import Num, NumberLedger
from advisor.planning.sensitivity.explain import Explanation
from advisor.planning.solver.money.charges import (
    Charge,
    RunCharge,
    fixed_charge,
    hours_in_a_day,
    overhead_rate,
    purchase_charge,
    rental_charge,
    run_charge,
    run_days,
    watts_in_a_kilowatt,
)
from advisor.planning.solver.money.prices import PricedLine, converted, machine_price, price_lines
from advisor.planning.solver.plan import Placed, Plan, Purchase
from advisor.planning.solver.problem import FixedCost, Machine, RunTime


@dataclass(frozen=True, slots=True, kw_only=True)
class EquipmentCost:
    """Machines of one kind bought in one year."""

    machine: Machine
    order: int
    bought_on: date
    count: Num
    lines: tuple[PricedLine[Num], ...]
    charge: Charge[Num]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCost:
    """Runs of one experiment on one machine or instance that start in one award year."""

    experiment_id: str
    label: str
    rented: bool
    year: int
    """From 0."""
    runs: Num
    charge: RunCharge[Num]
    placed: tuple[Placed, ...]
    """Those runs on the calendar."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Everything that is paid."""

    equipment: tuple[EquipmentCost, ...]
    running: tuple[RunningCost, ...]
    fixed: tuple[tuple[FixedCost, Charge[Num]], ...]
    """What is paid whatever is bought: storage, network, staff."""
    direct: Num
    indirect: Num
    total: Num


class Material:
    """A plan, what explains it and what it costs; sections enter their numbers in its ledger, in
    which the costs come first."""

    def __init__(self, loaded: Loaded, plan: Plan, explanation: Explanation) -> None:
        self.loaded = loaded = in_codes(loaded)
        self.plan, self.explanation = plan, explanation
        self.grant, self.problem = loaded.grant, loaded.problem
        self.form = funder_form(loaded.grant.funder)
        self.ledger = ledger = NumberLedger(currency=loaded.grant.currency.unit)
        self.machines = {m.machine_id: m for m in self.problem.machines}
        self.rentals = {r.rental_id: r for r in self.problem.rentals}
        self.experiments = {e.experiment_id: e for e in self.problem.experiments}
        hours_in_a_day(ledger)  # the first rows
        watts_in_a_kilowatt(ledger)
        self._mean_overhead()
        self.costs = self._costs()

    def _mean_overhead(self) -> None:
        """Where each year has a rate of overhead, their mean follows from them: whoever changes
        one of them in a sheet changes what is charged by the mean."""
        rules, ledger = self.problem.rules, self.ledger
        if rules.year_overhead is None:
            return
        days, parts = [], []
        for year, (first, last) in enumerate(pairwise(self.problem.year_days), start=1):
            rate = overhead_rate(ledger, rules, day=first)
            label = f"days of award year {year}"
            days.append(ledger.leaf("unit", last - first, "days", label, name="days", year=year))
            label = f"overhead rate by days, award year {year}"
            parts.append(ledger.compute("product", [rate, days[-1]], "days", label))
        of = [
            ledger.total(parts, "overhead rates by days", "days"),
            ledger.total(days, "days of the award years", "days"),
        ]
        mean = ledger.compute("ratio", of, "share", "overhead rate, mean of the years", decimals=6)
        ledger.derive(mean, key="institution.overhead_rate")

    def setting(self, key: str, value: Decimal | int, unit: str, label: str) -> Num:
        """A setting of the grant or of its institution."""
        return self.ledger.leaf("setting", value, unit, label, key=key)

    def years(self) -> Num:
        """How long the grant is."""
        months = self.setting("grant.months", self.grant.months, "months", "the grant")
        year = self.ledger.leaf("unit", 12, "months", "months of a year", name="months of a year")
        return self.ledger.compute("ratio", [months, year], "years", "years of the grant")

    def own(self, usd: Num, words: str) -> Num:
        """An amount in US dollars in the grant's currency."""
        rules = self.problem.rules
        if rules.currency.code == "USD":
            return usd
        return converted(self.ledger, usd, rules, "money", words, rules.currency.decimals)

    def time(self, time: RunTime, label: str) -> Num:
        """Days of one run, from its measurement."""
        return run_days(self.ledger, time, label)

    def time_ends(self, time: RunTime, label: str) -> tuple[Num | None, Num | None]:
        """The least and the most days that a run should take; None where they are not known."""

        def end(days: float | None, least: str, column: str) -> Num | None:
            if days is None:
                return None
            whole = None
            if time.whole is not None:  # of the recipe's tokens, as the days themselves
                whole = (days / float(time.whole[1]), time.whole[1])
            of = replace(time, days=days, whole=whole)
            return run_days(self.ledger, of, label, f"{least} days", column)

        return (
            end(time.days_low, "least", "training_days_low"),
            end(time.days_high, "most", "training_days_high"),
        )

    def model_of(self, placed: Placed) -> str:
        """The recipe that a run trains."""
        return self.experiments[placed.experiment_id].model

    def day(self, days: float) -> date:
        """A day of the plan on the calendar."""
        return self.problem.start + timedelta(days=int(days))

    def _costs(self) -> Costs:
        ledger, rules = self.ledger, self.problem.rules
        equipment = tuple(map(self._equipment, self.plan.purchases))
        running = tuple(self._running())
        fixed = tuple((each, fixed_charge(ledger, each, rules)) for each in self.problem.fixed)
        charges: list[Charge[Num]] = [e.charge for e in equipment]
        charges += [r.charge for r in running]
        charges += [charge for _, charge in fixed]
        direct = ledger.total([charge.direct for charge in charges], "direct cost")
        indirect = ledger.total([charge.indirect for charge in charges], "indirect cost")
        total = ledger.total([direct, indirect], "total cost")
        return Costs(
            equipment=equipment,
            running=running,
            fixed=fixed,
            direct=direct,
            indirect=indirect,
            total=total,
        )

    def _equipment(self, bought: Purchase) -> EquipmentCost:
        machine, ledger = self.machines[bought.machine_id], self.ledger
        day = self.problem.orders[bought.order]
        lines = price_lines(ledger, machine, self.problem.rules)
        machine_price(ledger, machine, lines)
        origin = {"machine_id": bought.machine_id, "order": bought.order}
        label = f"{machine.label}, ordered on {self.day(day)}"
        count = ledger.leaf("plan", bought.count, "machines", label, **origin)
        return EquipmentCost(
            machine=machine,
            order=bought.order,
            bought_on=self.day(day),
            count=count,
            lines=tuple(lines),
            charge=purchase_charge(ledger, machine, self.problem.rules, count, day),
        )

    def _running(self) -> Iterator[RunningCost]:
        rules = self.problem.rules
        starts: dict[tuple[str, str, int], list[Placed]] = {}
        for placed in self.plan.placed:
            priced_by_year = placed.machine_id in self.rentals and rules.rents_differ
            year = placed.order if priced_by_year else self.problem.year_of(placed.pieces[0][0])
            starts.setdefault((placed.experiment_id, placed.machine_id, year), []).append(placed)
        for (experiment_id, option_id, year), runs in sorted(starts.items()):
            # A share of a condo is powered by the campus.
            if option_id in self.rentals or (
                rules.price_per_kwh is not None and self.machines[option_id].share_of is None
            ):
                yield self._run_cost(experiment_id, option_id, year, runs)

    def _run_cost(
        self, experiment_id: str, option_id: str, year: int, runs: list[Placed]
    ) -> RunningCost:
        ledger, rules = self.ledger, self.problem.rules
        rental, e = self.rentals.get(option_id), self.experiments[experiment_id]
        option = rental or self.machines[option_id]
        called = self.loaded.models[e.model].name
        self.time(option.times[e.model], f"{called} on {option.label}")
        origin: dict[str, Any] = {"experiment_id": experiment_id, "option_id": option_id}
        when = f"year {year + 1}"
        label = f"{e.name} on {option.label}, started in {when}"
        count = ledger.leaf("plan", len(runs), "runs", label, **origin, award_year=year)
        names = {"name": e.name, "model_name": called, "year": when}
        if rental is not None:
            day = self.problem.year_days[year if rules.rents_differ else 0]
            charge = rental_charge(ledger, rental, e.model, rules, count, **names, day=day)
        else:
            machine = self.machines[option_id]
            watts = self.watts(machine)
            charge = run_charge(ledger, machine, e.model, rules, count, **names, watts=watts)
        return RunningCost(
            experiment_id=experiment_id,
            label=option.label,
            rented=rental is not None,
            year=year,
            runs=count,
            charge=charge,
            placed=tuple(runs),
        )

    def watts(self, machine: Machine) -> Num:
        """Power of a machine at the wall, from the figures of the catalogue; of a part of one its
        GPUs and all that is beside them."""
        ledger, power, label = self.ledger, machine.power, machine.label
        assert power is not None
        build = self.loaded.builds.get(machine.part_of or machine.machine_id)

        def gpus(of: Machine, count: int) -> Num:
            origin = {"name": "GPUs of a machine", "machine_id": of.machine_id}
            return ledger.leaf("unit", count, "pieces", f"GPUs in {of.label}", **origin)

        def rated(watts: Decimal) -> Num:
            origin = {"gpu_id": machine.gpu_id, "column": "tdp_w"}
            return ledger.leaf("gpu", watts, "W", f"rated power of {machine.gpu_name}", **origin)

        def host(value: Decimal, column: str, words: str, unit: str = "W") -> Num:
            assert build is not None
            origin = {"host_id": build.host.host_id, "column": column}
            return ledger.leaf("host", value, unit, f"{words} of {build.host.name}", **origin)

        def estimate(value: Decimal, name: str, unit: str = "W") -> Num:
            origin = {"name": name, "machine_id": machine.machine_id}
            return ledger.leaf("unit", value, unit, f"estimated {name} of {label}", **origin)

        at_the_wall = f"power of {label}, in W"
        if machine.part_of is not None:
            whole = self.machines[machine.part_of]
            if machine.nodes > 1 or machine.gpu_count >= machine.whole_gpus:
                both = [self.watts(whole), gpus(machine, machine.nodes)]
                return ledger.compute("product", both, "W", at_the_wall)
            if power.stated_w is not None:
                idle = gpus(machine, machine.whole_gpus - machine.gpu_count)
                of, words = [idle, rated(power.gpu_w or Decimal(0))], f"idle GPUs beside {label}"
                of = [self.watts(whole), ledger.compute("product", of, "W", words)]
                return ledger.compute("difference", of, "W", at_the_wall)
        if power.stated_w is not None:
            return host(power.stated_w, "wall_w", "power")
        assert power.gpu_w is not None
        count = power.gpu_count if machine.part_of is None else machine.gpu_count
        of = [rated(power.gpu_w), gpus(machine, count)]
        base, name = power.base_w, "power beside the GPUs"
        if power.basis == "estimated" and base is not None:
            of.append(estimate(base, name))
        elif build is not None and build.host.is_own_quote and base is not None:
            of.append(estimate(base, "power behind the supplies and beside the GPUs"))
        elif build is not None and build.host.base_w is not None and base is not None:
            of.append(host(base, "base_w", "power of the processors"))
            if power.beside_w is not None:
                beside = estimate(power.beside_w, "power of fans, memory and drives")
                of.append(
                    ledger.total([of.pop(), beside], f"power of {label} beside its GPUs", "W")
                )
        else:
            of.append(
                self.setting("electricity.host_watts", self.grant.electricity.host_watts, "W", name)
            )
        if power.psu_efficiency is not None and power.basis == "supply":
            name = "efficiency of the power supplies"
            of.append(estimate(power.psu_efficiency, name, "share"))
        elif power.psu_efficiency is not None and build is not None:
            words = "efficiency of the power supplies"
            of.append(host(power.psu_efficiency, "psu_efficiency", words, "share"))
        return ledger.compute("at-the-wall", of, "W", at_the_wall)

    @property
    def cheapest(self) -> bool:
        """Whether nothing that was compared costs less: not where plans are compared by anything
        but what is paid, as the value that machines keep or the odds of an award."""
        problem = self.problem
        return (
            self.plan.proven
            and problem.objective == "cheapest"
            and problem.rules.lifetime_years is None
            and all(each.odds == 1 for each in problem.allocations)
        )


def in_codes(loaded: Loaded) -> Loaded:
    """What is written for others has the code of its currency, never a sign."""
    money = replace(loaded.grant.currency, by_code=True)
    return replace(loaded, grant=replace(loaded.grant, currency=money))
