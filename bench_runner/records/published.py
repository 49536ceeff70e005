"""Training times that were published or measured, as the files in `published/` hold them.

`paper_times.csv` and `paper_settings.csv` keep the paper's tables as printed; `*.jsonl` hold
records of this program's own runs. What the files say is never corrected here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

from bench_runner.records import journal
from bench_runner.records.measurement import Measurement, Settings, Sharding, one_of

PUBLISHED_FOLDER = Path(__file__).parents[1] / "published"

ROUNDING_DAYS = 0.5
"""The paper prints whole days, so that each may be off by half of one."""
SHARDINGS: Mapping[str, Sharding | None] = {
    "": None,
    "Zero (1)": "zero-1",
    "Zero (2)": "zero-2",
    "Zero (3)": "zero-3",
    "FSDP (2)": "fsdp-shard-grad-op",
    "FSDP (3)": "fsdp-full-shard",
}
"""Appendix J's spelling of each sharding, and this program's."""
NAIVE = Settings(
    free_lunch=False,
    activation_checkpointing=False,
    sharding=None,
    offloading=False,
    micro_batch_size=None,
    gradient_accumulation_steps=None,
)
"""Everything off the shelf; Table 4 does not print its micro-batch sizes."""

_Cells = dict[str, str]
_Row = TypeVar("_Row")


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSource:
    """Who says so, and how they know: the columns of the price catalogue's sources."""

    source_id: str
    title: str
    url: str | None
    how_measured: str
    licence: str | None
    published_on: date | None


def load_sources(folder: Path = PUBLISHED_FOLDER) -> tuple[PublishedSource, ...]:
    """The sources that the published records and the shipped recipes name."""

    def source(row: _Cells) -> PublishedSource:
        day = row.pop("published_on")
        values: dict[str, Any] = {name: cell or None for name, cell in row.items()}
        return PublishedSource(**values, published_on=date.fromisoformat(day) if day else None)

    return tuple(_rows(folder / "sources.csv", source))


def load_published(folder: Path = PUBLISHED_FOLDER) -> tuple[Measurement, ...]:
    """Every published and measured record: the paper's first, then those of `*.jsonl`."""
    records = [*load_paper(folder), *load_original(folder)]
    records.extend(journal.merge(sorted(folder.glob("*.jsonl"))))
    known = {source.source_id for source in load_sources(folder)}
    seen: set[str] = set()
    for record in records:
        if record.source_id not in known:
            raise ValueError(
                f"record '{record.measurement_id}' names source '{record.source_id}', which is not "
                "in published/sources.csv; add a row there"
            )
        if record.measurement_id in seen:
            raise ValueError(
                f"record '{record.measurement_id}' is there twice; remove one of the two"
            )
        seen.add(record.measurement_id)
    return tuple(records)


def load_paper(folder: Path = PUBLISHED_FOLDER) -> tuple[Measurement, ...]:
    """Tables 1 and 4 of the paper, with the settings of its Appendix J."""
    settings = dict(_rows(folder / "paper_settings.csv", lambda row: (_cell(row), _used(row))))

    def record(row: _Cells) -> Measurement:
        optimal, fits = row["method"] == "optimal", row["status"] == "ok"
        used: Settings | None = NAIVE
        if optimal:
            used = settings[_cell(row)] if fits else None
        tried = "every efficient method tried" if optimal else "naive settings"
        note = f" ({row['note']})" if row["note"] else ""
        return _printed(
            row,
            source_id=row["source_id"],
            measurement_id=f"{row['source_id']}:{_cell(row)}",
            method=row["method"],
            settings=used,
            status=row["status"],
            reason=None if fits else f"printed as a dash: infeasible with {tried}{note}",
            timing=row["timing"],
            environment={"settings_source_id": "paper-appendix-j"} if optimal and fits else {},
        )

    return tuple(_rows(folder / "paper_times.csv", record))


def load_original(folder: Path = PUBLISHED_FOLDER) -> tuple[Measurement, ...]:
    """What the models were first trained on (Figure 6a): for comparison, never ranked."""

    def record(row: _Cells) -> Measurement:
        return _printed(
            row,
            source_id="paper-figure6",
            measurement_id=f"paper-figure6:{row['recipe_id']}",
            method="original",
            settings=None,
            status="ok",
            reason=None,
            timing="unsynchronised",
        )

    return tuple(_rows(folder / "paper_original.csv", record))


def _cell(row: _Cells) -> str:
    """``pythia-1b:rtx-3090:4``: the place of a time in the paper's tables."""
    return f"{row['recipe_id']}:{row['gpu'].lower().replace(' ', '-')}:{row['gpu_count']}"


def _printed(row: _Cells, **values: Any) -> Measurement:
    """A record of a time that is printed in whole days, checked as any other record is."""
    days = float(row["training_days"]) if row["training_days"] else None
    record = Measurement(
        recipe_id=row["recipe_id"],
        recipe_hash=None,
        gpu=row["gpu"],
        gpu_count=int(row["gpu_count"]),
        training_days=days,
        training_days_low=None if days is None else days - ROUNDING_DAYS,
        training_days_high=None if days is None else days + ROUNDING_DAYS,
        measured_on=None,
        **values,
    )
    return journal.from_json(journal.to_json(record))


def _used(row: _Cells) -> Settings:
    """The settings of a row of Appendix J."""
    flags = ("free_lunch", "activation_checkpointing", "offloading")
    given: dict[str, Any] = {
        name: one_of(row[name], ("yes", "no"), name) == "yes" for name in flags
    }
    return Settings(
        **given,
        sharding=SHARDINGS[row["sharding"]],
        micro_batch_size=int(row["micro_batch_size"]),
        gradient_accumulation_steps=int(row["gradient_accumulation_steps"]),
    )


def _rows(path: Path, read: Callable[[_Cells], _Row]) -> list[_Row]:
    """What ``read`` makes of each row of a table. Raises ValueError, which names the line."""
    import csv

    found, line = [], 1
    with path.open(encoding="utf-8", newline="") as file:
        try:
            reader = csv.DictReader(file, strict=True)
            for cells in reader:
                line = reader.line_num
                found.append(read({name: cell.strip() for name, cell in cells.items()}))
        except KeyError as error:
            raise ValueError(f"{path.name} line {line}: {error} is not known") from None
        except (ValueError, AttributeError, csv.Error) as error:
            raise ValueError(f"{path.name} line {line}: {error}") from None
    return found
