"""The benchmark's settings as rows of a table, and what each setting is called (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable
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
    time_words,
)
from advisor.costs.amount_words import days_of_four_digits
from advisor.tables.plain_values import cut_words
from advisor.tui.widgets.filter_table import Rows
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
    """The table's columns for a width in cells, where the longest label has ``longest``."""
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
    room = width - _BESIDE - sum(2 + column.width for column in found)
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


def setting_rows(progress: Progress, width: int) -> Rows:
    """The settings as they stand at one moment, for a width in cells; the best has a ★."""
    rows = list(progress.rows.values())
    names = [full_name(row.label) for row in rows]
    shown = columns(width, max(map(len, names), default=0))
    cut = cut_words(names, shown[0].width - _MARK)
    named = dict(zip((row.label for row in rows), cut, strict=True))
    label = None if progress.best_row is None else progress.best_row.label

    def cells(row: Tried) -> list[str]:
        found = _cells(row, ("★ " if row.label == label else "  ") + named[row.label])
        return [found[column.key] for column in shown]

    return Rows(
        shown,
        rows,
        cells=cells,
        text=lambda row: f"{row.label} {full_name(row.label)} {row.state} {row.detail}",
        keys=_SORTED_BY,
        lines=lambda row, width: wrapped(tried_lines(row), width),
        remark=lambda row: row.detail,
        row_style=lambda row: "front" if row.label == label else _STYLES.get(row.state),
        row_id=lambda row, number: row.label,
    )


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


_WORDS = {
    **{f"zero-{stage}": f"ZeRO-{stage}" for stage in (1, 2, 3)},
    "fsdp-full-shard": "FSDP full shard",
    "fsdp-shard-grad-op": "FSDP grad shard",
}
_IDENTIFIER = re.compile("|".join(map(re.escape, _WORDS)))


def full_name(text: str) -> str:
    """A label in full, ``ZeRO-1 + offloading + layers compiled``; or a sentence with labels."""
    return _IDENTIFIER.sub(lambda found: _WORDS[found[0]], text)


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
