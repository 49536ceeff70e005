"""The picture as people meet it: on screens of every kind, by keyboard and by mouse."""

from __future__ import annotations

import dataclasses
import re
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.snapshot import candidates_of, take_snapshot
from advisor.store import Store
from advisor.tui.program.answer import CandidatesView, answer, plot_data
from advisor.tui.widgets.plot.canvas import Canvas, Cell, Ink
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.layout import (
    Layout,
    LegendItem,
    Limits,
    fit_legend,
    lay_out,
    start_view,
)
from advisor.tui.widgets.plot.painter import Scene, paint
from advisor.tui.widgets.plot.plot import CostTimePlot
from advisor.tui.widgets.plot.style import series_marks
from tests.tui.conftest import WidgetApp
from tests.tui.points import DAYS, FRONT, lines, plain, plot, scattered, sixteen

CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
VALUES = st.floats(1e-9, 1e12)
NAMES = st.text(max_size=30)


def laid_out(data: PlotData, width: int, height: int, *, every: bool = True) -> Layout:
    view = start_view(data, Limits(), selected=None, every=True)
    marks = series_marks(data.series_slots, coloured=True)
    return lay_out(data, marks, view, (width, height), every=every)


def draw(
    data: PlotData,
    width: int,
    height: int,
    *,
    every: bool = True,
    budget_usd: float | None = None,
    max_time: float | None = None,
    selected: int | None = None,
    hovered: int | None = None,
) -> Canvas:
    """The picture without a terminal around it."""
    layout = laid_out(data, width, height, every=every)
    marks, limits = series_marks(data.series_slots, coloured=True), Limits(budget_usd, max_time)
    return paint(Scene(data, layout, marks, limits, selected, hovered))


def text_of(canvas: Canvas) -> str:
    return "\n".join("".join(text for text, _ in canvas.runs(y)) for y in range(canvas.height))


# What it looks like


async def test_picture_of_forty_five_types() -> None:
    app = WidgetApp(plot(scattered(300, 45), budget_usd=40_000.0, selected=44))
    async with app.run_test(size=(120, 40)):
        legend = "\n".join(lines(app.query_one(CostTimePlot))[:6])
        assert "GPU type 44" in legend, "the selected point's type is always in the legend"
        assert " more" in legend


@pytest.mark.parametrize("size", [(20, 5), (23, 30), (80, 5), (1, 1)])
async def test_too_small_a_terminal_says_so_in_one_line(size: tuple[int, int]) -> None:
    app = WidgetApp(plot(sixteen(), selected=7))
    async with app.run_test(size=size) as pilot:
        await pilot.press("right", "home", "end", "enter")
        said = [line.strip() for line in lines(app.query_one(CostTimePlot)) if line.strip()]
        assert len(said) == 1
        assert said[0] == "The picture needs 24×6 cells."[: len(said[0]) - 1] + said[0][-1]


async def test_without_points_it_says_why() -> None:
    widget = plot(PlotData(), empty_message="Nothing fits [b]$5[/b].", selected=3)
    app = WidgetApp(widget)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("right", "home", "enter")
        await pilot.click(CostTimePlot)
        assert [line.strip() for line in lines(widget) if line.strip()] == [
            "Nothing fits [b]$5[/b]."
        ]
        assert widget.selected is None
        assert app.messages == []
        widget.data = sixteen()
        await pilot.pause()
        assert "Pareto front" in lines(widget)[0]
        await pilot.press("asterisk")
        assert "RTX 4090" in lines(widget)[0]


def test_the_front_is_a_stepped_line_and_bold() -> None:
    canvas = draw(sixteen(), 120, 40)
    inks = [ink for y in range(40) for _, ink in canvas.runs(y)]
    assert sum(1 for ink in inks if ink.role == "point" and ink.bold) == len(FRONT)
    assert sum(1 for ink in inks if ink.role == "front") > 5
    # Six points, five steps down, each with a corner; one more in the legend.
    assert text_of(canvas).count("┐") >= 4 + 1, (
        "a name may stand on one where there is no other place"
    )


def test_the_marks_of_evidence_need_no_colour() -> None:
    text = text_of(draw(sixteen(), 120, 40))
    assert "□ 1 × RTX 6000 Ada" in text
    assert "2 × H100 SXM?" in text
    assert "4 × A100 80GB own" in text
    assert "(4 × RTX 6000 Ada)" in text


