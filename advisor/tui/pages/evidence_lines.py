"""The lines of a page that say where a time or a price comes from."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.answers.wording import VERDICT_MARKS, rests_on_words, settings_words
from advisor.tui.widgets.lines import FAINT, PLAIN, WARNING, Line
from bench_runner.typed_numbers import plain

if TYPE_CHECKING:
    from advisor.ranking.times import TrainingTime
    from price_catalog.model import Source


def verdict_line(time: TrainingTime) -> Line:
    """What the audit thinks of a time, and why."""
    verdict = time.verdict or "unchecked"
    reason = time.verdict_reason or "not checked against the hardware"
    role = WARNING if verdict in ("doubtful", "implausible") else PLAIN
    return f"{VERDICT_MARKS.get(verdict, '–')} {verdict}: {reason}", role


def source_lines(time: TrainingTime, source: Source | None) -> Iterable[Line]:
    """What a time rests on and where it comes from: source, how it was measured, when."""
    if time.basis == "predicted":
        rests = f": {rests_on_words(time)}" if time.evidence_nearest is not None else ""
        yield f"predicted, not measured{rests}", PLAIN
        yield "9 in 10 runs of our software should stay within the interval", FAINT
        return
    else:
        place = {
            "measured-here": "measured here",
            "measured-elsewhere": "measured elsewhere on the same hardware",
        }.get(time.rests_on or "", time.basis)
        yield f"{place}, {time.timing} timers", PLAIN
    if source is None:
        yield f"source {time.source_id}", PLAIN
        return
    day = time.measured_on or source.published_on
    kind = "measured" if time.measured_on else "published"
    yield source.title + (f", {kind} {day}" if day else ", no date"), PLAIN
    yield source.how_measured, FAINT
    if source.url:
        yield source.url, FAINT


def settings_lines(time: TrainingTime) -> Iterable[Line]:
    """The settings in the field's terms."""
    yield settings_words(time.settings), FAINT if time.settings is None else PLAIN
    if time.settings is not None and time.peak_memory_gib is not None:
        yield f"peak memory {plain(time.peak_memory_gib)} GiB a GPU", PLAIN
