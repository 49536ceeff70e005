"""A scrollable page of plain lines, each with a role; drawn line by line, so that it is cheap."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from advisor.tui.words import FAINT, HEADING, STRONG, WARNING, Line

Page = Callable[[int], Sequence[Line]]
"""Makes the lines for a width."""


class LinesView(ScrollView, can_focus=True):
    """Shows a page of text; what it says is data and never markup."""

    HELP = """\
## A page of text

`↑` `↓` `PgUp` `PgDn` `Home` `End` or the mouse wheel scroll it.
"""
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"lines--{role}" for role in (HEADING, STRONG, WARNING, FAINT)
    }
    DEFAULT_CSS = """
    LinesView {
        width: 1fr; height: 1fr; overflow-x: hidden; overflow-y: auto; scrollbar-size-vertical: 1;
        .lines--heading { color: $text-accent; text-style: bold; }
        .lines--strong { text-style: bold; }
        .lines--warning { color: $text-warning; text-style: bold; }
        .lines--faint { color: $foreground 65%; }
        &:ansi {
            .lines--heading { color: ansi_cyan; }
            .lines--warning { color: ansi_yellow; }
            .lines--faint { color: ansi_default; text-style: dim; }
        }
    }
    """

    def __init__(
        self,
        page: Page | None = None,
        *,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._page: Page = page or (lambda width: [])
        self.lines: Sequence[Line] = ()

    def show(self, page: Page, *, from_top: bool) -> None:
        """Show another page, scrolled to its top or where the old one was."""
        self._page = page
        if from_top:
            self.scroll_to(y=0, animate=False)
        self._lay_out()

    def on_resize(self) -> None:
        self._lay_out()

    def _lay_out(self) -> None:
        # A cell of air, and one for the scrollbar, so that the text stays when that comes.
        width = self.size.width - (1 if self.show_vertical_scrollbar else 2)
        if width <= 0:
            return
        self.lines = self._page(width)
        self.virtual_size = Size(width, len(self.lines))
        self.refresh()

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        base = self.rich_style
        if at >= len(self.lines):
            return Strip.blank(self.size.width, base)
        text, role = self.lines[at]
        style = base + self.get_component_rich_style(f"lines--{role}") if role else base
        return Strip([Segment(text, style)]).adjust_cell_length(self.size.width, base)
