"""A table that draws only the rows in view, however many there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.cache import LRUCache
from textual.geometry import Size
from textual.message import Message
from textual.reactive import reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from advisor.tui.widgets.safe_text import fit
from advisor.tui.widgets.table_layout import (
    MARGIN,
    Column,
    RowSource,
    TableLayout,
)

GAP = 2
"""Cells between two columns, where nobody says otherwise."""


class RankTable(ScrollView, can_focus=True):
    """Rows from a ``RowSource`` under a header that stays in place."""

    HELP = """
## Table

`↑` and `↓` go from row to row. `Enter` opens everything about the row, also what a narrow terminal
has no column for.

The arrow in the header says what the rows are sorted by. With a mouse: click a header to sort by
it, click a row to select it, double-click to open it.
"""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "rank-table--header",
        "rank-table--sorted",
        "rank-table--cursor",
        "rank-table--cursor-blurred",
        "rank-table--empty",
        "rank-table--dimmed",
        "rank-table--doubtful",
        "rank-table--owned",
        "rank-table--front",
    }

    DEFAULT_CSS = """
    RankTable {
        height: 1fr;
        color: $foreground;
        .rank-table--header { color: $foreground; text-style: bold; background: $panel; }
        .rank-table--sorted { color: $foreground; text-style: bold underline; background: $panel; }
        .rank-table--cursor { color: $foreground; text-style: reverse; }
        .rank-table--cursor-blurred { color: $foreground 60%; text-style: reverse; }
        .rank-table--empty { color: $foreground 70%; }
        .rank-table--dimmed { color: $foreground 50%; }
        .rank-table--doubtful { color: $text-warning; text-style: italic; }
        .rank-table--owned { color: $text-success; }
        .rank-table--front { color: $foreground; text-style: bold; }
        &:ansi {
            .rank-table--dimmed { color: ansi_bright_black; }
            .rank-table--cursor-blurred { color: ansi_bright_black; }
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keys, action, tooltip=tip)
        for keys, action, tip in (
            ("up", "move(-1)", "Highlight the row above"),
            ("down", "move(1)", "Highlight the row below"),
            ("pageup", "page(-1)", "Move up by one screen"),
            ("pagedown", "page(1)", "Move down by one screen"),
            ("home", "first", "Highlight the first row"),
            ("end", "last", "Highlight the last row"),
            ("enter,space", "open", "Open the full record of the highlighted row"),
        )
    ]

    source: reactive[RowSource] = reactive(RowSource, init=False, always_update=True)
    """Where the rows come from; assigning it redraws, even when it is the same again."""
    columns: reactive[tuple[Column, ...]] = reactive((), init=False)
    cursor: reactive[int] = reactive(0, init=False)
    """The highlighted row; setting it posts no message, only the user's own doing does."""
    sorted_by: reactive[str | None] = reactive(None, init=False)
    """The key of the column that the rows are sorted by."""
    sort_descending: reactive[bool] = reactive(False, init=False)
    gap: reactive[int] = reactive(GAP, init=False)
    """Cells between two columns."""
    empty_message: reactive[str] = reactive("No rows.", init=False)
    """Shown in place of rows when there are none."""

    @dataclass
    class RowHighlighted(Message):
        """The cursor came to another row: by the user, or because new rows lack the old one."""

        index: int

    @dataclass
    class RowOpened(Message):
        """The user asked for everything about a row."""

        index: int

    @dataclass
    class HeaderClicked(Message):
        """The user clicked the header of a column that can be sorted by."""

        key: str

    def __init__(
        self,
        columns: Sequence[Column] = (),
        source: RowSource | None = None,
        *,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
    ) -> None:
        super().__init__(id=id)
        self._layout = TableLayout()
        self._lines: LRUCache[tuple[int, bool, bool], Strip] = LRUCache(512)
        self._plain_style: Style | None = None
        self.set_reactive(RankTable.columns, tuple(columns))
        if source is not None:
            self.set_reactive(RankTable.source, source)
        self._measure()

    # State

    def validate_cursor(self, cursor: int) -> int:
        return max(0, min(cursor, len(self.source) - 1))

    def watch_cursor(self, old: int, new: int) -> None:
        self.refresh_line(old + 1)
        self.refresh_line(new + 1)
        self._show_cursor()

    def watch_source(self, old: RowSource, new: RowSource) -> None:
        was_in_view = self._in_view(self.cursor)
        followed = None
        if self.cursor < len(old) and (row_id := old.row_id(self.cursor)) is not None:
            followed = new.index_of(row_id)
        index = self.validate_cursor(self.cursor if followed is None else followed)
        self.set_reactive(RankTable.cursor, index)
        self._measure()
        if was_in_view:
            self._show_cursor()
        if followed is None and len(new) and self.is_attached:
            self.post_message(self.RowHighlighted(index))

    def watch_columns(self) -> None:
        self._measure()

    def watch_gap(self) -> None:
        self._measure()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._lines.clear()
        self._plain_style = None

    def on_resize(self) -> None:
        self._measure()
        self._show_cursor()

    def _measure(self) -> None:
        """Widths and virtual size; what is cached of the rows no longer holds."""
        room = None
        if self.size.width:
            # With room for the scrollbar, whether it is there or not: nothing moves when it comes.
            room = self.content_size.width - self.styles.scrollbar_size_vertical
        self._layout = TableLayout.of(self.columns, self.gap, room)
        size = Size(self._layout.total, len(self.source) + 1)
        if size != self.virtual_size:
            # The scrollbars follow; the rest of the screen need not be laid out for it.
            self.set_reactive(RankTable.virtual_size, size)
            if self.is_attached and self.size:
                self._scroll_update(size)
        self._lines.clear()
        self._plain_style = None
        self.refresh()

    # Drawing

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        if y == 0:
            style = self.get_component_rich_style("rank-table--header")
            return self._header(style).crop_extend(0, width, style)
        if not len(self.source):
            return self._empty_line(y - 1, width)
        index = self.scroll_offset.y + y - 1
        if index >= len(self.source):
            return Strip.blank(width, self.rich_style)
        return self._line(index).crop_extend(0, width, self._row_style(index))

    def _header(self, style: Style) -> Strip:
        arrows = {}
        if self.sorted_by is not None:
            arrows[self.sorted_by] = " ▼" if self.sort_descending else " ▲"
        sorted_style = self.get_component_rich_style("rank-table--sorted")
        return self._layout.header(arrows, style, sorted_style)

    def _row_style(self, index: int) -> Style:
        if index == self.cursor:
            return self.get_component_rich_style(
                "rank-table--cursor" if self.has_focus else "rank-table--cursor-blurred"
            )
        if name := self.source.row_style(index):
            return self.get_component_rich_style(f"rank-table--{name}")
        if self._plain_style is None:
            self._plain_style = self.rich_style  # asks every widget above this one
        return self._plain_style

    def _line(self, index: int) -> Strip:
        key = (index, index == self.cursor, self.has_focus)
        line = self._lines.get(key)
        if line is None:
            cells, style = self.source.cells(index), self._row_style(index)
            row = self._layout.row(cells, style, self.app.console)
            line = self._lines[key] = Strip(row)
        return line

    def _empty_line(self, y: int, width: int) -> Strip:
        style = self.get_component_rich_style("rank-table--empty")
        text = Text(self.empty_message, style=style)
        wrapped = text.wrap(self.app.console, max(1, width - 2 * MARGIN))
        # One line of air above the message where there is room for it.
        at = y - 1 if self.size.height > len(wrapped) + 1 else y
        if not 0 <= at < len(wrapped):
            return Strip.blank(width, self.rich_style)
        line = fit(wrapped[at].plain.rstrip(), width)
        return Strip([Segment(" " * MARGIN + line, style)]).crop_extend(0, width, self.rich_style)

    def rows_seen(self) -> list[dict[str, str]]:
        """The table as it stands on the screen, to be saved."""
        source = self.source
        titles = [column.title.strip() or column.key for column in self.columns]
        return [
            dict(zip(titles, (str(cell).strip() for cell in source.cells(index)), strict=False))
            for index in range(len(source))
        ]

    # Scrolling and the cursor

    @property
    def _rows_in_view(self) -> int:
        return max(1, self.scrollable_content_region.height - 1)

    def _in_view(self, index: int) -> bool:
        return 0 <= index - self.scroll_offset.y < self._rows_in_view

    def _show_cursor(self) -> None:
        """Scroll as little as it takes."""
        if not self.is_attached or not self.size:
            return  # on_resize comes back to it
        top = self.scroll_offset.y
        wanted = max(min(top, self.cursor), self.cursor - self._rows_in_view + 1)
        if wanted != top:
            self.scroll_to(y=wanted, animate=False)

    def _highlight(self, index: int) -> None:
        """Move the cursor for the user."""
        before = self.cursor
        self.cursor = index
        if self.cursor != before:
            self.post_message(self.RowHighlighted(self.cursor))
        else:
            self._show_cursor()

    def action_move(self, rows: int) -> None:
        self._highlight(self.cursor + rows)

    def action_page(self, pages: int) -> None:
        self._highlight(self.cursor + pages * self._rows_in_view)

    def action_first(self) -> None:
        self._highlight(0)

    def action_last(self) -> None:
        self._highlight(len(self.source) - 1)

    def action_open(self) -> None:
        if len(self.source):
            self.post_message(self.RowOpened(self.cursor))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        if offset.y == 0:
            self._click_header(offset.x)
            return
        index = self.scroll_offset.y + offset.y - 1
        if index < len(self.source):
            self._highlight(index)
            if event.chain == 2:
                self.action_open()

    def _click_header(self, x: int) -> None:
        column = self._layout.column_at(x)
        if column is not None and column.sorts:
            self.post_message(self.HeaderClicked(column.key))
