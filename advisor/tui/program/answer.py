"""The answer to a question as the screens show it, and its points in the picture (pure)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from advisor.answers.build_words import gpus_words
from advisor.answers.ranking.rank_answer import unit_of
from advisor.costs.cost_of_owning import CostTerms
from advisor.ranking.candidates import NO_PRICE
from advisor.ranking.row_order import Ranking, rank
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.scale import drawable

if TYPE_CHECKING:
    from advisor.answers.wording import TimeUnit
    from advisor.ranking.candidates import Candidates
    from advisor.ranking.question import Question
    from advisor.typed_input import PriceRule
    from price_catalog.builds import Build
    from price_catalog.model import Gpu


_SHOWN_GAPS = (None, "implausible-time")


class Points(NamedTuple):
    """The picture's columns, which stay the same while somebody types a budget."""

    builds: Sequence[int]
    """The candidates' index of each point, cheapest first."""
    at: Mapping[int, int]
    """The point of each of the candidates' indices."""
    cents: Sequence[int]
    """Overall cost in US cents, ascending, whatever the picture shows."""
    drawn: PlotData
    """With what is known of each point while it is ranked."""


def short_gpu_name(build: Build) -> str:
    """What the picture and the table call a build's GPU."""
    return gpus_words(build).partition(" × ")[2]


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
        (f"{gpus_words(build)}, yours", days[i])
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
        cents=[cents[i] for i in builds],
        drawn=PlotData(
            x_usd=[cents[i] / 100 for i in builds],
            y_times=[days[i] for i in builds],
            y_low=low,
            y_high=high,
            series=series,
            series_names=list(names),
            series_slots=places,
            gpu_count=[candidates.builds[i].gpu_count for i in builds],
            flags=bytes(flags),
            on_axis=owned,
        ),
    )


def by_experiment(points: Points, candidates: Candidates, terms: CostTerms) -> Points:
    """The same points by the cost of one experiment; by the price alone where no source states
    what a machine draws."""
    costs = [
        float(candidates.run_usd(i, terms) or candidates.run_usd(i, CostTerms()) or 0)
        for i in points.builds
    ]
    return points._replace(drawn=replace(points.drawn, x_usd=costs, x_title=EXPERIMENT_TITLE))


EXPERIMENT_TITLE = "cost per experiment, USD (log)"
BuildKey = tuple[str, int, str]
"""GPU, count and host: the same build among whichever candidates."""


def build_key(build: Build) -> BuildKey:
    """What tells a build from every other one."""
    host = build.host.host_id
    if build.machines > 1:
        host = f"{build.machines} x {host}"
    return build.gpu.gpu_id, build.gpu_count, host


class CandidatesView:
    """One set of candidates, kept while it may be asked again."""

    def __init__(self, candidates: Candidates, gpus: Sequence[Gpu]) -> None:
        """``gpus`` is the catalogue: a GPU's place in it chooses its glyph."""
        self.candidates = candidates
        self._slots = {gpu.gpu_id: at for at, gpu in enumerate(gpus)}
        self._points: dict[CostTerms | None, Points] = {}

    def points(self, terms: CostTerms | None) -> Points:
        """The picture's columns: by the overall cost, or by that of a run under these terms."""
        if terms not in self._points:
            if terms is None:
                found = make_points(self.candidates, self._slots)
            else:
                found = by_experiment(self.points(None), self.candidates, terms)
            self._points[terms] = found
        return self._points[terms]

    @cached_property
    def index(self) -> Mapping[BuildKey, int]:
        """The candidates' index of each build."""
        return {build_key(build): i for i, build in enumerate(self.candidates.builds)}


class Answer(NamedTuple):
    """Everything that one question puts on the screen."""

    view: CandidatesView
    ranking: Ranking
    front: frozenset[int]
    """For the kind of cost that is shown."""
    unsold: frozenset[int]
    """What is cheaper or faster than that front at a price that no seller is known to ask."""
    points: Points
    prices: PriceRule

    @property
    def is_by_run(self) -> bool:
        """Whether the cost that is shown is that of a run, and not the machine's."""
        return self.ranking.question.rule == "experiment-cost"


def answer(view: CandidatesView, question: Question, prices: PriceRule) -> Answer:
    """Rank, and find the front for the kind of cost that it is ranked by."""
    ranking = rank(view.candidates, question)
    terms = question.terms if question.rule == "experiment-cost" else None
    cost = view.candidates.cents if terms is None else view.candidates.run_weights(terms)
    front = ranking.front_by(cost)
    return Answer(
        view=view,
        ranking=ranking,
        front=front,
        unsold=ranking.front_by(cost, unsold=True) - front,
        points=view.points(terms),
        prices=prices,
    )


def plot_data(answer: Answer) -> PlotData:
    """The points with what this question makes of them."""
    points, ranking = answer.points, answer.ranking
    question, at = ranking.question, points.at
    flags, times = bytearray(points.drawn.flags), points.drawn.y_times
    over = len(flags)
    if ranking.budget_cents is not None:
        over = bisect_right(points.cents, ranking.budget_cents)
    for point in range(len(flags)):
        late = question.max_days is not None and times[point] > question.max_days
        if point >= over or late:  # the cheapest come first
            flags[point] |= PointFlag.EXCLUDED
    for builds, flag in (
        (answer.front, PointFlag.FRONT),
        (answer.unsold, PointFlag.UNSOLD),
        (ranking.order[:1], PointFlag.FIRST),
        ((row[0] for row in ranking.table[1 : ranking.tied_rows]), PointFlag.TIED),
    ):
        for i in builds:
            if i in at:
                flags[at[i]] |= flag
    unit = unit_of(ranking)
    max_time = None if question.max_days is None else question.max_days * unit.a_day
    cents = None if answer.is_by_run else ranking.budget_cents
    return replace(
        _in_unit(points.drawn, unit),
        flags=bytes(flags),
        budget_usd=None if cents is None else drawable(cents / 100),
        max_time=drawable(max_time),
    )


def _in_unit(drawn: PlotData, unit: TimeUnit) -> PlotData:
    """The same with its times in hours or minutes, as in the table."""
    if unit.a_day == 1:
        return drawn

    def times(days: Sequence[float | None]) -> list[float | None]:
        return [None if each is None else each * unit.a_day for each in days]

    return replace(
        drawn,
        y_times=[each * unit.a_day for each in drawn.y_times],
        y_low=times(drawn.y_low),
        y_high=times(drawn.y_high),
        on_axis=[(name, days * unit.a_day) for name, days in drawn.on_axis],
        y_unit=unit.sign,
        y_title=f"training time, {unit.word}s (log)",
    )
