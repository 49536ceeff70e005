"""What a search has found, as a person reads it: winner, gains, and the rest folded (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Set

from advisor.benchmark.progress import (
    LEFT_OUT,
    NOT_TRIED,
    RUNNING,
    TIME,
    WAITING,
    Progress,
    Tried,
    time_words,
)
from advisor.tables.filled import fill
from advisor.tables.text_table import to_table
from bench_runner.typed_numbers import percent, plain

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
        f"{best.label}{ratios}{so_far}."
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
