"""Every term of what a machine costs over its life: price, power, room, people, money (pure)."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

DAYS_PER_YEAR = 365
HOURS_PER_DAY = 24
MONTHS_PER_YEAR = 12
CENT = Decimal("0.01")


class CostTerms(NamedTuple):
    """What a machine costs beside its price, as `cost_terms` reads it; 0 is not counted."""

    lifetime_years: Decimal = Decimal(5)
    utilisation: Decimal = Decimal(1)
    """The share of its lifetime in which the machine trains; between 0 and 1."""
    electricity_usd_per_kwh: Decimal = Decimal(0)
    pue: Decimal = Decimal(1)
    """Power usage effectiveness: what the room draws for each watt of the machine."""
    hosting_usd_per_u_month: Decimal = Decimal(0)
    staff_usd_per_year: Decimal = Decimal(0)
    resale_share: Decimal = Decimal(0)
    """What the machine still brings at the end of its life, as a share of its price."""
    financing_rate: Decimal = Decimal(0)
    """Interest a year on a loan over the lifetime, paid in equal monthly parts; 0 is no loan."""

    @property
    def counts_price_alone(self) -> bool:
        """Whether owning costs a share of the price and nothing beside it."""
        return not (
            self.electricity_usd_per_kwh or self.hosting_usd_per_u_month or self.staff_usd_per_year
        )


PAPER_TERMS = CostTerms()
"""The paper's section 4.1: the price of the machine over five years, and nothing else."""


class TotalCostOfOwnership(NamedTuple):
    """Every term of owning one machine over its life, in US dollars, unrounded."""

    terms: CostTerms
    hardware_usd: Decimal
    resale_usd: Decimal
    """Negative: it comes back."""
    financing_usd: Decimal
    hosting_usd: Decimal
    staff_usd: Decimal
    wall_w: Decimal | None
    """At full load; None where the power of the GPUs is not known."""
    electricity_usd_per_day: Decimal | None
    """Of training; None where the power is not known and electricity has a price."""

    @property
    def fixed_usd(self) -> Decimal:
        """What the life costs whether or not the machine trains."""
        return (
            self.hardware_usd
            + self.resale_usd
            + self.financing_usd
            + self.hosting_usd
            + self.staff_usd
        )

    @property
    def busy_days(self) -> Decimal:
        """The days of its life in which it trains."""
        return self.terms.lifetime_years * DAYS_PER_YEAR * self.terms.utilisation

    @property
    def electricity_usd(self) -> Decimal | None:
        """Over the life."""
        day = self.electricity_usd_per_day
        return None if day is None else day * self.busy_days

    @property
    def life_usd(self) -> Decimal | None:
        """Everything, over the life."""
        electricity = self.electricity_usd
        return None if electricity is None else self.fixed_usd + electricity

    def experiment_usd(self, training_days: float) -> Decimal | None:
        """One training run's share of the life, to the cent: with PAPER_TERMS the price x days /
        days of the lifetime (365 to the year), as in the paper's section 4.1."""
        days = Decimal(str(training_days))
        if self.electricity_usd_per_day is None:
            return None
        share = self.fixed_usd * days / self.busy_days + self.electricity_usd_per_day * days
        return share.quantize(CENT, rounding=ROUND_HALF_UP)

    def experiments(self, training_days: float) -> Decimal:
        """How many such runs the life has room for."""
        return self.busy_days / Decimal(str(training_days))


def total_cost_of_ownership(
    hardware_usd: Decimal,
    terms: CostTerms = PAPER_TERMS,
    *,
    wall_w: Decimal | None = None,
    rack_units: Decimal | None = None,
) -> TotalCostOfOwnership:
    """Every term of owning a machine. A machine without rack units (a desktop) hosts itself."""
    months = terms.lifetime_years * MONTHS_PER_YEAR
    price = terms.electricity_usd_per_kwh
    a_day = None
    if price == 0:
        a_day = Decimal(0)
    elif wall_w is not None:
        a_day = wall_w / 1000 * terms.pue * HOURS_PER_DAY * price
    return TotalCostOfOwnership(
        terms=terms,
        hardware_usd=hardware_usd,
        resale_usd=Decimal(0) - hardware_usd * terms.resale_share,
        financing_usd=_interest_usd(hardware_usd, terms.financing_rate, months),
        hosting_usd=terms.hosting_usd_per_u_month * (rack_units or 0) * months,
        staff_usd=terms.staff_usd_per_year * terms.lifetime_years,
        wall_w=wall_w,
        electricity_usd_per_day=a_day,
    )


def _interest_usd(principal_usd: Decimal, rate: Decimal, months: Decimal) -> Decimal:
    """What a loan paid back in equal monthly parts costs on top of what was lent."""
    if rate == 0 or principal_usd == 0:
        return Decimal(0)
    monthly = rate / MONTHS_PER_YEAR
    payment = principal_usd * monthly / (1 - (1 + monthly) ** -months)
    return payment * months - principal_usd
