"""What the parts of the picture look like, in the theme and in the terminal's own colours."""

PARTS = (
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
)
"""Each has a style of its own."""
CSS = """
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
