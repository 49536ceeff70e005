"""What the benchmark's screen says: the table's rows, the page below, a record in full (pure)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any

from advisor.benchmark.benchmark_plan import CPU, CPU_REMARK
from advisor.benchmark.outcome import folded_words, shown_first
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
from advisor.costs.amounts import days_of_four_digits
from advisor.text_table import cut_words
from advisor.tui.benchmark.setting_names import FOLDED, full_name, row_names, spelled
from advisor.tui.widgets.lines import FAINT, HEADING, PLAIN, STRONG, WARNING, Line
from advisor.tui.widgets.table_rows import Column, RowStyle
from bench_runner.typed_numbers import percent

if TYPE_CHECKING:
    from advisor.benchmark.benchmark_plan import Plan
    from advisor.benchmark.request import Ending, MachineState

MARKS = {
    WAITING: "·",
    RUNNING: "▶",
    TIME: "✓",
    "does not fit": "○",
    FAILED: "✗",
    LEFT_OUT: "–",
    NOT_TRIED: "·",
}
NO_GPU = (
    "No GPU here. Press e: measure on your cluster (SLURM) or on a rented GPU, and bring the times "
    "here."
)
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
    ``room``, else its words close together."""
    rows = progress.rows.values() if whole else shown_first(progress)[0]
    labels = [row.label for row in rows]
    for names in (spelled(labels), spelled(labels, brief=True)):
        full = max(map(len, names), default=0) + _MARK
        if full <= max(room // 2, _IN_FULL):
            return full
    return max(map(len, spelled(labels, close=True)), default=0) + _MARK


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
            "memory": "" if row.peak_memory_gib is None else f"{row.peak_memory_gib:.3g}",
            "mfu": "" if row.mfu is None else f"{percent(row.mfu)}",
            "took": "" if row.seconds is None else clock_words(row.seconds),
            "why": "" if row.label == FOLDED else row.detail,
        }
        return [cells[key] for key in self._keys]


def here_words(here: MachineState, plan: Plan | None, problem: str | None) -> tuple[str, str]:
    """What was found here, what would run or what speaks against it, and the class of the line."""
    if problem is not None:
        return f"⚠ {problem}", "-error"
    words = NO_GPU
    if here.gpus:
        names = [gpu.name for gpu in here.gpus]
        memory = here.gpus[0].memory_gib
        kinds = ", ".join(f"{names.count(n)} × {n}" for n in dict.fromkeys(names))
        words = f"Here {kinds}, {memory:.0f} GiB"
    if plan is None:
        return words, ""
    count = plan.settings_count
    words += (
        f" · {count} setting{'s' if count > 1 else ''}, {plan.takes_words} · "
        f"{here.disk_free_gib:.0f} GiB disk"
    )
    remarks = [remark for remark in plan.remarks() if remark != CPU_REMARK]
    if here.gpus and plan.request.device == CPU:
        remarks.append(CPU_REMARK)
    if not remarks:
        return words, ""
    return words + f" ! {remarks[0]}" + (" …" if len(remarks) > 1 else ""), "-warning"


def plan_lines(plan: Plan) -> list[Line]:
    """What a person confirms."""
    lines: list[Line] = [(f"{label:>8}  {text}", PLAIN) for label, text in plan.lines()]
    lines += [("", PLAIN)]
    lines += [(f"! {remark}", WARNING) for remark in plan.remarks()]
    lines.append(
        (
            "While it runs, leave the machine alone: other work changes the times. Each finished "
            "setting is kept at once; c ends it at any moment.",
            FAINT,
        )
    )
    return lines


def status_words(progress: Progress, elapsed_s: float, limit_s: float | None) -> str:
    """How far it is, in one line."""
    counts = progress.counts()
    total = len(progress.rows)
    done = total - sum(counts.get(state, 0) for state in (WAITING, RUNNING, NOT_TRIED))
    words = f"{done} of {total} · {clock_words(elapsed_s)} elapsed"
    remaining = progress.remaining_s(elapsed_s, limit_s)
    if remaining is not None:
        words += f", about {clock_words(remaining)} to go"
    best = progress.best_row
    if best is not None and best.training_days is not None:
        words += f" · best {time_words(best.training_days)} ({full_name(best.label)})"
    return words


def ending_lines(ending: Ending, progress: Progress, kept: str, plan: Plan) -> list[Line]:
    """How it ended, with what to do about it."""
    headings = {
        "answered": "FINISHED",
        "no-time": "FINISHED WITHOUT A TIME",
        "cancelled": "CANCELLED",
        "refused": "NOT STARTED",
        "failed": "THE BENCHMARK FAILED",
    }
    lines: list[Line] = [(headings[ending.kind], HEADING)]
    bad = ending.kind in ("failed", "refused", "no-time")
    lines.append((ending.message, WARNING if bad else PLAIN))
    if ending.suggestion is not None:
        lines.append((f"→ {ending.suggestion}", STRONG))
    best = progress.best_row
    if best is not None and best.training_days is not None:
        lines.append(
            (
                f"best: {full_name(best.label)}, {time_words(best.training_days)} on "
                f"{plan.device_words}",
                STRONG,
            )
        )
    lines.append((kept, PLAIN))
    if bad:
        lines.append((f"log: {ending.log_file}", PLAIN))
        lines += [(f"  {line}", FAINT) for line in ending.log_tail]
    return lines


def measured_lines(progress: Progress) -> list[str]:
    """Each setting that has a time, the fastest first, as text to be kept."""
    timed = [
        (row.training_days, full_name(row.label))
        for row in progress.rows.values()
        if row.training_days
    ]
    return [f"{time_words(days):>12}  {label}" for days, label in sorted(timed)]


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
        ("one optimiser step", row.step_s, "{:.4g} s"),
        ("micro-batch", row.micro_batch_size, "{}"),
        ("peak memory", row.peak_memory_gib, "{:.3g} GiB a GPU"),
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
