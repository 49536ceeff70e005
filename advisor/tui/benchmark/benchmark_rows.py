"""The benchmark's settings as rows of a table, and what each setting is called (pure)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

from advisor.benchmark.progress import (
    FAILED,
    LEFT_OUT,
    NOT_TRIED,
    RUNNING,
    TIME,
    WAITING,
    Progress,
    Tried,
    clock_words,
    folded_words,
    shown_first,
    time_words,
)
from advisor.tables.text_table import cut_words
from advisor.tui.widgets.table_layout import Column, RowStyle
from bench_runner.typed_numbers import percent, plain

MARKS = {
    WAITING: "·",
    RUNNING: "▶",
    TIME: "✓",
    "does not fit": "○",
    FAILED: "✗",
    LEFT_OUT: "–",
    NOT_TRIED: "·",
}
_WIDE, _MIDDLE, _SLIM = 100, 72, 63
_SETTINGS, _WHY = 33, 13
"""The least that these two are wide, in cells; the settings take what the others leave."""
_BESIDE, _MARK = 3, 2
"""Cells of the scrollbar and the margins; of what stands before a label."""
_IN_FULL = 48
"""A name of so many cells is never written closer together for the room of other columns."""


def columns(width: int, longest: int = 0, *, reasons: bool = True) -> tuple[Column, ...]:
    """The table's columns for so many cells, where the longest label has ``longest``; without
    ``reasons`` the last column may go to the settings."""
    wide, slim = width >= _WIDE, width < _SLIM
    found = [
        Column(key="state", title="State", width=11 if slim else 14),
        Column(key="time", title="Training", width=9, align="right"),
    ]
    if wide:
        found += [
            Column(key="micro", title="µ-batch", width=7, align="right"),
            Column(key="memory", title="GiB", width=5, align="right"),
            Column(key="mfu", title="MFU", width=4, align="right"),
            Column(key="took", title="Took", width=6, align="right"),
        ]
    used = sum(2 + (column.width or 0) for column in found) + _BESIDE
    room = width - used - 2
    least = 2 + _WHY if reasons and width >= _MIDDLE else 0
    # Where even the least is too much, the last column is out of view, and needs no gap.
    settings = max(min(_SETTINGS, room + 2), min(longest, room - least))
    found.insert(0, Column(key="settings", title="Settings", width=settings))
    if reasons or room - settings - 2 >= _WHY:
        why = max(_WHY, room - settings - 2)
        found.append(Column(key="why", title="Doing, or why", width=why))
    # Every column's header sorts by it; unsorted stand the settings as they are tried.
    return tuple(column._replace(sort_key=column.key) for column in found)


_SORTED_BY: dict[str, Callable[[Tried], Any]] = {
    "settings": lambda row: row.label,
    "state": lambda row: row.state,
    "time": lambda row: row.training_days,
    "micro": lambda row: row.micro_batch_size,
    "memory": lambda row: row.peak_memory_gib,
    "mfu": lambda row: row.mfu,
    "took": lambda row: row.seconds,
    "why": lambda row: row.detail or None,
}


def longest_label(progress: Progress, *, whole: bool = True, room: int = 0) -> int:
    """Cells of the longest name that is shown, with its mark: in full where that leaves half of the
    ``room``, else abbreviated."""
    rows = progress.rows.values() if whole else shown_first(progress)[0]
    labels = [row.label for row in rows]
    full = max(map(len, spelled(labels)), default=0) + _MARK
    if full <= max(room // 2, _IN_FULL):
        return full
    return max(map(len, spelled(labels, brief=True)), default=0) + _MARK


def _has(row: Tried, words: Sequence[str]) -> bool:
    """Whether a setting, its state or its reason has every word, however it is written."""
    text = f"{row.label} {full_name(row.label)} {row.state} {row.detail}".lower()
    return all(word in text for word in words)


class BoardRows:
    """The settings as they stand at one moment."""

    def __init__(
        self,
        progress: Progress,
        shown_columns: Sequence[Column],
        *,
        whole: bool = True,
        words: Sequence[str] = (),
        sort: str = "",
        descending: bool = False,
    ) -> None:
        """``whole``: what was left out, too; else the winner first, and the rest in one row.
        ``words``: in lower case, what a row must have. ``sort``: a column's key; what has no such
        figure comes last."""
        self._rows = tuple(progress.rows.values())
        if words:
            self._rows = tuple(row for row in self._rows if _has(row, words))
        if not whole:
            shown, folded = shown_first(progress)
            told = folded_words(folded)
            state = LEFT_OUT if any(row.state == LEFT_OUT for row in folded) else NOT_TRIED
            rest = () if told is None else (Tried(label=FOLDED, state=state, detail=told),)
            self._rows = (*shown, *rest)
        if sort in _SORTED_BY:
            key = _SORTED_BY[sort]
            known = [row for row in self._rows if key(row) is not None]
            known.sort(key=key, reverse=descending)
            self._rows = (*known, *(row for row in self._rows if key(row) is None))
        best = progress.best_row
        self._best = None if best is None else best.label
        self._keys = [column.key for column in shown_columns]
        room = next(c.width or 0 for c in shown_columns if c.key == "settings") - _MARK
        self.labels = [row.label for row in self._rows]
        self._names = row_names(self.labels, room)
        for row in self._rows:
            if row.label == FOLDED:
                counted = row.detail if len(row.detail) <= room else row.detail.partition(" (")[0]
                self._names[FOLDED] = cut_words([counted], room)[0]

    def __len__(self) -> int:
        return len(self._rows)

    def row(self, index: int) -> Tried:
        """What is known of the setting in a row."""
        return self._rows[index]

    def row_id(self, index: int) -> Hashable:
        return self._rows[index].label

    def row_style(self, index: int) -> RowStyle | None:
        row = self._rows[index]
        if row.label == self._best:
            return "front"
        if row.state == FAILED:
            return "doubtful"
        return "dimmed" if row.state in (LEFT_OUT, NOT_TRIED) else None

    def cells(self, index: int) -> Sequence[str]:
        row = self._rows[index]
        state = f"{MARKS.get(row.state, ' ')} {row.state}"
        if row.state == TIME:
            state = "✓ measured" if row.training_days is not None else "✓ fits"
            state = "✓ had before" if row.reused else state
        cells = {
            "settings": ("★ " if row.label == self._best else "  ") + self._names[row.label],
            "state": state,
            "time": "" if row.training_days is None else time_words(row.training_days),
            "micro": "" if row.micro_batch_size is None else str(row.micro_batch_size),
            "memory": "" if row.peak_memory_gib is None else plain(row.peak_memory_gib),
            "mfu": "" if row.mfu is None else f"{percent(row.mfu)}",
            "took": "" if row.seconds is None else clock_words(row.seconds),
            "why": "" if row.label == FOLDED else row.detail,
        }
        return [cells[key] for key in self._keys]


NAIVE = "naive"
FREE_LUNCH = "free lunch"
FOLDED = "…"
"""The row of what was left out."""
_WORDS = {
    **{f"zero-{stage}": f"ZeRO-{stage}" for stage in (1, 2, 3)},
    "fsdp-full-shard": "FSDP full shard",
    "fsdp-shard-grad-op": "FSDP grad shard",
}
_IDENTIFIER = re.compile("|".join(map(re.escape, _WORDS)))
_BRIEF = {
    "FSDP full shard": "FSDP full",
    "FSDP grad shard": "FSDP grad",
    "offloading": "offload",
    "checkpointing": "checkpoints",
    "half-precision weights": "half weights",
    "half-precision states": "half states",
    "layers compiled": "layers",
    "compiled whole": "whole",
    "not compiled": "uncompiled",
    "eager attention": "eager",
    "sdpa attention": "sdpa",
    "flash attention": "flash",
    "fused loss": "fused",
}
"""The same where a column is narrow; the full record of a row has it in full."""
_MEMORY = ("offloading", "checkpointing")
AS_PUBLISHED = "paper's kernels"
"""Of a row without a word on kernels, where most rows have others."""
Words = tuple[str, ...]


def full_name(text: str) -> str:
    """A label in full, ``ZeRO-1 + offloading + layers compiled``; or a sentence with labels."""
    return _IDENTIFIER.sub(lambda found: _WORDS[found[0]], text)


def shared_kernels(labels: Iterable[str]) -> Words:
    """The kernels that more than half of these settings have; none where they differ, or have those
    of the paper."""
    kernels = Counter(_kernels(label) for label in labels if label not in (NAIVE, FOLDED))
    (shared, count), *_ = kernels.most_common(1) or [((), 0)]
    return shared if 2 * count > kernels.total() else ()


def shared_words(labels: Sequence[str]) -> str:
    """What is said once for all rows; empty where each row says everything."""
    shared = shared_kernels(labels)
    words = ", ".join("trimmed input" if word == "trimmed" else word for word in shared)
    return f"Unless named: {words}." if shared and len(labels) > 1 else ""


def row_names(labels: Sequence[str], room: int) -> dict[str, str]:
    """Each setting in so many cells, without what `shared_words` says of all, so that no two look
    alike: in full where that fits, else abbreviated, cut at last."""
    names = spelled(labels)
    if max(map(len, names), default=0) > room:
        names = spelled(labels, brief=True)
    return dict(zip(labels, cut_words(names, room), strict=True))


def spelled(labels: Sequence[str], *, brief: bool = False) -> list[str]:
    """The names of the rows in full, or abbreviated."""
    shared = shared_kernels(labels) if len(labels) > 1 else ()
    return [_name(label, shared, brief=brief) for label in labels]


def _name(label: str, shared: Words, *, brief: bool) -> str:
    words, kernels = _words(label), _kernels(label)
    if kernels and kernels == shared:
        words = words[: -len(kernels)]
    elif shared and not kernels and label not in (NAIVE, FOLDED):
        words = (*words, AS_PUBLISHED)
    if not brief:
        return " + ".join(words)
    if len(words) > 1 and words[0] == FREE_LUNCH:
        words = words[1:]  # nothing that is naive goes without that word
    return ", ".join(_BRIEF.get(word, word) for word in words)


def _words(label: str) -> Words:
    return tuple(full_name(label).split(" + "))


def _kernels(label: str) -> Words:
    """What comes after the sharding and what else saves memory."""
    return tuple(word for word in _words(label)[1:] if word not in _MEMORY)
