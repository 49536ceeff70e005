"""Which letters a PDF made here can show: the typesetter is asked, with its own fonts and the
system's."""

from __future__ import annotations

import json
from collections.abc import Iterable
from unicodedata import category

_OWN = 0x0530
"""Below it the fonts that come with the typesetter have every letter: Latin, Greek, Cyrillic."""
MOST_NAMED = 5
_ASKED = """\
#let wide(font, letter) = measure(text(font: font, letter)).width
#let lacks(letter) = ("Libertinus Serif", "DejaVu Sans Mono").all(
  font => wide(font, letter) == wide(font, "\\u{10FFFF}"))
#context [#metadata(%s.filter(lacks)) <lacking>]
"""
"""A letter that no font has is as wide as one that cannot be, in two fonts whose boxes differ."""


def foreign_letters(text: str) -> list[str]:
    """Letters and signs that only some fonts have, each once, in their order."""
    return [
        letter
        for letter in dict.fromkeys(text)
        if ord(letter) >= _OWN and letter.isprintable() and category(letter)[0] in "LNS"
    ]


def missing_letters(text: str, *, of_system: bool = True) -> list[str]:
    """Letters of the text that no font has, in their order; without ``of_system`` by the fonts
    that come with the typesetter alone."""
    wanted = foreign_letters(text)
    if not wanted:
        return []
    import typst

    # As JSON has them they are Typst's own texts in a list, but for its brackets.
    listed = json.dumps(wanted, ensure_ascii=False).removeprefix("[").removesuffix("]")
    found = typst.query(
        (_ASKED % f"({listed},)").encode(),
        "<lacking>",
        field="value",
        one=True,
        ignore_system_fonts=not of_system,
    )
    lacking: list[str] = json.loads(found)
    return lacking


def missing_words(missing: Iterable[str]) -> str:
    """What to do about them; empty where none are missing. The letters themselves cannot be
    printed, so they are told by their codes."""
    codes = [f"U+{ord(letter):04X}" for letter in missing]
    if not codes:
        return ""
    more = f" and {len(codes) - MOST_NAMED} more" if len(codes) > MOST_NAMED else ""
    return (
        f"This computer has no font for {len(codes)} of the letters below "
        f"({', '.join(codes[:MOST_NAMED])}{more}), so they are printed as empty boxes. Install a "
        "font that has them, such as Noto Sans CJK, and make the file again, or write it as .xlsx."
    )
