"""The money of a plan as ledger rows: every amount again from its quotes, times and settings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal

from advisor.planning.grant.problem_of_grant import Loaded
from advisor.planning.report.number_ledger import Num, NumberLedger
from advisor.planning.solver.problem import Machine, Plan, PriceLine, RunTime


@dataclass(frozen=True, slots=True, kw_only=True)
class EquipmentCost:
    """Machines of one kind bought in one year."""

    machine: Machine
    year: int
    bought_on: date
    count: Num
    lines: tuple[tuple[PriceLine, Num, Num, Num], ...]
    """Line, quantity, price of one, price of all."""
    unit: Num
    """One machine."""
    direct: Num
    base: Num
    indirect: Num


@dataclass(frozen=True, slots=True, kw_only=True)
class RunningCost:
    """Runs of one experiment on one machine or instance that start in one fiscal year."""

    experiment_id: str
    label: str
    rented: bool
    fiscal_year: str
    runs: Num
    each: Num
    """Direct cost of one run."""
    direct: Num
    base: Num
    indirect: Num
    amount: Num
    """kWh, or hours, of one run."""
    price: Num
    """Per kWh or hour."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Costs:
    """Everything that is paid."""

    equipment: tuple[EquipmentCost, ...]
    running: tuple[RunningCost, ...]
    years: tuple[str, ...]
    direct: Num
    base: Num
    indirect: Num
    total: Num


