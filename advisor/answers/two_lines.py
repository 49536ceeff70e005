"""The first line of an answer, in at most two lines of a terminal (pure)."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.tables.filled import fill

LINE = 98
"""Columns of a line: a terminal's 100, without the one at either end that the terminal program
leaves free."""
SMALL_LINE = 78
"""The same of a terminal of 80."""


def of_two_lines(sentences: Iterable[str], width: int = LINE) -> str:
    """The first that fits in two lines of so many columns, else the last."""
    for sentence in sentences:
        if len(sentence_lines(sentence, width)) <= 2:
            break
    return sentence


def sentence_lines(sentence: str, width: int) -> list[str]:
    """The sentence in lines, of which none ends within a name or between a count and its GPUs."""
    return fill(sentence, width).split("\n")
