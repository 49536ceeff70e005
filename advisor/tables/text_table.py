"""Rows as aligned columns of a width, and the words in them cut to it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from advisor.tables.plain_values import Row, cut_words, to_json
from bench_runner.typed_numbers import plain
from bench_runner.untrusted_text import printable

LEAST = 12
"""Characters that a cut text keeps at least."""
FIRST_LEAST = 18
"""The same of the first column, which says what a row is of; an id there stays whole, where it
leaves room for two figures."""
ROOM = 24


def to_table(
    rows: Sequence[Row],
    columns: Sequence[str],
    right: frozenset[str] | None = None,
    *,
    width: int | None = None,
    spare: Sequence[str] = (),
) -> str:
    """Aligned columns; those named in ``right`` are flush right, else those of numbers alone. None
    shows as "no data". Where they are wider than ``width``, the longest texts are cut; where that
    is not enough, columns are left out: those in ``spare`` in their order, then from the last."""
    cells, numbers = [], []
    for column in columns:
        values = [row.get(column) for row in rows]
        numbers.append(column in right if right is not None else _all_numbers(values))
        cells.append([column, *map(cell_words, values)])
    if width is not None:
        _leave_out(width, list(columns), cells, numbers, spare)
        _cut_to(width, cells, numbers)
    widths = [max(map(len, texts)) for texts in cells]
    line = "  ".join(
        f"%{wide}s" if number else f"%-{wide}s"
        for wide, number in zip(widths, numbers, strict=True)
    )
    return "\n".join([(line % texts).rstrip() for texts in zip(*cells, strict=True)])


def _leave_out(
    width: int,
    columns: list[str],
    cells: list[list[str]],
    numbers: list[bool],
    spare: Sequence[str],
) -> None:
    """Leave out columns until the rest fits with its texts cut; the first stays."""
    least = []
    for i, (texts, number) in enumerate(zip(cells, numbers, strict=True)):
        wide = max(map(len, texts))
        most = FIRST_LEAST if i == 0 else LEAST
        if i == 0 and not any(" " in text for text in texts[1:]):
            most = max(width - ROOM, LEAST)
        least.append(wide if number else min(wide, most))
    while len(columns) > 1 and sum(least) + 2 * (len(least) - 1) > width:
        named = next((name for name in spare if name in columns[1:]), columns[-1])
        at = columns.index(named)
        for each in (columns, cells, numbers, least):
            del each[at]


def _cut_to(width: int, cells: list[list[str]], numbers: list[bool]) -> None:
    """Cut the longest texts so far that a line fits, or as far as they can be read."""
    widths = [max(map(len, texts)) for texts in cells]
    over = sum(widths) + 2 * (len(widths) - 1) - width
    # What has blanks gives way first: half an id is none.
    texts = [i for i, number in enumerate(numbers) if not number and widths[i] > LEAST]
    blanks = [i for i in texts if any(" " in text for text in cells[i])]
    for group in (blanks, [i for i in texts if i not in blanks]):
        while over > 0 and group:
            *rest, longest = sorted(group, key=lambda i: widths[i])
            if widths[longest] == LEAST:
                break
            next_to_it = max(widths[rest[-1]] if rest else 0, LEAST)
            less = min(over, max(widths[longest] - next_to_it, 1))
            widths[longest] -= less
            over -= less
    for i in texts:
        known = list(dict.fromkeys(cells[i]))
        short = dict(zip(known, cut_words(known, widths[i]), strict=True))
        cells[i] = [short[text] for text in cells[i]]


def _all_numbers(values: Sequence[Any]) -> bool:
    """Whether there are numbers among them, and neither text nor yes and no."""
    kinds = set(map(type, values))
    return any(issubclass(kind, (int, float, Decimal)) for kind in kinds) and not any(
        issubclass(kind, (str, bool)) for kind in kinds
    )


def cell_words(value: Any) -> str:
    """A value in one line that moves no cursor."""
    if value is None or value == "":
        return "no data"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return plain(value, 4)
    if isinstance(value, (dict, list, tuple)):
        return to_json(value).replace("\n", "")
    # What others wrote must not move the cursor or break the line.
    return printable(str(value))
