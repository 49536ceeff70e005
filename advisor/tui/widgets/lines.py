"""Lines of a page: their kinds, how they wrap, and the widget that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from advisor.tables.plain_values import fill

HEADING, STRONG, WARNING, FAINT, PLAIN = "heading", "strong", "warning", "faint", ""
Line = tuple[str, str]
"""A line of text and its role, one of the above. Text is data: never markup."""


def wrapped(lines: Iterable[Line], width: int) -> list[Line]:
    """The lines broken at ``width`` cells, each piece keeping its indent and its role."""
    out: list[Line] = []
    for text, role in lines:
        clean = "".join(ch if ch.isprintable() else " " for ch in text)
        indent = " " * (len(clean) - len(clean.lstrip()))
        # Flags and ids have hyphens: "--gpu rtx-" would be another command.
        pieces = fill(clean, max(width, 10), subsequent_indent=indent)
        out += [(piece, role) for piece in pieces.split("\n")]
    return out


Page = Callable[[int], Sequence[Line]]
"""Makes the lines for a width."""


class LinesView(ScrollView, can_focus=True):
    """Shows a page of text; what it says is data and never markup."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"lines--{role}" for role in (HEADING, STRONG, WARNING, FAINT)
    }
    DEFAULT_CSS = """
    LinesView {
        width: 1fr; height: 1fr; scrollbar-size: 0 1;
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
        self._made_for = -1
        self._lines: Sequence[Line] = ()

    def show(self, page: Page, *, from_top: bool) -> None:
        """Show another page, from its top or from where the old one was."""
        self._page = page
        self._made_for = -1
        if from_top:
            self.scroll_to(y=0, animate=False)
        self._measure()

    @property
    def lines(self) -> Sequence[Line]:
        """The lines for the present width."""
        # A cell of air, and one for the scrollbar, whether it is there or not.
        width = self.size.width - 2
        if width > 0 and width != self._made_for:
            self._lines = self._page(width)
            self._made_for = width
        return self._lines

    def on_resize(self) -> None:
        self._measure()

    def _measure(self) -> None:
        """How far it scrolls; the rest of the screen need not be laid out for it."""
        size = Size(0, len(self.lines))
        if size != self.virtual_size:
            self.set_reactive(LinesView.virtual_size, size)
            if self.is_attached and self.size:
                self._scroll_update(size)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        at, base = self.scroll_offset.y + y, self.rich_style
        text, role = self.lines[at] if at < len(self.lines) else ("", PLAIN)
        style = base + self.get_component_rich_style(f"lines--{role}") if role else base
        width = self.scrollable_content_region.width
        return Strip([Segment(text, style)]).adjust_cell_length(width, base)
