"""What a benchmark's events say so far: each setting's state, the best, how long it may take; and
what it found, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from statistics import mean
from typing import Any

from advisor.tables.plain_values import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import percent, plain

WAITING = "waiting"
RUNNING = "running"
TIME = "time"
MISFIT = "does not fit"
FAILED = "failed"
LEFT_OUT = "left out"
NOT_TRIED = "not tried"
_STATES = {"ok": TIME, "infeasible": MISFIT, "failed": FAILED, "pruned": LEFT_OUT}
_PHASES = {
    "climb": "looking for the largest micro-batch",
    "climbed": "micro-batch chosen",
    "warm-up": "warming up",
    "timing": "timing steps",
    "again": "again with a smaller micro-batch",
}
DAY_S = 86_400.0
_OF_A_RECORD = (
    *("training_days", "training_days_low", "training_days_high"),
    *("step_s", "mfu", "peak_memory_gib"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """One setting and what is known of it."""

    label: str
    state: str = WAITING
    detail: str = ""
    """What it is doing, or the reason why it has no time."""
    reused: bool = False
    """Measured before, and not again."""
    training_days: float | None = None
    training_days_low: float | None = None
    training_days_high: float | None = None
    step_s: float | None = None
    mfu: float | None = None
    peak_memory_gib: float | None = None
    micro_batch_size: int | None = None
    seconds: float | None = None
    """How long the trial took."""
    log_tail: tuple[str, ...] = ()
    """What a failed trial wrote last."""
    unsure: str = ""
    """Why its time may not be the machine's: steps that still differed, a GPU that was too hot."""


@dataclass(slots=True)
class Progress:
    """Takes events one by one. Labels that are expected stand as waiting before the first."""

    labels: Sequence[str]
    estimated_minutes: float
    expected_trials: float | None = field(default=None, init=False)
    """How many settings the runner expects to measure, where it has said so."""
    rows: dict[str, Tried] = field(init=False)
    running: str | None = field(default=None, init=False)
    running_since_s: float = field(default=0.0, init=False)
    best: str | None = field(default=None, init=False)
    finished: bool = field(default=False, init=False)
    touched: str = field(default="", init=False)
    """The setting that the last event was about."""
    last: str = field(default="starting", init=False)
    """What happened last, in words."""

    def __post_init__(self) -> None:
        self.rows = {label: Tried(label=label) for label in self.labels}

    def apply(self, event: Mapping[str, Any], now_s: float) -> None:
        """Take in one event, at ``now_s`` seconds of any clock that does not go back."""
        kind = event["event"]
        label = str(event.get("label"))
        if kind == "search-started":
            for name in map(str, event.get("labels") or ()):
                self.rows.setdefault(name, Tried(label=name))
            self.expected_trials = event.get("expected_trials")
            self.last = "the runner has started"
        elif kind == "trial-started":
            self.running, self.running_since_s = label, now_s
            self._put(label, "starting", state=RUNNING, detail=str(event.get("reason") or ""))
        elif kind == "trial-progress":
            words = _progress_words(event)
            self._put(label, words, state=RUNNING, detail=words)
        elif kind in ("trial-finished", "left-out", "reused"):
            self._record(kind, label, event.get("record") or {}, now_s)
        elif kind in ("best", "search-finished"):
            self.best = label if label in self.rows else self.best
        if kind == "search-finished":
            self.finished, self.last = True, "finished"

    def close(self) -> None:
        """No more events will come: what was not tried says so."""
        for label, row in self.rows.items():
            if row.state in (WAITING, RUNNING):
                stopped = "stopped while it ran" if row.state == RUNNING else ""
                self.rows[label] = replace(row, state=NOT_TRIED, detail=stopped)
        self.running = None

    def _put(self, label: str, words: str, **changes: Any) -> None:
        self.touched, self.last = label, f"{label}: {words}"
        self.rows[label] = replace(self.rows.get(label) or Tried(label=label), **changes)

    def _record(self, kind: str, label: str, record: Mapping[str, Any], now_s: float) -> None:
        seconds = None
        if kind == "trial-finished":
            # Where kernels were missing, the record carries another label than what was asked.
            label, self.running = self.running or label, None
            seconds = now_s - self.running_since_s
        environment = record.get("environment") or {}
        settings = record.get("settings") or {}
        state = _STATES.get(str(record.get("status")), FAILED)
        reason = str(record.get("reason") or environment.get("not_free_lunch_because") or "")
        self._put(
            label,
            state,
            state=state,
            detail=" ".join(reason.split()),
            reused=kind == "reused",
            **{name: record.get(name) for name in _OF_A_RECORD},
            micro_batch_size=settings.get("micro_batch_size"),
            seconds=seconds,
            unsure=_unsure(environment),
            log_tail=tuple(str(environment.get("log_tail") or "").splitlines()),
        )

    # What follows from it

    @property
    def timed(self) -> list[Tried]:
        """What has a time, the fastest first."""
        found = [row for row in self.rows.values() if row.training_days is not None]
        return sorted(found, key=lambda row: row.training_days or 0.0)

    @property
    def best_row(self) -> Tried | None:
        """The fastest so far, of exact settings where the runner has named one."""
        named = [row for row in self.timed if row.label == self.best]
        return next(iter(named or self.timed), None)

    @property
    def is_cut_short(self) -> bool:
        """Whether settings were left untried for want of time, or because somebody ended it."""
        return any(row.state == NOT_TRIED for row in self.rows.values())

    @property
    def faster_rounding(self) -> Tried | None:
        """What is faster than the best exact settings by rounding otherwise, if anything is."""
        first = next(iter(self.timed), None)
        return None if first is self.best_row else first

    def counts(self) -> Counter[str]:
        """How many settings are in each state."""
        return Counter(row.state for row in self.rows.values())

    def remaining_s(self, elapsed_s: float, limit_s: float | None) -> float | None:
        """A guess at the seconds to come; None after the end.

        Open settings at the mean of those measured so far, but no more trials than the search was
        expected to make, and no more than its limit.
        """
        counts = self.counts()
        if self.finished or not counts[WAITING] + counts[RUNNING]:
            return None
        took = [row.seconds for row in self.rows.values() if row.seconds is not None]
        guess = self.estimated_minutes * 60 - elapsed_s
        if took:
            trials = (self.expected_trials or float(len(self.rows))) - len(took)
            guess = max(1.0, trials) * mean(took)
            if self.running is not None:
                guess -= min(elapsed_s - self.running_since_s, mean(took))
        if limit_s is not None:
            guess = min(guess, limit_s - elapsed_s)
        return max(0.0, guess)