class CostBook:
    """Enters a plan's costs in a ledger."""

    def __init__(self, loaded: Loaded, ledger: NumberLedger) -> None:
        self.loaded = loaded
        self.problem = loaded.problem
        self.ledger = ledger
        self.machines = {m.machine_id: m for m in self.problem.machines}
        self.rentals = {r.rental_id: r for r in self.problem.rentals}
        self.experiments = {e.experiment_id: e for e in self.problem.experiments}
        self.hours = ledger.leaf("unit", 24, "hours", "hours in a day", name="hours in a day")
        self.kilo = ledger.leaf("unit", 1000, "W", "watts in a kilowatt", name="W in a kW")

    def setting(self, key: str, value: Decimal | int, unit: str, label: str) -> Num:
        """A setting of the grant or of its institution."""
        return self.ledger.leaf("setting", value, unit, label, key=key)

    def rate(self) -> Num:
        """The overhead rate."""
        value = self.problem.rules.overhead_rate
        return self.setting("institution.overhead_rate", value, "share", "overhead rate")

    def time(self, time: RunTime, label: str) -> Num:
        """Days of one run, from its measurement."""
        return self.ledger.leaf(
            "time",
            time.days,
            "days",
            f"training days, {label}",
            measurement_id=time.measurement_id,
            column="training_days",
        )

    def quote(self, line: PriceLine) -> Num:
        """A price, from its quote."""
        return self.ledger.leaf(
            "quote",
            line.unit_usd,
            "usd",
            f"price of {line.label}, {line.vendor}, {line.quoted_on}",
            quote_id=line.quote_id,
        )

    def day(self, days: float) -> date:
        """A day of the plan on the calendar."""
        return self.problem.start + timedelta(days=int(days))

    def fiscal_year(self, day: date) -> str:
        """The fiscal year of a day, called by the year in which it ends."""
        month, first = self.loaded.grant.institution.fiscal_year_start
        if (month, first) == (1, 1):
            return str(day.year)
        return f"FY {day.year + ((day.month, day.day) >= (month, first))}"

    def costs(self, plan: Plan) -> Costs:
        """All of it; the total is the plan's, to the cent."""
        equipment = tuple(self._equipment(p.machine_id, p.year, p.count) for p in plan.purchases)
        running = tuple(self._running(plan))
        years = sorted(
            {self.fiscal_year(e.bought_on) for e in equipment} | {r.fiscal_year for r in running}
        )
        everything: list[EquipmentCost | RunningCost] = [*equipment, *running]
        direct = self.ledger.total([c.direct for c in everything], "direct cost")
        base = self.ledger.total([c.base for c in everything], "overhead base")
        indirect = self.ledger.total([c.indirect for c in everything], "indirect cost")
        total = self.ledger.total([direct, indirect], "total cost")
        if int(total.value * 100) != plan.cost_cents:
            raise AssertionError(f"the report's total {total.value} is not the plan's")
        return Costs(
            equipment=equipment,
            running=running,
            years=tuple(years),
            direct=direct,
            base=base,
            indirect=indirect,
            total=total,
        )

    def machine_price(self, machine: Machine) -> tuple[Num, list[tuple[PriceLine, Num, Num, Num]]]:
        """One machine, and its lines."""
        lines = []
        for line in machine.lines:
            price = self.quote(line)
            quantity = self.ledger.leaf(
                "unit",
                line.quantity,
                "pieces",
                f"{line.label} in {machine.label}",
                name="pieces of a machine",
                machine_id=machine.machine_id,
                item_id=line.item_id,
            )
            amount = self.ledger.compute(
                "product", [quantity, price], "usd", f"{line.label} for {machine.label}"
            )
            lines.append((line, quantity, price, amount))
        unit = self.ledger.total([amount for *_, amount in lines], f"price of {machine.label}")
        return unit, lines

    def _equipment(self, machine_id: str, year: int, count: int) -> EquipmentCost:
        machine, ledger = self.machines[machine_id], self.ledger
        unit, lines = self.machine_price(machine)
        number = ledger.leaf(
            "plan",
            count,
            "machines",
            f"{machine.label}, bought in year {year + 1}",
            machine_id=machine_id,
            year=year,
        )
        base_of_one = self._base_of_one(machine, unit, lines)
        one = ledger.compute(
            "product", [base_of_one, self.rate()], "usd", f"overhead on {machine.label}", decimals=2
        )
        return EquipmentCost(
            machine=machine,
            year=year,
            bought_on=self.day(self.problem.year_days[year]),
            count=number,
            lines=tuple(lines),
            unit=unit,
            direct=ledger.compute("product", [number, unit], "usd", f"{machine.label}, all"),
            base=ledger.compute(
                "product", [number, base_of_one], "usd", f"overhead base of {machine.label}, all"
            ),
            indirect=ledger.compute(
                "product", [number, one], "usd", f"overhead on {machine.label}, all"
            ),
        )

    def _base_of_one(
        self, machine: Machine, unit: Num, lines: list[tuple[PriceLine, Num, Num, Num]]
    ) -> Num:
        rules, ledger = self.problem.rules, self.ledger
        if rules.equipment_in_base:
            return unit
        threshold = self.setting(
            "institution.equipment_threshold_usd",
            rules.equipment_threshold_usd,
            "usd",
            "equipment threshold",
        )
        label = f"overhead base of {machine.label}"
        if rules.fabrication_is_equipment:
            return ledger.compute("below", [unit, threshold], "usd", label)
        parts = [
            ledger.compute(
                "product",
                [
                    quantity,
                    ledger.compute("below", [price, threshold], "usd", f"{line.label} in the base"),
                ],
                "usd",
                f"{line.label}, all, in the base",
            )
            for line, quantity, price, _ in lines
        ]
        return ledger.total(parts, label)

    def _running(self, plan: Plan) -> list[RunningCost]:
        starts: Counter[tuple[str, str, bool, str]] = Counter()
        for placed in plan.placed:
            rented = placed.machine_id in self.rentals
            fiscal = self.fiscal_year(self.day(placed.pieces[0][0]))
            starts[placed.experiment_id, placed.machine_id, rented, fiscal] += 1
        found = []
        for (experiment_id, option_id, rented, fiscal), runs in sorted(starts.items()):
            if not rented and self.problem.rules.usd_per_kwh is None:
                continue
            found.append(self._run_cost(experiment_id, option_id, rented, fiscal, runs))
        return found

    def _run_cost(
        self, experiment_id: str, option_id: str, rented: bool, fiscal: str, runs: int
    ) -> RunningCost:
        ledger, rules = self.ledger, self.problem.rules
        e = self.experiments[experiment_id]
        option = self.rentals[option_id] if rented else self.machines[option_id]
        label = option.label
        days = self.time(option.times[e.model], f"{e.model} on {label}")
        count = ledger.leaf(
            "plan",
            runs,
            "runs",
            f"{e.name} on {label}, started in {fiscal}",
            experiment_id=experiment_id,
            option_id=option_id,
            fiscal_year=fiscal,
        )
        if rented:
            rental = self.rentals[option_id]
            amount = ledger.compute("product", [days, self.hours], "hours", f"hours, {e.name}")
            price = ledger.leaf(
                "rental",
                rental.usd_per_hour,
                "usd-per-hour",
                f"{label}, {rental.priced_on}",
                rental_id=option_id,
            )
            in_base = rules.cloud_in_base
        else:
            amount = self.kwh(self.machines[option_id], days, e.model)
            assert rules.usd_per_kwh is not None
            price = self.setting(
                "electricity.usd_per_kwh", rules.usd_per_kwh, "usd-per-kwh", "electricity"
            )
            in_base = rules.electricity_in_base
        what = f"{e.name} on {label}"
        each = ledger.compute("product", [amount, price], "usd", f"one run, {what}", decimals=2)
        direct = ledger.compute("product", [count, each], "usd", f"{what}, {fiscal}")
        none = ledger.total([], "nothing")
        one = (
            ledger.compute(
                "product", [each, self.rate()], "usd", f"overhead on one run, {what}", decimals=2
            )
            if in_base
            else none
        )
        return RunningCost(
            experiment_id=experiment_id,
            label=label,
            rented=rented,
            fiscal_year=fiscal,
            runs=count,
            each=each,
            direct=direct,
            base=direct if in_base else none,
            indirect=ledger.compute(
                "product", [count, one], "usd", f"overhead on {what}, {fiscal}"
            ),
            amount=amount,
            price=price,
        )

    def kwh(self, machine: Machine, days: Num, model: str) -> Num:
        """Energy of one run."""
        ledger = self.ledger
        kw = ledger.compute(
            "ratio", [self.watts(machine), self.kilo], "kW", f"power of {machine.label}"
        )
        pue = self.setting("electricity.pue", self.problem.rules.pue, "factor", "PUE")
        return ledger.compute(
            "product", [kw, self.hours, days, pue], "kwh", f"energy of {model} on {machine.label}"
        )

    def watts(self, machine: Machine) -> Num:
        """Power of a machine at the wall, from the figures of the catalogue."""
        ledger, power = self.ledger, machine.power
        assert power is not None
        build = self.loaded.builds.get(machine.machine_id)

        def host(value: Decimal | None, column: str, label: str, unit: str = "W") -> Num:
            assert build is not None and value is not None
            return ledger.leaf(
                "host", value, unit, label, host_id=build.host.host_id, column=column
            )

        if power.stated_w is not None:
            assert build is not None
            return host(power.stated_w, "wall_w", f"power of {build.host.name}")
        assert power.gpu_w is not None
        gpu = ledger.leaf(
            "gpu",
            power.gpu_w,
            "W",
            f"rated power of {machine.gpu_name}",
            gpu_id=machine.gpu_id,
            column="tdp_w",
        )
        count = ledger.leaf(
            "unit",
            power.gpu_count,
            "pieces",
            f"GPUs in {machine.label}",
            name="GPUs of a machine",
            machine_id=machine.machine_id,
        )
        if build is not None and build.host.base_w is not None:
            base = host(power.base_w, "base_w", f"power of {build.host.name} beside its GPUs")
        else:
            base = self.setting(
                "electricity.host_watts",
                self.loaded.grant.host_watts,
                "W",
                "power beside the GPUs",
            )
        of = [gpu, count, base]
        if build is not None and power.psu_efficiency is not None:
            label = f"efficiency of the power supplies of {build.host.name}"
            of.append(host(power.psu_efficiency, "psu_efficiency", label, "share"))
        return ledger.compute("at-the-wall", of, "W", f"power of {machine.label}, in W")
