"""The picture's keys and mouse, and what of it is drawn anew."""

from __future__ import annotations

import dataclasses

from rich.cells import cell_len
from textual.events import MouseMove, MouseScrollDown, MouseScrollUp

from advisor.tui.widgets.plot.data import PointFlag
from advisor.tui.widgets.plot.plot import CostTimePlot
from tests.tui.conftest import WidgetApp
from tests.tui.points import DAYS, lines, place_of, plain, plot, sixteen


def find(widget: object, text: str) -> tuple[int, int]:
    """Where this text begins on the widget."""
    assert isinstance(widget, CostTimePlot)
    return next((line.index(text), y) for y, line in enumerate(lines(widget)) if text in line)


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


async def test_the_four_keys_reach_every_point() -> None:
    widget = plot(sixteen())
    app = WidgetApp(widget)
    async with app.run_test(size=(120, 40)):
        reached, todo = {8}, [8]
        while todo:
            start = todo.pop()
            for direction in ("left", "right", "up", "down"):
                widget.selected = start
                widget.action_move(direction)  # type: ignore[arg-type]
                if widget.selected not in reached:
                    reached.add(widget.selected)
                    todo.append(widget.selected)
        assert reached == set(range(16))


async def test_zoom_pan_focus_and_back() -> None:
    widget = plot(sixteen(), budget_usd=40_000.0, selected=9)
    app = WidgetApp(widget)
    async with app.run_test(size=(120, 40)) as pilot:
        start = lines(widget)
        await pilot.press("plus")
        assert widget.view is not None
        wide = widget.view.x.span
        closer = lines(widget)
        assert closer != start
        assert any("2 × A100 80GB" in line for line in closer), "around the selected point"
        await pilot.press("minus")
        assert widget.view.x.span > wide
        await pilot.press("shift+right", "shift+up")
        await pilot.press("0")
        assert lines(widget) == start
        await pilot.press("Z")
        assert lines(widget) != start
        assert not any("(4 × RTX 6000 Ada)" in line for line in lines(widget))
        await pilot.press("Z")
        assert lines(widget) == start


async def test_setting_the_selection_posts_nothing() -> None:
    widget = plot(sixteen())
    app = WidgetApp(widget)
    async with app.run_test() as pilot:
        widget.selected = 5
        await pilot.pause()
        assert app.messages == []
        widget.selected = 99
        assert widget.selected is None
        widget.selected = -1
        assert widget.selected is None


async def test_mouse_hovers_and_selects() -> None:
    widget = plot(sixteen(), every=True)
    app = WidgetApp(widget)
    async with app.run_test(size=(120, 40)) as pilot:
        x, y = place_of(widget, 11)
        await pilot.hover(CostTimePlot, offset=(x, y))
        await pilot.hover(CostTimePlot, offset=(x + 1, y))
        await pilot.hover(CostTimePlot, offset=(2, 2))
        await pilot.click(CostTimePlot, offset=(x + 1, y))
        await pilot.click(CostTimePlot, offset=(2, 2))
        await pilot.pause()
        assert app.seen(CostTimePlot.PointHovered)[:2] == [11, None]
        assert app.seen(CostTimePlot.PointSelected) == [11]
        assert widget.selected == 11


async def test_the_wheel_zooms_around_the_mouse_and_dragging_moves_the_view() -> None:
    widget = plot(sixteen(), every=True)
    app = WidgetApp(widget)
    async with app.run_test(size=(120, 40)) as pilot:
        place = place_of(widget, 11)
        assert widget.arranged is not None
        start_span = widget.arranged.view.x.span
        await pilot._post_mouse_events([MouseScrollUp], CostTimePlot, offset=place)
        await pilot.pause()
        assert widget.view is not None and widget.view.x.span < start_span
        assert abs(place_of(widget, 11)[0] - place[0]) <= 1
        assert abs(place_of(widget, 11)[1] - place[1]) <= 1
        await pilot._post_mouse_events([MouseScrollDown], CostTimePlot, offset=place)
        await pilot.press("0")
        await pilot.mouse_down(CostTimePlot, offset=place)
        there = place[0] - 10, place[1] + 2
        await pilot._post_mouse_events([MouseMove], CostTimePlot, offset=there, button=1)
        await pilot.mouse_up(CostTimePlot, offset=there)
        await pilot.pause()
        assert place_of(widget, 11) == there
        assert app.seen(CostTimePlot.PointSelected) == [], "a drag selects nothing"
        await pilot.click(CostTimePlot, offset=there)
        await pilot.pause()
        assert app.seen(CostTimePlot.PointSelected) == [11]


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
        assert "1 × B †" in drawn and "† no seller known" in drawn


async def test_clicking_again_goes_through_the_points_in_one_place() -> None:
    widget = plot(plain([100.0, 100.0, 9000.0, 100.0], [10.0, 10.0, 1.0, 10.0]))
    app = WidgetApp(widget)
    async with app.run_test(size=(80, 24)) as pilot:
        place = place_of(widget, 0)
        for _ in range(4):
            await pilot.click(CostTimePlot, offset=place)
        await pilot.pause()
        assert app.seen(CostTimePlot.PointSelected) == [0, 1, 3, 0]


async def test_new_data_drops_a_selection_that_it_does_not_have() -> None:
    widget = plot(sixteen(), selected=15, hovered=3)
    app = WidgetApp(widget)
    async with app.run_test() as pilot:
        widget.data = plain([1.0, 2.0], [1.0, 2.0])
        await pilot.pause()
        assert widget.selected is None
        assert app.seen(CostTimePlot.PointHovered) == [None]


async def test_resizing_keeps_the_selection_and_fills_the_new_size() -> None:
    widget = plot(sixteen(), selected=7)
    app = WidgetApp(widget)
    async with app.run_test(size=(120, 40)) as pilot:
        for size in ((80, 24), (30, 8), (10, 3), (200, 60), (80, 24)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            drawn = lines(widget)
            assert [cell_len(line) for line in drawn] == [size[0]] * size[1]
        assert widget.selected == 7
        assert "8 × RTX" in "\n".join(drawn)
