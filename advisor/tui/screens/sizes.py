"""From which size on a screen shows what: the classes that the style sheets name."""

WIDTHS = [(0, "-tiny"), (60, "-narrow"), (110, "-wide")]
HEIGHTS = [(0, "-flat"), (16, "-short"), (32, "-tall")]
