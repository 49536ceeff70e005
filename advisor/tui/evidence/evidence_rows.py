"""The evidence as rows for a table and for a file: times and sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.text import Text

from advisor.answers.wording import (
    PREDICTED_MARK,
    STATUS_WORDS,
    VERDICT_MARKS,
    source_name,
    source_title,
)
from advisor.costs.amount_words import days_exact, days_of_four_digits, days_short
from advisor.tui.pages.evidence_lines import settings_lines, source_lines, verdict_line
from advisor.tui.program.store_reader import StoreReader
from advisor.tui.widgets.filter_table import Query, Rows
from advisor.tui.widgets.lines import FAINT, HEADING, PLAIN, STRONG, Line, wrapped
from advisor.tui.widgets.table_layout import Column
from bench_runner.typed_numbers import percent

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot
    from advisor.ranking.times import TrainingTime
    from price_catalog.model import Source


MOST_LISTED = 200_000
"""Rows of a list at most: far more than ships."""
PREDICTED_BY = "this program"
"""The source of a prediction."""


def time_list(store_reader: StoreReader, snapshot: Snapshot, *, predictions: bool) -> Rows:
    """Every tried setting in the store; ``predictions``: those that are predicted, too."""
    gpus = {gpu.gpu_id: gpu for gpu in snapshot.gpus}
    sources = {source.source_id: source for source in snapshot.sources}

    def search(query: Query) -> tuple[Sequence[TrainingTime], int]:
        """Raises InputError."""
        with store_reader.visit() as reader:
            total = reader.count_times(predictions=predictions)
            found = reader.search_times(
                query.words,
                sort=query.sort or "model",
                descending=query.descending,
                predictions=predictions,
                limit=MOST_LISTED,
            )
        return found, total

    # As texts, which lose their middle where a column is narrow, as names differ at their ends.
    def named_gpus(time: TrainingTime) -> Text:
        gpu = gpus.get(time.gpu_id)
        return Text(f"{time.gpu_count} × {time.gpu_id if gpu is None else gpu.short_name}")

    def source(time: TrainingTime) -> str:
        if time.basis == "predicted":
            return PREDICTED_BY
        # In a column the part and the first name are enough.
        return source_name(sources.get(time.source_id), time.source_id).removesuffix(" et al.")

    def remark(time: TrainingTime) -> str:
        """Why the highlighted time is thought of as it is."""
        if time.basis == "predicted" and time.reason:
            return time.reason
        return time.verdict_reason or time.reason or "no reason on record"

    def lines(time: TrainingTime, width: int) -> list[Line]:
        gpu = gpus.get(time.gpu_id)
        name = time.gpu_id if gpu is None else gpu.name
        return wrapped(_time_page(time, name, sources.get(time.source_id)), width)

    columns = (
        Column("model", "model", 21, "left", True, lambda time: Text(time.recipe_id), 18),
        Column("gpu", "GPUs", 22, "left", True, named_gpus, 17),
        Column("days", "days", 7, "right", True, _days),
        Column("interval", "interval", 13, "right", True, _interval, 12),
        Column("basis", "basis", 14, "left", True, _basis),
        Column("method", "settings", 16, "left", True, method_words, 10),
        Column("verdict", "verdict", 14, "left", True, _verdict),
        Column("mfu", "MFU", 5, "right", True, _mfu),
        Column("source", "source", 28, "left", True, source, 19),
        Column(
            "day", "measured", 10, "left", True, lambda time: str(time.measured_on or "no date")
        ),
    )
    left_out = ("day",) if predictions else ("interval", "basis")
    return Rows(
        columns=[column for column in columns if column.key not in left_out],
        lines=lines,
        remark=remark,
        search=search,
        row_style=lambda time: "dimmed" if time.training_days is None else None,
    )


def _written(time: TrainingTime, days: float | None) -> str:
    predicted = time.basis == "predicted"
    return "" if days is None else (days_short if predicted else days_of_four_digits)(days)


def _days(time: TrainingTime) -> str:
    mark = PREDICTED_MARK if time.basis == "predicted" else ""
    return f"{mark}{_written(time, time.training_days)}" if time.training_days else "no data"


def _interval(time: TrainingTime) -> str:
    low, high = time.training_days_low, time.training_days_high
    return f"{_written(time, low)}–{_written(time, high)}" if low and high else ""


def _basis(time: TrainingTime) -> str:
    return time.basis if time.basis == "predicted" or time.timing == "none" else time.timing


def _verdict(time: TrainingTime) -> str:
    verdict = time.verdict or STATUS_WORDS.get(time.status, time.status)
    return f"{VERDICT_MARKS.get(time.verdict or '', ' ')} {verdict}"


def _mfu(time: TrainingTime) -> str:
    return "" if time.implied_mfu is None else percent(time.implied_mfu)


def _time_page(time: TrainingTime, gpu: str, source: Source | None) -> list[Line]:
    lines: list[Line] = [
        (f"{time.recipe_id} on {time.gpu_count} × {gpu}", STRONG),
        (f"settings: {method_words(time)}", PLAIN),
        ("", PLAIN),
    ]
    if time.training_days is None:
        status = STATUS_WORDS.get(time.status, time.status)
        lines.append((f"NO TIME: {status}", HEADING))
        lines.append((time.reason or "no reason on record", PLAIN))
    else:
        low, high = time.training_days_low, time.training_days_high
        interval = ""
        if low is not None and high is not None:
            interval = f"  ({days_short(low)} to {days_short(high)})"
        about = f"{PREDICTED_MARK} " if time.basis == "predicted" else ""
        days = days_exact(time.training_days)
        lines.append((f"TRAINING TIME  {about}{days} days{interval}", HEADING))
        lines.append(verdict_line(time))
    lines += [("", PLAIN), ("WHERE IT COMES FROM", HEADING), *source_lines(time, source)]
    lines += [("", PLAIN), ("SETTINGS", HEADING), *settings_lines(time)]
    return [*lines, ("", PLAIN), (f"{time.origin} row {time.measurement_id}", FAINT)]


def method_words(time: TrainingTime) -> str:
    """``memory saving``: the kind of settings, as people write it."""
    return time.method.replace("-", " ")


def source_rows(snapshot: Snapshot) -> Rows:
    return Rows(
        columns=(
            Column("title", "source", 86, "left", _told_apart, lambda s: Text(_told_apart(s)), 40),
            Column("day", "published", 11, "left", lambda s: s.published_on, _published),
            Column("licence", "licence", 13, "left", lambda s: s.licence, _licence),
        ),
        records=snapshot.sources,
        text=lambda source: (
            f"{source.source_id} {source.title} {source.how_measured} {source.licence or ''}"
        ),
        lines=lambda source, width: wrapped(_source_page(source), width),
        remark=lambda source: source.how_measured,
    )


def _published(source: Source) -> str:
    return str(source.published_on or "no date")


def _licence(source: Source) -> str:
    return source.licence or "none stated"


def _told_apart(source: Source) -> str:
    """The title, with what tells the parts of one work apart in front."""
    name = source_name(source, source.source_id)
    title = source_title(source)
    return title if title.startswith(name) else f"{name}: {_work(source)}"


def _work(source: Source) -> str:
    """The quoted title of a work."""
    return source.title.partition('"')[2].rpartition('"')[0]


def _source_page(source: Source) -> list[Line]:
    lines: list[Line] = [
        (source_title(source), STRONG),
        (f"published {source.published_on or 'without a date'}", PLAIN),
        (f"licence: {source.licence or 'none stated'}", PLAIN),
        ("", PLAIN),
        ("HOW IT WAS MEASURED", HEADING),
        (source.how_measured, PLAIN),
    ]
    lines.append(("", PLAIN))
    if source.url:
        lines.append((source.url, FAINT))
    lines.append((f"{source.source_id} in files", FAINT))
    return lines
