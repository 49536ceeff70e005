"""A probability as people say it, and as a column has it."""

from __future__ import annotations

from advisor.answers.wording import counted_days

_CHANCES = (
    (0.05, "1 in 20"),
    (0.1, "1 in 10"),
    (1 / 6, "1 in 6"),
    (0.2, "1 in 5"),
    (0.25, "1 in 4"),
    (0.3, "3 in 10"),
    (1 / 3, "1 in 3"),
    (0.4, "2 in 5"),
    (0.5, "1 in 2"),
    (0.6, "3 in 5"),
    (2 / 3, "2 in 3"),
    (0.7, "7 in 10"),
    (0.75, "3 in 4"),
    (0.8, "4 in 5"),
    (5 / 6, "5 in 6"),
    (0.9, "9 in 10"),
    (0.95, "19 in 20"),
)
SURE = 0.98
"""From this probability on an answer gives no odds."""


def chance_words(chance: float) -> str:
    """A probability, 0 to 1, as people say it: ``3 in 4``, ``almost certain``."""
    if chance >= SURE:
        return "almost certain"
    if chance <= 0.02:
        return "hardly a chance"
    return min(_CHANCES, key=lambda known: abs(known[0] - chance))[1]


def makes_words(chance: float, limit: float) -> str:
    """``3 in 4 to make 60 days``; ``safely within 60 days`` where hardly anything speaks against
    it."""
    if chance >= SURE:
        return f"safely within {counted_days(limit)}"
    return f"{chance_words(chance)} to make {counted_days(limit)}"


def percent_words(chance: float) -> str:
    """A probability, 0 to 1, for a column: ``74 %``; 0 and 100 only of what is certain."""
    shown = round(chance * 100)
    return f"{min(max(shown, 1), 99) if 0 < chance < 1 else shown} %"
