"""The circuit that a lab has: which builds it does not carry (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.answers.build_words import gpus_words
from price_catalog.builds import Build
from price_catalog.power import Supply, supply_obstacle

OUTLET = Supply(120, 15)
MOST_NAMED = 6


def circuit_line(builds: Iterable[Build]) -> list[str]:
    """One sentence that tells which builds an ordinary outlet does not carry; [] where it does."""
    heavy = [gpus_words(build) for build in builds if supply_obstacle(build, OUTLET) is not None]
    if not heavy:
        return []
    named = list(dict.fromkeys(heavy))
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return [
        f"More than an outlet of {OUTLET.volts} V and {OUTLET.breaker_a} A carries for hours "
        f"({OUTLET.watts:,.0f} W): {', '.join(named[:MOST_NAMED])}{more}. State the lab's circuit "
        "with --circuit, as in 208V/30A, and what it does not carry is left out."
    ]