def test_a_budget_out_of_view_is_pointed_at() -> None:
    assert "◂budget $5" in text_of(draw(sixteen(), 80, 24, budget_usd=5.0))
    assert "budget $900M▸" in text_of(draw(sixteen(), 80, 24, budget_usd=9e8))
    assert "▴ limit 10k d" in text_of(draw(sixteen(), 80, 24, max_time=1e4))
    assert "▾ limit 0.1 d" in text_of(draw(sixteen(), 80, 24, max_time=0.1))


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40)])
def test_the_selected_label_and_both_values_are_never_dropped(size: tuple[int, int]) -> None:
    data = sixteen()
    for index in range(len(data)):
        canvas = draw(data, *size, selected=index, every=False)
        runs = [(text, ink) for y in range(size[1]) for text, ink in canvas.runs(y)]
        label = "".join(text for text, ink in runs if ink.role == "label" and ink.reverse)
        assert f"{data.gpu_count[index]} × " in label
        values = [text.strip() for text, ink in runs if ink.role == "value" and ink.reverse]
        assert f"{DAYS[index]:g} d" in values
        assert any(value.startswith("$") for value in values)
        text = text_of(canvas)
        assert text.count(" × ") >= 3, "others keep theirs where there is room"


@pytest.mark.parametrize("size", [(40, 10), (80, 24), (120, 40), (200, 50)])
@pytest.mark.parametrize("every", [False, True])
def test_labels_cover_no_point_no_limit_and_no_other_label(
    size: tuple[int, int], every: bool
) -> None:
    data = sixteen()
    for index in range(len(data)):
        state = {"budget_usd": 40_000.0, "max_time": 120.0, "selected": index, "every": every}
        canvas = draw(data, *size, **state)
        for cell in laid_out(data, *size, every=every).winners:
            role = canvas.role(*cell)
            reverse = role == "label"  # the selected point's glyph itself is drawn as a label
            assert role in ("point", "dot") or reverse
        text = text_of(canvas)
        for name in re.findall(r"\d × [A-Z0-9 ]+\w", text):
            assert "┃" not in name
            assert "━" not in name


def test_by_default_only_what_matters_has_a_name() -> None:
    data = sixteen()
    text = text_of(draw(data, 120, 40, every=False))
    named = {i for i in range(16) if f"{data.gpu_count[i]} × {data.series_names[i // 4]}" in text}
    assert named == {*FRONT, 10}
    assert text.count("·") == 16 - len(named)
    assert text_of(draw(data, 120, 40)).count("·") == 0


def test_a_machine_that_costs_nothing_stands_at_the_axis() -> None:
    data = dataclasses.replace(sixteen(), on_axis=[("4 × A6000, yours", 70.0)])
    assert "│◂4 × A6000, yours" in text_of(draw(data, 120, 40, every=False))


def test_labels_that_would_collide_are_dropped() -> None:
    close = plain([1000.0 + 40 * n for n in range(30)], [10.0] * 30)
    canvas = draw(close, 40, 6)
    text = text_of(canvas)
    assert text.count("●") >= 20 + 1
    assert 0 < text.count("1 × A") < 30


@pytest.mark.parametrize("size", [(40, 10), (58, 11), (80, 24), (120, 40)])
@pytest.mark.parametrize("selected", [False, True])
def test_first_place_has_its_name_in_the_thickest_crowd(
    size: tuple[int, int], selected: bool
) -> None:
    crowd = scattered(4_000, 30)
    first = sorted(range(4_000), key=crowd.x_usd.__getitem__)[2_000]  # in the middle of it
    flags = bytearray(4_000)
    for index in range(0, 4_000, 40):
        flags[index] |= PointFlag.TIED
    flags[first] |= PointFlag.FIRST
    data = dataclasses.replace(crowd, flags=bytes(flags))
    name = f"{data.gpu_count[first]} × {data.series_names[data.series[first]]}"
    for every in (False, True):
        canvas = draw(data, *size, every=every, selected=first if selected else None)
        written = [
            text.strip()
            for y in range(1, size[1])
            for text, ink in canvas.runs(y)
            if ink.role == "label" and (ink.reverse or not selected)
        ]
        assert any(text.startswith(name[:7]) for text in written), written
        cell = laid_out(data, *size, every=every).cells[first]
        assert cell is not None
        assert selected or canvas.role(*cell) == "point"


# Whatever the data


