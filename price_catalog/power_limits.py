"""What a power limit on the cards lets a circuit carry, and what it costs in time where measured.

The table has, for each GPU and limit, how fast trainings ran beside the same card at its highest
limit. Of other GPUs no measurement was found: then it is said and nothing is computed.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from functools import cache
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

from price_catalog.builds import Build, PowerLimit
from price_catalog.csv_table import NUMBER, Row, read_records
from price_catalog.power import Supply, power_figures, supply_obstacle, wall_w

TABLE = Path(__file__).with_name("power_limits.csv")
LEAST_SHARE = 0.5
"""Below this share of its TDP no card is said to take a limit: drivers refuse low ones."""


class Point(NamedTuple):
    """How fast trainings ran under one limit."""

    gpu_id: str
    limit_w: float
    slowest: float
    middle: float
    fastest: float
    trainings: int
    source_id: str


@cache
def load_points() -> Mapping[str, tuple[Point, ...]]:
    """What was measured, by GPU, lowest limit first. Raises ValueError for a broken row."""

    def middle(row: Row, column: str) -> float:
        slowest, middle, fastest = (
            row.needed(name, NUMBER) for name in ("slowest", column, "fastest")
        )
        if not slowest <= middle <= fastest <= 1:
            raise row.error(column, "is not between slowest and fastest, or one is above 1")
        return float(middle)

    found: dict[str, tuple[Point, ...]] = {}
    for point in sorted(read_records(TABLE, Point, {"middle": middle})):
        found[point.gpu_id] = (*found.get(point.gpu_id, ()), point)
    return found


def limit_w(build: Build, supply: Supply) -> float | None:
    """The highest limit on each card, in whole W, under which a circuit carries the build.

    What is not cards draws as much as without a limit. None where its power is not known.
    """
    watts, figures = wall_w(build), power_figures(build)
    if watts is None or figures.gpu_w is None:
        return None
    # Without an efficiency the figures are of the wall: a W less on a card is a W less there.
    efficiency = float(figures.psu_efficiency or 1)
    over_w = (watts - supply.watts) * efficiency / build.gpu_count
    return float(int(float(figures.gpu_w) - max(over_w, 0.0)))


def speed_under(gpu_id: str, watts: float) -> PowerLimit | None:
    """What a limit costs in speed, between two that were measured; None where it was not."""
    points = load_points().get(gpu_id, ())
    if not points or watts < points[0].limit_w:
        return None
    at = min(bisect_left(points, watts, key=attrgetter("limit_w")), len(points) - 1)
    above, below = points[at], points[max(at - 1, 0)]
    span = above.limit_w - below.limit_w
    share = min((watts - below.limit_w) / span, 1.0) if span else 1.0
    slowest, middle, fastest = (
        low + (high - low) * share for low, high in zip(below[2:5], above[2:5], strict=True)
    )
    return PowerLimit(watts, slowest, middle, fastest, above.source_id)


def on_circuit(builds: Iterable[Build], supply: Supply | None) -> tuple[Build, ...]:
    """The builds as a circuit carries them; without a circuit nothing changes.

    One that draws too much runs with its cards limited, where it was measured what that costs
    in time. Otherwise it cannot be built here and says why, and which limit would let it through.
    Nobody can say whether the circuit carries an unknown power.
    """
    if supply is None:
        return tuple(builds)
    return tuple(_judged(build, supply) for build in builds)


def _judged(build: Build, supply: Supply) -> Build:
    if build.obstacle is not None:
        return build
    if wall_w(build) is None:
        return build._replace(unknown=(*build.unknown, "what it draws"))
    reason = supply_obstacle(build, supply)
    if reason is None:
        return build
    watts, tdp_w = limit_w(build, supply), build.gpu.tdp_w or 0.0
    if watts is not None and watts >= LEAST_SHARE * tdp_w:
        limit = speed_under(build.gpu.gpu_id, watts)
        if limit is not None:
            return build._replace(limit=limit)
        reason += (
            f". A limit of {watts:,.0f} W on each card would bring it down to that; what that costs"
            f" in time is not known for the {build.gpu.name}"
        )
    return build._replace(obstacle=reason, unknown=())
