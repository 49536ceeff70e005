"""Logarithmic axes, their ticks, the cells of the points, glyphs and colours."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.theme import BUILTIN_THEMES

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.grid import LogPoints, PlotGrid, fit_scales
from advisor.tui.widgets.plot.navigate import neighbour
from advisor.tui.widgets.plot.scale import (
    MIN_SPAN_DECADES,
    WIDEN_DECADES,
    LogScale,
    compact,
    fit_scale,
    format_days,
    format_usd,
    ticks,
    with_round_values,
)
from advisor.tui.widgets.plot.style import FILLED, HOLLOW, palette, series_marks
from tests.tui.contrast import contrast_ratio
from tests.tui.points import plain, sixteen

LOGS = st.floats(-300, 300)
VALUES = st.floats(1e-300, 1e300)
SCALES = st.builds(
    lambda low, span: LogScale(low_log=low, high_log=low + span),
    st.floats(-12, 12),
    st.floats(MIN_SPAN_DECADES, 24),
)
POINTS = st.lists(st.tuples(VALUES, VALUES), min_size=1, max_size=40)


@given(scale=SCALES, position=st.floats(0, 1))
def test_value_and_position_are_inverse(scale: LogScale, position: float) -> None:
    assert scale.position(scale.value(position)) == pytest.approx(position, abs=1e-9)


@given(low=LOGS, high=LOGS)
def test_a_fitted_scale_shows_its_bounds_with_air_on_both_sides(low: float, high: float) -> None:
    low, high = sorted((low, high))
    scale = fit_scale(low, high)
    assert scale.low_log < low <= high < scale.high_log
    assert scale.span >= MIN_SPAN_DECADES * 0.999


def test_a_limit_close_by_is_brought_into_view_and_one_far_off_is_not() -> None:
    near = fit_scale(3, 4, [20_000.0])
    assert near.position(20_000.0) < 1
    assert fit_scale(3, 4, [1e9]) == fit_scale(3, 4) == fit_scale(3, 4, [None, 0.0, math.nan])


@given(scale=SCALES, most=st.integers(1, 20))
def test_ticks_are_round_ascending_in_view_and_never_too_many(scale: LogScale, most: int) -> None:
    found = ticks(scale, most)
    assert len(found) <= most
    assert all(0 <= scale.position(value) <= 1 for value in found)
    assert all(low < high for low, high in pairwise(found))
    if scale.span > 1:
        assert {f"{value:.6e}"[0] for value in found} <= {"1", "2", "3", "5"}
    if most >= 2 and scale.span >= 0.5:
        assert found


@pytest.mark.parametrize(
    ("low", "high", "most", "expected"),
    [
        (1_500, 300_000, 10, [2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5]),
        (3, 400, 7, [5, 10, 20, 50, 100, 200]),
        (1, 1e6, 8, [1, 10, 100, 1e3, 1e4, 1e5, 1e6]),
        (30_500, 36_500, 8, [31e3, 32e3, 33e3, 34e3, 35e3, 36e3]),
        (1e-6, 1e6, 5, [1e-6, 1e-3, 1, 1e3, 1e6]),
        (41, 42, 6, [41, 41.2, 41.4, 41.6, 41.8, 42]),
    ],
)
def test_ticks_that_people_would_choose(
    low: float, high: float, most: int, expected: list[float]
) -> None:
    scale = LogScale(low_log=math.log10(low) - 1e-9, high_log=math.log10(high) + 1e-9)
    assert ticks(scale, most) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (950, "950"),
        (999.6, "1k"),
        (20_900, "20.9k"),
        (74_000, "74k"),
        (343.56, "344"),
        (0.04, "0.04"),
        (1_250_000, "1.25M"),
        (4e9, "4B"),
        (2e12, "2T"),
        (5e14, "500T"),
        (1e18, "1,000,000T"),
        (2e-7, "0.0000002"),
        (math.inf, "∞"),
    ],
)
def test_numbers_are_written_in_few_characters(value: float, text: str) -> None:
    assert compact(value) == text
    assert format_usd(value) == f"${text}"
    assert format_days(value) == f"{text} d"


@given(scale=SCALES)
def test_an_axis_is_widened_for_two_round_values_and_a_little_for_a_third(scale: LogScale) -> None:
    wider = with_round_values(scale)
    assert wider.covers(scale.low_log, scale.high_log)
    marks = [d + math.log10(m) for d in range(-400, 400) for m in (1, 2, 5)]
    seen = [sum(each.covers(mark, mark) for mark in marks) for each in (scale, wider)]
    assert seen[1] >= 2
    if seen[0] >= 2:
        assert seen[1] <= max(seen[0], 3)
        assert wider.span <= scale.span + WIDEN_DECADES * 1.1 + 1e-9


@given(scale=SCALES, at=st.floats(-20, 20))
def test_an_axis_is_moved_no_further_than_to_a_value(scale: LogScale, at: float) -> None:
    moved = scale.reaching(at)
    assert moved.covers(at, at)
    assert math.isclose(moved.span, scale.span, rel_tol=1e-6)
    if scale.covers(at, at):
        assert moved == scale


def test_a_budget_of_forty_thousand_has_three_round_costs() -> None:
    scale = fit_scale(math.log10(8_800), math.log10(30_000), (40_000.0,))
    assert ticks(scale, 8) == [10_000, 20_000]
    assert ticks(with_round_values(scale), 8) == [10_000, 20_000, 50_000]


@settings(deadline=None)
@given(points=POINTS, columns=st.integers(1, 300), rows=st.integers(1, 100))
def test_every_point_has_a_cell_that_holds_it(
    points: list[tuple[float, float]], columns: int, rows: int
) -> None:
    data = plain([x for x, _ in points], [y for _, y in points])
    logs = LogPoints.of(data)
    assert logs is not None
    grid = PlotGrid.of(logs, *fit_scales(logs, (), ()), columns, rows)
    winners = grid.winners(data)
    for index, (x, y) in enumerate(points):
        column, row = grid.cell_of(index)
        assert 0 <= column < columns
        assert 0 <= row < rows
        assert (column, row) in winners
        # On a border either neighbour will do; elsewhere the cell agrees with the axis.
        across = grid.x.position(x) * columns
        down = (1 - grid.y.position(y)) * rows
        assert column - 0.001 <= max(0, min(across, columns)) <= column + 1.001
        assert row - 0.001 <= max(0, min(down, rows)) <= row + 1.001


def test_the_front_wins_its_cell_then_the_own_machine_then_the_first_that_is_ranked() -> None:
    def winner(*flags: int) -> int:
        count = len(flags)
        data = PlotData(
            x_usd=[1000.0] * count,
            y_days=[10.0] * count,
            series=[0] * count,
            gpu_count=[1] * count,
            series_names=["A"],
            flags=bytes(flags),
        )
        logs = LogPoints.of(data)
        assert logs is not None
        grid = PlotGrid.of(logs, *fit_scales(logs, (), ()), 80, 20)
        assert grid.sharing(0) == list(range(count))
        return next(iter(grid.winners(data).values()))

    assert winner(0, 0, 0) == 0
    assert winner(PointFlag.EXCLUDED, 0, 0) == 1
    assert winner(PointFlag.EXCLUDED, PointFlag.EXCLUDED) == 0
    assert winner(0, PointFlag.OWNED, 0) == 1
    assert winner(0, PointFlag.OWNED, PointFlag.FRONT, PointFlag.FRONT) == 2


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf, None])
def test_a_value_without_a_place_on_the_axes_is_named(wrong: float) -> None:
    with pytest.raises(ValueError, match=r"^PlotData\.y_days\[1\] is .*leave out[^\n]*$"):
        LogPoints.of(plain([1.0, 2.0, 3.0], [1.0, wrong, 3.0]))


def test_columns_that_do_not_match_are_refused() -> None:
    with pytest.raises(ValueError, match=r"^PlotData\.y_days has 1 entries where x_usd has 2"):
        plain([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match=r"^PlotData\.flags has 1 bytes where x_usd has 2"):
        PlotData(
            x_usd=[1, 2],
            y_days=[1, 2],
            series=[0, 0],
            gpu_count=[1, 1],
            flags=b"1",
            series_names=["A"],
        )
    with pytest.raises(ValueError, match=r"^PlotData\.series runs from 0 to 7"):
        PlotData(x_usd=[1, 2], y_days=[1, 2], series=[0, 7], gpu_count=[1, 1], series_names=["A"])


def test_arrow_keys_go_to_the_nearest_point_in_that_direction() -> None:
    logs = LogPoints.of(sixteen())
    assert logs is not None
    grid = PlotGrid.of(logs, *fit_scales(logs, (), ()), 110, 34)
    assert neighbour(grid, range(16), 7, "left") == 10
    assert neighbour(grid, range(16), 7, "right") == 11
    assert neighbour(grid, range(16), 7, "down") == 13
    assert neighbour(grid, range(16), 7, "up") == 10
    assert neighbour(grid, range(16), 15, "right") is None


@settings(deadline=None)
@given(points=POINTS.filter(lambda p: len(p) > 1), start=st.integers(0, 39))
def test_every_walk_in_one_direction_ends_at_the_edge(
    points: list[tuple[float, float]], start: int
) -> None:
    data = plain([x for x, _ in points], [y for _, y in points])
    logs = LogPoints.of(data)
    assert logs is not None
    grid = PlotGrid.of(logs, *fit_scales(logs, (), ()), 80, 20)
    count = len(points)
    for direction, values, last in (
        ("left", logs.x_log, min),
        ("right", logs.x_log, max),
        ("down", logs.y_log, min),
        ("up", logs.y_log, max),
    ):
        at, steps = start % count, 0
        while (following := neighbour(grid, range(count), at, direction)) is not None:  # type: ignore[arg-type]
            at, steps = following, steps + 1
            assert steps < count
        assert values[at] == last(values)


def test_points_in_one_place_follow_one_another() -> None:
    logs = LogPoints.of(plain([10.0, 10.0, 10.0], [5.0, 5.0, 5.0]))
    assert logs is not None
    grid = PlotGrid.of(logs, *fit_scales(logs, (), ()), 80, 20)
    assert [neighbour(grid, range(3), i, "right") for i in range(3)] == [1, 2, None]
    assert [neighbour(grid, range(3), i, "left") for i in range(3)] == [None, 0, 1]


def test_fifty_six_types_are_told_apart_and_more_still_drawn() -> None:
    marks = series_marks(60)
    assert len({(mark.filled, mark.colour) for mark in marks[:56]}) == 56
    assert len({mark.filled for mark in marks[:8]}) == 8
    assert all(mark.filled != mark.hollow for mark in marks)
    assert len({mark.filled for mark in series_marks(26, coloured=False)}) == 26
    assert len({mark.filled for mark in series_marks(8, coloured=False)}) == 8
    assert all(mark.filled.isascii() for mark in series_marks(60, ascii_only=True))
    alone = series_marks(1, coloured=False, slots=[40])
    beside = series_marks(3, coloured=False, slots=[2, 40, 51])
    assert alone[0] == beside[1], "a GPU keeps its letter whatever else is drawn"
    assert len({mark.filled for mark in series_marks(52, coloured=False, slots=range(52))}) == 52


@pytest.mark.parametrize("background", ["#000000", "#121212", "#e0e0e0", "#ffffff", "#808080"])
@pytest.mark.parametrize("contrast", [3.0, 4.5])
def test_colours_stand_out_from_the_background(background: str, contrast: float) -> None:
    colours = palette(background, contrast)
    assert len(set(colours)) == 7
    assert min(contrast_ratio(colour, background) for colour in colours) >= contrast


def test_colours_stand_out_in_every_theme_of_textual() -> None:
    for theme in BUILTIN_THEMES.values():
        background = theme.background or ("#121212" if theme.dark else "#e0e0e0")
        if background.startswith("#"):
            colours = palette(background, 3.0)
            assert min(contrast_ratio(c, background) for c in colours) >= 3.0, theme.name


def test_no_gpu_has_the_star_that_marks_the_front() -> None:
    assert "★" not in FILLED
    assert "☆" not in HOLLOW
    assert len({*FILLED, *HOLLOW}) == len(FILLED) + len(HOLLOW)
