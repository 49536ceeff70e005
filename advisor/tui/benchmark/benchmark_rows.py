"""The benchmark's settings as rows of a table, and what each setting is called (pure)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
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
from advisor.costs.amount_words import days_of_four_digits
from advisor.tables.text_table import cut_words
from advisor.tui.widgets.filter_table import Listed, MemoryRows, Query
from advisor.tui.widgets.lines import FAINT, HEADING, PLAIN, STRONG, WARNING, Line, wrapped
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
_WIDE, _SLIM = 100, 63
_BESIDE, _MARK = 3, 2
"""Cells of the scrollbar and the margins; of what stands before a label."""


def columns(width: int, longest: int) -> tuple[Column, ...]:
    """The table's columns for so many cells, where the longest label has ``longest``."""
    found = [
        Column(key="state", title="State", width=11 if width < _SLIM else 14),
        Column(key="time", title="Training", width=9, align="right"),
    ]
    if width >= _WIDE:
        found += [
            Column(key="micro", title="µ-batch", width=7, align="right"),
            Column(key="memory", title="GiB", width=5, align="right"),
            Column(key="mfu", title="MFU", width=4, align="right"),
            Column(key="took", title="Took", width=6, align="right"),
        ]
    room = width - _BESIDE - sum(2 + (column.width or 0) for column in found)
    settings = Column(key="settings", title="Settings", width=min(longest + _MARK, room))
    # Every column's header sorts by it; unsorted stand the settings as they are tried.
    return tuple(column._replace(sort_key=column.key) for column in (settings, *found))


_SORTED_BY: dict[str, Callable[[Tried], Any]] = {
    "settings": lambda row: row.label,
    "state": lambda row: row.state,
    "time": lambda row: row.training_days,
    "micro": lambda row: row.micro_batch_size,
    "memory": lambda row: row.peak_memory_gib,
    "mfu": lambda row: row.mfu,
    "took": lambda row: row.seconds,
}


class BoardRows(MemoryRows):
    """The settings as they stand at one moment."""

    def __init__(self, progress: Progress, width: int, *, whole: bool = True) -> None:
        """``whole``: what was left out, too; else the winner first, and the rest in one row."""
        every = list(progress.rows.values())
        labels = [row.label for row in every]
        shown = columns(width, max(map(len, spelled(labels)), default=0))
        names = row_names(labels, (shown[0].width or 0) - _MARK)
        self._shown, self._every = every, every
        if not whole:
            first, folded = shown_first(progress)
            told = folded_words(folded)
            state = LEFT_OUT if any(row.state == LEFT_OUT for row in folded) else NOT_TRIED
            rest = [] if told is None else [Tried(label=FOLDED, state=state, detail=told)]
            names[FOLDED] = cut_words([told or ""], (shown[0].width or 0) - _MARK)[0]
            self._shown = [*first, *rest]
        best, shared = progress.best_row, shared_words(labels)
        label = None if best is None else best.label
        super().__init__(
            shown,
            self._shown,
            cells=lambda row: [
                _cells(row, ("★ " if row.label == label else "  ") + names[row.label])[column.key]
                for column in shown
            ],
            text=lambda row: f"{row.label} {full_name(row.label)} {row.state} {row.detail}",
            keys=_SORTED_BY,
            lines=lambda row, width: wrapped(tried_lines(row), width),
            remark=lambda row: row.detail or shared,
            row_style=lambda row: "front" if row.label == label else _STYLES.get(row.state),
            row_id=lambda row, number: row.label,
        )

    def find(self, query: Query) -> Listed:
        """A filter looks at what is folded, too."""
        self.records = self._every if query.words else self._shown
        return super().find(query)


_STYLES: dict[str, RowStyle] = {FAILED: "doubtful", LEFT_OUT: "dimmed", NOT_TRIED: "dimmed"}


def _cells(row: Tried, name: str) -> dict[str, str]:
    state = f"{MARKS.get(row.state, ' ')} {row.state}"
    if row.state == TIME:
        state = "✓ measured" if row.training_days is not None else "✓ fits"
        state = "✓ had before" if row.reused else state
    return {
        "settings": name,
        "state": state,
        "time": "" if row.training_days is None else time_words(row.training_days),
        "micro": "" if row.micro_batch_size is None else str(row.micro_batch_size),
        "memory": "" if row.peak_memory_gib is None else plain(row.peak_memory_gib),
        "mfu": "" if row.mfu is None else f"{percent(row.mfu)}",
        "took": "" if row.seconds is None else clock_words(row.seconds),
    }


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


def tried_lines(row: Tried) -> list[Line]:
    """Everything known about one setting."""
    lines: list[Line] = [(full_name(row.label), STRONG), (row.state, PLAIN)]
    if row.detail:
        lines.append((row.detail, WARNING if row.state == FAILED else PLAIN))
    lines.append(("", PLAIN))
    if row.training_days is not None:
        low, high = row.training_days_low, row.training_days_high
        interval = ""
        if low is not None and high is not None:
            interval = f" ({days_of_four_digits(low)} to {days_of_four_digits(high)} days)"
        lines.append((f"training time  {time_words(row.training_days)}{interval}", PLAIN))
    facts = (
        ("one optimiser step", _plain(row.step_s, 4), "{} s"),
        ("micro-batch", row.micro_batch_size, "{}"),
        ("peak memory", _plain(row.peak_memory_gib, 3), "{} GiB a GPU"),
        ("MFU", None if row.mfu is None else 100 * row.mfu, "{:.1f} % of the GPUs' dense peak"),
        ("the trial took", row.seconds, "{:.0f} s"),
    )
    lines += [
        (f"{name}  {form.format(value)}", PLAIN) for name, value, form in facts if value is not None
    ]
    if row.unsure:
        lines.append((row.unsure, WARNING))
    if row.reused:
        lines.append(("measured before with the same machine and versions; not repeated", FAINT))
    if row.log_tail:
        lines += [("", PLAIN), ("WHAT IT WROTE LAST", HEADING)]
        lines += [(line, FAINT) for line in row.log_tail]
    return lines


def _plain(value: float | None, digits: int) -> str | None:
    return None if value is None else plain(value, digits)
