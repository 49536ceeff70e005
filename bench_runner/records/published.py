"""Training times that were published or measured, as the files in `published/` hold them.

`paper_times.csv` and `paper_settings.csv` keep the paper's tables as printed; `*.jsonl` hold
records of this program's own runs. What the files say is never corrected here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeVar

from bench_runner.records.measurement import (
    STATUSES,
    TIMINGS,
    Measurement,
    Method,
    Settings,
    Sharding,
    one_of,
)

PUBLISHED_FOLDER = Path(__file__).parents[1] / "published"

ROUNDING_DAYS = 0.5
"""The paper prints whole days, so that each may be off by half of one."""
_METHODS: tuple[Method, ...] = ("naive", "optimal")
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
_Key = tuple[str, str, int]
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
        return PublishedSource(
            source_id=row["source_id"],
            title=row["title"],
            url=row["url"] or None,
            how_measured=row["how_measured"],
            licence=row["licence"] or None,
            published_on=date.fromisoformat(day) if day else None,
        )

    return tuple(_each(folder / "sources.csv", source, lambda source: source.source_id))


def load_published(folder: Path = PUBLISHED_FOLDER) -> tuple[Measurement, ...]:
    """Every published and measured record: the paper's first, then those of `*.jsonl`."""
    from bench_runner.records.journal import merge

    records = [*load_paper(folder), *load_original(folder)]
    records.extend(merge(sorted(folder.glob("*.jsonl"))))
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
    settings = dict(_each(folder / "paper_settings.csv", _paper_settings, lambda row: row[0]))
    records = _each(
        folder / "paper_times.csv",
        lambda row: _paper_record(row, settings),
        lambda record: record.measurement_id,
    )
    if settings:
        recipe_id, gpu, gpu_count = next(iter(settings))
        raise ValueError(
            f"paper_settings.csv: {recipe_id} on {gpu_count} x {gpu} has settings but no feasible "
            "optimal time in paper_times.csv; add the time or remove the settings"
        )
    return tuple(records)


def load_original(folder: Path = PUBLISHED_FOLDER) -> tuple[Measurement, ...]:
    """What the models were first trained on (Figure 6a): for comparison, never ranked."""

    def original(row: _Cells) -> Measurement:
        days = _whole(row, "training_days")
        return Measurement(
            measurement_id=f"paper-figure6:{row['recipe_id']}",
            recipe_id=row["recipe_id"],
            recipe_hash=None,
            gpu=row["gpu"],
            gpu_count=_whole(row, "gpu_count"),
            method="original",
            settings=None,
            status="ok",
            reason=None,
            training_days=float(days),
            training_days_low=days - ROUNDING_DAYS,
            training_days_high=days + ROUNDING_DAYS,
            timing="unsynchronised",
            source_id="paper-figure6",
            measured_on=None,
        )

    return tuple(_each(folder / "paper_original.csv", original, lambda row: row.measurement_id))


def _paper_record(row: _Cells, settings: dict[_Key, Settings]) -> Measurement:
    """The record of one cell of a table; its settings are taken out of ``settings``."""
    recipe_id, gpu, gpu_count = row["recipe_id"], row["gpu"], _whole(row, "gpu_count")
    method = one_of(row["method"], _METHODS, "method")
    status = one_of(row["status"], STATUSES, "status")
    if (status == "ok") != bool(row["training_days"]):
        raise ValueError(f"status {status} does not go with the days: an ok row has days")
    days = float(_whole(row, "training_days")) if status == "ok" else None
    used: Settings | None = NAIVE
    environment = {}
    if method == "optimal":
        used = settings.pop((recipe_id, gpu, gpu_count), None) if status == "ok" else None
        if status == "ok" and used is None:
            raise ValueError("no settings for this cell; add it to paper_settings.csv")
        environment = {"settings_source_id": "paper-appendix-j"} if used else {}
    cell = f"{recipe_id}:{gpu.lower().replace(' ', '-')}:{gpu_count}"
    reason = None
    if status == "infeasible":
        reason = "printed as a dash: infeasible " + (
            "with every efficient method tried" if method == "optimal" else "with naive settings"
        )
        if row["note"]:
            reason += f" ({row['note']})"
    return Measurement(
        measurement_id=f"{row['source_id']}:{cell}",
        recipe_id=recipe_id,
        recipe_hash=None,
        gpu=gpu,
        gpu_count=gpu_count,
        method=method,
        settings=used,
        status=status,
        reason=reason,
        training_days=days,
        training_days_low=None if days is None else days - ROUNDING_DAYS,
        training_days_high=None if days is None else days + ROUNDING_DAYS,
        timing=one_of(row["timing"], TIMINGS, "timing"),
        source_id=row["source_id"],
        measured_on=None,
        environment=environment,
    )


def _paper_settings(row: _Cells) -> tuple[_Key, Settings]:
    if row["sharding"] not in SHARDINGS:
        known = ", ".join(filter(None, SHARDINGS))
        raise ValueError(
            f"sharding '{row['sharding']}' is not known; write nothing or one of {known}"
        )

    def flag(column: str) -> bool:
        return one_of(row[column], ("yes", "no"), column) == "yes"

    return (row["recipe_id"], row["gpu"], _whole(row, "gpu_count")), Settings(
        free_lunch=flag("free_lunch"),
        activation_checkpointing=flag("activation_checkpointing"),
        sharding=SHARDINGS[row["sharding"]],
        offloading=flag("offloading"),
        micro_batch_size=_whole(row, "micro_batch_size"),
        gradient_accumulation_steps=_whole(row, "gradient_accumulation_steps"),
    )


def _whole(row: _Cells, column: str) -> int:
    value = row[column]
    if not (value.isascii() and value.isdigit() and int(value) > 0):
        raise ValueError(f"{column} '{value}' is not a whole number above 0")
    return int(value)


def _each(path: Path, read: Callable[[_Cells], _Row], key: Callable[[_Row], object]) -> list[_Row]:
    """What ``read`` makes of each row of a table, whose keys must differ. Raises ValueError."""
    import csv

    found: dict[object, _Row] = {}
    line = 1
    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            for cells in reader:
                line = reader.line_num
                if None in cells or None in cells.values():
                    raise ValueError(f"does not have {len(reader.fieldnames or ())} cells")
                row = read({name: cell.strip() for name, cell in cells.items()})
                if found.setdefault(key(row), row) is not row:
                    raise ValueError("is there twice; keep one of them")
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except KeyError as error:
        raise ValueError(f"{path.name} has no column {error}") from None
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path.name} line {line}: {error}") from None
    return list(found.values())
