"""What a plan is made from: experiments, machines, rentals, money rules (pure records).

Days count from the first day of the grant. Prices and rates are exact US dollars; what is paid and
what may be spent is whole US cents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Literal, get_args

from price_catalog.power import PowerFigures

Objective = Literal["cheapest", "most-runs", "soonest"]
"""Everything in time for the least money; the most runs, or the earliest end, within the budget."""
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
EPSILON = 1e-6
"""Days and dollars below this are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTime:
    """How long one run of a model takes on one machine, and how anybody knows."""

    measurement_id: str
    days: float
    days_low: float | None
    days_high: float | None
    basis: str
    timing: str
    method: str
    verdict: str | None
    verdict_reason: str | None
    source_id: str
    measured_on: date | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceLine:
    """One line of what a machine is bought from, with the quote that gives its price."""

    item_kind: str
    item_id: str
    label: str
    quantity: int
    unit_usd: Decimal
    quote_id: str
    quote_kind: str
    vendor: str
    quoted_on: date
    source_id: str
    parts: tuple[tuple[str, str, Decimal, date], ...] = ()
    """Role, detail, price and date of each part, where the item has a parts list."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine that could be bought, or that the lab owns. One run uses all of its GPUs."""

    machine_id: str
    label: str
    gpu_id: str
    gpu_name: str
    gpu_count: int
    times: Mapping[str, RunTime]
    """By recipe."""
    lines: tuple[PriceLine, ...] = ()
    """Empty for a machine that the lab owns."""
    power: PowerFigures | None = None
    """While it trains, before cooling; None where electricity is not charged."""
    owned: int = 0
    """How many of them the lab has; 0 for one that could be bought."""
    ready_day: int = 0
    """From when an owned machine can be used."""
    upgrade_of: str | None = None
    """The owned machine that this one is made from by adding ``lines``; that machine ends when
    they are there. It is one machine alone (``owned`` is 1)."""

    @property
    def price_usd(self) -> Decimal:
        """The whole machine, before overhead."""
        return sum((line.unit_usd * line.quantity for line in self.lines), Decimal(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rental:
    """An instance that could be rented by the hour. As many at once as are needed."""

    rental_id: str
    label: str
    provider: str
    kind: str
    gpu_id: str
    gpu_count: int
    usd_per_hour: Decimal
    priced_on: date
    source_id: str
    times: Mapping[str, RunTime]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """Runs of one model inside one window of days."""

    experiment_id: str
    name: str
    model: str
    runs: int
    release_day: int
    due_day: int
    who: str | None = None
    value: int = 1
    """How much a run counts where not all can be done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How money and time are counted. Settings of the grant, never advice."""

    equipment_threshold_usd: Decimal = Decimal(0)
    overhead_rate: Decimal = Decimal(0)
    equipment_in_base: bool = False
    fabrication_is_equipment: bool = True
    cloud_in_base: bool = True
    electricity_in_base: bool = True
    usd_per_kwh: Decimal | None = None
    """None: the grant is not charged for electricity."""
    pue: Decimal = Decimal(1)
    utilisation: Decimal = Decimal(1)
    """Share of the calendar in which a machine trains for these experiments."""
    queue_days: Decimal = Decimal(0)
    """Waiting before each run, during which its machine is taken."""
    lead_days: int = 0
    """From the order to the first run."""
    lifetime_years: Decimal | None = None
    """Given, the plan is judged net of the value that machines keep; None: by what is paid."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanningProblem:
    """One question to the solver."""

    start: date
    year_days: tuple[int, ...]
    """The first day of each year of the grant, and the day after the last."""
    experiments: tuple[Experiment, ...]
    machines: tuple[Machine, ...]
    rentals: tuple[Rental, ...]
    rules: Rules
    objective: Objective = "cheapest"
    budget_cents: int | None = None
    """None: no limit."""
    year_budget_cents: tuple[int, ...] | None = None
    carry_over: bool = True
    buy_years: tuple[int, ...] | None = None
    """In which years (0 is the first) something may be bought; None: in all."""
    max_machines: int | None = None
    """How many may be bought in all."""
    require_gpu: str | None = None
    """At least one machine with this GPU must be bought (to price an alternative)."""
    finish_day: int | None = None
    """Everything must be over by then, whatever its own due day."""
    min_runs: int | None = None
    """At least so much value of runs must be done (to price one run more)."""

    @property
    def years(self) -> int:
        """How many years the grant has."""
        return len(self.year_days) - 1

    def options(self) -> dict[str, Machine | Rental]:
        """What a run can be placed on, by the id that `Placed` names."""
        machines: dict[str, Machine | Rental] = {m.machine_id: m for m in self.machines}
        return machines | {r.rental_id: r for r in self.rentals}

    def due(self, experiment: Experiment) -> int:
        """The last day of an experiment's window."""
        return min(experiment.due_day, self.finish_day or experiment.due_day, self.year_days[-1])

    def elapsed(self, time: RunTime) -> float:
        """Days of the calendar that one run takes on a machine of the lab."""
        return time.days / float(self.rules.utilisation) + float(self.rules.queue_days)


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase:
    """So many machines of one kind, bought in one year (0 is the first)."""

    machine_id: str
    year: int
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """So many runs of an experiment on the machines of one kind that came in one year."""

    experiment_id: str
    machine_id: str
    year: int
    """Of purchase; -1 for an owned machine."""
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Rented:
    """So many runs of an experiment on a rented instance, started in one year."""

    experiment_id: str
    rental_id: str
    year: int
    runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """One run on one machine: when, in days. More than one piece where it is paused."""

    experiment_id: str
    run: int
    """From 1."""
    machine_id: str
    """Of the machine or the rental."""
    year: int
    unit: int
    """Which of the machines of this purchase, from 1; for a rental which instance at once."""
    pieces: tuple[tuple[float, float], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """An answer: what to buy and rent, which runs go where, and how sure the optimum is."""

    purchases: tuple[Purchase, ...]
    work: tuple[Work, ...]
    rented: tuple[Rented, ...]
    placed: tuple[Placed, ...]
    left_out: Mapping[str, int]
    """Runs not done, by experiment; empty where all are."""
    cost_cents: int
    """What is paid: purchases, rent, electricity and overhead."""
    judged_cents: int
    """What the plan was compared by: the cost, less the value that machines keep."""
    runs: int
    value: int
    finish_day: float
    proven: bool
    gap: float | None
    """Relative distance to the best bound where optimality was not proven."""
    seconds: float = field(compare=False, default=0.0)
    rounds: int = field(compare=False, default=1)
