"""Which key does what in the picture, and the help that says so."""

from textual.binding import Binding

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

FOOTER = (
    ("+", "closer", "focused.zoom(0.6)"),
    ("-", "further", "focused.zoom(1.6667)"),
    ("f", "what fits", "focused.focus_fitting"),
    ("*", "all names", "focused.toggle_every"),
    ("0", "as it was", "focused.reset_view"),
)
"""Keys for the bar at the bottom while the picture has the focus."""

KEYS: tuple[Binding, ...] = (
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
)
