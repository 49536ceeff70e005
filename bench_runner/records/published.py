"""Training times that somebody published or measured, as the files in `published/` hold them.

`paper_times.csv` and `paper_settings.csv` keep the paper's tables as printed; `*.jsonl` hold
records of this program's own runs. What the files say is never corrected here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TypeVar

from bench_runner.records.measurement import (
    TIMINGS,
    Measurement,
    Method,
    Settings,
    Sharding,
    Status,
)

PUBLISHED_FOLDER = Path(__file__).parents[1] / "published"

ROUNDING_DAYS = 0.5
"""The paper prints whole days, so that each may be off by half of one."""
_METHODS: tuple[Method, ...] = ("naive", "optimal")
_STATUSES: tuple[Status, ...] = ("ok", "infeasible")
_Choice = TypeVar("_Choice", bound=str)
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

_Key = tuple[str, str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublishedSource:
    """Who says so, and how they know: the columns of the price catalogue's sources."""

    source_id: str
    title: str
    url: str | None
    how_measured: str
    licence: str | None
    published_on: date | None


def load_sources(folder: Path | None = None) -> tuple[PublishedSource, ...]:
    """The sources that the published records and the shipped recipes name."""
    path = _folder(folder) / "sources.csv"
    sources: dict[str, PublishedSource] = {}
    for row in _rows(
        path, ("source_id", "title", "url", "how_measured", "licence", "published_on")
    ):
        source_id = row.text("source_id")
        if source_id in sources:
            raise row.error("source_id", f"'{source_id}' is there twice; keep one of them")
        sources[source_id] = PublishedSource(
            source_id=source_id,
            title=row.text("title"),
            url=row.cells["url"] or None,
            how_measured=row.text("how_measured"),
            licence=row.cells["licence"] or None,
            published_on=row.day("published_on"),
        )
    return tuple(sources.values())


def load_published(folder: Path | None = None) -> tuple[Measurement, ...]:
    """Every published and measured record: the paper's first, then those of `*.jsonl`."""
    from bench_runner.records.journal import merge

    records = [*load_paper(folder), *load_original(folder)]
    records.extend(merge(sorted(_folder(folder).glob("*.jsonl"))))
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


def load_paper(folder: Path | None = None) -> tuple[Measurement, ...]:
    """Tables 1 and 4 of the paper, with the settings of its Appendix J."""
    folder = _folder(folder)
    settings = _paper_settings(folder / "paper_settings.csv")
    records = []
    seen: dict[str, int] = {}
    for row in _rows(
        folder / "paper_times.csv",
        (
            "source_id",
            "recipe_id",
            "gpu",
            "gpu_count",
            "method",
            "status",
            "training_days",
            "timing",
            "note",
        ),
    ):
        record = _paper_record(row, settings)
        if record.measurement_id in seen:
            raise row.error(
                "gpu_count",
                f"this cell is already in line {seen[record.measurement_id]}; keep one of them",
            )
        seen[record.measurement_id] = row.line
        records.append(record)
    if settings:
        recipe_id, gpu, gpu_count = next(iter(settings))
        raise ValueError(
            f"paper_settings.csv: {recipe_id} on {gpu_count} x {gpu} has settings but no feasible "
            "optimal time in paper_times.csv; add the time or remove the settings"
        )
    return tuple(records)


def load_original(folder: Path | None = None) -> tuple[Measurement, ...]:
    """What the models were first trained on (Figure 6a): for comparison, never ranked."""
    return tuple(
        Measurement(
            measurement_id=f"paper-figure6:{row.text('recipe_id')}",
            recipe_id=row.text("recipe_id"),
            recipe_hash=None,
            gpu=row.text("gpu"),
            gpu_count=row.whole("gpu_count"),
            method="original",
            settings=None,
            status="ok",
            reason=None,
            training_days=float(row.whole("training_days")),
            training_days_low=row.whole("training_days") - ROUNDING_DAYS,
            training_days_high=row.whole("training_days") + ROUNDING_DAYS,
            timing="unsynchronised",
            source_id="paper-figure6",
            measured_on=None,
        )
        for row in _rows(
            _folder(folder) / "paper_original.csv",
            ("recipe_id", "gpu", "gpu_count", "training_days"),
        )
    )


