"""Help about what has the focus with every key; and the palette, which searches the actions."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

from textual import work
from textual.app import App, ComposeResult, SystemCommand
from textual.binding import Binding
from textual.command import CommandList, CommandPalette
from textual.css.query import NoMatches
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input

from advisor.tui.pages.model_picker import SteadyList
from advisor.tui.pages.screens import MarkdownScreen, Steady
from advisor.tui.program.keys import EVERYWHERE, HELP, actions_of, shown_keys
from advisor.tui.program.program import THEMES

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

    WHERE = HELP

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


_GATHER: Any = inspect.unwrap(CommandPalette._gather_commands)
LOW = 12
"""Rows of a terminal below which the palette has no air around its line."""


class FoundList(SteadyList, CommandList, can_focus=False):
    """What the palette found."""


class Palette(Steady, CommandPalette):
    """Textual's, with a list that lives through quick hands, and a line to type into that is seen
    in a terminal of a few rows."""

    DEFAULT_CSS = """
    Palette.-low {
        Vertical { margin-top: 0; }
        #--input { border: none; height: 1; }
        SearchIcon { margin: 0 0 0 1; }
        CommandInput, CommandInput:focus { border: none; }
        CommandList { border: none; max-height: 100vh; }
    }
    """

    def on_resize(self) -> None:
        self.set_class(self.app.size.height < LOW, "-low")

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            yield FoundList() if isinstance(widget, CommandList) else widget

    # Keys and results may come before there is a list, and after it is gone.

    def _watch__list_visible(self) -> None:
        with suppress(NoMatches):
            super()._watch__list_visible()

    async def _watch__show_busy(self) -> None:
        with suppress(NoMatches):
            await super()._watch__show_busy()

    def _action_command_list(self, action: str) -> None:
        with suppress(NoMatches):
            super()._action_command_list(action)

    def _action_cursor_down(self) -> None:
        with suppress(NoMatches):
            super()._action_cursor_down()

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)
    async def _gather_commands(self, search_value: str) -> None:
        with suppress(NoMatches):
            await _GATHER(self, search_value)


def commands_on(app: App[Any], screen: Screen[object]) -> Iterator[SystemCommand]:
    """Every action of the screen and of the program, and the themes."""
    for action in (*actions_of(getattr(screen, "WHERE", "")), *actions_of(EVERYWHERE)):
        node = app if action.where == EVERYWHERE else screen
        run = partial(app.call_after_refresh, app.run_action, action.action, node)
        yield SystemCommand(action.title, f"{action.text} ({action.key})", run)
    for name, words in THEMES.items():
        change = partial(setattr, app, "theme", name)
        yield SystemCommand(f"theme: {words}", f"Change the theme to {name}.", change)
