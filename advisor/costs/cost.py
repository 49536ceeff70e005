"""What a machine costs, and what one experiment on it costs (pure; exact Decimals)."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

DAYS_PER_YEAR = 365
HOURS_PER_DAY = 24
MONTHS_PER_YEAR = 12
DEFAULT_LIFETIME_YEARS = 5.0
"""The paper's section 4.1: "conservatively assuming a five-year hardware lifespan"."""
CENT = Decimal("0.01")


def overall_cost_usd(host_price_usd: Decimal, gpu_price_usd: Decimal, gpu_count: int) -> Decimal:
    """The whole machine: the host and its GPUs, in US dollars."""
    if gpu_count < 1:
        raise ValueError(f"a build has at least one GPU, not {gpu_count}")
    return host_price_usd + gpu_price_usd * gpu_count


def experiment_cost_usd(
    overall_usd: Decimal, training_days: float, lifetime_years: float = DEFAULT_LIFETIME_YEARS
) -> Decimal:
    """One training run's share of the machine, in US dollars to the cent.

    Overall cost x training days / lifetime in days (365 to the year), as in section 4.1.
    """
    if lifetime_years <= 0:
        raise ValueError(f"a machine serves longer than {lifetime_years} years")
    lifetime_days = Decimal(str(lifetime_years)) * DAYS_PER_YEAR
    share = overall_usd * Decimal(str(training_days)) / lifetime_days
    return share.quantize(CENT, rounding=ROUND_HALF_UP)