def _paper_record(row: _Row, settings: dict[_Key, Settings]) -> Measurement:
    recipe_id, gpu = row.text("recipe_id"), row.text("gpu")
    gpu_count = row.whole("gpu_count")
    method = row.choice("method", _METHODS)
    status = row.choice("status", _STATUSES)
    if (status == "ok") != bool(row.cells["training_days"]):
        raise row.error(
            "training_days", f"does not go with status {status}: an ok row has days, no other has"
        )
    days = float(row.whole("training_days")) if status == "ok" else None
    used: Settings | None = NAIVE
    environment = {}
    if method == "optimal":
        key = (recipe_id, gpu, gpu_count)
        used = settings.pop(key, None) if status == "ok" else None
        if status == "ok" and used is None:
            raise row.error("gpu_count", "no settings for this cell; add it to paper_settings.csv")
        environment = {"settings_source_id": "paper-appendix-j"} if used else {}
    source_id = row.text("source_id")
    reason = None
    if status == "infeasible":
        reason = "printed as a dash: infeasible " + (
            "with every efficient method tried" if method == "optimal" else "with naive settings"
        )
        if row.cells["note"]:
            reason += f" ({row.cells['note']})"
    return Measurement(
        measurement_id=f"{source_id}:{recipe_id}:{gpu.lower().replace(' ', '-')}:{gpu_count}",
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
        timing=row.choice("timing", TIMINGS),
        source_id=source_id,
        measured_on=None,
        environment=environment,
    )


def _paper_settings(path: Path) -> dict[_Key, Settings]:
    settings: dict[_Key, Settings] = {}
    for row in _rows(
        path,
        (
            "recipe_id",
            "gpu",
            "gpu_count",
            "free_lunch",
            "activation_checkpointing",
            "sharding",
            "offloading",
            "micro_batch_size",
            "gradient_accumulation_steps",
        ),
    ):
        key = (row.text("recipe_id"), row.text("gpu"), row.whole("gpu_count"))
        if key in settings:
            raise row.error("gpu_count", "this cell is there twice; keep one of them")
        if row.cells["sharding"] not in SHARDINGS:
            raise row.error(
                "sharding",
                f"'{row.cells['sharding']}' is not known; write nothing or one of "
                + ", ".join(spelling for spelling in SHARDINGS if spelling),
            )
        settings[key] = Settings(
            free_lunch=row.flag("free_lunch"),
            activation_checkpointing=row.flag("activation_checkpointing"),
            sharding=SHARDINGS[row.cells["sharding"]],
            offloading=row.flag("offloading"),
            micro_batch_size=row.whole("micro_batch_size"),
            gradient_accumulation_steps=row.whole("gradient_accumulation_steps"),
        )
    return settings


@dataclass(frozen=True, slots=True)
class _Row:
    """One line of a table, which knows where it stands."""

    path: Path
    line: int
    cells: dict[str, str]

    def error(self, column: str, problem: str) -> ValueError:
        return ValueError(f"{self.path.name} line {self.line}, column '{column}': {problem}")

    def text(self, column: str) -> str:
        if not self.cells[column]:
            raise self.error(column, "is empty; this column needs a value")
        return self.cells[column]

    def choice(self, column: str, known: Iterable[_Choice]) -> _Choice:
        value = self.text(column)
        for each in known:
            if each == value:
                return each
        raise self.error(column, f"'{value}' is not known; write one of {', '.join(known)}")

    def flag(self, column: str) -> bool:
        return self.choice(column, ("yes", "no")) == "yes"

    def whole(self, column: str) -> int:
        value = self.text(column)
        if not (value.isascii() and value.isdigit() and len(value) < 10 and int(value) > 0):
            raise self.error(column, f"'{value}' is not a whole number above 0")
        return int(value)

    def day(self, column: str) -> date | None:
        value = self.cells[column]
        try:
            return date.fromisoformat(value) if value else None
        except ValueError:
            raise self.error(column, f"'{value}' is not a date; write it like 2024-09-21") from None


def _rows(path: Path, columns: tuple[str, ...]) -> list[_Row]:
    import csv

    try:
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, strict=True)
            if tuple(reader.fieldnames or ()) != columns:
                raise ValueError(
                    f"{path.name} line 1: the header is not {','.join(columns)}; write it so"
                )
            rows = []
            for cells in reader:
                if None in cells or None in cells.values():
                    raise ValueError(
                        f"{path.name} line {reader.line_num}: does not have {len(columns)} cells; "
                        "put text that contains a comma between double quotes"
                    )
                stripped = {name: cell.strip() for name, cell in cells.items()}
                rows.append(_Row(path, reader.line_num, stripped))
            return rows
    except FileNotFoundError:
        raise ValueError(f"{path.name} is missing; it belongs at {path}") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"{path.name} is not a CSV table in UTF-8: {error}") from None


def _folder(folder: Path | None) -> Path:
    return PUBLISHED_FOLDER if folder is None else Path(folder)
