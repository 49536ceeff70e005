"""What a plan is made from: experiments, machines, rentals, money rules (pure records).

Days count from the first day of the grant. Amounts are in the grant's currency; what is paid and
what may be spent is in whole hundredths of it.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal
from math import ceil
from typing import Literal, get_args

from advisor.planning.currency import DOLLARS, Currency
from price_catalog.power import PowerFigures
from price_catalog.providers import written_provider

Objective = Literal["cheapest", "most-runs", "soonest"]
"""Everything in time for the least money; the most runs, or the earliest end, within the budget."""
OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
BUY_IN = "buy-in"
"""The kind of price of a share of a condo, whose ``quote_id`` is the grant's key."""
DAYS_OF_ONE_YEAR = 366
EPSILON = 1e-6
"""Days and dollars below this are rounding."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTime:
    """How long one run of a model takes on one machine, and where that is known from."""

    measurement_id: str
    days: float
    days_low: float | None
    days_high: float | None
    basis: str
    timing: str
    verdict: str | None
    source_id: str
    measured_on: date | None
    whole: tuple[float, Decimal] | None = None
    """Of runs on other numbers of tokens than the recipe has: its days, and the share of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceLine:
    """One line of what a machine is bought from, with the quote that gives its price."""

    item_kind: str
    item_id: str
    label: str
    quantity: int
    unit_price: Decimal
    quote_id: str
    quote_kind: str
    vendor: str
    quoted_on: date
    source_id: str
    parts: tuple[tuple[str, str, Decimal, date], ...] = ()
    """Role, detail, price and date of each part, where the item has a parts list."""
    quoted_usd: Decimal | None = None
    """What ``unit_price`` is converted from; None where it is asked in the grant's currency."""
    tax: Decimal = Decimal(0)
    """The value-added tax that the grant pays and ``unit_price`` has in it, as a share."""

    @property
    def before_tax(self) -> Decimal:
        """Of all pieces."""
        one = self.unit_price
        return self.quantity * (round(one / (1 + self.tax), 2) if self.tax else one)


