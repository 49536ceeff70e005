"""Help about what has the focus with every key; and a letter on every field to jump to."""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Iterable, Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.events import Key
from textual.geometry import Offset, Size
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input, Markdown, Static

from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.screens import Dialog, Steady
from advisor.tui.program.actions import (
    ACTIONS,
    EVERYWHERE,
    HELP,
    JUMP,
    KEY_NAMES,
    Action,
    actions_of,
    bindings_of,
)

FIELD_HELP = {
    "budget": "## The budget\n\nWhat you can spend on one machine, in US dollars: `40000`, `40k` "
    "or `$40,000`. Dearer machines are left out and counted.",
    "max_days": "## The time limit\n\nThe longest training time that you accept, in days. Empty "
    "means no limit.",
    "lifetime": "## The lifetime\n\nFor how many years the machine will serve. One run "
    "costs *overall cost × training days / (years × 365)*; the paper counts with 5 years.",
    "gpus": "## The GPU filter\n\nNames with commas between them, such as `RTX 3090, H100`. A part "
    "of a name lets through every GPU that has it. Empty means all.",
    "rule": "## The ranking rule\n\n*fastest*: least training time first. *cheapest*: least "
    "overall cost first. *per run*: least cost of one training run first.",
    "prices": "## The prices\n\n*latest*: of each item one price counts. One of the last year goes "
    "before an older one, then your own, then what a seller asks, then the newest. `F7` lists "
    "them. *paper*: the "
    "rounded prices of 2024-09-21 with which the paper's section 4.1 computes.",
    "evidence": "## The evidence\n\n*sound* never ranks a time that is faster than the hardware "
    "can be. *published* takes every printed time at face value, as the paper does.",
}
KEYS_WIDTH = 13
"""Of the column of keys: as wide as "Enter Space"."""
TYPING = "\n\n`Esc` or `Enter` goes to the table, `Tab` to the next field, `^z` undoes."
CHOOSING = "\n\n`→` `Enter` `Space` or a click takes the next value, `←` the one before."


class HelpScreen(Dialog[None]):
    """A page over the screen that it explains."""

    WHERE = HELP
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(HELP)]

    def __init__(self, explained: Screen[object]) -> None:
        super().__init__()
        self._explained = explained

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = "Help"
            with VerticalScroll():
                focused = self._explained.focused
                yield Markdown(explanation(self._explained, focused), open_links=False)
                yield KeysTable(self._explained)
            yield DialogKeys(HELP)


class KeysTable(Widget):
    """Every key, wrapped to the width that there is beside the scroll bar."""

    def __init__(self, explained: Screen[object]) -> None:
        super().__init__(classes="table")
        self._explained = explained

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """As many lines as that takes."""
        return len(keys_table(self._explained, width).split("\n"))

    def render(self) -> Content:
        """The same for the width that it has."""
        return keys_table(self._explained, self.content_size.width)


def keys_table(screen: Screen[object], width: int) -> Content:
    """Every key of the screen and of the program, wrapped at ``width`` cells."""
    where = getattr(screen, "WHERE", "")
    everywhere = [action for action in ACTIONS if action.where == EVERYWHERE]
    of_screen = actions_of(where) if where else []
    of_widget = _named_bindings(screen.focused)
    # A key is listed once: what has the focus gets it first, the screen says what comes of it.
    shared = {
        action: binding
        for action in of_screen
        for binding in of_widget
        if set(action.keys.split(",")) <= set(binding.key.split(","))
    }
    of_widget = [binding for binding in of_widget if binding not in shared.values()]
    of_screen = [
        action._replace(keys=shared[action].key) if action in shared else action
        for action in of_screen
    ]
    lines = [*_widget_keys(of_widget, width)]
    title = "KEYS OF THIS SCREEN"
    if isinstance(screen.focused, Input) and not isinstance(screen, ModalScreen):
        title += ", ONCE YOU LEFT THE FIELD"
    lines += _keys(title, of_screen, width)
    if not isinstance(screen, ModalScreen):
        lines += _keys("KEYS EVERYWHERE", everywhere, width)
        lines += _key_lines("^p", "A palette of all this, to be searched.", width)
    return Content("\n").join(lines)


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
    """What this widget is for."""
    node: Widget | None = widget
    while node is not None:
        if getattr(node, "HELP", None):
            return inspect.cleandoc(node.HELP or "")
        parent = node.parent
        node = parent if isinstance(parent, Widget) else None
    return ""


def _named_bindings(widget: Widget | None) -> list[Binding]:
    """The keys of what has the focus that say what they do."""
    bindings = [] if widget is None or isinstance(widget, Input) else type(widget).BINDINGS
    return [b for b in bindings if isinstance(b, Binding) and b.tooltip]


def _widget_keys(named: Sequence[Binding], width: int) -> Iterable[Content]:
    """These keys, a line each."""
    if named:
        yield Content.styled("KEYS OF WHAT HAS THE FOCUS", "bold $text-accent")
    for binding in named:
        keys = " ".join(KEY_NAMES.get(key, key) for key in binding.key.split(","))
        yield from _key_lines(keys, f"{binding.tooltip}.", width)
    if named:
        yield Content("")


def _keys(title: str, actions: Sequence[Action], width: int) -> Iterable[Content]:
    if actions:
        yield Content.styled(title, "bold $text-accent")
    for action in actions:
        said = f"{action.verb[:1].upper()}{action.verb[1:]}. {action.text}"
        yield from _key_lines(action.shown_keys, said, width)
    if actions:
        yield Content("")


def _key_lines(keys: str, text: str, width: int) -> Iterable[Content]:
    indent = max(KEYS_WIDTH, len(keys) + 2)
    first, *others = textwrap.wrap(text, max(20, width - indent)) or [""]
    yield Content.assemble((f"{keys:<{indent}}", "bold"), first)
    for other in others:
        yield Content(" " * indent + other)


LETTERS = "asdfghjklqwertyuiopzxcvbnm"


class JumpScreen(Steady, ModalScreen[Widget | None]):
    """Shows the letters; closes with the widget whose letter was pressed."""

    WHERE = JUMP
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(JUMP)]
    DEFAULT_CSS = """
    JumpScreen { background: transparent; layers: marks; }
    JumpScreen Static { layer: marks; position: absolute; width: 3; height: 1;
        background: $accent; color: $background; text-style: bold; }
    """

    def __init__(self, places: dict[str, tuple[Widget, Offset]]) -> None:
        super().__init__()
        self._places = places

    def compose(self) -> ComposeResult:
        for letter, (_, offset) in self._places.items():
            mark = Static(f" {letter} ", markup=False)
            mark.styles.offset = (offset.x, offset.y)
            yield mark

    def on_key(self, event: Key) -> None:
        event.stop()
        self.dismiss(self._places.get(event.key, (None,))[0])


def places_on(screen: Screen[object]) -> dict[str, tuple[Widget, Offset]]:
    """A letter for everything that can have the focus and is in view."""
    focusable: Iterable[Widget] = screen.focus_chain
    shown = [w for w in focusable if w.region.area and w.is_on_screen]
    return {
        letter: (widget, widget.region.offset)
        for letter, widget in zip(LETTERS, shown, strict=False)
    }
