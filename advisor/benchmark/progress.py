"""What a benchmark's events say so far: each setting's state, the best, how long it may take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
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
    search: str
    expected_trials: float | None = field(default=None, init=False)
    """How many settings the runner expects to measure, where it has said so."""
    rows: dict[str, Tried] = field(init=False)
    running: str | None = field(default=None, init=False)
    running_since_s: float = field(default=0.0, init=False)
    best: str | None = field(default=None, init=False)
    finished: bool = field(default=False, init=False)
    touched: str | None = field(default=None, init=False)
    """The setting that the last event was about."""
    last: str = field(default="starting", init=False)
    """What happened last, in words."""
    noise: list[str] = field(default_factory=list, init=False)
    """What the runner printed that is no event."""

    def __post_init__(self) -> None:
        self.rows = {label: Tried(label=label) for label in self.labels}

    def apply(self, event: Mapping[str, Any], now_s: float) -> None:
        """Take in one event, at ``now_s`` seconds of any clock that does not go back."""
        kind = event["event"]
        label = str(event.get("label"))
        if kind == "search-started":
            for name in event.get("labels") or ():
                self.rows.setdefault(str(name), Tried(label=str(name)))
            if event.get("expected_trials") is not None:
                self.expected_trials = float(event["expected_trials"])
            self.last = "the runner has started"
        elif kind == "trial-started":
            self.running, self.running_since_s = label, now_s
            self._put(label, state=RUNNING, detail=str(event.get("reason") or ""))
            self.last = f"{label}: starting"
        elif kind == "trial-progress":
            words = progress_words(event)
            self._put(label, state=RUNNING, detail=words)
            self.last = f"{label}: {words}"
        elif kind in ("trial-finished", "left-out", "reused"):
            self._record(kind, label, event.get("record") or {}, now_s)
        elif kind == "best":
            self.best = label if label in self.rows else self.best
        elif kind == "search-finished":
            self.finished = True
            if event.get("label") in self.rows:
                self.best = str(event["label"])
            self.last = "finished"
        elif kind == "noise":
            self.noise.append(str(event.get("text")))

    def close(self) -> None:
        """No more events will come: what was not tried says so."""
        for label, row in self.rows.items():
            if row.state in (WAITING, RUNNING):
                stopped = "stopped while it ran" if row.state == RUNNING else ""
                self._put(label, state=NOT_TRIED, detail=stopped)
        self.running = None

    def _put(self, label: str, **changes: Any) -> None:
        self.touched = label
        self.rows[label] = replace(self.rows.get(label) or Tried(label=label), **changes)

    def _record(self, kind: str, label: str, record: Mapping[str, Any], now_s: float) -> None:
        if kind == "trial-finished" and self.running is not None:
            # Where kernels were missing, the record carries another label than what was asked.
            label = self.running
        environment = record.get("environment") or {}
        settings = record.get("settings") or {}
        state = _STATES.get(str(record.get("status")), FAILED)
        reason = str(record.get("reason") or environment.get("not_free_lunch_because") or "")
        self._put(
            label,
            state=state,
            detail=" ".join(reason.split()),
            reused=kind == "reused",
            **{name: record.get(name) for name in _OF_A_RECORD},
            micro_batch_size=settings.get("micro_batch_size"),
            seconds=now_s - self.running_since_s if kind == "trial-finished" else None,
            unsure=_unsure(environment),
            log_tail=tuple(str(environment.get("log_tail") or "").splitlines()),
        )
        if kind == "trial-finished":
            self.running = None
        self.last = f"{label}: {state}"

    # What follows from it

    @property
    def best_row(self) -> Tried | None:
        """The fastest so far."""
        if self.best is not None and self.rows[self.best].training_days is not None:
            return self.rows[self.best]
        timed = [row for row in self.rows.values() if row.training_days is not None]
        return min(timed, key=lambda row: row.training_days or 0.0, default=None)

    def counts(self) -> dict[str, int]:
        """How many settings are in each state; states that none is in are absent."""
        found: dict[str, int] = {}
        for row in self.rows.values():
            found[row.state] = found.get(row.state, 0) + 1
        return found

    def remaining_s(self, elapsed_s: float, limit_s: float | None) -> float | None:
        """A guess at the seconds to come; None after the end.

        Open settings at the mean of those measured so far, but no more trials than the search was
        expected to make, and no more than its limit.
        """
        open_rows = sum(row.state in (WAITING, RUNNING) for row in self.rows.values())
        if self.finished or not open_rows:
            return None
        took = [row.seconds for row in self.rows.values() if row.seconds is not None]
        if took:
            expected = self.expected_trials or float(len(self.rows))
            trials = max(1.0, expected - len(took))
            guess = trials * mean(took)
            if self.running is not None:
                guess -= min(elapsed_s - self.running_since_s, mean(took))
        else:
            guess = self.estimated_minutes * 60 - elapsed_s
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


def progress_words(event: Mapping[str, Any]) -> str:
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


def gains(progress: Progress, papers: Set[str]) -> str | None:
    """``free lunch + …: 7.2 days, 1.89 × as fast as naive, 1.45 × as fast as the paper's best
    (zero-1)``; None where nothing has a time. ``papers``: the labels of the paper's settings."""
    best = progress.best_row
    if best is None or best.training_days is None:
        return None
    ratios = _ratios(progress, best, best.training_days, papers)
    return ", ".join([f"{best.label}: {time_words(best.training_days)}", *ratios])


