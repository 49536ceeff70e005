"""The benchmark's settings as rows of a table, and what each setting is called (pure)."""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
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


def setting_rows(progress: Progress, width: int) -> Rows:
    """The settings as they stand at one moment, for a width in cells; the best has a ★."""
    rows = list(progress.rows.values())
    names = [full_name(row.label) for row in rows]
    label = None if progress.best_row is None else progress.best_row.label
    shown = COLUMNS if width >= _WIDE else COLUMNS[:2]
    if width < _SLIM:
        shown = (shown[0]._replace(width=11), *shown[1:])
    room = width - _BESIDE - sum(2 + column.width for column in shown)
    room = min(max(map(len, names), default=0) + _MARK, room)
    cut = cut_words(names, room - _MARK)
    named = dict(zip((row.label for row in rows), cut, strict=True))

    def name(row: Tried) -> str:
        return ("★ " if row.label == label else "  ") + named[row.label]

    return Rows(
        # Every column's header sorts by it; unsorted stand the settings as they are tried.
        columns=(Column("settings", "Settings", room, "left", name, name), *shown),
        records=rows,
        text=lambda row: f"{row.label} {full_name(row.label)} {row.state} {row.detail}",
        lines=lambda row, width: wrapped(tried_lines(row), width),
        remark=lambda row: row.detail,
        row_style=lambda row: "front" if row.label == label else _STYLES.get(row.state),
        row_id=lambda row: row.label,
    )


_STYLES: dict[str, RowStyle] = {FAILED: "doubtful", LEFT_OUT: "dimmed", NOT_TRIED: "dimmed"}


def _state(row: Tried) -> str:
    if row.state != TIME:
        return f"{MARKS.get(row.state, ' ')} {row.state}"
    if row.reused:
        return "✓ had before"
    return "✓ fits" if row.training_days is None else "✓ measured"


def _column(key: str, title: str, width: int, name: str, words: Callable[[Any], str]) -> Column:
    """A column of figures, empty where there is none."""
    figure = attrgetter(name)
    return Column(
        key,
        title,
        width,
        "right",
        figure,
        lambda row: "" if figure(row) is None else words(figure(row)),
    )


COLUMNS = (
    Column("state", "State", 14, "left", lambda row: row.state, _state),
    _column("time", "Training", 9, "training_days", time_words),
    _column("micro", "µ-batch", 7, "micro_batch_size", str),
    _column("memory", "GiB", 5, "peak_memory_gib", plain),
    _column("mfu", "MFU", 4, "mfu", percent),
    _column("took", "Took", 6, "seconds", clock_words),
)
"""Beside the settings' names; a narrow table has the first two."""


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
