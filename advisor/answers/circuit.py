"""The circuit that a lab has: which builds it does not carry (pure)."""

from __future__ import annotations

import re
from collections.abc import Iterable

from advisor.parse import InputError, shown
from price_catalog.builds import Build
from price_catalog.power import Supply, supply_obstacle

OUTLET = Supply(120, 15)
MOST_NAMED = 6
_CIRCUIT = re.compile(r"\s*(\d{2,3})\s*V?\s*[/x×,; ]\s*(\d{1,3})\s*A?\s*", re.ASCII | re.IGNORECASE)


def parse_circuit(text: str) -> Supply:
    """A circuit from ``120V/15A``. Raises InputError."""
    match = _CIRCUIT.fullmatch(text)
    if match is None:
        raise InputError(f"the circuit {shown(text)} is not understood: write it like 120V/15A")
    supply = Supply(int(match[1]), int(match[2]))
    if not 90 <= supply.volts <= 480 or not 5 <= supply.breaker_a <= 400:
        raise InputError(
            f"a circuit of {supply.volts} V and {supply.breaker_a} A is not one: volts are 90 to "
            "480, amperes 5 to 400"
        )
    return supply


def circuit_line(builds: Iterable[Build]) -> list[str]:
    """One sentence that tells which builds an ordinary outlet does not carry; [] where it does."""
    heavy = [
        f"{build.gpu_count} × {build.gpu.name}"
        for build in builds
        if supply_obstacle(build, OUTLET) is not None
    ]
    if not heavy:
        return []
    named = list(dict.fromkeys(heavy))
    more = f" and {len(named) - MOST_NAMED} more" if len(named) > MOST_NAMED else ""
    return [
        f"More than an outlet of {OUTLET.volts} V and {OUTLET.breaker_a} A carries for hours "
        f"({OUTLET.watts:,.0f} W): {', '.join(named[:MOST_NAMED])}{more}. State the lab's circuit "
        "with --circuit, as in 208V/30A, and what it does not carry is left out."
    ]
