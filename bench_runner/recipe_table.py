"""One table of a recipe file, whose values are handed out checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from bench_runner.typed_numbers import mistyped, plain, read_whole
from bench_runner.untrusted_text import printable

_COUNTED: Mapping[str, tuple[str, ...]] = {
    "batch_size": ("samples", "sequences", "images"),
    "training_steps": ("steps",),
    "sequence_length": ("tokens",),
    "image_size": ("pixels", "px"),
    "classes": ("classes",),
}
"""What may stand behind a number that is written as a text."""
LARGEST_NUMBER = 2**63 - 1
"""Of samples, steps, tokens or pixels: what a column of whole numbers holds at most."""
_LONGEST_TEXT = 4_000
_Choice = TypeVar("_Choice", bound=str)


class RecipeTable:
    """One table of a recipe file: hands out checked values and knows where they stand."""

    def __init__(self, path: Path, name: str, content: Mapping[str, Any]) -> None:
        self.path = path
        self.name = name
        self.content = content

    def error(self, key: str, problem: str) -> ValueError:
        place = f"{self.name}.{key}" if self.name else key
        at = shown(place)[1:-1]
        return ValueError(f"{shown(self.path.name)[1:-1]}, key '{at}': {problem}")

    def refuse_unknown(self, known: Collection[str]) -> None:
        for key in self.content:
            if key not in known:
                raise self.error(key, f"is not a key of a recipe; {nearest(key, known)}")

    def table(self, key: str) -> RecipeTable:
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"is {shown(value)}, not a table; write [{key}] on its own line")
        return RecipeTable(self.path, key, value)

    def text(self, key: str) -> str:
        value = self.optional_text(key)
        if value is None:
            raise self.error(key, f'is missing; write {key} = "..."')
        return value

    def optional_text(self, key: str) -> str | None:
        value = self.content.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, f'is {shown(value)}, not text; write {key} = "..."')
        value = value.strip()
        if not value.isprintable() or len(value) > _LONGEST_TEXT:
            raise self.error(
                key,
                f"is {shown(value)}, which holds control or direction characters or more than "
                f"{_LONGEST_TEXT:,} letters; write one plain line",
            )
        return value

    def choice(self, key: str, known: Collection[_Choice]) -> _Choice:
        value = self.text(key)
        for each in known:
            if each == value:
                return each
        raise self.error(key, f"'{value}' is not known; {nearest(value, known)}")

    def whole(self, key: str, *, needed: bool, at_least: int = 1) -> int | None:
        value = self.content.get(key)
        if value is None:
            if needed:
                raise self.error(key, f"is missing; write {key} = a whole number")
            return None
        if isinstance(value, str):
            value = self._typed(key, value)
        elif isinstance(value, float) and value.is_integer():
            value = int(value)  # 1e3, which TOML has as no whole number
        if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
            raise self.error(key, f"is {shown(value)}; write a whole number of {at_least} or more")
        if value > LARGEST_NUMBER:
            raise self.error(key, f"is {shown(value)}; write at most {LARGEST_NUMBER:,}")
        return value

    def _typed(self, key: str, text: str) -> int | str:
        """A text as the number that it writes, as flags read one: ``143k``, ``1,024``."""
        if (why := mistyped(text)) and read_whole(text) is None:
            raise self.error(key, f"{shown(text)} {why}")
        return 0 if text.strip() == "0" else read_whole(text, units=_COUNTED.get(key, ())) or text

    def optional_number(self, key: str, *, below: float | None = None) -> float | None:
        value = self.content.get(key)
        if value is None:
            return None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        limit = float("inf") if below is None else below
        if not number or not 0 <= value < limit:
            bounds = "of 0 or more" if below is None else f"from 0 to less than {plain(below, 6)}"
            raise self.error(key, f"is {shown(value)}; write a number {bounds}")
        return float(value)  # finite, as it is below infinity

    def flag(self, key: str, *, default: bool) -> bool:
        value = self.content.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"is {shown(value)}; write true or false")
        return value


def shown(value: object) -> str:
    """What stands in the file, printable and not endless."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, tables in tables
        return f"a huge {type(value).__name__}"
    clean = printable(text)
    return clean if len(clean) <= 80 else clean[:79] + "…"


_MOST_NAMED = 15


def nearest(word: str, known: Collection[str], listed_by: str = "") -> str:
    """What is known instead of ``word``: the nearest spellings, or all of them where few, else what
    lists all, where there is such.

    In the words of `price_catalog.csv_table`: neither imports the other.
    """
    from difflib import get_close_matches  # only a broken file pays for it

    by_folded = {name.casefold(): name for name in known}
    contained = [part for part in word.casefold().split() if part in by_folded]
    if " " not in word:  # it may be the first of a longer name
        by_folded = {name.casefold().partition(" ")[0]: name for name in known} | by_folded
    spelt = get_close_matches(word.casefold(), list(by_folded), n=6, cutoff=0.5)
    close = list(dict.fromkeys(by_folded[name] for name in (*contained, *spelt)))[:3]
    if close:
        return "did you mean " + " or ".join(f"'{name}'" for name in close) + "?"
    if len(known) <= _MOST_NAMED:
        between = "; " if any(", " in name for name in known) else ", "
        return "known: " + between.join(sorted(known))
    return f"none is near: {listed_by} lists them" if listed_by else f"none of {len(known)} is near"
