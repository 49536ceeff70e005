"""What part of both axes is in view: around what is named, or where a person zoomed to."""

from __future__ import annotations

from collections.abc import Iterable
from math import log10
from typing import NamedTuple

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.grid import LogPoints, fit_scales
from advisor.tui.widgets.plot.navigate import EVERY_POINT
from advisor.tui.widgets.plot.scale import LogScale, fit_scale, with_round_values


class View(NamedTuple):
    """What part of both axes is looked at."""

    x: LogScale
    y: LogScale

    @property
    def middle(self) -> tuple[float, float]:
        """The place in the middle, on either axis."""
        return (self.x.low_log + self.x.high_log) / 2, (self.y.low_log + self.y.high_log) / 2

    def zoomed(self, factor: float, x_log: float, y_log: float) -> View:
        """Closer or from further away, around this place."""
        return View(self.x.zoomed(factor, x_log), self.y.zoomed(factor, y_log))

    def panned(self, right: float, up: float) -> View:
        """Moved by shares of its width and height."""
        return View(self.x.panned(right), self.y.panned(up))

    def reaching(self, x_log: float, y_log: float) -> View:
        """Moved as little as it takes to show this place."""
        return View(self.x.reaching(x_log), self.y.reaching(y_log))

    def covers(self, x_log: float, y_log: float) -> bool:
        """Whether this place is in view."""
        return self.x.covers(x_log, x_log) and self.y.covers(y_log, y_log)


class Limits(NamedTuple):
    """The two limits of the question, in view where they are close by."""

    budget_usd: float | None
    max_days: float | None


def start_view(
    data: PlotData, points: LogPoints, limits: Limits, *, selected: int | None, every: bool
) -> View:
    """Around what is named; around everything where every point is, or where they are many."""
    named = data.flagged(PointFlag.NAMED)
    if every or not named or len(data) > EVERY_POINT:
        return View(*fit_scales(points, (limits.budget_usd,), (limits.max_days,)))
    view = view_around(data, points, named, limits)
    # What is in view already moves nothing: a second click must find what the first one did.
    if selected is None or view.covers(points.x_log[selected], points.y_log[selected]):
        return view
    return view_around(data, points, [*named, selected], limits)


def view_around(data: PlotData, points: LogPoints, shown: Iterable[int], limits: Limits) -> View:
    """These points with their intervals, and the limits where they are close by."""
    indices = list(shown)
    x_log = [points.x_log[i] for i in indices]
    y_log = [points.y_log[i] for i in indices]
    ends = [end for i in indices for end in data.interval(i) if end is not None]
    y_log += [log10(end) for end in ends]
    return View(
        with_round_values(fit_scale(min(x_log), max(x_log), (limits.budget_usd,))),
        with_round_values(fit_scale(min(y_log), max(y_log), (limits.max_days,))),
    )
