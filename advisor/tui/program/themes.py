"""The themes that a person can go through, and what is mended of Textual's own."""

from __future__ import annotations

from dataclasses import replace

from textual.theme import BUILTIN_THEMES, Theme

THEMES = {
    "textual-dark": "dark",
    "textual-light": "light",
    "ansi-dark": "the terminal's own colours, dark",
    "ansi-light": "the terminal's own colours, light",
}
DARKER = {"text-warning": "#7a4a08", "text-success": "#24603a", "text-accent": "#7a4a08"}
"""Textual's own of the light theme have a contrast of 3 to its backgrounds: text needs 4.5."""


def light_theme() -> Theme:
    """Textual's light theme with text that can be read."""
    light = BUILTIN_THEMES["textual-light"]
    return replace(light, variables=light.variables | DARKER)


def theme_after(name: str) -> str:
    """The next of the themes, in turn."""
    names = list(THEMES)
    at = names.index(name) if name in names else -1
    return names[(at + 1) % len(names)]