@settings(deadline=None)  # a loaded machine is no error
@given(
    points=st.lists(st.tuples(VALUES, VALUES, st.integers(0, 63)), min_size=1, max_size=30),
    names=st.lists(NAMES, min_size=1, max_size=5),
    size=st.tuples(st.integers(24, 160), st.integers(6, 50)),
    limits=st.tuples(st.none() | VALUES, st.none() | VALUES),
    picked=st.tuples(st.integers(0, 29), st.integers(0, 29)),
)
def test_any_points_fit_the_rectangle(
    points: list[tuple[float, float, int]],
    names: list[str],
    size: tuple[int, int],
    limits: tuple[float | None, float | None],
    picked: tuple[int, int],
) -> None:
    width, height = size
    data = PlotData(
        x_usd=[x for x, _, _ in points],
        y_times=[y for _, y, _ in points],
        y_low=[y / 2 for _, y, _ in points],
        y_high=[y * 2 for _, y, _ in points],
        series=[i % len(names) for i in range(len(points))],
        gpu_count=[10**i for i in range(len(points))],
        series_names=names,
        series_slots=range(len(names)),
        flags=bytes(flags for _, _, flags in points),
        y_title=names[0],
        x_title=names[-1],
    )
    canvas = draw(
        data,
        width,
        height,
        budget_usd=limits[0],
        max_time=limits[1],
        selected=picked[0] % len(points),
        hovered=picked[1] % len(points),
    )
    for y in range(height):
        row = "".join(text for text, _ in canvas.runs(y))
        assert cell_len(row) == width
        assert not CONTROLS.search(row)


@given(text=st.text(max_size=20), other=st.text(max_size=5), at=st.integers(-5, 25))
def test_text_never_leaves_the_canvas(text: str, other: str, at: int) -> None:
    canvas = Canvas(20, 1)
    canvas.write(0, 0, text, Ink("label"))
    canvas.write(at, 0, other, Ink("label"))
    assert cell_len(text_of(canvas)) == 20


@given(
    names=st.lists(st.text("abcé用", min_size=1, max_size=12), min_size=1, max_size=12),
    widths=st.lists(st.integers(1, 40), min_size=1, max_size=3),
    first=st.none() | st.integers(0, 11),
)
def test_the_legend_counts_what_it_leaves_out(
    names: list[str], widths: list[int], first: int | None
) -> None:
    items = [LegendItem(glyph="●", text=name, series=i) for i, name in enumerate(names)]
    rows = fit_legend(items, widths, first)
    assert len(rows) <= len(widths)
    for row, width in zip(rows, widths, strict=False):
        assert sum(item.width + 2 for item in row) - 2 <= width
    shown = [item for row in rows for item in row]
    named = [item for item in shown if item.series is not None]
    assert [i.series for i in named] == sorted(i.series for i in named if i.series is not None)
    if len(named) > 1 and len(named) < len(items):
        assert shown[-1].text == f"+{len(items) - len(named)} more"
        assert first is None or first >= len(items) or first in {i.series for i in named}


def test_no_name_stands_at_the_sign_of_another_point_unless_nearer_to_its_own(
    store_path: Path,
) -> None:
    """Over all shipped models and four sizes of the picture."""
    with Store(store_path).reading() as reader:
        snapshot = take_snapshot(reader)
        for model in snapshot.models:
            key = CandidatesKey(model.recipe_id, "latest", "sound")
            times = reader.best_times(model.recipe_id, "sound")
            view = CandidatesView(candidates_of(times, snapshot, key), ())
            asked = Question(budget_usd=Decimal(40_000))
            data = plot_data(answer(view, asked, "overall", "latest"))
            for size in ((78, 10), (58, 22), (118, 20), (198, 36)) if len(data) else ():
                check_names(data, size)


def check_names(data: PlotData, size: tuple[int, int]) -> None:
    limits = Limits(budget_usd=40_000)
    marks = series_marks(data.series_slots, coloured=True)
    view = start_view(data, limits, selected=None, every=False)
    layout = lay_out(data, marks, view, size, every=False)
    rows = text_of(paint(Scene(data, layout, marks, limits))).splitlines()
    names = data.labels(dict.fromkeys(layout.named), limits.budget_usd, limits.max_time)
    signs = {layout.cells[i] for i in layout.named}
    for index, name in names.items():
        alike = any(name != other and name in other for other in names.values())
        found = [(row.find(name), y) for y, row in enumerate(rows) if y >= layout.top]
        for start, y in found if not alike else ():
            if start < 0:
                continue

            def away(cell: Cell, x: int = start, row: int = y, wide: int = cell_len(name)) -> int:
                return max(x - cell[0], cell[0] - x - wide + 1, 0) + 2 * abs(row - cell[1])

            own = layout.cells[index]
            assert own is not None
            for cell in signs - {own, None}:
                assert cell is not None
                beside = start - 1 <= cell[0] <= start + cell_len(name) and abs(y - cell[1]) <= 1
                assert not beside or away(own) < away(cell), (name, size, rows)
