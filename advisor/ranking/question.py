"""A question about a set of candidates."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from advisor.costs.cost import DEFAULT_LIFETIME_YEARS

RULES = ("days", "cost", "experiment-cost")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person asks of a set of candidates."""

    budget_usd: Decimal | None = None
    """None: no limit."""
    max_days: float | None = None
    rule: str = "days"
    """``days``: fastest first; ``cost``: cheapest; ``experiment-cost``: cheapest a run."""
    lifetime_years: float = DEFAULT_LIFETIME_YEARS

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"rank by '{self.rule}' is not one of {', '.join(RULES)}")
