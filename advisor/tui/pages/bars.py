"""The line at the top (where am I) and the line at the bottom (what can I do)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widgets import Input, Static

from advisor.tui.program.actions import ACTIONS, EVERYWHERE, MAX_FOOTER_KEYS, Action

SCREENS = (
    ("F2", "ranking", "Ranking"),
    ("F3", "evidence", "Evidence"),
    ("F4", "welcome", "Welcome"),
    ("F6", "benchmark", "Benchmark"),
    ("F7", "prices", "Prices"),
    ("F8", "plan", "Plan"),
)
NAME = "GPU advisor "
NAME_FROM_WIDTH = 92
"""Below, the screens take the whole line."""


def clickable(parts: Iterable[tuple[str, str, str]], gap: str = "  ") -> Content:
    """``key word`` pairs, each of which runs its action when it is clicked."""
    out: list[Content | str] = []
    for key, word, action in parts:
        meta = Style.from_meta({"@click": action})
        out += [
            Content.assemble((key, "bold $footer-key-foreground"), f" {word}").stylize(meta),
            gap,
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
            parts += [Content.styled(f" {key} {word} ", look).stylize(meta), Content(" ")]
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
        self.update(Content("").join(parts))


class KeyBar(Static):
    """At most seven keys: those of the screen, or those of the field that somebody types in."""

    DEFAULT_CSS = """
    KeyBar { height: 1; dock: bottom; background: $panel; color: $foreground; padding: 0 1;
        link-style: none; link-color: $foreground; link-background: transparent; }
    """

    def __init__(self, where: str, *first: tuple[str, str, str]) -> None:
        """``first`` are keys of the screen alone: key, word, action."""
        super().__init__(markup=False)
        self._first = first
        self._actions = footer_actions(where)

    def on_mount(self) -> None:
        self.watch(self.screen, "focused", self.show_keys)

    def show_keys(self) -> None:
        """Show what works where the focus is now."""
        if isinstance(self.screen.focused, Input):
            keys = [
                ("Esc", "to the table", "screen.leave_field"),
                ("Tab", "next field", "screen.focus_next"),
                ("F1", "help", "app.help"),
                ("^z", "undo", "screen.undo"),
                ("^q", "quit", "app.quit"),
            ]
        else:
            keys = [*self._first, *((a.key, a.footer, _namespaced(a)) for a in self._actions)]
            keys.append(("^p", "all", "app.command_palette"))
        self.update(clickable(keys))


def footer_actions(where: str) -> list[Action]:
    """The actions that stand in the footer of a screen, leaving a place for the palette."""
    chosen = [a for a in ACTIONS if a.footer and a.where in (where, EVERYWHERE)]
    return chosen[: MAX_FOOTER_KEYS - 1]


def _namespaced(action: Action) -> str:
    return f"{'app' if action.where == EVERYWHERE else 'screen'}.{action.action}"


class TooSmall(Static):
    """Stands in for a screen that would not fit."""

    DEFAULT_CSS = "TooSmall { width: 100%; height: 1; display: none; }"

    def __init__(self) -> None:
        super().__init__("enlarge me: 60×16 ^q", markup=False)
