"""What the evidence screen writes as files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from advisor.answers.wording import settings_words
from advisor.tui.evidence.evidence_rows import Times, TimesSource
from advisor.tui.program.store_reader import StoreReader
from advisor.tui.widgets.fetch_error import FetchError
from advisor.tui.widgets.table_rows import RowSource

MAX_EXPORTED_TIMES = 100_000
_PAGE = 10_000
TIMES_COLUMNS = (
    "model",
    "gpu",
    "gpu_count",
    "method",
    "basis",
    "training_days",
    "training_days_low",
    "training_days_high",
    "status",
    "reason",
    "implied_mfu",
    "verdict",
    "verdict_reason",
    "timing",
    "measured_on",
    "source",
    "origin",
    "settings",
)


def times_rows(store_reader: StoreReader, times: Times, source: RowSource) -> list[dict[str, Any]]:
    """Every time that the filter shows, not only the pages in view. Raises FetchError."""
    assert isinstance(source, TimesSource)
    if len(source) > MAX_EXPORTED_TIMES:
        raise FetchError(
            f"{len(source):,} rows are too many for one file from here: filter them first, or use "
            "advisor data times --format csv"
        )
    query = source.query
    rows = []
    with store_reader.visit() as reader:
        for offset in range(0, len(source), _PAGE):
            for time in reader.search_times(
                query.words,
                sort=query.sort or "model",
                descending=query.descending,
                predictions=times.predictions,
                limit=_PAGE,
                offset=offset,
            ):
                rows.append(
                    {
                        "model": time.recipe_id,
                        "gpu": times.gpu_name(time.gpu_id),
                        "source": time.source_id,
                        "settings": settings_words(time.settings),
                        **{
                            name: getattr(time, name)
                            for name in TIMES_COLUMNS
                            if name not in ("model", "gpu", "source", "settings")
                        },
                    }
                )
    return rows


def record_rows(records: Sequence[Any], columns: Sequence[str]) -> list[dict[str, Any]]:
    """Frozen records as rows."""
    return [{name: getattr(record, name) for name in columns} for record in records]
