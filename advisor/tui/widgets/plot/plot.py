"""The picture of cost against training time, as a widget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from advisor.tui.widgets.plot.canvas import Canvas, Cell, Ink
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.layout import (
    MIN_HEIGHT,
    MIN_WIDTH,
    Direction,
    Layout,
    Limits,
    View,
    lay_out,
    start_view,
    view_around,
)
from advisor.tui.widgets.plot.painter import Scene, paint
from advisor.tui.widgets.plot.scale import drawable
from advisor.tui.widgets.plot.style import CSS, PARTS, SeriesMark, ThemedInks, series_marks
from advisor.tui.widgets.safe_text import fit

CLOSER = 0.8
"""Of its span, what one turn of the wheel leaves in view."""
HELP = """
## Cost against training time

Each point is a machine: glyph and colour say which GPU. Both axes are logarithmic. Further left is
cheaper, further down is faster. Named are the front, what is too close to first place to call, the
selected machine and your own. Every other one is a dot until `*` shows its name. The thin bars are
the intervals of the times.

- The stepped line is the **Pareto front**: no machine is both cheaper and faster than one on it.
- Hollow glyphs are **estimates**, not measured. `?` marks **doubtful** evidence, `†` what
  **no seller** is known for at that price, brackets what is **left out** of the ranking.
- The heavy lines are the budget and the time limit; what lies beyond them is dim.

An arrow key goes to the nearest point in that direction, `Home` and `End` to the cheapest and the
dearest. `Enter` opens the selected one. `+` and `-` zoom around it, `Shift` with an arrow key moves
the view, `Z` shows what fits, `0` everything as it was, `z` fills the screen.

