"""The picture of cost against training time, as a widget."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log10
from typing import ClassVar, NamedTuple

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.color import Color
from textual.geometry import Offset, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip
from textual.widget import Widget

from advisor.tui.widgets.plot.canvas import BLANK, Ink
from advisor.tui.widgets.plot.data import PlotData, PointFlag
from advisor.tui.widgets.plot.frame import MIN_HEIGHT, MIN_WIDTH, Frame
from advisor.tui.widgets.plot.grid import LogPoints, PlotGrid, fit_scales
from advisor.tui.widgets.plot.key import PlotKey
from advisor.tui.widgets.plot.navigate import Direction, neighbour, point_at
from advisor.tui.widgets.plot.paint import Scene, paint
from advisor.tui.widgets.plot.scale import LogScale, drawable, fit_scale, with_round_values
from advisor.tui.widgets.plot.style import ANSI_COLOURS, palette
from advisor.tui.widgets.safe_text import fit

MOST_LEGEND = 400
"""How many items of the legend are looked at when its height is chosen."""
EVERY_POINT = 4000
"""Up to this many points the arrow keys reach every one, beyond it those that are drawn."""
CLOSER = 0.8
"""Of its span, what one turn of the wheel leaves in view."""
DIMMED = 0.6
"""How much of its colour a point keeps that is left out or over a limit."""


class View(NamedTuple):
    """What part of both axes is looked at."""

    x: LogScale
    y: LogScale


class _Layout(NamedTuple):
    """What depends on the points and the size alone, kept while budget and selection change."""

    frame: Frame
    grid: PlotGrid
    flags: bytes
    winners: Mapping[tuple[int, int], int]
    front: list[int]
    named: list[int]


class CostTimePlot(Widget, can_focus=True):
    """Cost against training time on logarithmic axes, one glyph and colour a GPU type."""

    HELP = """
## Cost against training time

Each point is a machine: glyph and colour say which GPU. Both axes are logarithmic. Further left is
cheaper, further down is faster. Named are the front, what is too close to first place to call, the
selected machine and your own. Every other one is a dot until `*` shows its name. The thin bars are
the intervals of the times.

- The stepped line is the **Pareto front**: no machine is both cheaper and faster than one on it.
- Hollow glyphs are **estimates**: nobody measured them. `?` marks **doubtful** evidence, `†` what
  **no seller** is known for at that price, brackets what is **left out** of the ranking.
- The heavy lines are the budget and the time limit; what lies beyond them is dim.

An arrow key goes to the nearest point in that direction, `Home` and `End` to the cheapest and the
dearest. `Enter` opens the selected one. `+` and `-` zoom around it, `Shift` with an arrow key moves
the view, `f` shows what fits, `0` everything as it was, `z` fills the screen.

