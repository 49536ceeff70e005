"""Lines of a page: their kinds, how they wrap, and the widget that shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from rich.segment import Segment
from textual.binding import Binding, BindingType
from textual.events import MouseScrollDown, MouseScrollUp
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

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
WHEEL_LINES = 3
BAR = "bar"


class LinesView(Widget, can_focus=True):
    """Shows a page of text; what it says is data and never markup.

    It scrolls by itself and not as a ScrollView: another page of another length then repaints
    this widget alone, where a ScrollView would have the whole screen laid out again.
    """

    HELP = """\
## A page of text

`↑` `↓` `PgUp` `PgDn` `Home` `End` or the mouse wheel scroll it.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "scroll_lines(-1)", "up", show=False),
        Binding("down", "scroll_lines(1)", "down", show=False),
        Binding("pageup", "scroll_page(-1)", "page up", show=False),
        Binding("pagedown", "scroll_page(1)", "page down", show=False),
        Binding("home", "scroll_lines(-1000000)", "top", show=False),
        Binding("end", "scroll_lines(1000000)", "bottom", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        f"lines--{role}" for role in (HEADING, STRONG, WARNING, FAINT, BAR)
    }
    DEFAULT_CSS = """
    LinesView {
        width: 1fr; height: 1fr;
        .lines--heading { color: $text-accent; text-style: bold; }
        .lines--strong { text-style: bold; }
        .lines--warning { color: $text-warning; text-style: bold; }
        .lines--faint { color: $foreground 65%; }
        .lines--bar { color: $foreground 40%; }
        &:ansi {
            .lines--heading { color: ansi_cyan; }
            .lines--warning { color: ansi_yellow; }
            .lines--faint, .lines--bar { color: ansi_default; text-style: dim; }
        }
    }
    """
    top: reactive[int] = reactive(0, init=False)
    """The first line in view."""

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
        self._drawn: list[Strip] = []
        self._drawn_for: tuple[object, ...] = ()

    def show(self, page: Page, *, from_top: bool) -> None:
        """Show another page, from its top or from where the old one was."""
        self._page = page
        self._made_for = -1
        if from_top:
            self.set_reactive(LinesView.top, 0)
        self.refresh()

    @property
    def lines(self) -> Sequence[Line]:
        """The lines for the present width."""
        width = self.size.width - 2  # a cell of air and one for the bar
        if width > 0 and width != self._made_for:
            self._lines = self._page(width)
            self._made_for = width
        return self._lines

    def validate_top(self, top: int) -> int:
        return max(0, min(top, len(self.lines) - self.size.height))

    def action_scroll_lines(self, by: int) -> None:
        """Scroll by some lines."""
        self.top += by

    def action_scroll_page(self, by: int) -> None:
        """Scroll by some screens."""
        self.top += by * max(1, self.size.height - 1)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        event.stop()
        self.top += WHEEL_LINES

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        event.stop()
        self.top -= WHEEL_LINES

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._drawn_for = ()

    def render_line(self, y: int) -> Strip:
        state = (self.lines, self.top, self.size)
        if state != self._drawn_for:
            self._drawn_for = state
            self._drawn = self._draw()
        return self._drawn[y] if y < len(self._drawn) else Strip.blank(self.size.width)

    def _draw(self) -> list[Strip]:
        lines, (width, height) = self.lines, self.size
        top = self.validate_top(self.top)
        base = self.rich_style
        styles = {
            role: base + self.get_component_rich_style(f"lines--{role}")
            for role in (HEADING, STRONG, WARNING, FAINT, BAR)
        }
        strips = []
        for y in range(height):
            text, role = lines[top + y] if top + y < len(lines) else ("", "")
            line = Strip([Segment(text, styles.get(role, base))])
            bar = Segment(self._bar(y, top, len(lines), height), styles[BAR])
            strips.append(Strip([*line.adjust_cell_length(max(0, width - 1), base), bar], width))
        return strips

    @staticmethod
    def _bar(y: int, top: int, count: int, height: int) -> str:
        """One cell of the scroll bar; blank where all lines are in view."""
        if count <= height:
            return " "
        first = top * height // count
        last = max(first, (top + height) * height // count - 1)
        return "█" if first <= y <= last else "│"
