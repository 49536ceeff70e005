"""The picture of cost against training time, as a widget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from advisor.tui.widgets.plot.canvas import Canvas, Ink
from advisor.tui.widgets.plot.data import PlotData
from advisor.tui.widgets.plot.layout import MIN_HEIGHT, MIN_WIDTH, Direction, Layout, lay_out
from advisor.tui.widgets.plot.painter import paint
from advisor.tui.widgets.plot.style import CSS, PARTS, ThemedInks
from advisor.tui.widgets.safe_text import fit

HELP = """
## Cost against training time

Each point is a machine: glyph and colour say which GPU. Both axes are logarithmic. Further left is
cheaper, further down is faster. Named are the front, what is too close to first place to call, the
selected machine and your own; every other one is a dot. The thin bars are the intervals of the
times.

- The stepped line is the **Pareto front**: no machine is both cheaper and faster than one on it.
- Hollow glyphs are **estimates**, not measured. `?` marks **doubtful** evidence, `†` what
  **no seller** is known for at that price, brackets what is **left out** of the ranking.
- The heavy lines are the budget and the time limit; what lies beyond them is dim.

An arrow key goes to the nearest point in that direction, `Home` and `End` to the cheapest and the
dearest. `Enter` opens the selected one, `z` fills the screen. Click a point to select it, and again
where several share one place.
"""


class CostTimePlot(Widget, can_focus=True):
    """Cost against training time on logarithmic axes, one glyph and colour a GPU type."""

    HELP = HELP
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keys, action, tooltip=tip)
        for keys, action, tip in (
            ("left", "move('left')", "Select the nearest point to the left"),
            ("right", "move('right')", "Select the nearest point to the right"),
            ("up", "move('up')", "Select the nearest point above"),
            ("down", "move('down')", "Select the nearest point below"),
            ("home", "first", "Select the cheapest point"),
            ("end", "last", "Select the dearest point"),
            ("enter,space", "open", "Open the full record of the selected point"),
        )
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"plot--{part}" for part in PARTS}
    DEFAULT_CSS = CSS

    data: reactive[PlotData] = reactive(PlotData(), init=False)
    selected: reactive[int | None] = reactive(None, init=False)
    """The selected point; setting it posts no message, only the user's own doing does."""
    empty_message: reactive[str] = reactive("No points to draw.", init=False)

    @dataclass
    class PointSelected(Message):
        """The user selected a point, by key or by click."""

        index: int

    @dataclass
    class PointOpened(Message):
        """The user asked for everything about the selected point."""

        index: int

    def __init__(self, data: PlotData | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._layout: Layout | None = None
        self._layout_of: tuple[object, ...] = ()
        self._strips: list[Strip] = []
        self._strips_of: tuple[object, ...] = ()
        self._inks = ThemedInks(self)
        if data is not None:
            self.set_reactive(CostTimePlot.data, data)

    # State

    def watch_data(self, before: PlotData, data: PlotData) -> None:
        if self.selected is not None and self.selected >= len(data):
            self.set_reactive(CostTimePlot.selected, None)

    def validate_selected(self, selected: int | None) -> int | None:
        return selected if selected is not None and 0 <= selected < len(self.data) else None

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._inks.forget()
        self._strips_of = ()

    # Drawing

    @property
    def arranged(self) -> Layout | None:
        """Where everything stands now, or None where there is no room or no point."""
        state = (self.data, self.size, self.selected)
        if state != self._layout_of:
            fits = self.size.width >= MIN_WIDTH and self.size.height >= MIN_HEIGHT
            fits = fits and len(self.data) > 0
            self._layout = lay_out(self.data, self.size, self.selected) if fits else None
            self._layout_of = state
        return self._layout

    def render_line(self, y: int) -> Strip:
        state = (self.arranged, self.selected, self.empty_message, self.size)
        if state != self._strips_of:
            canvas = self._draw()
            self._strips = [
                self._inks.strip(canvas.runs(row), canvas.width) for row in range(canvas.height)
            ]
            self._strips_of = state
        return self._strips[y] if y < len(self._strips) else Strip.blank(self.size.width)

    def _draw(self) -> Canvas:
        layout = self.arranged
        if layout is not None:
            return paint(self.data, layout, self.selected)
        width, height = self.size
        text = f"The picture needs {MIN_WIDTH}×{MIN_HEIGHT} cells."
        text = fit(text if len(self.data) else self.empty_message, width)
        canvas = Canvas(width, height)
        canvas.write((width - len(text)) // 2, (height - 1) // 2, text, Ink("message"))
        return canvas

    # Keys and mouse

    def _select(self, index: int) -> None:
        if index != self.selected:
            self.selected = index
            self.post_message(self.PointSelected(index))

    def action_move(self, direction: Direction) -> None:
        layout = self.arranged
        if layout is None:
            return
        if self.selected is None:
            self.action_first()
            return
        found = layout.neighbour(self.data, self.selected, direction)
        if found is not None:
            self._select(found)

    def action_first(self) -> None:
        if len(self.data):
            self._select(min(range(len(self.data)), key=self._cost_then_time))

    def action_last(self) -> None:
        if len(self.data):
            self._select(max(range(len(self.data)), key=self._cost_then_time))

    def _cost_then_time(self, index: int) -> tuple[float, float]:
        return self.data.x_usd[index], self.data.y_times[index]

    def action_open(self) -> None:
        if self.selected is not None:
            self.post_message(self.PointOpened(self.selected))

    def on_click(self, event: events.Click) -> None:
        """Select the point under the mouse; again on the same place, the next one there."""
        layout, offset = self.arranged, event.get_content_offset(self)
        if layout is None or offset is None:
            return
        index, cells = layout.point_at((offset.x, offset.y)), layout.cells
        if index is None:
            return
        if self.selected is not None and cells[index] == cells[self.selected]:
            sharing = [i for i, cell in enumerate(cells) if cell == cells[index]]
            index = sharing[(sharing.index(self.selected) + 1) % len(sharing)]
        self._select(index)