With a mouse: hover to read a point, click to select it; click again where several share one place.
The wheel zooms around the mouse, dragging moves the view.
"""

    FOOTER: ClassVar[tuple[tuple[str, str, str], ...]] = (
        ("+", "closer", "focused.zoom(0.6)"),
        ("-", "further", "focused.zoom(1.6667)"),
        ("f", "what fits", "focused.focus_fitting"),
        ("*", "all names", "focused.toggle_every"),
        ("0", "as it was", "focused.reset_view"),
    )
    """Keys for the bar at the bottom while this has the focus."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "plot--axis",
        "plot--grid",
        "plot--value",
        "plot--title",
        "plot--front",
        "plot--budget",
        "plot--limit-name",
        "plot--crosshair",
        "plot--legend",
        "plot--point",
        "plot--dot",
        "plot--interval",
        "plot--label",
        "plot--hover",
        "plot--message",
    }

    DEFAULT_CSS = """
    CostTimePlot {
        width: 1fr;
        height: 1fr;
        min-height: 1;
        .plot--axis { color: $foreground 60%; }
        .plot--grid { color: $foreground 16%; }
        .plot--value { color: $foreground; }
        .plot--title { color: $foreground; text-style: bold; }
        .plot--front { color: $foreground 55%; }
        .plot--budget { color: $text-error; }
        .plot--limit-name { color: $text-error; }
        .plot--crosshair { color: $foreground; }
        .plot--dot { color: $foreground 35%; }
        .plot--interval { color: $foreground 50%; }
        .plot--hover { color: $foreground; text-style: reverse; }
        .plot--message { color: $foreground 70%; }
        &:focus .plot--title { text-style: bold underline; }
        &:ansi {
            .plot--grid { color: ansi_bright_black; text-style: dim; }
            .plot--axis { color: ansi_default; }
            .plot--dot, .plot--interval { color: ansi_bright_black; }
            .plot--front { color: ansi_default; }
            .plot--budget { color: ansi_red; }
            .plot--limit-name { color: ansi_red; }
        }
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        *(
            Binding(key, action, label, show=False, id=f"plot-{key}", tooltip=f"Select the {tip}")
            for key, action, label, tip in (
                ("left", "move('left')", "Cheaper", "nearest point to the left"),
                ("right", "move('right')", "Dearer", "nearest point to the right"),
                ("up", "move('up')", "Slower", "nearest point above"),
                ("down", "move('down')", "Faster", "nearest point below"),
                ("home", "first", "Cheapest", "cheapest point"),
                ("end", "last", "Dearest", "dearest point"),
            )
        ),
        *(
            Binding(key, action, label, show=False, id=f"plot-{action}", tooltip=tip)
            for key, action, label, tip in (
                (
                    "plus,equals_sign",
                    "zoom(0.6)",
                    "Zoom in",
                    "Look closer, around the selected point",
                ),
                ("minus", "zoom(1.6667)", "Zoom out", "Look from further away"),
                ("0", "reset_view", "As it was", "The view that the picture starts with"),
                ("f", "focus_fitting", "What fits", "Only what keeps the budget and the limit"),
                ("asterisk", "toggle_every", "All names", "Every machine by name, or only dots"),
                ("shift+left", "pan(-0.2, 0)", "Left", "Move the view to the left"),
                ("shift+right", "pan(0.2, 0)", "Right", "Move the view to the right"),
                ("shift+up", "pan(0, 0.2)", "Up", "Move the view up"),
                ("shift+down", "pan(0, -0.2)", "Down", "Move the view down"),
            )
        ),
        Binding(
            "enter,space",
            "open",
            "Open",
            id="plot-open",
            tooltip="Open the full record of the selected point",
        ),
    ]

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
    class PointSelected(Message):
        """The user selected a point, by key or by click."""

        plot: CostTimePlot
        index: int

        @property
        def control(self) -> CostTimePlot:
            return self.plot

    @dataclass(eq=False, repr=False)
    class PointHovered(Message):
        """The mouse came over a point, or left it (``index`` is None)."""

        plot: CostTimePlot
        index: int | None

        @property
        def control(self) -> CostTimePlot:
            return self.plot

    @dataclass(eq=False, repr=False)
    class PointOpened(Message):
        """The user asked for everything about the selected point."""

        plot: CostTimePlot
        index: int

        @property
        def control(self) -> CostTimePlot:
            return self.plot

    def __init__(
        self,
        data: PlotData | None = None,
        *,
        name: str | None = None,
        id: str | None = None,  # noqa: A002 - Textual's own name for it
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self._points: LogPoints | None = None
        self._kept: _Layout | None = None
        self._before: tuple[LogPoints | None, _Layout | None] = (None, None)
        """The same for the data before this: one key goes between two kinds of cost."""
        self._kept_key: PlotKey | None = None
        self._strips: list[Strip] = []
        self._strips_of: tuple[object, ...] = ()
        self._ink_styles: dict[Ink, Style] = {}
        self._held_at: Offset | None = None
        """Where the mouse's button was pressed, or last dragged to."""
        self._dragged = False
        if data is not None:
            self._points = LogPoints.of(data)
            self.set_reactive(CostTimePlot.data, data)

    # State

    def validate_data(self, data: PlotData) -> PlotData:
        """Take the logarithms, or raise a ValueError while the old picture still stands."""
        if self._points is None or not self._points.belongs_to(data):
            points, kept = self._before
            if points is None or not points.belongs_to(data):
                points, kept = LogPoints.of(data), None
            self._before = (self._points, self._kept)
            self._points, self._kept = points, kept
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
        self._ink_styles = {}
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
        key = self._key()
        canvas = paint(
            Scene(
                data=self.data,
                frame=layout.frame,
                grid=layout.grid,
                winners=layout.winners,
                front=layout.front,
                marks=key.marks,
                legend=key.legend if self.every or not layout.named else key.signs,
                budget_usd=self.budget_usd,
                max_days=self.max_days,
                selected=self.selected,
                hovered=self.hovered,
                ascii_only=self.ascii,
                named=layout.named,
                every=self.every or not layout.named,
            )
        )
        return [
            Strip([Segment(text, self._ink_style(ink)) for text, ink in canvas.runs(y)], size.width)
            for y in range(size.height)
        ]

    def _message(self, size: Size) -> list[Strip]:
        """One line in the middle that says why there is no picture."""
        if len(self.data):
            text = f"The picture needs {MIN_WIDTH}×{MIN_HEIGHT} cells."
        else:
            text = self.empty_message
        text = fit(text, size.width, ascii_only=self.ascii)
        blank = Strip.blank(size.width, self.rich_style)
        line = Strip([Segment(text, self._ink_style(Ink("message")))])
        rows = [blank] * size.height
        if rows:
            rows[(size.height - 1) // 2] = line.text_align(size.width, "center").apply_style(
                self.rich_style
            )
        return rows

    def _arrange(self, size: Size) -> _Layout | None:
        """The points by cell, computed anew only for other points, flags, sizes or scales."""
        data, points = self.data, self._points
        if points is None or size.width < MIN_WIDTH or size.height < MIN_HEIGHT:
            return None
        x, y = self.view or self._start_view(points)
        every = self.every or not data.flagged(PointFlag.NAMED)
        legend = self._key().legend if every else self._key().signs
        # No frame has room for more of them, and ten thousand types take a while to add up.
        legend_width = sum(item.width + 2 for item in legend[:MOST_LEGEND])
        frame = Frame.of(size.width, size.height, y, data.y_title, legend_width)
        old = self._kept
        if old is not None and old.grid.covers(points, x, y, frame.columns, frame.rows):
            if old.flags is data.flags and old.frame == frame:
                return old
            grid = old.grid
        else:
            grid = PlotGrid.of(points, x, y, frame.columns, frame.rows)
        self._kept = _Layout(
            frame=frame,
            grid=grid,
            flags=data.flags,
            winners=grid.winners(data),
            front=sorted(data.flagged(PointFlag.FRONT), key=points.x_log.__getitem__),
            named=data.named(),
        )
        return self._kept

    def _start_view(self, points: LogPoints) -> View:
        """Around what is named; around everything where every point is, or where they are many."""
        data = self.data
        named = data.flagged(PointFlag.NAMED)
        if self.every or not named or len(data) > EVERY_POINT:
            return View(*fit_scales(points, (self.budget_usd,), (self.max_days,)))
        view, at = self._around(points, named), self.selected
        if at is None:
            return view
        x_log, y_log = points.x_log[at], points.y_log[at]
        # What is in view already moves nothing: a second click must find what the first one did.
        if view.x.covers(x_log, x_log) and view.y.covers(y_log, y_log):
            return view
        return self._around(points, [*named, at])

    def _around(self, points: LogPoints, shown: Iterable[int]) -> View:
        """These points with their intervals, and the limits where they are close by."""
        indices = list(shown)
        x_log = [points.x_log[i] for i in indices]
        y_log = [points.y_log[i] for i in indices]
        ends = [end for i in indices for end in self.data.interval(i) if end is not None]
        y_log += [log10(end) for end in ends]
        return View(
            with_round_values(fit_scale(min(x_log), max(x_log), (self.budget_usd,))),
            with_round_values(fit_scale(min(y_log), max(y_log), (self.max_days,))),
        )

    def _key(self) -> PlotKey:
        """Glyphs, colours and legend, computed anew only for other data."""
        coloured = not self.app.no_color
        key, wanted = self._kept_key, (self.ascii, coloured)
        if key is None or key.data is not self.data or (key.ascii_only, key.coloured) != wanted:
            key = PlotKey.of(self.data, ascii_only=self.ascii, coloured=coloured, old=key)
            self._kept_key = key
        return key

    def _ink_style(self, ink: Ink) -> Style:
        """How this ink looks in the present theme."""
        if ink not in self._ink_styles:
            self._ink_styles[ink] = self._new_ink_style(ink)
        return self._ink_styles[ink]

    def _new_ink_style(self, ink: Ink) -> Style:
        if ink == BLANK:
            return self.rich_style
        style = self.get_component_rich_style(f"plot--{ink.role}")
        if ink.colour is not None:
            style += Style(color=self._colour(ink), dim=ink.dim and self.app.native_ansi_color)
        return style + Style(bold=ink.bold or None, reverse=ink.reverse or None)

    def _colour(self, ink: Ink) -> str:
        assert ink.colour is not None
        if self.app.native_ansi_color:
            return ANSI_COLOURS[ink.colour]
        background = self.background_colors[1]
        contrast = 3.0 if ink.role == "point" else 4.5
        colour = palette(background.hex6, contrast)[ink.colour]
        if ink.dim:
            return background.blend(Color.parse(colour), DIMMED).hex6
        return colour

    # Keys and mouse

    def _reachable(self, layout: _Layout) -> Iterable[int]:
        if len(self.data) > EVERY_POINT:
            return layout.winners.values()
        return range(len(self.data))

    def _select(self, index: int) -> None:
        if index != self.selected:
            if self.view is not None and self._points is not None:
                x_log, y_log = self._points.x_log[index], self._points.y_log[index]
                self.view = View(self.view.x.reaching(x_log), self.view.y.reaching(y_log))
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
        found = neighbour(layout.grid, self._reachable(layout), self.selected, direction)
        if found is not None:
            self._select(found)

    def action_first(self) -> None:
        """Select the cheapest point, the fastest of equals."""
        if len(self.data):
            data = self.data
            self._select(min(range(len(data)), key=lambda i: (data.x_usd[i], data.y_days[i])))

    def action_last(self) -> None:
        """Select the dearest point, the slowest of equals."""
        if len(self.data):
            data = self.data
            self._select(max(range(len(data)), key=lambda i: (data.x_usd[i], data.y_days[i])))

    def action_open(self) -> None:
        """Ask the application for everything about the selected point."""
        if self.selected is not None:
            self.post_message(self.PointOpened(self, self.selected))

    def action_zoom(self, factor: float) -> None:
        """Look closer or from further away, around the selected point."""
        points = self._points
        if points is None:
            return
        x, y = self.view or self._start_view(points)
        at = self.selected
        x_at = (x.low_log + x.high_log) / 2 if at is None else points.x_log[at]
        y_at = (y.low_log + y.high_log) / 2 if at is None else points.y_log[at]
        self._zoom(factor, x_at, y_at)

    def _zoom(self, factor: float, x_at: float, y_at: float) -> None:
        assert self._points is not None
        x, y = self.view or self._start_view(self._points)
        self.view = View(x.zoomed(factor, x_at), y.zoomed(factor, y_at))

    def action_pan(self, right: float, up: float) -> None:
        """Move the view by shares of its width and height."""
        if self._points is not None:
            x, y = self.view or self._start_view(self._points)
            self.view = View(x.panned(right), y.panned(up))

    def action_reset_view(self) -> None:
        """The view that the picture starts with."""
        self.view = None

    def action_focus_fitting(self) -> None:
        """Look at what is ranked; the same again goes back."""
        ranked = [i for i in range(len(self.data)) if not self.data.has(i, PointFlag.EXCLUDED)]
        if self._points is not None and ranked:
            wanted = self._around(self._points, ranked)
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
        frame = layout.frame
        column, row = offset.x - frame.left - 1, offset.y - frame.top
        return point_at(layout.winners, column, row)

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
        frame, grid = layout.frame, layout.grid
        right = (offset.x - frame.left - 0.5) / frame.columns
        up = 1 - (offset.y - frame.top + 0.5) / frame.rows
        x_at = grid.x.low_log + right * grid.x.span
        self._zoom(factor, x_at, grid.y.low_log + up * grid.y.span)

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
