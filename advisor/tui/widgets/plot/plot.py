"""The picture of cost against training time, as a widget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.frame import MIN_HEIGHT, MIN_WIDTH, Frame
from advisor.tui.widgets.plot.grid import LogPoints
from advisor.tui.widgets.plot.key import PlotKey
from advisor.tui.widgets.plot.layout import KeptLayout, Layout
from advisor.tui.widgets.plot.navigate import Direction, neighbour, point_at, reachable
from advisor.tui.widgets.plot.paint import Scene, paint
from advisor.tui.widgets.plot.plot_css import CSS, PARTS
from advisor.tui.widgets.plot.plot_keys import FOOTER, HELP, KEYS
from advisor.tui.widgets.plot.scale import drawable
from advisor.tui.widgets.plot.strips import ThemedInks
from advisor.tui.widgets.plot.view import Limits, View, start_view, view_around
from advisor.tui.widgets.safe_text import fit

MOST_LEGEND = 400
"""How many items of the legend are looked at when its height is chosen."""
CLOSER = 0.8
"""Of its span, what one turn of the wheel leaves in view."""


class CostTimePlot(Widget, can_focus=True):
    """Cost against training time on logarithmic axes, one glyph and colour a GPU type."""

    HELP = HELP
    FOOTER: ClassVar[tuple[tuple[str, str, str], ...]] = FOOTER
    BINDINGS: ClassVar[list[BindingType]] = [*KEYS]

    COMPONENT_CLASSES: ClassVar[set[str]] = {*PARTS}
    DEFAULT_CSS = CSS

    data: reactive[PlotData] = reactive(PlotData(), init=False)
    budget_usd: reactive[float | None] = reactive(None, init=False)
    """Where to draw the budget, in the units of ``data.x_usd``; None draws none."""
    max_days: reactive[float | None] = reactive(None, init=False)
    selected: reactive[int | None] = reactive(None, init=False)
    """The selected point; setting it posts no message, only the user's own doing does."""
    hovered: reactive[int | None] = reactive(None, init=False)
    ascii: reactive[bool] = reactive(False, init=False)
    """Draw with ASCII alone, for terminals without Unicode."""
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

    def __init__(
        self,
        data: PlotData | None = None,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._kept = KeptLayout()
        self._kept_key: PlotKey | None = None
        self._strips: list[Strip] = []
        self._strips_of: tuple[object, ...] = ()
        self._inks = ThemedInks(self)
        self._held_at: Offset | None = None
        """Where the mouse's button was pressed, or last dragged to."""
        self._dragged = False
        if data is not None:
            self._kept.take(data)
            self.set_reactive(CostTimePlot.data, data)

    # State

    def validate_data(self, data: PlotData) -> PlotData:
        """Take the logarithms, or raise a ValueError while the old picture still stands."""
        self._kept.take(data)
        return data

    def watch_data(self, data: PlotData) -> None:
        self._hover(None)
        if self.selected is not None and self.selected >= len(data):
            self.set_reactive(CostTimePlot.selected, None)

    def validate_selected(self, selected: int | None) -> int | None:
        """None where there is no such point."""
        return selected if selected is not None and 0 <= selected < len(self.data) else None

    def validate_budget_usd(self, budget_usd: float | None) -> float | None:
        """None where a logarithmic axis has no place for it."""
        return drawable(budget_usd)

    def validate_max_days(self, max_days: float | None) -> float | None:
        """None where a logarithmic axis has no place for it."""
        return drawable(max_days)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._inks.forget()
        self._strips_of = ()

    # Drawing

    def render_line(self, y: int) -> Strip:
        state = (
            self.data,
            self.size,
            self.budget_usd,
            self.max_days,
            self.selected,
            self.hovered,
            self.ascii,
            self.empty_message,
            self.every,
            self.view,
        )
        if state != self._strips_of:
            self._strips = self._draw(self.size)
            self._strips_of = state
        if y < len(self._strips):
            return self._strips[y]
        return Strip.blank(self.size.width, self.rich_style)

    def _draw(self, size: Size) -> list[Strip]:
        layout = self._arrange(size)
        if layout is None:
            return self._message(size)
        key, every = self._key(), self.every or not layout.named
        canvas = paint(
            Scene(
                data=self.data,
                frame=layout.frame,
                grid=layout.grid,
                winners=layout.winners,
                front=layout.front,
                marks=key.marks,
                legend=key.legend if every else key.signs,
                budget_usd=self.budget_usd,
                max_days=self.max_days,
                selected=self.selected,
                hovered=self.hovered,
                ascii_only=self.ascii,
                named=layout.named,
                every=every,
            )
        )
        return [self._inks.strip(canvas.runs(y), size.width) for y in range(size.height)]

    def _message(self, size: Size) -> list[Strip]:
        """One line in the middle that says why there is no picture."""
        if len(self.data):
            text = f"The picture needs {MIN_WIDTH}×{MIN_HEIGHT} cells."
        else:
            text = self.empty_message
        return self._inks.message(fit(text, size.width, ascii_only=self.ascii), size)

    def _arrange(self, size: Size) -> Layout | None:
        """Where everything stands, or None where there is no room or no point."""
        points = self._kept.points
        if points is None or size.width < MIN_WIDTH or size.height < MIN_HEIGHT:
            return None
        data, view, key = self.data, self._view(points), self._key()
        every = self.every or not data.flagged(PointFlag.NAMED)
        legend = key.legend if every else key.signs
        # No frame has room for more of them, and ten thousand types take a while to add up.
        legend_width = sum(item.width + 2 for item in legend[:MOST_LEGEND])
        frame = Frame.of(size.width, size.height, view.y, data.y_title, legend_width)
        return self._kept.arrange(data, points, view, frame)

    def _view(self, points: LogPoints) -> View:
        """What the person chose to look at, or what the picture starts with."""
        return self.view or start_view(
            self.data, points, self._limits, selected=self.selected, every=self.every
        )

    @property
    def _limits(self) -> Limits:
        return Limits(self.budget_usd, self.max_days)

    def _key(self) -> PlotKey:
        """Glyphs, colours and legend, computed anew only for other data."""
        coloured = not self.app.no_color
        key, wanted = self._kept_key, (self.ascii, coloured)
        if key is None or key.data is not self.data or (key.ascii_only, key.coloured) != wanted:
            key = PlotKey.of(self.data, ascii_only=self.ascii, coloured=coloured, old=key)
            self._kept_key = key
        return key

    # Keys and mouse

    def _select(self, index: int) -> None:
        if index != self.selected:
            points = self._kept.points
            if self.view is not None and points is not None:
                self.view = self.view.reaching(points.x_log[index], points.y_log[index])
            self.selected = index
            self.post_message(self.PointSelected(self, index))

    def action_move(self, direction: Direction) -> None:
        """Select the nearest point in that direction."""
        layout = self._arrange(self.size)
        if layout is None:
            return
        if self.selected is None:
            self.action_first()
            return
        candidates = reachable(layout.winners, len(self.data))
        found = neighbour(layout.grid, candidates, self.selected, direction)
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
        return self.data.x_usd[index], self.data.y_days[index]

    def action_open(self) -> None:
        """Ask the application for everything about the selected point."""
        if self.selected is not None:
            self.post_message(self.PointOpened(self, self.selected))

    def action_zoom(self, factor: float) -> None:
        """Look closer or from further away, around the selected point."""
        points, at = self._kept.points, self.selected
        if points is None:
            return
        view = self._view(points)
        x_at, y_at = view.middle if at is None else (points.x_log[at], points.y_log[at])
        self.view = view.zoomed(factor, x_at, y_at)

    def action_pan(self, right: float, up: float) -> None:
        """Move the view by shares of its width and height."""
        if self._kept.points is not None:
            self.view = self._view(self._kept.points).panned(right, up)

    def action_reset_view(self) -> None:
        """The view that the picture starts with."""
        self.view = None

    def action_focus_fitting(self) -> None:
        """Look at what is ranked; the same again goes back."""
        ranked = [i for i in range(len(self.data)) if not self.data.has(i, PointFlag.EXCLUDED)]
        points = self._kept.points
        if points is not None and ranked:
            wanted = view_around(self.data, points, ranked, self._limits)
            self.view = None if self.view == wanted else wanted

    def action_toggle_every(self) -> None:
        """Every machine by name, or only what matters."""
        self.view = None
        self.every = not self.every

    def _point_under(self, event: events.MouseEvent) -> int | None:
        layout = self._arrange(self.size)
        offset = event.get_content_offset(self)
        if layout is None or offset is None:
            return None
        return point_at(layout.winners, *layout.cell_under(offset))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        if self._held_at is not None and event.button:
            self._drag(event)
        else:
            self._hover(self._point_under(event))

    def on_mouse_down(self, event: events.MouseDown) -> None:
        self._held_at, self._dragged = event.screen_offset, False
        self.capture_mouse()

    def on_mouse_up(self) -> None:
        self._held_at = None
        self.release_mouse()

    def _drag(self, event: events.MouseMove) -> None:
        """Move the view with the mouse."""
        layout = self._arrange(self.size)
        if layout is None or self._held_at is None:
            return
        moved = event.screen_offset - self._held_at
        if moved.x or moved.y:
            self._held_at, self._dragged = event.screen_offset, True
            self._hover(None)
            self.action_pan(-moved.x / layout.frame.columns, moved.y / layout.frame.rows)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        self._wheel(event, CLOSER)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        self._wheel(event, 1 / CLOSER)

    def _wheel(self, event: events.MouseEvent, factor: float) -> None:
        """Look closer or from further away, around what is under the mouse."""
        event.stop()
        layout, offset = self._arrange(self.size), event.get_content_offset(self)
        if layout is None or offset is None:
            return
        self.view = self._view(layout.grid.points).zoomed(factor, *layout.logs_under(offset))

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
        layout = self._arrange(self.size)
        index = self._point_under(event)
        if layout is None or index is None:
            return
        if self.selected is not None and layout.grid.keys[index] == layout.grid.keys[self.selected]:
            sharing = layout.grid.sharing(index)
            index = sharing[(sharing.index(self.selected) + 1) % len(sharing)]
        self._select(index)
