"""The table's cursor follows its row; keys, mouse and wheel move it."""

from __future__ import annotations

import pytest
from textual import events
from textual.pilot import Pilot

from advisor.tui.widgets.rank_table import RankTable
from advisor.tui.widgets.table_layout import (
    Column,
)
from tests.tui.conftest import WidgetApp
from tests.tui.tables import (
    Builds,
    IndexedBuilds,
    Words,
    lines,
    make,
    reversed_lines,
    table_of,
)

# The cursor


async def test_keys_move_the_cursor_and_say_so() -> None:
    app = make(Builds(range(100)))
    async with app.run_test(size=(120, 21)) as pilot:
        table = table_of(app)
        rows = table.scrollable_content_region.height - 1
        await pilot.press("up", "down", "down", "up", "pagedown", "end", "down", "pageup", "home")
        await pilot.press("enter", "space")
        await pilot.pause()
        expected = [1, 2, 1, 1 + rows, 99, 99 - rows, 0]
        assert app.seen(RankTable.RowHighlighted) == expected
        assert app.seen(RankTable.RowOpened) == [0, 0]
        assert reversed_lines(table) == [1]


async def test_setting_the_cursor_posts_nothing_and_scrolls() -> None:
    app = make(Builds(range(100)))
    async with app.run_test(size=(120, 21)) as pilot:
        table = table_of(app)
        table.cursor = 77
        await pilot.pause()
        assert "78" in "".join(lines(table))
        assert reversed_lines(table) == [table.scrollable_content_region.height - 1]
        table.cursor = 5_000
        assert table.cursor == 99
        assert app.messages == []


@pytest.mark.parametrize("kind", [Builds, IndexedBuilds])
async def test_the_cursor_stays_on_its_row_when_the_rows_are_sorted(kind: type[Builds]) -> None:
    app = make(kind(range(1000)))
    async with app.run_test(size=(120, 21)) as pilot:
        table = table_of(app)
        await pilot.press(*["down"] * 30)
        table.source = kind(range(999, -1, -1))
        await pilot.pause()
        assert table.cursor == 969
        assert "31 " in next(lines(table)[y] for y in reversed_lines(table))
        table.source = kind([30])
        await pilot.pause()
        assert table.cursor == 0
        assert reversed_lines(table) == [1]
        assert len(app.messages) == 30, "the same row is no news"


async def test_a_row_that_is_gone_leaves_the_cursor_in_place_and_says_so() -> None:
    app = make(Builds(range(10)), cursor=7)
    async with app.run_test(size=(120, 21)) as pilot:
        table = table_of(app)
        table.source = Builds([0, 1, 2])
        await pilot.pause()
        assert app.seen(RankTable.RowHighlighted) == [2]
        table.source = Builds([])
        await pilot.pause()
        assert table.cursor == 0
        table.source = Words([("a",), ("b",)])
        await pilot.pause()
        table.source = Words([("a",), ("b",)])
        await pilot.pause()
        assert app.seen(RankTable.RowHighlighted) == [2, 0, 0]


async def test_the_same_source_again_is_read_again() -> None:
    rows = [["old"], ["rows"]]
    table = RankTable([Column(key="a", title="a")], Words(rows))
    app = WidgetApp(table)
    async with app.run_test(size=(40, 8)) as pilot:
        assert "old" in lines(table)[1]
        rows[0][0] = "much newer"
        table.source = table.source
        await pilot.pause()
        assert "much newer" in lines(table)[1]


# Mouse and scrolling


async def click(pilot: Pilot[None], x: int, y: int, times: int = 1) -> None:
    await pilot.click(RankTable, offset=(x, y), times=times)
    await pilot.pause()


async def test_clicks_select_and_double_clicks_open() -> None:
    app = make(Builds(range(5)))
    async with app.run_test(size=(120, 12)) as pilot:
        await click(pilot, 10, 3)
        await click(pilot, 10, 3)
        await click(pilot, 10, 9)
        assert app.seen(RankTable.RowHighlighted) == [2]
        assert app.seen(RankTable.RowOpened) == []
        await click(pilot, 10, 4, times=2)
        assert app.seen(RankTable.RowHighlighted) == [2, 3]
        assert app.seen(RankTable.RowOpened) == [3]


async def test_clicks_on_sortable_headers_name_the_column() -> None:
    app = make(Builds(range(50)))
    async with app.run_test(size=(80, 12)) as pilot:
        table = table_of(app)

        async def clicked(title: str) -> list[str]:
            app.messages.clear()
            await click(pilot, lines(table)[0].index(title), 0)
            return [m.key for m in app.messages if isinstance(m, RankTable.HeaderClicked)]

        assert await clicked("build") == ["build"]
        assert await clicked("days") == ["days"]
        assert await clicked("#") == [], "not sortable"
        await pilot.press("right", "right")
        await pilot.pause()
        assert "days" not in lines(table)[0][20:30]
        assert await clicked("cost per") == ["experiment"], "also when scrolled sideways"
        assert await clicked("build") == ["build"], "also in the columns that stay"


async def test_the_wheel_scrolls_the_rows_under_the_header() -> None:
    app = make(Builds(range(100)))
    async with app.run_test(size=(120, 12)) as pilot:
        table = table_of(app)
        header = lines(table)[0]
        scroll = events.MouseScrollDown(
            table, x=5, y=5, delta_x=0, delta_y=1, button=0, shift=False, meta=False, ctrl=False
        )
        table.post_message(scroll)
        await pilot.pause()
        assert table.scroll_offset.y > 0
        assert lines(table)[0] == header
        assert table.cursor == 0
        assert app.messages == []
        await pilot.press("down")
        await pilot.pause()
        assert reversed_lines(table), "a key brings the cursor back into view"


async def test_scrolling_sideways_keeps_the_first_columns() -> None:
    app = make(Builds(range(100)))
    async with app.run_test(size=(60, 12)) as pilot:
        table = table_of(app)
        first = lines(table)
        await pilot.press("right")
        await pilot.pause()
        second = lines(table)
        assert [line[:18] for line in first] == [line[:18] for line in second]
        assert "overall cost" in first[0]
        assert "overall cost" not in second[0]
        await pilot.press(*["right"] * 9)
        await pilot.pause()
        assert "用户提供" in lines(table)[1]
        await pilot.press(*["left"] * 9)
        await pilot.pause()
        assert lines(table) == first


async def test_resizing_keeps_the_cursor_in_view() -> None:
    app = make(Builds(range(100)))
    async with app.run_test(size=(120, 40)) as pilot:
        table = table_of(app)
        table.cursor = 35
        for size in ((80, 10), (40, 4), (120, 40), (80, 8)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert len(reversed_lines(table)) == 1, size