def _unsure(environment: Mapping[str, Any]) -> str:
    gpu = environment.get("gpu")
    if isinstance(gpu, Mapping) and gpu.get("slowed_by_heat"):
        return "heat slowed the GPU down while its steps were timed"
    if str(environment.get("settled") or "").startswith("not settled"):
        return "its steps still differed by more than 2 % when they were timed"
    return ""


def _progress_words(event: Mapping[str, Any]) -> str:
    """A trial's progress in words."""
    phase, size = str(event.get("phase")), event.get("micro_batch_size")
    if phase != "probe":
        words = _PHASES.get(phase, phase)
        return f"{words} ({size})" if size is not None else words
    if not event.get("fits"):
        return f"micro-batch {size} does not fit"
    memory = event.get("peak_memory_gib")
    return f"micro-batch {size} fits" + (f", {plain(memory)} GiB" if memory is not None else "")


def time_words(days: float) -> str:
    """A training time: ``12.3 days``, ``4.56 h``, ``1.33 min``, ``43.6 s``."""
    seconds = days * DAY_S
    for unit, name in ((DAY_S, "days"), (3600.0, "h"), (60.0, "min")):
        if seconds >= unit:
            return f"{plain(seconds / unit)} {name}"
    return f"{plain(seconds)} s"


def clock_words(seconds: float) -> str:
    """``1:02:03`` or ``2:03``."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


NAIVE = "naive"


def outcome_sentence(progress: Progress, model: str, device: str, papers: Set[str]) -> str:
    """The winner, and how many times as fast as naive settings and the paper's best it is, in a
    sentence that can stand alone. ``papers``: the labels of the paper's settings."""
    best = progress.best_row
    if best is None or best.training_days is None:
        return f"No setting of {model} was timed on {device}."
    days = best.training_days
    words = f"{model} trains on {device} in {time_words(days)}, measured here with {best.label}"
    naive = progress.rows.get(NAIVE)
    if naive is not None and naive.training_days is not None and naive is not best:
        words += f", {naive.training_days / days:.2f} × as fast as naive"
    timed = [row for row in progress.timed if row.label in papers]
    if timed and best.label not in papers:
        decided = {row.label for row in progress.rows.values() if row.state != NOT_TRIED}
        # A search of all settings leaves most of the paper's untried, and names no reason.
        which = "best" if papers <= decided else f"fastest of {len(timed)} tried"
        ratio = (timed[0].training_days or 0.0) / days
        words += f", {ratio:.2f} × as fast as the paper's {which} ({timed[0].label})"
    words += "; the search was not finished." if progress.is_cut_short else "."
    first = progress.faster_rounding
    if first is not None and first.training_days is not None:
        words += (
            f" Rounding otherwise is {days / first.training_days:.2f} × as fast again: "
            f"{time_words(first.training_days)} with {first.label}."
        )
    return words


def outcome_text(
    progress: Progress,
    model: str,
    device: str,
    papers: Set[str],
    *,
    details: bool,
    width: int,
) -> str:
    """What a search found: the winner with its gains, what was timed, and the rest counted."""
    blocks = [fill(outcome_sentence(progress, model, device, papers), width)]
    best = progress.best_row
    rows = [
        {
            "settings": _label(row.label, width - 34),
            "time": time_words(row.training_days or 0.0),
            "a step": "–" if row.step_s is None else f"{plain(row.step_s)} s",
            "memory": "–" if row.peak_memory_gib is None else f"{row.peak_memory_gib:.1f} GiB",
            "MFU": "–" if row.mfu is None else f"{percent(row.mfu)}",
        }
        for row in sorted(progress.timed, key=lambda row: row is not best)
    ]
    if rows:
        # A CPU has neither a memory of its own nor a peak.
        columns = tuple(key for key in rows[0] if any(row[key] != "–" for row in rows))
        blocks.append(to_table(rows, columns, frozenset({"a step", "memory", "MFU"})))
    untimed = [row for row in progress.rows.values() if row.training_days is None]
    told = [row for row in untimed if details or not _is_folded(row)]
    if told:
        indents = {"initial_indent": "  ", "subsequent_indent": "    "}
        why = [fill(f"{row.label}: {row.detail or row.state}", width, **indents) for row in told]
        blocks.append("\n".join(["Without a time:", *why]))
    folded = Counter(row.state for row in untimed if row not in told)
    if folded:
        words = ", ".join(f"{count} {state}" for state, count in folded.items())
        blocks.append(f"{words}: --details shows why.")
    return "\n\n".join(blocks)


def _is_folded(row: Tried) -> bool:
    """Whether it was left out for a reason, or never begun."""
    return row.state == LEFT_OUT or (row.state == NOT_TRIED and not row.detail)


def _label(label: str, room: int) -> str:
    """Without its blanks where it is long: cut it would look like others."""
    return label if len(label) <= room else label.replace(" + ", "+")
