"""The line at the top (where am I) and the line at the bottom (what can I do)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widgets import Input, Static

from advisor.tui.program.keys import ACTIONS, EVERYWHERE, Action, actions_of
from advisor.tui.widgets.text_input import FilterInput

SCREENS = (
    ("F2", "ranking", "Ranking"),
    ("F3", "evidence", "Evidence"),
    ("F6", "benchmark", "Benchmark"),
    ("F7", "prices", "Prices"),
    ("F8", "plan", "Plan"),
)
Key = tuple[str, str, str]
"""A key, its word, and the action that a click runs."""
FOOTER_GAP = 2
NAME = "GPU advisor "
NAME_FROM_WIDTH = 92
"""Below, the screens take the whole line."""


def clickable(parts: Iterable[Key]) -> Content:
    """``key word`` pairs, each of which runs its action when it is clicked."""
    out: list[Content | str] = []
    for key, word, action in parts:
        meta = Style.from_meta({"@click": action})
        out += [
            Content.assemble((key, "bold $footer-key-foreground"), f" {word}").stylize(meta),
            "  ",
        ]
    return Content("").join(part if isinstance(part, Content) else Content(part) for part in out)


class TitleBar(Static):
    """The program's name and its screens, the one that is shown marked."""

    DEFAULT_CSS = """
    TitleBar { height: 1; background: $panel; color: $foreground; padding: 0 1;
        link-style: none; link-color: $foreground; link-background: transparent; }
    """

    def __init__(self, here: str) -> None:
        super().__init__(markup=False)
        self._here = here

    def on_resize(self) -> None:
        named = self.app.size.width >= NAME_FROM_WIDTH
        parts = [Content.styled(NAME, "bold")] if named else []
        for key, name, word in SCREENS:
            meta = Style.from_meta({"@click": f"app.go('{name}')"})
            look = "reverse bold" if name == self._here else ""
            parts.append(Content.styled(f" {key} {word} ", look).stylize(meta))
        self.update(Content("").join(parts), layout=False)


class Tabs(Static):
    """Which of a few things is in front."""

    DEFAULT_CSS = """
    Tabs {
        height: 1; padding: 0 1;
        link-style: none; link-color: $foreground; link-background: transparent;
    }
    """
    here: reactive[str] = reactive("", init=False)

    def __init__(self, words: Mapping[str, str], action: str) -> None:
        super().__init__(markup=False)
        self._words = words
        self._action = action
        self.set_reactive(Tabs.here, next(iter(words)))

    def on_mount(self) -> None:
        self.watch_here()

    def watch_here(self) -> None:
        parts: list[Content] = []
        for number, (name, word) in enumerate(self._words.items(), 1):
            meta = Style.from_meta({"@click": f"screen.{self._action}('{name}')"})
            look = "reverse bold" if name == self.here else ""
            parts += [Content.styled(f" {number} {word} ", look).stylize(meta), Content(" ")]
        self.update(Content("").join(parts), layout=False)


class KeyBar(Static):
    """As many keys as there is room for: of what has the focus first, then of the screen."""

    DEFAULT_CSS = """
    KeyBar { height: 1; dock: bottom; background: $panel; color: $foreground; padding: 0 1;
        link-style: none; link-color: $foreground; link-background: transparent; }
    """

    def __init__(self, where: str) -> None:
        super().__init__(markup=False)
        self._actions = footer_actions(where)

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self.show_keys)

    def on_resize(self) -> None:
        self.show_keys()

    def show_keys(self) -> None:
        focused = self.screen.focused
        if isinstance(focused, Input):
            keys: list[Key] = [
                ("Esc", *self._leaving()),
                ("Tab", "next field", "app.focus_next"),
                ("F1", "help", "app.help"),
                ("^z", "undo", "app.undo"),
                ("^q", "quit", "app.quit"),
            ]
            last: list[Key] = []
        else:
            keys = [*getattr(focused, "FOOTER", ())]
            keys += [
                (a.key, a.footer, _namespaced(a)) for a in self._actions if a.verb not in _LAST
            ]
            last = [(a.key, a.footer, _namespaced(a)) for a in self._actions if a.verb in _LAST]
            last.append(("^p", "all", "app.command_palette"))
        shown = fitting(keys, last, self.app.size.width - 2)
        self.update(clickable([*shown, *last]), layout=False)

    def _leaving(self) -> tuple[str, str]:
        """What Esc does in a field, by the registry: most screens have a table below it."""
        if isinstance(self.screen.focused, FilterInput):
            return "clear, then leave", "focused.clear"
        back = next((a for a in self._actions if a.action == "back"), None)
        return (
            ("to the table", "screen.leave_field") if back is None else (back.footer, "screen.back")
        )


_LAST = ("help", "quit")
"""What the footer always has room for."""


def fitting(keys: Sequence[Key], last: Sequence[Key], width: int) -> list[Key]:
    """The first keys that fit beside the last ones; of a key that comes twice the first."""
    taken = sum(_width(key) for key in last)
    found: list[Key] = []
    for key in keys:
        if key[0] in (known[0] for known in found):
            continue
        taken += _width(key)
        if taken > width + FOOTER_GAP:
            break
        found.append(key)
    return found


def _width(key: Key) -> int:
    return cell_len(key[0]) + 1 + cell_len(key[1]) + FOOTER_GAP


def footer_actions(where: str) -> list[Action]:
    """The actions that may be in the footer of a screen, the most important first."""
    return [a for a in ACTIONS if a.footer and a.where in (where, EVERYWHERE)]


def _namespaced(action: Action) -> str:
    if action.action.startswith("app."):
        return action.action
    return f"{'app' if action.where == EVERYWHERE else 'screen'}.{action.action}"


class DialogKeys(Static):
    """The keys of a page that lies over a screen, as the registry has them."""

    def __init__(self, where: str, words: Mapping[str, str]) -> None:
        """``words``: by action, with its arguments where it has any, another word than the
        registry's."""
        super().__init__(
            clickable(
                (a.key, words.get(a.action, a.footer), _namespaced(a))
                for a in actions_of(where)
                if a.footer
            ),
            classes="keys",
        )