@dataclass(frozen=True, slots=True, kw_only=True)
class Machine:
    """A machine that could be bought, or that the lab owns. One run uses all of its GPUs; runs on
    some of them are on machines of their own, which are ``part_of`` it."""

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
    """While it trains, before cooling; None where it is not known."""
    on_sale: bool = True
    """Whether a seller has it at a price of the last year."""
    owned: int = 0
    """How many of them the lab has; 0 for one that could be bought."""
    ready_day: int = 0
    """From when an owned machine can be used."""
    upgrade_of: str | None = None
    """The owned machine that this one is made from by adding ``lines``; that machine ends when
    they are there. It is one machine alone (``owned`` is 1)."""
    part_of: str | None = None
    """The machine that this one is some of the GPUs of, or two of; it is neither bought nor
    owned by itself, and runs on it share the GPUs of those machines."""
    share_of: str | None = None
    """The campus condo that it is bought into: housed, run and powered there, and paid as stated,
    without tax, discount or anything on top."""
    in_base: bool | None = None
    """Of such a share, whether overhead is charged on it as on a service; None: as on equipment."""
    whole_gpus: int = 0
    """How many GPUs that machine has; ``power`` is that of the whole machine too."""

    @property
    def nodes(self) -> int:
        """How many machines one run on it takes."""
        return max(self.gpu_count // self.whole_gpus, 1) if self.whole_gpus else 1

    @property
    def running_w(self) -> Decimal | None:
        """What a run on it draws at the wall, in W: of a part its GPUs and all that is beside
        them, while the other GPUs idle."""
        watts = None if self.power is None else self.power.wall_w
        if watts is None or self.power is None or self.part_of is None:
            return watts
        if self.gpu_count >= self.whole_gpus:
            return watts * self.nodes
        loss = (
            Decimal(1)
            if self.power.stated_w is not None
            else self.power.psu_efficiency or Decimal(1)
        )
        return watts - (self.whole_gpus - self.gpu_count) * (self.power.gpu_w or Decimal(0)) / loss

    @property
    def price(self) -> Decimal:
        """The whole machine, before its tax and overhead."""
        return sum((line.before_tax for line in self.lines), Decimal(0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rental:
    """An instance that could be rented by the hour. As many at once as are needed."""

    rental_id: str
    label: str
    provider: str
    kind: str
    gpu_id: str
    gpu_count: int
    price_per_hour: Decimal
    priced_on: date
    source_id: str
    times: Mapping[str, RunTime]
    quoted_usd: Decimal | None = None
    """What ``price_per_hour`` is converted from; None in a grant in US dollars."""
    allocation: str | None = None
    """The allocation that its hours come from; None for an instance on the open market."""
    in_base: bool | None = None
    """Whether overhead is charged on it; None: as the institution does on rented computers."""
    queue_days: Decimal = Decimal(0)
    """Waiting before each job."""
    max_job_days: Decimal | None = None
    """A run that takes longer is several jobs, each from the last checkpoint."""
    row_of_one: str = ""
    """The price of one GPU, of which ``price_per_hour`` is that many times, where its provider
    names none of that many in one machine."""
    offers: tuple[Rental, ...] = ()
    """What each provider asks for the same, the cheapest first: this one is their median."""

    @property
    def lowest(self) -> Rental:
        """The same at the cheapest provider."""
        return replace(self.offers[0], times=self.times) if self.offers else self

    @property
    def who(self) -> str:
        """Who rents it out, as they write themselves; of an allocation its name."""
        return self.provider if self.allocation is not None else written_provider(self.provider)

    @property
    def gpus(self) -> str:
        """Its label without who rents it out, and how."""
        return self.label.removesuffix(f", {self.who}").removesuffix(f", {self.kind}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Allocation:
    """Hours that are granted on a campus cluster or elsewhere; `Rental`s draw on it."""

    allocation_id: str
    name: str
    gpu_hours_a_year: Decimal | None
    gpu_hours: Decimal | None = None
    """In all, used in any year; without either there is no limit but money."""
    odds: Decimal = Decimal(1)
    """That it is awarded."""
    first_day: int = 0
    last_day: int | None = None
    year_shares: tuple[Decimal, ...] | None = None
    """How much of those hours each award year has, where a turn of years cuts one; None: all."""

    def pool_of(self, year: int) -> tuple[int, Decimal | None]:
        """Which pool of GPU-hours a run that starts in an award year (0 is the first) draws on, and
        how many that has. Hours in all, and what is over within a year, are one pool."""
        if self.gpu_hours is not None:
            return 0, self.gpu_hours
        if self.last_day is not None and self.last_day - self.first_day <= DAYS_OF_ONE_YEAR:
            return 0, self.gpu_hours_a_year
        if self.gpu_hours_a_year is None or self.year_shares is None:
            return year, self.gpu_hours_a_year
        return year, self.gpu_hours_a_year * self.year_shares[year]


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
    model_name: str = ""
    """As people call it, where that is not ``model``."""
    value: int = 1
    """How much a run counts where not all can be done."""
    min_runs: int = 0
    """At least as many are done, where not all can be."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineExtra:
    """Something that is paid for every machine that is bought; just one of the two is given."""

    key: str
    """The key of the number in the grant's file."""
    name: str
    kind: str = "other"
    amount: Decimal | None = None
    share_of_price: Decimal | None = None
    apart: bool = False
    """Whether the funder's form has a line of its own for it, which bears overhead: then it is no
    part of the machine's price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FixedCost:
    """What the grant pays regardless of purchases: storage, network, staff."""

    key: str
    """The key of the amount in the grant's file."""
    name: str
    kind: str
    year: int
    """Of the grant, 0 is the first."""
    amount: Decimal
    """Of a whole year, before it changes: what the file says."""
    change: Decimal = Decimal(0)
    """By which an amount of every year rises from one year to the next."""
    days: int | None = None
    """Of a year that the turn of a calendar or fiscal year cuts short: its share is paid."""
    in_base: bool
    """Whether overhead is charged on it."""
    rate: Decimal | None = None
    """Of overhead, where this line has one of its own; ``rate_key`` is its key."""
    rate_key: str = ""
    day: int = 0
    """The first of that year."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How money and time are counted. Settings of the grant, never advice."""

    equipment_threshold: Decimal = Decimal(0)
    overhead_rate: Decimal = Decimal(0)
    equipment_in_base: bool = False
    fabrication_is_equipment: bool = True
    cloud_in_base: bool = True
    electricity_in_base: bool = True
    price_per_kwh: Decimal | None = None
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
    slack: Decimal = Decimal(0)
    """Share of the days before every deadline that stays free of runs."""
    longest_run_days: Decimal | None = None
    """No run may take more days of the calendar than this, once it has begun."""
    failures: Decimal = Decimal(0)
    """Share of a run's time that is trained again, after failures, or spent on checkpoints."""
    year_overhead: tuple[tuple[int, Decimal], ...] | None = None
    """Where the rate changes: the first day of each year of the grant and its rate;
    ``overhead_rate`` is then their mean, for what has no year of its own: electricity."""
    overhead_rate_cloud: Decimal | None = None
    """On rented computers; None: ``overhead_rate``, as for ..."""
    overhead_rate_electricity: Decimal | None = None
    """... electricity."""
    discount: Decimal = Decimal(0)
    """Share of every price of hardware that an educational customer does not pay."""
    vat: Decimal = Decimal(0)
    """Value-added tax that the grant bears, on hardware and on rent."""
    price_change: Decimal = Decimal(0)
    """By which share prices of hardware rise (or fall) a year after the grant's first day."""
    rent_change: Decimal = Decimal(0)
    """The same of rents, from one year of the grant to the next."""
    electricity_change: Decimal = Decimal(0)
    """The same of electricity, a year; every kWh has the price of the middle of the grant."""
    cost_share: Decimal = Decimal(0)
    """Share of every machine that others pay."""
    machine_extras: tuple[MachineExtra, ...] = ()
    """What is paid with every machine: warranty, rack, network card."""
    life_months: int | None = None
    """Given, only depreciation within the grant is charged: straight-line over these months ..."""
    use_share: Decimal = Decimal(1)
    """... times the share of use for the project."""
    grant_months: int = 0
    """How long the grant is, for the depreciation ..."""
    first_day: date | None = None
    """... and when it begins: months are counted from then, in the calendar."""
    currency: Currency = DOLLARS
    """Of all amounts."""
    year_utilisation: tuple[Decimal, ...] | None = None
    """Where it changes: that of each year; ``utilisation`` is then their mean."""

    @property
    def rents_differ(self) -> bool:
        """Whether a rented run costs another amount in another year."""
        return bool(self.rent_change) or self.year_overhead is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class RentLimit:
    """What rent of instances with one GPU may cost in all, without overhead: what a machine with
    that GPU loses in value within the grant."""

    gpu_id: str
    cents: int
    machine: str


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
    paid_early: bool = False
    """Whether every run's money counts whole in the first year in which it may run, or in each of
    them where none is carried over: then no plan breaks a year's budget, and some are missed."""
    buy_years: tuple[int, ...] | None = None
    """In which years (0 is the first) something may be bought; None: in all."""
    max_machines: int | None = None
    """How many may be bought in all."""
    require_gpu: str | None = None
    """At least one machine with this GPU must be bought (to price an alternative)."""
    order_days: tuple[int, ...] | None = None
    """Days on which something may be ordered; None: the first of each year of the grant."""
    buy_only: frozenset[tuple[str, int]] | None = None
    """Machines by id and order: nothing else may be bought. None: everything may be."""
    allocations: tuple[Allocation, ...] = ()
    rent_limits: tuple[RentLimit, ...] = ()
    fixed: tuple[FixedCost, ...] = ()
    finish_day: int | None = None
    """Everything must be over by then, whatever its own due day."""
    min_runs: int | None = None
    """Runs of at least this value must be done (to price one run more)."""

    @property
    def years(self) -> int:
        """How many years the grant has."""
        return len(self.year_days) - 1

    def options(self) -> dict[str, Machine | Rental]:
        """What a run can be placed on, by the id that `Placed` names."""
        machines: dict[str, Machine | Rental] = {m.machine_id: m for m in self.machines}
        return machines | {r.rental_id: r for r in self.rentals}

    def whole(self, machine_id: str) -> str:
        """The machine that another is a part of; itself where it is whole."""
        found = next((m.part_of for m in self.machines if m.machine_id == machine_id), None)
        return found or machine_id

    @property
    def orders(self) -> tuple[int, ...]:
        """The days that ``Purchase.order`` counts."""
        return self.year_days[:-1] if self.order_days is None else self.order_days

    def year_of(self, day: float) -> int:
        """The year of the grant (0 is the first) that a day is in."""
        return max(bisect_right(self.year_days, day, hi=self.years) - 1, 0)

    def due(self, experiment: Experiment) -> int:
        """The last day of an experiment's window."""
        return min(experiment.due_day, self.finish_day or experiment.due_day, self.year_days[-1])

    def elapsed(self, time: RunTime) -> float:
        """Days of the calendar that one run takes a machine of the lab, its queue included."""
        return self._run_days(time) / float(self.rules.utilisation) + float(self.rules.queue_days)

    def _run_days(self, time: RunTime) -> float:
        return time.days * float(1 + self.rules.failures)

    def rented_days(self, rental: Rental, model: str) -> float:
        """Days of the calendar that one run takes on a rented instance, its queue included."""
        days = self._run_days(rental.times[model])
        jobs = 1 if rental.max_job_days is None else ceil(days / float(rental.max_job_days))
        return days + jobs * float(rental.queue_days)

    def usable(self, days: float) -> float:
        """How many of the days before a deadline runs may take."""
        return days * float(1 - self.rules.slack)

    def begun_days(self, option: Machine | Rental, model: str) -> float:
        """Days of the calendar that one run takes once it has begun, without its queue."""
        days = self._run_days(option.times[model])
        return days / float(self.rules.utilisation) if isinstance(option, Machine) else days

    def too_long(self, option: Machine | Rental, model: str) -> bool:
        """Whether one run takes more days than the limit."""
        longest = self.rules.longest_run_days
        return longest is not None and self.begun_days(option, model) > float(longest) + EPSILON

    def over_the_limit_days(self, option: Machine | Rental, model: str) -> float:
        """What one run takes at the upper end of its interval, in days of the calendar; 0 where
        that is within the limit."""
        time = option.times[model]
        slow = replace(option, times={model: replace(time, days=time.days_high or time.days)})
        return self.begun_days(slow, model) if self.too_long(slow, model) else 0.0

    def worked(self, day: float) -> float:
        """Days of mean utilisation from the grant's first day until ``day``."""
        every = self.rules.year_utilisation
        if every is None:
            return day
        total = 0.0
        for year, share in enumerate(every):
            start, end = self.year_days[year], self.year_days[year + 1]
            until = day if year + 1 == len(every) else min(day, end)
            total += max(until - start, 0.0) * float(share / self.rules.utilisation)
        return total

    def day_when(self, worked: float) -> float:
        """The day by which this many days of mean utilisation are over: the inverse of `worked`."""
        every = self.rules.year_utilisation
        if every is None:
            return worked
        for year, share in enumerate(every):
            start, end = self.year_days[year], self.year_days[year + 1]
            pace = float(share / self.rules.utilisation)
            if worked <= (end - start) * pace or year + 1 == len(every):
                return start + worked / pace
            worked -= (end - start) * pace
        raise AssertionError("a grant has a year at least")
