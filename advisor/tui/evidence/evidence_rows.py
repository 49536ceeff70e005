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
from advisor.tui.widgets.filter_table import Cells, Query, Rows
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


COLUMNS = (
    Column(key="model", title="model", width=21, sort_key="model", least=18),
    Column(key="gpu", title="GPUs", width=22, sort_key="gpu", least=17),
    Column(key="days", title="days", width=7, align="right", sort_key="days"),
    Column(
        key="interval", title="interval", width=13, align="right", sort_key="interval", least=12
    ),
    Column(key="basis", title="basis", width=14, sort_key="basis"),
    Column(key="method", title="settings", width=16, sort_key="method", least=10),
    Column(key="verdict", title="verdict", width=14, sort_key="verdict"),
    Column(key="mfu", title="MFU", width=5, align="right", sort_key="mfu"),
    Column(key="source", title="source", width=28, sort_key="source", least=19),
    Column(key="day", title="measured", width=10, sort_key="day"),
)


def time_list(store_reader: StoreReader, snapshot: Snapshot, *, predictions: bool) -> Rows:
    """Every tried setting in the store; ``predictions``: those that are predicted, too."""
    left_out = ("day",) if predictions else ("interval", "basis")
    columns = tuple(column for column in COLUMNS if column.key not in left_out)
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

    def cells(time: TrainingTime) -> Cells:
        predicted = time.basis == "predicted"
        low, high, gpu = time.training_days_low, time.training_days_high, gpus.get(time.gpu_id)
        written = days_short if predicted else days_of_four_digits
        days = "no data"
        if time.training_days is not None:
            days = f"{PREDICTED_MARK if predicted else ''}{written(time.training_days)}"
        known = low is not None and high is not None
        # In a column the part and the first name are enough.
        who = source_name(sources.get(time.source_id), time.source_id).removesuffix(" et al.")
        verdict = time.verdict or STATUS_WORDS.get(time.status, time.status)
        # As texts, which lose their middle where a column is narrow, as names differ at their ends.
        cells: dict[str, str | Text] = {
            "model": Text(time.recipe_id),
            "gpu": Text(f"{time.gpu_count} × {time.gpu_id if gpu is None else gpu.short_name}"),
            "days": days,
            "interval": f"{written(low or 0)}–{written(high or 0)}" if known else "",
            "basis": time.basis if predicted or time.timing == "none" else time.timing,
            "method": method_words(time),
            "verdict": f"{VERDICT_MARKS.get(time.verdict or '', ' ')} {verdict}",
            "mfu": "" if time.implied_mfu is None else f"{percent(time.implied_mfu)}",
            "source": PREDICTED_BY if predicted else who,
            "day": str(time.measured_on or "no date"),
        }
        return [cells[column.key] for column in columns]

    def remark(time: TrainingTime) -> str:
        """Why the highlighted time is thought of as it is."""
        if time.basis == "predicted" and time.reason:
            return time.reason
        return time.verdict_reason or time.reason or "no reason on record"

    def lines(time: TrainingTime, width: int) -> list[Line]:
        gpu = gpus.get(time.gpu_id)
        name = time.gpu_id if gpu is None else gpu.name
        return wrapped(_time_page(time, name, sources.get(time.source_id)), width)

    return Rows(
        columns,
        cells=cells,
        lines=lines,
        remark=remark,
        search=search,
        row_style=lambda time: "dimmed" if time.training_days is None else None,
    )


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
    """Every source."""
    return Rows(
        (
            Column(key="title", title="source", width=86, sort_key="title", least=40),
            Column(key="day", title="published", width=11, sort_key="day"),
            Column(key="licence", title="licence", width=13, sort_key="licence"),
        ),
        snapshot.sources,
        cells=lambda source: (
            Text(_told_apart(source)),
            str(source.published_on or "no date"),
            source.licence or "none stated",
        ),
        text=lambda source: (
            f"{source.source_id} {source.title} {source.how_measured} {source.licence or ''}"
        ),
        keys={
            "title": lambda source: _told_apart(source).lower(),
            "day": lambda source: source.published_on,
            "licence": lambda source: source.licence,
        },
        lines=lambda source, width: wrapped(_source_page(source), width),
        remark=lambda source: source.how_measured,
    )


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