With a mouse: hover to read a point, click to select it; click again where several share one place.
The wheel zooms around the mouse, dragging moves the view.
"""
_KEYS = (
    ("left", "move('left')", "Cheaper", "Select the nearest point to the left"),
    ("right", "move('right')", "Dearer", "Select the nearest point to the right"),
    ("up", "move('up')", "Slower", "Select the nearest point above"),
    ("down", "move('down')", "Faster", "Select the nearest point below"),
    ("home", "first", "Cheapest", "Select the cheapest point"),
    ("end", "last", "Dearest", "Select the dearest point"),
    ("plus,equals_sign", "zoom(0.6)", "Zoom in", "Look closer, around the selected point"),
    ("minus", "zoom(1.6667)", "Zoom out", "Look from further away"),
    ("0", "reset_view", "As it was", "The view that the picture starts with"),
    ("Z", "focus_fitting", "What fits", "Only what keeps the budget and the limit"),
    ("asterisk", "toggle_every", "All names", "Every machine by name, or only dots"),
    ("shift+left", "pan(-0.2, 0)", "Left", "Move the view to the left"),
    ("shift+right", "pan(0.2, 0)", "Right", "Move the view to the right"),
    ("shift+up", "pan(0, 0.2)", "Up", "Move the view up"),
    ("shift+down", "pan(0, -0.2)", "Down", "Move the view down"),
    ("enter,space", "open", "Open", "Open the full record of the selected point"),
)


class CostTimePlot(Widget, can_focus=True):
    """Cost against training time on logarithmic axes, one glyph and colour a GPU type."""

    HELP = HELP
    FOOTER: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("+", "closer", "focused.zoom(0.6)"),
        ("-", "further", "focused.zoom(1.6667)"),
        ("Z", "what fits", "focused.focus_fitting"),
        ("*", "all names", "focused.toggle_every"),
        ("0", "as it was", "focused.reset_view"),
    )
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(keys, action, label, show=False, id=f"plot-{action}", tooltip=tip)
        for keys, action, label, tip in _KEYS
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"plot--{part}" for part in PARTS}
    DEFAULT_CSS = CSS

    data: reactive[PlotData] = reactive(PlotData(), init=False)
    budget_usd: reactive[float | None] = reactive(None, init=False)
    """Where to draw the budget, in the units of ``data.x_usd``; None draws none."""
    max_time: reactive[float | None] = reactive(None, init=False)
    selected: reactive[int | None] = reactive(None, init=False)
    """The selected point; setting it posts no message, only the user's own doing does."""
    hovered: reactive[int | None] = reactive(None, init=False)
    empty_message: reactive[str] = reactive("No points to draw.", init=False)
    every: reactive[bool] = reactive(False, init=False)
    """Whether every point has its glyph and name, and is in view at the start."""
    view: reactive[View | None] = reactive(None, init=False)
    """What the person zoomed or moved to; None while the picture chooses."""

    @dataclass(eq=False, repr=False)
    class _OfPlot(Message):
        plot: CostTimePlot

        @property
        def control(self) -> CostTimePlot:
            return self.plot

    @dataclass(eq=False, repr=False)
    class PointSelected(_OfPlot):
        """The user selected a point, by key or by click."""

        index: int

    @dataclass(eq=False, repr=False)
    class PointHovered(_OfPlot):
        """The mouse came over a point, or left it (``index`` is None)."""

        index: int | None

    @dataclass(eq=False, repr=False)
    class PointOpened(_OfPlot):
        """The user asked for everything about the selected point."""

        index: int

    def __init__(self, data: PlotData | None = None, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._layout: Layout | None = None
        self._layout_of: tuple[object, ...] = ()
        self._strips: list[Strip] = []
        self._strips_of: tuple[object, ...] = ()
        self._inks = ThemedInks(self)
        self._held_at: Offset | None = None
        """Where the mouse's button was pressed, or last dragged to."""
        self._dragged = False
        if data is not None:
            self.set_reactive(CostTimePlot.data, data)

    # State

    def watch_data(self, before: PlotData, data: PlotData) -> None:
        self._hover(None)
        if before.y_unit != data.y_unit:
            self.view = None
        if self.selected is not None and self.selected >= len(data):
            self.set_reactive(CostTimePlot.selected, None)

    def validate_selected(self, selected: int | None) -> int | None:
        """None where there is no such point."""
        return selected if selected is not None and 0 <= selected < len(self.data) else None

    def validate_budget_usd(self, budget_usd: float | None) -> float | None:
        """None where a logarithmic axis has no place for it."""
        return drawable(budget_usd)

    def validate_max_time(self, max_time: float | None) -> float | None:
        """None where a logarithmic axis has no place for it."""
        return drawable(max_time)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._inks.forget()
        self._strips_of = ()

    # Drawing

    @property
    def arranged(self) -> Layout | None:
        """Where everything stands now, or None where there is no room or no point."""
        state = (self.data, self.size, self._limits, self.selected, self.every, self.view)
        if state != self._layout_of:
            fits = self.size.width >= MIN_WIDTH and self.size.height >= MIN_HEIGHT
            self._layout = None
            if len(self.data) and fits:
                view = self._view()
                self._layout = lay_out(self.data, self._marks(), view, self.size, every=self.every)
            self._layout_of = state
        return self._layout

    def render_line(self, y: int) -> Strip:
        state = (self.arranged, self.hovered, self.selected, self.empty_message, self.size)
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
            limits = self._limits
            scene = Scene(self.data, layout, self._marks(), limits, self.selected, self.hovered)
            return paint(scene)
        width, height = self.size
        text = f"The picture needs {MIN_WIDTH}×{MIN_HEIGHT} cells."
        text = fit(text if len(self.data) else self.empty_message, width)
        canvas = Canvas(width, height)
        canvas.write((width - len(text)) // 2, (height - 1) // 2, text, Ink("message"))
        return canvas

    def _view(self) -> View:
        """What the person chose to look at, or what the picture starts with."""
        return self.view or start_view(
            self.data, self._limits, selected=self.selected, every=self.every
        )

    @property
    def _limits(self) -> Limits:
        return Limits(self.budget_usd, self.max_time)

    def _marks(self) -> list[SeriesMark]:
        return series_marks(self.data.series_slots, coloured=not self.app.no_color)

    # Keys and mouse

    def _select(self, index: int) -> None:
        if index != self.selected:
            if self.view is not None:
                self.view = self.view.reaching(self.data.x_log[index], self.data.y_log[index])
            self.selected = index
            self.post_message(self.PointSelected(self, index))

    def action_move(self, direction: Direction) -> None:
        """Select the nearest point in that direction."""
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
        """Select the cheapest point, the fastest of equals."""
        if len(self.data):
            self._select(min(range(len(self.data)), key=self._cost_then_time))

    def action_last(self) -> None:
        """Select the dearest point, the slowest of equals."""
        if len(self.data):
            self._select(max(range(len(self.data)), key=self._cost_then_time))

    def _cost_then_time(self, index: int) -> tuple[float, float]:
        return self.data.x_usd[index], self.data.y_times[index]

    def action_open(self) -> None:
        """Ask the application for everything about the selected point."""
        if self.selected is not None:
            self.post_message(self.PointOpened(self, self.selected))

    def action_zoom(self, factor: float) -> None:
        """Look closer or from further away, around the selected point."""
        if len(self.data):
            view, at = self._view(), self.selected
            place = view.middle if at is None else (self.data.x_log[at], self.data.y_log[at])
            self.view = view.zoomed(factor, *place)

    def action_pan(self, right: float, up: float) -> None:
        """Move the view by shares of its width and height."""
        if len(self.data):
            self.view = self._view().panned(right, up)

    def action_reset_view(self) -> None:
        """The view that the picture starts with."""
        self.view = None

    def action_focus_fitting(self) -> None:
        """Look at what is ranked; the same again goes back."""
        ranked = [i for i, flags in enumerate(self.data.flags) if not flags & PointFlag.EXCLUDED]
        if ranked:
            wanted = view_around(self.data, ranked, self._limits)
            self.view = None if self.view == wanted else wanted

    def action_toggle_every(self) -> None:
        """Every machine by name, or only what matters."""
        self.view = None
        self.every = not self.every

    def _under(self, event: events.MouseEvent) -> tuple[Layout, Cell] | None:
        """The cell under the mouse."""
        layout, offset = self.arranged, event.get_content_offset(self)
        return None if layout is None or offset is None else (layout, (offset.x, offset.y))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held_at is not None and event.button:
            self._drag(event)
        else:
            under = self._under(event)
            self._hover(None if under is None else under[0].point_at(under[1]))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._held_at, self._dragged = event.screen_offset, False
        self.capture_mouse()

    def on_mouse_up(self) -> None:
        self._held_at = None
        self.release_mouse()

    def _drag(self, event: events.MouseMove) -> None:
        """Move the view with the mouse."""
        layout = self.arranged
        if layout is None or self._held_at is None:
            return
        moved = event.screen_offset - self._held_at
        if moved.x or moved.y:
            self._held_at, self._dragged = event.screen_offset, True
            self._hover(None)
            self.action_pan(-moved.x / layout.columns, moved.y / layout.rows)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, CLOSER)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 1 / CLOSER)

    def _wheel(self, event: events.MouseEvent, factor: float) -> None:
        """Look closer or from further away, around what is under the mouse."""
        event.stop()
        if (under := self._under(event)) is not None:
            layout, cell = under
            self.view = layout.view.zoomed(factor, *layout.logs_at(cell))

    def on_leave(self) -> None:
        self._hover(None)

    def _hover(self, index: int | None) -> None:
        if index != self.hovered:
            self.hovered = index
            self.post_message(self.PointHovered(self, index))

    def on_click(self, event: events.Click) -> None:
        """Select the point under the mouse; again on the same place, the next one there."""
        if self._dragged:
            self._dragged = False
            return
        under = self._under(event)
        index = None if under is None else under[0].point_at(under[1])
        if under is None or index is None:
            return
        cells = under[0].cells
        if self.selected is not None and cells[index] == cells[self.selected]:
            sharing = [i for i, cell in enumerate(cells) if cell == cells[index]]
            index = sharing[(sharing.index(self.selected) + 1) % len(sharing)]
        self._select(index)
