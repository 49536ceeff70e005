"""Which letters a PDF made here can show: its fonts have those of Europe, the system's others."""

from __future__ import annotations

from collections.abc import Iterable

_OWN = 0x0530
"""Below it the fonts that come with the typesetter have every letter: Latin, Greek, Cyrillic."""
MOST_NAMED = 5


def foreign_letters(text: str) -> set[str]:
    """Letters that only a font of the system may have."""
    return {letter for letter in text if ord(letter) >= _OWN and letter.isalpha()}


def missing_letters(text: str) -> list[str]:
    """Letters of the text that no font of this system has, in their order."""
    wanted = foreign_letters(text)
    if wanted:
        wanted -= _of_system({ord(letter) for letter in wanted})
    return [letter for letter in dict.fromkeys(text) if letter in wanted]


def _of_system(codes: set[int]) -> set[str]:
    from matplotlib.font_manager import findSystemFonts, get_font

    found: set[int] = set()
    for path in findSystemFonts():
        try:
            found |= codes & set(get_font(path).get_charmap())
        except (OSError, RuntimeError, ValueError):
            continue  # a font that cannot be read shows nothing
        if found == codes:
            break
    return {chr(code) for code in found}


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
        "font that has them, such as Noto Sans CJK, and make the file again, or write it as .html "
        "or .xlsx."
    )
