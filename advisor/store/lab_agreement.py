"""Whether two labs' times stand for two labs: what confirms, and what is one's own under another
name (pure)."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from bench_runner.records.measurement import Measurement
from price_catalog.model import Gpu

RAW = ("pass_s", "sync_pass_s", "update_s", "first_pass_s", "fetch_s")
AGREE_WITHIN = 0.10
"""Two labs agree whose steps of the same settings differ by at most this."""
_TIMED = ("pass_s", "sync_pass_s", "update_s", "first_pass_s")
_FEWEST_SECONDS = 6
"""Fewer seconds than this may look alike by chance."""
_SAME_PATTERN = 0.02
"""Of the scatter within one record: what two measurements of their own never come near."""


def agreeing_lab(
    record: Measurement, others: Iterable[Measurement], gpus: Mapping[str, Gpu]
) -> str | None:
    """Another lab whose step with the same settings on the same kind of GPU agrees, by its name.

    No other lab is one that names the very same GPU, or whose seconds are these, altered.
    """
    mine = _gpu(record, gpus)
    for other in others:
        same = (
            _lab(other) != _lab(record)
            and other.recipe_id == record.recipe_id
            and other.recipe_hash == record.recipe_hash
            and _gpu(other, gpus) == mine
            and (other.gpu_count, other.node_count) == (record.gpu_count, record.node_count)
            and _combination(other) == _combination(record)
        )
        if not same or not other.step_s or not record.step_s:
            continue
        if _marks(other) & _marks(record) or is_copy(record, other):
            continue
        if abs(math.log(other.step_s / record.step_s)) <= math.log1p(AGREE_WITHIN):
            return other.lab or "your own measurement"
    return None


def copied_from(record: Measurement, others: Iterable[Measurement]) -> Measurement | None:
    """The record of another lab, or the user's own, that this one was made from."""
    for other in others:
        if (
            other.recipe_id == record.recipe_id
            and _lab(other) != _lab(record)
            and is_copy(record, other)
        ):
            return other
    return None


def is_copy(one: Measurement, other: Measurement) -> bool:
    """Whether two records' seconds are one measurement: some are equal to the last digit, or all
    are the other's times a factor, list by list.

    A clock that counts nanoseconds does not repeat itself, and the scatter of two measurements is
    not the same. Seconds with noise of their own on top are not found.
    """
    shared = {second for name in _TIMED for second in getattr(one, name) if second > 0}
    shared &= {second for name in _TIMED for second in getattr(other, name)}
    if len(shared) >= _FEWEST_SECONDS // 2:
        return True
    scatter = between = 0.0
    count = 0
    for name in _TIMED:
        mine, theirs = getattr(one, name), getattr(other, name)
        if len(mine) != len(theirs) or any(second <= 0 for second in (*mine, *theirs)):
            return False
        logs = [math.log(second) for second in mine]
        ratios = [log - math.log(second) for log, second in zip(logs, theirs, strict=True)]
        scatter += _squares(logs)
        between += _squares(ratios)
        count += len(mine)
    # Seconds that are all alike have no pattern that could be another's.
    return count >= _FEWEST_SECONDS and scatter > 1e-10 and between < _SAME_PATTERN**2 * scatter


def _squares(values: list[float]) -> float:
    middle = sum(values) / len(values) if values else 0.0
    return sum((value - middle) ** 2 for value in values)


def _lab(record: Measurement) -> str | None:
    """The lab's name however it is written."""
    if record.lab is None:
        return None
    return " ".join(unicodedata.normalize("NFKC", record.lab).casefold().split())


def _marks(record: Measurement) -> set[str]:
    """What tells these very GPUs from others of their kind; none in older records."""
    rows = record.environment.get("gpus")
    if not isinstance(rows, list):
        return set()
    found = [row.get("mark") for row in rows if isinstance(row, Mapping)]
    return {mark for mark in found if isinstance(mark, str) and mark}


def _gpu(record: Measurement, gpus: Mapping[str, Gpu]) -> str:
    from price_catalog.gpu_names import normalise

    found = gpus.get(normalise(record.gpu))
    return record.gpu if found is None else found.gpu_id


def _combination(record: Measurement) -> Any:
    return record.settings and replace(
        record.settings, micro_batch_size=None, gradient_accumulation_steps=None
    )
