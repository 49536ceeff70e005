"""The picture as people meet it: on screens of every kind, by keyboard and by mouse."""

from __future__ import annotations

import dataclasses
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len

from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.snapshot import candidates_of, take_snapshot
from advisor.store import Store
from advisor.tui.program.answer import CandidatesView, answer, plot_data
from advisor.tui.widgets.plot.canvas import Canvas, Cell
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.layout import lay_out
from advisor.tui.widgets.plot.painter import paint
from advisor.tui.widgets.plot.plot import CostTimePlot
from tests.tui.conftest import WidgetApp
from tests.tui.points import DAYS, FRONT, lines, place_of, plain, plot, scattered, sixteen

CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]")
VALUES = st.floats(1e-9, 1e12)
NAMES = st.text(max_size=30)


def draw(
    data: PlotData, width: int, height: int, *, selected: int | None = None, **limits: Any
) -> Canvas:
    """The picture without a terminal around it."""
    data = dataclasses.replace(data, **limits)
    return paint(data, lay_out(data, (width, height), selected), selected)


def text_of(canvas: Canvas) -> str:
    return "\n".join("".join(text for text, _ in canvas.runs(y)) for y in range(canvas.height))


# What it looks like


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
        assert "─┐ front" in lines(widget)[1]


def test_the_marks_of_evidence_need_no_colour() -> None:
    flags = bytes(flag | PointFlag.TIED for flag in sixteen().flags)
    text = text_of(draw(dataclasses.replace(sixteen(), flags=flags), 120, 40))
    for said in ("□ 1 × RTX 6000 Ada", "2 × H100 SXM?", "4 × A100 80GB own", "(4 × RTX 6000 Ada)"):
        assert said in text


def test_a_budget_out_of_view_is_pointed_at() -> None:
    assert "◂budget $5" in text_of(draw(sixteen(), 80, 24, budget_usd=5.0))
    assert "budget $900M▸" in text_of(draw(sixteen(), 80, 24, budget_usd=9e8))
    assert "▴ limit 10k d" in text_of(draw(sixteen(), 80, 24, max_time=1e4))
    assert "▾ limit 0.1 d" in text_of(draw(sixteen(), 80, 24, max_time=0.1))


@pytest.mark.parametrize("size", [(60, 16), (80, 24), (120, 40)])
def test_the_selected_label_and_both_values_are_never_dropped(size: tuple[int, int]) -> None:
    data = sixteen()
    for index in range(len(data)):
        canvas = draw(data, *size, selected=index)
        runs = [(text, ink) for y in range(size[1]) for text, ink in canvas.runs(y)]
        label = "".join(text for text, ink in runs if ink.role == "label" and ink.reverse)
        assert f"{data.gpu_count[index]} × " in label
        values = [text.strip() for text, ink in runs if ink.role == "value" and ink.reverse]
        assert f"{DAYS[index]:g} d" in values
        assert any(value.startswith("$") for value in values)
        text = text_of(canvas)
        assert text.count(" × ") >= 3, "others keep theirs where there is room"


def test_only_what_matters_has_a_name() -> None:
    data = sixteen()
    text = text_of(draw(data, 120, 40))
    named = {i for i in range(16) if f"{data.gpu_count[i]} × {data.series_names[i // 4]}" in text}
    assert named == {*FRONT, 10}


def test_a_machine_that_costs_nothing_stands_at_the_axis() -> None:
    data = dataclasses.replace(sixteen(), on_axis=[("4 × A6000, yours", 70.0)])
    assert "│◂4 × A6000, yours" in text_of(draw(data, 120, 40))


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
    canvas = draw(data, *size, selected=first if selected else None)
    written = [
        text.strip()
        for y in range(1, size[1])
        for text, ink in canvas.runs(y)
        if ink.role == "label" and (ink.reverse or not selected)
    ]
    assert any(text.startswith(name[:7]) for text in written), written
    cell = lay_out(data, size, first if selected else None).cells[first]
    assert cell is not None
    assert selected or canvas.role(*cell) == "point"


# Whatever the data


@settings(deadline=None)  # a loaded machine is no error
@given(
    points=st.lists(st.tuples(VALUES, VALUES, st.integers(0, 63)), min_size=1, max_size=30),
    names=st.lists(NAMES, min_size=1, max_size=5),
    size=st.tuples(st.integers(24, 160), st.integers(6, 50)),
    limits=st.tuples(st.none() | VALUES, st.none() | VALUES),
    picked=st.integers(0, 29),
)
def test_any_points_fit_the_rectangle(
    points: list[tuple[float, float, int]],
    names: list[str],
    size: tuple[int, int],
    limits: tuple[float | None, float | None],
    picked: int,
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
        selected=picked % len(points),
    )
    for y in range(height):
        row = "".join(text for text, _ in canvas.runs(y))
        assert cell_len(row) == width
        assert not CONTROLS.search(row)


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
            data = plot_data(answer(view, asked, "latest"))
            for size in ((78, 10), (58, 22), (118, 20), (198, 36)) if len(data) else ():
                check_names(data, size)


def check_names(data: PlotData, size: tuple[int, int]) -> None:
    layout = lay_out(data, size)
    rows = text_of(paint(data, layout)).splitlines()
    names = data.labels(dict.fromkeys(layout.named))
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
                in_own_row = own[1] == y != cell[1] and away(own) == 2
                assert not beside or in_own_row or away(own) < away(cell), (name, size, rows)


# By keys and mouse


async def test_keys_move_from_point_to_point_and_say_so() -> None:
    widget = plot(sixteen())
    app = WidgetApp(widget)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("left")
        assert widget.selected == 8, "the first key selects the cheapest"
        await pilot.press("end")
        assert widget.selected == 15
        await pilot.press("right", "down")
        assert widget.selected == 15, "there is nothing further right or down"
        await pilot.press("left", "enter")
        await pilot.pause()
        assert app.seen(CostTimePlot.PointSelected) == [8, 15, widget.selected]
        assert app.seen(CostTimePlot.PointOpened) == [widget.selected]
        for key, better in (("up", max), ("down", min)):
            for _ in range(16):
                await pilot.press(key)
            assert DAYS[widget.selected] == better(DAYS)


async def test_names_that_read_alike_say_their_cost() -> None:
    data = dataclasses.replace(
        plain([10_000.0, 20_000.0, 30_000.0], [50.0, 40.0, 30.0], ("A", "B")),
        series=[0, 0, 1],
        flags=bytes([PointFlag.FRONT, 0, PointFlag.UNSOLD]),
    )
    app = WidgetApp(widget := plot(data, selected=1))
    async with app.run_test(size=(80, 24)):
        drawn = "\n".join(lines(widget))
        assert "1 × A, $10k" in drawn and "1 × A, $20k" in drawn
        assert "1 × B †" in drawn and "† no seller" in drawn


async def test_clicking_again_goes_through_the_points_in_one_place() -> None:
    widget = plot(plain([100.0, 100.0, 9000.0, 100.0], [10.0, 10.0, 1.0, 10.0]))
    app = WidgetApp(widget)
    async with app.run_test(size=(80, 24)) as pilot:
        place = place_of(widget, 0)
        for _ in range(4):
            await pilot.click(CostTimePlot, offset=place)
        await pilot.pause()
        assert app.seen(CostTimePlot.PointSelected) == [0, 1, 3, 0]
