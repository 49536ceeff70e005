"""Help about what has the focus with every key; and the palette, which searches the actions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence

from textual.binding import Binding
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input

from advisor.tui.pages.list_page import TakingPage
from advisor.tui.pages.screens import MarkdownScreen
from advisor.tui.program.keys import EVERYWHERE, Action, actions_of, shown_keys
from advisor.tui.widgets.filter_table import Rows
from advisor.tui.widgets.table_layout import Column

FIELD_HELP = {
    "budget": "## The budget\n\nWhat you can spend on one machine, in US dollars: `40000`, `40k` "
    "or `$40,000`. Dearer machines are left out and counted.",
    "max_days": "## The time limit\n\nThe longest training time that you accept, in days. Empty "
    "means no limit.",
    "gpus": "## The GPU filter\n\nNames with commas between them, such as `RTX 3090, H100`. A part "
    "of a name lets through every GPU that has it. Empty means all.",
    "rule": "## The ranking rule\n\n*fastest*: least training time first. *cheapest*: least "
    "overall cost first. *per run*: least cost of one training run first.",
}
TYPING = "\n\n`Esc` or `Enter` goes to the table, `Tab` to the next field, `^z` undoes."
CHOOSING = "\n\n`→` `Enter` `Space` or a click takes the next value, `←` the one before."


class HelpScreen(MarkdownScreen):
    """A page over the screen that it explains."""

    WHERE = "help"

    def __init__(self, explained: Screen[object]) -> None:
        text = explanation(explained, explained.focused)
        super().__init__("Help", "\n\n".join([text, *keys_texts(explained)]))


def keys_texts(screen: Screen[object]) -> Iterator[str]:
    """Every key: of what has the focus, of the screen, of the program."""
    of_screen, focused = actions_of(getattr(screen, "WHERE", "")), screen.focused
    # What has the focus gets a key first; the screen says what comes of it.
    taken = {key for action in of_screen for key in action.keys.split(",")}
    bindings = () if focused is None or isinstance(focused, Input) else type(focused).BINDINGS
    named = [b for b in bindings if isinstance(b, Binding) and b.tooltip]
    named = [b for b in named if not taken & set(b.key.split(","))]
    yield from _keys("Keys of what has the focus", [(shown_keys(b.key), b.tooltip) for b in named])
    over = isinstance(screen, ModalScreen)
    after = ", once you left the field" if isinstance(focused, Input) and not over else ""
    yield from _keys(f"Keys of this screen{after}", [(a.shown_keys, a.said) for a in of_screen])
    if not over:
        keys = [(action.shown_keys, action.said) for action in actions_of(EVERYWHERE)]
        yield from _keys(
            "Keys everywhere", [*keys, ("^p", "A palette of all this, to be searched")]
        )


def _keys(title: str, keys: Sequence[tuple[str, str]]) -> Iterator[str]:
    if keys:
        yield f"### {title}\n\n" + "  \n".join(
            f"**{key}** {said.rstrip('.')}." for key, said in keys
        )


def explanation(screen: Screen[object], focused: Widget | None) -> str:
    """What the field with the focus is for; else what the screen is, and then the list on it."""
    if focused is not None and focused.id in FIELD_HELP:
        return FIELD_HELP[focused.id] + (TYPING if isinstance(focused, Input) else CHOOSING)
    of_widget = "" if focused is None else widget_help(focused)
    of_screen = inspect.cleandoc(screen.HELP or "")
    if isinstance(focused, Input) or of_widget == of_screen:
        return of_widget
    return "\n\n".join(text for text in (of_screen, of_widget) if text)


def widget_help(widget: Widget) -> str:
    """What this widget, or the nearest one around it, is for."""
    texts = (getattr(node, "HELP", None) for node in widget.ancestors_with_self)
    return inspect.cleandoc(next((text for text in texts if text), ""))


class Palette(TakingPage):
    """Every action of a screen and of the program, to be searched; closes with the one to do."""

    WHERE = "palette"
    AUTO_FOCUS = "FilterInput"

    def __init__(self, screen: Screen[object]) -> None:
        actions = [*actions_of(getattr(screen, "WHERE", "")), *actions_of(EVERYWHERE)]
        super().__init__("What can be done", action_rows(actions), empty="")


def action_rows(actions: Sequence[Action]) -> Rows:
    return Rows(
        columns=(
            Column("title", "action", 34, cell=lambda action: action.title),
            Column("key", "key", 8, cell=lambda action: action.key),
            Column("text", "what it does", 48, cell=lambda action: action.text),
        ),
        records=actions,
        text=lambda action: f"{action.title} {action.text}",
        lines=lambda action, width: [],
        remark=lambda action: action.text,
    )
