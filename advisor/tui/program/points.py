"""From a set of candidates to the points of the picture (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from advisor.answers.build_words import short_gpus_words
from advisor.costs.cost import DAYS_PER_YEAR
from advisor.ranking.gaps import NO_PRICE
from advisor.tui.widgets.plot.data import PointFlag

if TYPE_CHECKING:
    from advisor.ranking.candidates import Candidates
    from price_catalog.builds import Build

_SHOWN_GAPS = (None, "implausible-time")


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Points:
    """The columns that stay the same while somebody types a budget."""

    builds: Sequence[int]
    """The candidates' index of each point, cheapest first."""
    at: dict[int, int]
    """The point of each of the candidates' indices."""
    x_usd: Sequence[float]
    y_days: Sequence[float]
    y_low_days: Sequence[float | None]
    y_high_days: Sequence[float | None]
    series: Sequence[int]
    series_names: Sequence[str]
    series_slots: Sequence[int]
    """Each GPU's place in the catalogue, which chooses its glyph and colour."""
    owned: Sequence[tuple[str, float]]
    """Name and days of the machines that cost nothing, being there already."""
    gpu_count: Sequence[int]
    cents: Sequence[int]
    """Overall cost in US cents, ascending, whatever ``x_usd`` shows."""
    flags: bytes
    """What is known of each point while it is ranked."""
    left_out: bytes
    """The same while it is not."""


def short_gpu_name(build: Build) -> str:
    """What the picture and the table call a build's GPU."""
    return short_gpus_words(build).partition(" × ")[2]


def make_points(candidates: Candidates, slots: Mapping[str, int]) -> Points:
    """Every build with a price and a time, also an implausible one, by its overall cost.

    A machine that the user has costs nothing, which a logarithmic axis has no place for: it is
    named at the other axis. ``slots`` are the places of the GPUs in the catalogue, by id.
    """
    cents, days, times = candidates.cents, candidates.days, candidates.times
    builds = sorted(
        (
            i
            for i, gap in enumerate(candidates.gap)
            if gap in _SHOWN_GAPS and cents[i] not in (NO_PRICE, 0) and days[i] > 0
        ),
        key=cents.__getitem__,
    )
    names: dict[str, int] = {}
    places: list[int] = []
    series, low, high = [], [], []
    flags = bytearray()
    owned = [
        (f"{short_gpus_words(build)}, yours", days[i])
        for i, build in enumerate(candidates.builds)
        if build.host_owned and candidates.gap[i] is None and days[i] > 0
    ]
    for i in builds:
        build, best = candidates.builds[i], times[i]
        name = short_gpu_name(build)
        if name not in names:
            names[name] = len(names)
            places.append(slots.get(build.gpu.gpu_id, len(places)))
        series.append(names[name])
        chosen = best.chosen if best is not None else None
        low.append(chosen.training_days_low if chosen else None)
        high.append(chosen.training_days_high if chosen else None)
        flag = 0 if candidates.gap[i] is None else int(PointFlag.EXCLUDED)
        if chosen is not None and chosen.basis == "predicted":
            flag |= int(PointFlag.PREDICTED)
        if chosen is not None and chosen.verdict in ("doubtful", "implausible"):
            flag |= int(PointFlag.DOUBTFUL)
        if build.gpus_owned:
            flag |= int(PointFlag.OWNED)
        flags.append(flag)
    return Points(
        builds=builds,
        at={i: point for point, i in enumerate(builds)},
        x_usd=[cents[i] / 100 for i in builds],
        y_days=[days[i] for i in builds],
        y_low_days=low,
        y_high_days=high,
        series=series,
        series_names=list(names),
        series_slots=places,
        owned=owned,
        gpu_count=[candidates.builds[i].gpu_count for i in builds],
        cents=[cents[i] for i in builds],
        flags=bytes(flags),
        left_out=bytes(flag | PointFlag.EXCLUDED for flag in flags),
    )


def by_experiment(points: Points, lifetime_years: float) -> Points:
    """The same points by the cost of one experiment."""
    per_day = 1 / (100 * lifetime_years * DAYS_PER_YEAR)
    columns = zip(points.cents, points.y_days, strict=True)
    return replace(points, x_usd=[cents * days * per_day for cents, days in columns])
