"""A grant as its file has it, all amounts in its currency (a pure record)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from math import ceil, floor

from advisor.costs.cost_of_owning import PAPER_TERMS, CostTerms
from advisor.planning.currency import DOLLARS, Currency
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_keys import (
    AwardYears,
    CostLine,
    Funder,
    GrantAllocation,
    GrantExperiment,
    Owned,
    Procurement,
    RentalKind,
)
from advisor.planning.grant.institution import Institution
from advisor.planning.grant.programmes import AllocationValue
from advisor.planning.solver.problem import Objective
from advisor.ranking.times import EvidenceRule
from advisor.typed_input import PriceRule


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A grant as its file has it; amounts are in its currency."""

    file: str
    title: str
    start: date
    months: int
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
    procurement: Procurement = field(default_factory=Procurement)
    """With the institution's where it says nothing."""
    pays_electricity: bool = False
    shared: Decimal = Decimal(0)
    """What ``shared_by`` pays of all costs."""
    shared_by: str | None = None
    assumed: CostTerms = PAPER_TERMS
    """What a run on a machine of one's own is counted by where the file says nothing of it."""
    shared_by_year: tuple[Decimal, ...] | None = None
    """The same of each award year, where the years have money of their own."""

    @property
    def terms(self) -> CostTerms:
        """What a run on a machine of one's own is counted by."""
        price = self.price_per_kwh
        if price is None:
            usd = self.assumed.electricity_usd_per_kwh
        elif self.currency.code == "USD":
            usd = price
        else:
            usd = Decimal(f"{self.currency.in_usd(price):.4g}")
        return replace(
            self.assumed,
            lifetime_years=self.lifetime_years or self.assumed.lifetime_years,
            utilisation=self.assumed.utilisation if self.utilisation == 1 else self.utilisation,
            electricity_usd_per_kwh=usd,
            pue=self.assumed.pue if self.pue == 1 else self.pue,
        )

    @property
    def charges_overhead(self) -> bool:
        """Whether anything of it bears overhead, by the institution's rates or a line's own."""
        return self.institution.charges_overhead or any(c.overhead.rate for c in self.costs)

    @property
    def reach(self) -> Decimal:
        """How far each unit of the budget reaches: further where the funder adds overhead to what
        it is asked for, so that the budget holds direct costs alone."""
        adds = funder_form(self.funder).adds_indirect
        return 1 + self.institution.overhead_rate if adds else Decimal(1)

    @property
    def shared_reach(self) -> Decimal:
        """The same of what others pay; nothing where they pay the institution's part."""
        return self.reach if funder_form(self.funder).pays is None else Decimal(0)

    def reaching(self, own: Decimal, theirs: Decimal) -> int:
        """Which cost, overhead included, two amounts pay for, in whole hundredths."""
        # Overhead is rounded item by item, so that a part of a hundredth may be one.
        return ceil((own * self.reach + theirs * self.shared_reach) * 100)

    def typed_cents(self, cost_cents: int) -> int:
        """The least budget that reaches as far as a cost, beside what others pay."""
        theirs = self.shared * self.shared_reach * 100
        return floor((cost_cents - theirs - 1) / self.reach) + 1

    @property
    def end(self) -> date:
        """The day after the last."""
        return months_later(self.start, self.months)

    @property
    def anniversaries(self) -> tuple[date, ...]:
        """The first day of each twelve months, the last of which may be fewer, and the day after
        the grant."""
        starts = (months_later(self.start, month) for month in range(0, self.months, 12))
        return (*starts, self.end)

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


def months_later(day: date, months: int) -> date:
    """The same day of a later month, or the first of the next where that month has none."""
    year, month = divmod(day.month - 1 + months, 12)
    try:
        return date(day.year + year, month + 1, day.day)
    except ValueError:
        return date(day.year + year, month + 2, 1)  # after 31 December nothing is missing
