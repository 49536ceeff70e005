"""What the table looks like: rows in view only, strings as data, columns with room for both."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from advisor.tui.widgets.rank_table import RankTable
from advisor.tui.widgets.safe_text import safe_text, shorten
from advisor.tui.widgets.table_layout import (
    Column,
    column_widths,
    fitted,
)
from tests.tui.conftest import WidgetApp
from tests.tui.tables import (
    COLUMNS,
    Builds,
    IndexedBuilds,
    Words,
    lines,
    make,
    table_of,
)

# What it looks like


@pytest.mark.parametrize("size", [(20, 5), (10, 2), (3, 1), (1, 1), (200, 60)])
async def test_every_line_is_as_wide_as_the_table(size: tuple[int, int]) -> None:
    app = make(Builds(range(30)))
    async with app.run_test(size=size) as pilot:
        await pilot.press("right", "down", "end")
        await pilot.pause()
        table = table_of(app)
        width = table.scrollable_content_region.width
        assert {cell_len(line) for line in lines(table)} <= {width}


# Rows


async def test_only_rows_in_view_are_asked_for() -> None:
    source = IndexedBuilds(range(1_000_000))
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
        [Column(key="a", title="a"), Column(key="b", title="b")], Words([("", cell)] * 2)
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
        Column(key="a", title="用a"),
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


def test_columns_are_as_wide_as_a_bounded_sample_needs() -> None:
    long = Words([("a" * 99, "bb", "用户", Text("x" * 9)), ("", "", "")])
    columns = [
        Column(key="a", title="a"),
        Column(key="b", title="b", sort_key="b"),
        Column(key="c", title="c"),
        Column(key="d", title="d", width=4),
    ]
    assert column_widths(columns, long) == [40, 3, 4, 4]
    source = Builds(range(100_000))
    column_widths(COLUMNS, source)
    assert len(source.asked) <= 60
    assert max(source.asked) > 90_000
    assert column_widths(COLUMNS, Builds(range(0)))[0] == 1


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
def test_narrowed_columns_are_as_many_and_as_wide_as_there_is_room(
    widths: list[tuple[int, int | None]], room: int
) -> None:
    columns = [Column(key=str(n), title="", least=least) for n, (_, least) in enumerate(widths)]
    whole = [width for width, _ in widths]
    found = fitted(columns, whole, room, 2)
    assert all(
        min(width, least or width) <= got <= width
        for got, (width, least) in zip(found, widths, strict=True)
    )
    ends = [sum(found[: n + 1]) + 2 * n for n in range(len(found))]
    shown = sum(end <= room for end in ends)
    narrowed = [n for n, got in enumerate(found) if got < whole[n]]
    if sum(whole) + 2 * (len(whole) - 1) <= room:
        assert found == whole
    elif narrowed:
        assert max(narrowed) < shown and ends[shown - 1] == room


async def test_a_cell_at_the_edge_ends_in_an_ellipsis_and_no_number_is_halved() -> None:
    table = RankTable(
        (Column(key="a", title="name", width=10), Column(key="b", title="told", width=30)),
        Told(),
    )
    app = WidgetApp(table)
    async with app.run_test(size=(24, 5)):
        assert table.render_line(1).text.rstrip().endswith("…")
        table.columns = (table.columns[0], table.columns[1]._replace(align="right"))
        assert table.render_line(1).text.split() == ["RTX"]


class Told:
    """One row with a long text."""

    def __len__(self) -> int:
        return 1

    def cells(self, index: int) -> Sequence[str | Text]:
        return "RTX", "a text of thirty cells or more"
