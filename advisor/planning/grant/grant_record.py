"""A grant as its file has it, all amounts in its currency (a pure record)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import pairwise
from math import ceil, floor

from advisor.costs.cost_of_owning import PAPER_TERMS, CostTerms
from advisor.planning.currency import DOLLARS, Currency
from advisor.planning.grant.allocation_programmes import AllocationValue
from advisor.planning.grant.funder import funder_form
from advisor.planning.grant.grant_keys import (
    AwardYears,
    CostLine,
    ElectricityTable,
    Funder,
    GrantAllocation,
    GrantExperiment,
    Owned,
    Procurement,
    Purchases,
    Rentals,
    Running,
)
from advisor.planning.grant.institution import Institution
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
    purchases: Purchases
    rentals: Rentals
    running: Running
    electricity: ElectricityTable
    price_per_kwh: Decimal | None
    """None where the grant does not pay for electricity."""
    institution: Institution
    funder: Funder = "plain"
    award_years: AwardYears = "start"
    currency: Currency = DOLLARS
    """Of all amounts, of the institution's too."""
    vat: Decimal = Decimal(0)
    """Value-added tax on hardware and rent, as a share of the price without it."""
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
    def buy_years(self) -> tuple[int, ...] | None:
        """In which years (0 is the first) something may be bought; None: in all."""
        years = self.purchases.years
        return None if years is None else tuple(sorted({year - 1 for year in years}))

    @property
    def rent_providers(self) -> tuple[str, ...] | None:
        """Of whom one may rent; None: of all."""
        return self.rentals.providers or self.procurement.providers

    @property
    def utilisation(self) -> Decimal:
        """The one there is, or the mean over the days of the years."""
        shares = self.running.utilisation_by_year
        return self.running.utilisation if shares is None else self.mean_of_years(shares)

    def mean_of_years(self, shares: Sequence[Decimal]) -> Decimal:
        """Over the days of the award years."""
        spans = [(b - a).days for a, b in pairwise(self.year_dates)]
        total = sum((share * days for share, days in zip(shares, spans, strict=True)), Decimal(0))
        return (total / sum(spans)).quantize(Decimal("0.000001")).normalize()

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
        return self.assumed._replace(
            lifetime_years=self.purchases.lifetime_years or self.assumed.lifetime_years,
            utilisation=self.assumed.utilisation if self.utilisation == 1 else self.utilisation,
            electricity_usd_per_kwh=usd,
            pue=self.assumed.pue if self.electricity.pue == 1 else self.electricity.pue,
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
