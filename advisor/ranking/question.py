"""What candidates are asked for, and the question asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from advisor.costs.cost_of_owning import PAPER_TERMS, CostTerms
from advisor.typed_input import Money, PriceRule, parse_choice

if TYPE_CHECKING:
    from advisor.ranking.fabric import Fabric
    from advisor.ranking.times import EvidenceRule
    from price_catalog.power import Supply

RankRule = Literal["days", "cost", "experiment-cost"]
"""``days``: fastest first; ``cost``: cheapest; ``experiment-cost``: cheapest a run."""
RANK_RULES: tuple[RankRule, ...] = get_args(RankRule)


def parse_rank_rule(text: str) -> RankRule:
    """How to rank. Raises InputError."""
    return parse_choice(text.replace("_", "-"), RANK_RULES, "ranking by")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a person asks of a set of candidates."""

    budget_usd: Decimal | None = None
    """None: no limit."""
    budget_typed: Money | None = None
    """The budget in the currency that it was typed in; None for US dollars."""
    max_days: float | None = None
    rule: RankRule = "days"
    terms: CostTerms = PAPER_TERMS
    """What owning a machine costs: years of life, share in use, electricity, room, resale."""


class CandidatesKey(NamedTuple):
    """What a set of candidates depends on; the question asked of it is apart."""

    recipe_id: str
    prices: PriceRule
    evidence: EvidenceRule
    gpu_ids: frozenset[str] | None = None
    """None: all."""
    supply: Supply | None = None
    """The lab's circuit; None: any."""
    network: Fabric | None = None
    """Between two machines for one model; None: one machine."""
    software: str = "ours"
    """Whose program trains: ``ours``, ``plain`` or ``tuned``."""
    buy_in: str | None = None
    """The country that sellers must deliver to, by its two letters; None: any."""
