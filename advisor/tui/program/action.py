"""What an action is: its keys, its words, and where it works."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from textual.binding import Binding


class Action(NamedTuple):
    """One thing that a person can do."""

    action: str
    """What Textual runs, e.g. ``toggle_cost``."""
    keys: str
    """The keys that do it, separated by commas; the first one is shown."""
    area: str
    verb: str
    """The palette shows ``area: verb``."""
    text: str
    """What it does, in one sentence, for the help."""
    where: str
    """The screen that has it, or EVERYWHERE."""
    footer: str = ""
    """Its word in the footer, which shows as many as the terminal is wide for; empty keeps it
    out."""

    @property
    def key(self) -> str:
        """The key that is shown for it."""
        return KEY_NAMES.get(first := self.keys.split(",")[0], first)

    @property
    def shown_keys(self) -> str:
        """All its keys, as they are written on the keyboard."""
        return " ".join(KEY_NAMES.get(key, key) for key in self.keys.split(","))

    @property
    def title(self) -> str:
        """How the palette names it."""
        return f"{self.area}: {self.verb}"

    def binding(self) -> Binding:
        """The same as Textual wants it; the id lets a keymap move it."""
        return Binding(
            self.keys,
            self.action,
            self.footer or self.title,
            show=bool(self.footer),
            key_display=self.key,
            tooltip=self.text,
            id=f"{self.where}.{self.action}",
        )


KEY_NAMES = {
    "question_mark": "?",
    "slash": "/",
    "dollar_sign": "$",
    **{"plus": "+", "equals_sign": "=", "minus": "-", "asterisk": "*"},
    **{"up": "↑", "down": "↓", "left": "←", "right": "→"},
    **{
        f"shift+{name}": f"Shift {arrow}"
        for name, arrow in zip(("up", "down", "left", "right"), "↑↓←→", strict=True)
    },
    **{"pageup": "PgUp", "pagedown": "PgDn", "home": "Home", "end": "End"},
    "enter": "Enter",
    "space": "Space",
    "ctrl+o": "^o",
    "ctrl+s": "^s",
    **{f"f{number}": f"F{number}" for number in range(1, 10)},
    "ctrl+q": "^q",
    "ctrl+z": "^z",
    "ctrl+p": "^p",
    "escape": "Esc",
}


def rows_of(where: str, area: str, *rows: tuple[str, str, str, str, str]) -> Iterator[Action]:
    for keys, action, verb, footer, text in rows:
        yield Action(
            keys=keys,
            action=action,
            area=area,
            verb=verb,
            footer=footer,
            text=text,
            where=where,
        )
