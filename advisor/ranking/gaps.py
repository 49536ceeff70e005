"""Why a build is left out, and which of the reasons no question changes (pure)."""

from __future__ import annotations

from typing import Literal, get_args

from advisor.ranking.times import BestTime, EvidenceRule

NO_PRICE = -1
Reason = Literal[
    "over-budget",
    "too-slow",
    "does-not-fit",
    "implausible-time",
    "no-time",
    "no-price",
    "cannot-be-built",
    "fit-not-known",
    "old-price",
]
"""Why a build is left out; the first two depend on the question."""
REASONS: tuple[Reason, ...] = get_args(Reason)


def gap_and_days(
    time: BestTime | None, cents: int, evidence: EvidenceRule
) -> tuple[Reason | None, float]:
    """Why a build cannot be ranked at all, and its days."""
    chosen = time.chosen if time is not None else None
    if chosen is None:
        return "no-time", 0.0
    if chosen.status == "infeasible":
        return "does-not-fit", 0.0
    if chosen.status != "ok" or chosen.training_days is None:
        return "no-time", 0.0
    if evidence == "sound" and chosen.verdict == "implausible":
        return "implausible-time", chosen.training_days
    return "no-price" if cents == NO_PRICE else None, chosen.training_days
