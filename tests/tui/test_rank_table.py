"""The table: rows in view only, strings as data, columns with room; its cursor follows its row."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text
from textual.pilot import Pilot

from advisor.tui.widgets.rank_table import RankTable
from advisor.tui.widgets.safe_text import safe_text, shorten
from advisor.tui.widgets.table_layout import Column, fitted
from tests.tui.conftest import WidgetApp
from tests.tui.tables import (
    Builds,
    Words,
    lines,
    make,
    reversed_lines,
    table_of,
)

# Rows


async def test_only_rows_in_view_are_asked_for() -> None:
    source = Builds(range(1_000_000))
    app = make(source)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("end")
        await pilot.pause()
        assert "1000000" in lines(table_of(app))[-1]
        assert len(source.asked) < 150
        assert len(set(source.asked)) < 110


async def test_strings_are_data() -> None:
    hostile = "[red]x[/red] \x1b[31mred\x1b]0;title\x07\nnext\tline \u202egnp.exe"
    app = WidgetApp(RankTable([Column(key="a", title="[b]a", width=70)], Words([(hostile,)] * 2)))
    async with app.run_test(size=(80, 6)):
        text = lines(table_of(app))[1].rstrip()
        assert text == " [red]x[/red] \ufffd[31mred\ufffd]0;title\ufffd next line gnp.exe"
        assert "[b]a" in lines(table_of(app))[0]


async def test_a_text_keeps_its_styles_but_not_its_controls() -> None:
    cell = Text("be\x1bst", style="bold red")
    table = RankTable(
        [Column(key="a", title="a", width=2), Column(key="b", title="b", width=9)],
        Words([("", cell)] * 2),
    )
    app = WidgetApp(table)
    async with app.run_test(size=(40, 6)):
        cursor, other = (
            next(s for s in table.render_line(y) if "st" in s.text).style for y in (1, 2)
        )
        assert other is not None
        assert other.bold
        assert other.color is not None
        assert other.color.name == "red"
        assert cursor is not None
        assert cursor.reverse
        assert cursor.bold
        assert cursor.color != other.color, "the cursor is one bar"
        assert "be\ufffdst" in lines(table)[2]


TEXTS = st.text(max_size=60) | st.text(max_size=20).map(Text)


@settings(deadline=None, max_examples=60)
@given(rows=st.lists(st.lists(TEXTS, max_size=4), max_size=5), width=st.integers(1, 90))
async def test_any_strings_fit_the_line(rows: list[list[str | Text]], width: int) -> None:
    columns = [
        Column(key="a", title="用a", width=20),
        Column(key="b", title="b", width=3, align="right"),
        Column(key="c", title="c", width=1),
    ]
    app = WidgetApp(RankTable(columns, Words(rows)))
    async with app.run_test(size=(width, 8)):
        table = table_of(app)
        inner = table.scrollable_content_region.width
        for line in lines(table):
            assert cell_len(line) == inner
            assert "\x1b" not in line


@given(text=st.text(max_size=40), width=st.integers(0, 30))
def test_shortened_text_fits(text: str, width: int) -> None:
    assert cell_len(shorten(safe_text(text), width)) <= width


async def test_a_cell_that_is_cut_ends_in_an_ellipsis() -> None:
    table = RankTable(
        [Column(key="a", title="a", width=6)], Words([("abcdefghi",), (Text("abcdefghi"),)])
    )
    app = WidgetApp(table)
    async with app.run_test(size=(20, 5)):
        assert [line.strip() for line in lines(table)[1:3]] == ["abcde…", "abcde…"]


@given(
    widths=st.lists(st.tuples(st.integers(1, 40), st.none() | st.integers(1, 40)), min_size=1),
    room=st.integers(1, 200),
)
def test_as_many_columns_are_shown_as_there_is_room_for(
    widths: list[tuple[int, int | None]], room: int
) -> None:
    columns = [
        Column(key=str(n), title="", width=width, least=least)
        for n, (width, least) in enumerate(widths)
    ]
    found = fitted(columns, room, 2)
    taken = sum(found) + 2 * (len(found) - 1)
    assert len(found) >= 1 and taken <= room
    for column, got in zip(columns, found, strict=False):
        assert got <= column.width
        assert len(found) == 1 or got >= min(column.width, column.least or column.width)
    if sum(column.width for column in columns) + 2 * (len(columns) - 1) <= room:
        assert found == [column.width for column in columns]
    elif any(got < column.width for column, got in zip(columns, found, strict=False)):
        assert taken == room


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


async def test_the_cursor_stays_on_its_row_when_the_rows_are_sorted() -> None:
    app = make(Builds(range(1000)))
    async with app.run_test(size=(120, 21)) as pilot:
        table = table_of(app)
        await pilot.press(*["down"] * 30)
        table.source = Builds(range(999, -1, -1))
        await pilot.pause()
        assert table.cursor == 969
        assert "31 " in next(lines(table)[y] for y in reversed_lines(table))
        table.source = Builds([30])
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


async def test_resizing_keeps_the_cursor_in_view() -> None:
    app = make(Builds(range(100)))
    async with app.run_test(size=(120, 40)) as pilot:
        table = table_of(app)
        table.cursor = 35
        for size in ((80, 10), (40, 4), (120, 40), (80, 8)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            assert len(reversed_lines(table)) == 1, size
