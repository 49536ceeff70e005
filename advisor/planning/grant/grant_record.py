"""A grant as its file has it, all amounts in its currency (a pure record)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal

from advisor.parse import PriceRule
from advisor.planning.currency import DOLLARS, Currency
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_file import (
    AwardYears,
    CostLine,
    Funder,
    GrantAllocation,
    GrantExperiment,
    Owned,
    RentalKind,
)
from advisor.planning.grant.institution import Institution
from advisor.planning.grant.programmes import AllocationValue
from advisor.planning.solver.problem import Objective
from advisor.ranking.times import EvidenceRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A grant as its file has it; amounts are in its currency."""

    file: str
    title: str
    start: date
    years: int
    objective: Objective
    budget: Decimal | None
    year_budget: tuple[Decimal, ...] | None
    carry_over: bool
    evidence: EvidenceRule
    predictions: bool
    """Whether predicted times may be planned with."""
    prices: PriceRule
    experiments: tuple[GrantExperiment, ...]
    owned: tuple[Owned, ...]
    buy: bool
    buy_gpus: tuple[str, ...] | None
    buy_years: tuple[int, ...] | None
    max_machines: int | None
    lead_days: int
    lifetime_years: Decimal | None
    rent: bool
    rent_gpus: tuple[str, ...] | None
    rent_kinds: tuple[RentalKind, ...]
    rent_providers: tuple[str, ...] | None
    utilisation: Decimal
    queue_days: Decimal
    price_per_kwh: Decimal | None
    pue: Decimal
    host_watts: Decimal
    electricity_source: str | None
    institution: Institution
    funder: Funder = "plain"
    award_years: AwardYears = "start"
    currency: Currency = DOLLARS
    """Of all amounts, of the institution's too."""
    vat: Decimal = Decimal(0)
    """Value-added tax on hardware and rent, as a share of the price without it."""
    order_every_months: int = 12
    """Orders may be placed on the first day of a year, or every that many months."""
    price_change: Decimal = Decimal(0)
    """Of hardware a year, as a share."""
    rent_change: Decimal = Decimal(0)
    electricity_change: Decimal = Decimal(0)
    order_on: tuple[date, ...] | None = None
    """The days on which machines may be ordered, where they are given one by one."""
    educational_discount: Decimal = Decimal(0)
    cost_share: Decimal = Decimal(0)
    """Share of every machine that ``cost_share_by`` pays."""
    cost_share_by: str | None = None
    utilisation_by_year: tuple[Decimal, ...] | None = None
    """``utilisation`` is then their mean."""
    slack: Decimal = Decimal(0)
    """Share of the days before every deadline that is kept free of runs."""
    longest_run_days: Decimal | None = None
    failures: Decimal = Decimal(0)
    """Share of a run that is trained again."""
    share_gpus: bool = False
    """Whether a run may take some of a machine's GPUs, and leave the others to another run."""
    network_gbit: Decimal | None = None
    """Between two machines; given, a run may take two, by a predicted scaling."""
    allocations: tuple[GrantAllocation, ...] = ()
    allocation_values: tuple[AllocationValue, ...] = ()
    """What they are planned with, each with its source."""
    costs: tuple[CostLine, ...] = ()
    pays_electricity: bool = False
    shared: Decimal = Decimal(0)
    """What ``shared_by`` pays of all costs."""
    shared_by: str | None = None
    shared_by_year: tuple[Decimal, ...] | None = None
    """The same of each award year, where the years have money of their own."""

    @property
    def charges_overhead(self) -> bool:
        """Whether anything of it bears overhead, by the institution's rates or a line's own."""
        return self.institution.charges_overhead or any(c.overhead.rate for c in self.costs)

    @property
    def shared_reach(self) -> Decimal:
        """How much further the budget reaches with each unit that others pay: not where they pay
        the institution's part, and further where the funder adds to what it pays."""
        form = funder_form(self.funder)
        if form.pays is not None:
            return Decimal(0)
        return 1 + self.institution.overhead_rate if form.adds_indirect else Decimal(1)

    @property
    def others_cents(self) -> int:
        """What others pay, as far as it reaches, in whole hundredths."""
        return int(self.shared * self.shared_reach * 100)

    @property
    def end(self) -> date:
        """The day after the last."""
        return _later(self.start, self.years)

    @property
    def anniversaries(self) -> tuple[date, ...]:
        """The first day of each twelve months of the grant, and the day after the last."""
        return tuple(_later(self.start, years) for years in range(self.years + 1))

    @property
    def year_dates(self) -> tuple[date, ...]:
        """The first day of each award year, and the day after the last."""
        if self.award_years == "start":
            return self.anniversaries
        month, day = (1, 1)
        if self.award_years == "fiscal":
            month, day = self.institution.fiscal_year_start
        cuts = [date(year, month, day) for year in range(self.start.year, self.end.year + 1)]
        return (self.start, *(cut for cut in cuts if self.start < cut < self.end), self.end)


def _later(day: date, years: int) -> date:
    try:
        return day.replace(year=day.year + years)
    except ValueError:  # 29 February
        return date(day.year + years, 3, 1)
