"""Logarithmic axes, their ticks, the cells of the points, glyphs and colours."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.layout import Layout, lay_out
from advisor.tui.widgets.plot.scale import (
    MIN_SPAN_DECADES,
    LogScale,
    compact,
    fit_scale,
    format_usd,
    ticks,
)
from advisor.tui.widgets.plot.style import (
    FILLED,
    HOLLOW,
    OKABE_ITO,
    ON_DARK,
    ON_LIGHT,
    series_marks,
)
from tests.tui.contrast import contrast_ratio
from tests.tui.points import plain, sixteen

LOGS = st.floats(-12, 12)
VALUES = st.floats(1e-9, 1e12)
SCALES = st.builds(
    lambda low, span: LogScale(low, low + span), LOGS, st.floats(MIN_SPAN_DECADES, 12)
)
POINTS = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=40)


def laid_out(data: PlotData, width: int = 110, height: int = 34) -> Layout:
    """Every point in view."""
    everything = replace(data, flags=bytes(flag | PointFlag.TIED for flag in data.flags))
    return lay_out(everything, (width, height))


@given(low=LOGS, high=LOGS)
def test_a_fitted_scale_shows_its_bounds_with_air_and_two_round_values(
    low: float, high: float
) -> None:
    low, high = sorted((low, high))
    scale = fit_scale([low, high], None)
    assert scale.low_log < low <= high < scale.high_log
    marks = [d + math.log10(m) for d in range(-20, 20) for m in (1, 2, 5)]
    assert sum(map(scale.covers, marks)) >= 2


def test_a_limit_close_by_is_brought_into_view_and_one_far_off_is_not() -> None:
    assert fit_scale([3, 4], 20_000.0).position(20_000.0) < 1
    assert fit_scale([3, 4], 1e9) == fit_scale([3, 4], None)


@given(scale=SCALES, most=st.integers(2, 20))
def test_ticks_are_round_ascending_in_view_and_never_too_many(scale: LogScale, most: int) -> None:
    found = ticks(scale, most)
    assert len(found) <= most
    assert all(-1e-9 <= scale.position(value) <= 1 + 1e-9 for value in found)
    assert all(low < high for low, high in pairwise(found))
    if scale.span >= 1:
        assert found


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (1_500, 300_000, 10, [2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5]),
        (3, 400, 7, [5, 10, 20, 50, 100, 200]),
        (1, 1e6, 8, [1, 10, 100, 1e3, 1e4, 1e5, 1e6]),
        (1e-6, 1e6, 5, [1e-6, 1e-3, 1, 1e3, 1e6]),
    ],
)
def test_ticks_that_people_would_choose(
    low: float, high: float, most: int, expected: list[float]
) -> None:
    scale = LogScale(math.log10(low) - 1e-9, math.log10(high) + 1e-9)
    assert ticks(scale, most) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (950, "950"),
        (999.6, "1k"),
        (20_900, "20.9k"),
        (343.56, "344"),
        (0.04, "0.04"),
        (1_250_000, "1.25M"),
        (4e9, "4B"),
    ],
)
def test_numbers_are_written_in_few_characters(value: float, text: str) -> None:
    assert compact(value) == text
    assert format_usd(value) == f"${text}"
    assert PlotData().time(value) == f"{text} d"


@settings(deadline=None)
@given(points=POINTS, width=st.integers(24, 300), height=st.integers(6, 100))
def test_every_point_has_a_cell_that_holds_it(
    points: list[tuple[float, float]], width: int, height: int
) -> None:
    layout = laid_out(plain([x for x, _ in points], [y for _, y in points]), width, height)
    for cell, (x, y) in zip(layout.cells, points, strict=True):
        assert cell is not None and cell in layout.winners
        assert layout.left < cell[0] < layout.right and layout.top <= cell[1] < layout.bottom
        # On a border either neighbour will do.
        assert abs(layout.x_of(x) - cell[0]) <= 1 and abs(layout.y_of(y) - cell[1]) <= 1


def test_the_front_wins_its_cell_then_the_own_machine_then_the_first_that_is_ranked() -> None:
    def winner(*flags: int) -> int:
        data = plain([1000.0] * len(flags), [10.0] * len(flags))
        object.__setattr__(data, "flags", bytes(flags))
        return next(iter(lay_out(data, (110, 34)).winners.values()))

    assert winner(0, 0, 0) == 0
    assert winner(PointFlag.EXCLUDED, 0, 0) == 1
    assert winner(PointFlag.EXCLUDED, PointFlag.EXCLUDED) == 0
    assert winner(0, PointFlag.OWNED, 0) == 1
    assert winner(0, PointFlag.OWNED, PointFlag.FRONT, PointFlag.FRONT) == 2


def test_arrow_keys_go_to_the_nearest_point_in_that_direction() -> None:
    data = sixteen()
    layout = laid_out(data)
    assert [layout.neighbour(data, 7, way) for way in ("left", "right", "down")] == [10, 11, 13]
    assert layout.neighbour(data, 15, "right") is None
    data = plain([10.0, 10.0, 10.0], [5.0, 5.0, 5.0])
    layout = laid_out(data)
    assert [layout.neighbour(data, i, "right") for i in range(3)] == [1, 2, None]
    assert [layout.neighbour(data, i, "left") for i in range(3)] == [None, 0, 1]


@settings(deadline=None)
@given(points=POINTS.filter(lambda p: len(p) > 1), start=st.integers(0, 39))
def test_every_walk_in_one_direction_ends_at_the_edge(
    points: list[tuple[float, float]], start: int
) -> None:
    data = plain([x for x, _ in points], [y for _, y in points])
    layout, count = laid_out(data, 80, 20), len(points)
    for direction, values, last in (
        ("left", data.x_log, min),
        ("right", data.x_log, max),
        ("down", data.y_log, min),
        ("up", data.y_log, max),
    ):
        at, steps = start % count, 0
        while (following := layout.neighbour(data, at, direction)) is not None:  # type: ignore[arg-type]
            at, steps = following, steps + 1
            assert steps < count
        assert values[at] == last(values)


def test_fifty_six_types_are_told_apart_and_more_still_drawn() -> None:
    marks = series_marks(range(60))
    assert len({(mark.filled, mark.colour) for mark in marks[:56]}) == 56
    assert all(mark.filled != mark.hollow for mark in marks)
    assert "★" not in FILLED, "that marks the front"
    assert len({*FILLED, *HOLLOW}) == len(FILLED) + len(HOLLOW)


def test_colours_can_be_read_in_the_dark_and_in_the_light() -> None:
    for colours, background in ((ON_DARK, "#121212"), (ON_LIGHT, "#e0e0e0")):
        assert len(set(colours)) == len(OKABE_ITO)
        assert min(contrast_ratio(colour, background) for colour in colours) >= 4.5