def _ratios(progress: Progress, best: Tried, days: float, papers: Set[str]) -> list[str]:
    """How many times as fast as naive, and as the paper's best."""
    words = []
    naive = progress.rows.get(NAIVE)
    if naive is not None and naive.training_days is not None and naive.label != best.label:
        words.append(f"{naive.training_days / days:.2f} × as fast as naive")
    timed = [row for row in _timed(progress.rows.values()) if row.label in papers]
    if timed and best.label not in papers:
        nearest = timed[0]
        ratio = (nearest.training_days or 0.0) / days
        decided = {row.label for row in progress.rows.values() if row.state != NOT_TRIED}
        # A search of all settings leaves most of the paper's untried, and names no reason.
        which = "best" if papers <= decided else f"fastest of {len(timed)} tried"
        words.append(f"{ratio:.2f} × as fast as the paper's {which} ({nearest.label})")
    return words


def _timed(rows: Iterable[Tried]) -> list[Tried]:
    found = [row for row in rows if row.state == TIME and row.training_days is not None]
    return sorted(found, key=lambda row: row.training_days or 0.0)


def shown_first(progress: Progress) -> tuple[list[Tried], list[Tried]]:
    """What to show, the fastest first and then what has no time; and what to fold: what was left
    out for a reason, or never begun. While a search runs, nothing is folded or moved."""
    rows = list(progress.rows.values())
    if any(row.state in (WAITING, RUNNING) for row in rows):
        return rows, []
    timed = _timed(rows)
    folded = [
        row for row in rows if row.state == LEFT_OUT or (row.state == NOT_TRIED and not row.detail)
    ]
    names = {row.label for row in (*timed, *folded)}
    best = progress.best_row
    timed.sort(key=lambda row: best is None or row.label != best.label)
    return [*timed, *(row for row in rows if row.label not in names)], folded


def outcome_sentence(progress: Progress, model: str, device: str, papers: Set[str]) -> str:
    """The winner with its gains, in one sentence that could stand alone."""
    best = progress.best_row
    if best is None or best.training_days is None:
        return f"No setting of {model} was timed on {device}."
    ratios = "".join(f", {x}" for x in _ratios(progress, best, best.training_days, papers))
    so_far = "; the search was not finished" if is_cut_short(progress) else ""
    return (
        f"{model} trains on {device} in {time_words(best.training_days)}, measured here with "
        f"{best.label}{ratios}{so_far}.{_with_rounding(progress, best.training_days)}"
    )


def rounds_otherwise(progress: Progress) -> Tried | None:
    """What is faster than the best exact settings by rounding otherwise; None where nothing is."""
    best, timed = progress.best_row, _timed(progress.rows.values())
    return timed[0] if timed and best is not None and timed[0].label != best.label else None


def _with_rounding(progress: Progress, days: float) -> str:
    first = rounds_otherwise(progress)
    if first is None or first.training_days is None:
        return ""
    return (
        f" Rounding otherwise is {days / first.training_days:.2f} × as fast again: "
        f"{time_words(first.training_days)} with {first.label}."
    )


def is_cut_short(progress: Progress) -> bool:
    """Whether settings were left untried for want of time, or because somebody ended it."""
    return any(row.state == NOT_TRIED for row in progress.rows.values())


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
    shown, folded = shown_first(progress)
    rows = [
        {
            "settings": _label(row.label, width - 34),
            "time": time_words(row.training_days),
            "a step": "–" if row.step_s is None else f"{plain(row.step_s)} s",
            "memory": "–" if row.peak_memory_gib is None else f"{row.peak_memory_gib:.1f} GiB",
            "MFU": "–" if row.mfu is None else f"{percent(row.mfu)}",
        }
        for row in shown
        if row.training_days is not None
    ]
    if rows:
        # A CPU has neither a memory of its own nor a peak.
        columns = tuple(key for key in rows[0] if any(row[key] != "–" for row in rows))
        blocks.append(to_table(rows, columns, frozenset({"a step", "memory", "MFU"})))
    why = [
        fill(
            f"{row.label}: {row.detail or row.state}",
            width,
            initial_indent="  ",
            subsequent_indent="    ",
        )
        for row in (*shown, *(folded if details else ()))
        if row.training_days is None
    ]
    if why:
        blocks.append("\n".join(["Without a time:", *why]))
    if (rest := folded_words(folded)) is not None and not details:
        blocks.append(f"{rest}: --details shows them.")
    return "\n\n".join(blocks)


def _label(label: str, room: int) -> str:
    """Without its blanks where it is long: cut it would look like others."""
    return label if len(label) <= room else label.replace(" + ", "+")


def folded_words(folded: list[Tried]) -> str | None:
    """``31 others left out (29 cannot win, 2 cannot fit), 4 not tried``; None where none was."""
    left = [row for row in folded if row.state == LEFT_OUT]
    untried = len(folded) - len(left)
    said = []
    if left:
        cannot = sum(row.detail.startswith("cannot win") for row in left)
        misfit = sum(row.detail.startswith("cannot fit") for row in left)
        why = [f"{cannot} cannot win"] if cannot else []
        why += [f"{misfit} cannot fit"] if misfit else []
        said.append(
            f"{len(left)} {_others(left)} left out" + (f" ({', '.join(why)})" if why else "")
        )
    if untried:
        said.append(f"{untried} not tried" if left else f"{untried} {_others(folded)} not tried")
    return ", ".join(said) or None


def _others(rows: list[Tried]) -> str:
    return "other" if len(rows) == 1 else "others"
