"""Notes on the number of GPUs: more than linear speed-ups, and batches that they do not share
evenly.

Twice the GPUs do half of the work each, and talk. Where they are faster than that, fewer GPUs have
to save memory in ways that more need not; a reader has to know.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.answers.build_words import bench_flags, gpus_words
from advisor.answers.checklist import quoted
from advisor.costs.amount_words import are
from advisor.ranking.times import is_uneven, uneven_words
from bench_runner.settings.paper_space import even_batch

if TYPE_CHECKING:
    from advisor.ranking.rank import RankedRow
    from advisor.ranking.times import Model
    from price_catalog.builds import Build

Key = tuple[str, int, float | None]
"""GPU, number of GPUs, power limit."""
_SAME = 0.999
"""Closer than that, two numbers of GPUs are equally fast for each GPU."""


def key_of(row: RankedRow) -> Key:
    """What a time is of."""
    build = row.build
    limit = build.limit
    return build.gpu.gpu_id, build.gpu_count, None if limit is None else limit.watts


def faster_than_linear(rows: Iterable[RankedRow]) -> dict[Key, int]:
    """Of those builds that are: the number of the same GPU, among the ``rows``, that is slowest for
    each GPU."""
    each: dict[Key, float] = {}
    for row in rows:
        if row.build.machines == 1:
            key = key_of(row)
            spent = row.training_days * key[1]
            each[key] = min(spent, each.get(key, spent))
    found = {}
    for (gpu_id, count, limit), spent in each.items():
        fewer = {
            other: days
            for (gpu, other, same), days in each.items()
            if gpu == gpu_id and same == limit and other < count and spent < days * _SAME
        }
        if fewer:
            found[gpu_id, count, limit] = max(fewer, key=fewer.__getitem__)
    return found


def faster_words(count: int, fewer: int) -> str:
    """The same in words, with the reason."""
    if fewer == 1:
        return f"more than {count} times as fast as one of them, which needs other settings"
    ratio = f"{count / fewer:g}" if 2 * count % fewer == 0 else f"{count}/{fewer}"
    return f"more than {ratio} times as fast as {fewer} of them, which need other settings"


MOST_NOTES = 2
"""How many are told beneath a table."""


def faster_notes(rows: Iterable[RankedRow], shown: Iterable[RankedRow]) -> list[str]:
    """Of the builds that are shown, those that are faster than their number of GPUs says beside
    one of the ``rows``, a sentence each."""
    faster = faster_than_linear(rows)
    told = {
        key_of(row): f"{gpus_words(row.build)} {are(2 if row.build.gpu_count > 1 else 1)} "
        f"{faster_words(row.build.gpu_count, faster[key_of(row)])}."
        for row in shown
        if row.build.machines == 1 and key_of(row) in faster
    }
    return list(told.values())[:MOST_NOTES]


def gpus_of(build: Build) -> int:
    """The GPUs that share the batch, of all machines."""
    return build.gpu_count * build.machines


def uneven_notes(model: Model, builds: Iterable[Build]) -> list[str]:
    """What is said of builds whose GPUs do not share the batch, once for each number of them."""
    counts = sorted({gpus_of(build) for build in builds})
    return [words for count in counts if (words := uneven_words(model, count)) is not None]


def measured_as(model: Model, gpu_count: int) -> str:
    """The model's name in a benchmark on ``gpu_count`` GPUs, which differs where the batch does."""
    return f"{model.recipe_id}-{gpu_count}gpus" if is_uneven(model, gpu_count) else model.recipe_id


def keep_command(model: Model, gpu_id: str, gpu_count: int) -> str | None:
    """What keeps the model with a batch that the GPUs share; None where they do as it is."""
    if not is_uneven(model, gpu_count):
        return None
    return (
        f"advisor predict --model {quoted(model.recipe_id)} --gpu {quoted(gpu_id)} "
        f"--count {gpu_count} --batch {even_batch(model.batch_size, gpu_count)} "
        f"--keep {quoted(measured_as(model, gpu_count))}"
    )


def bench_command(model: Model, gpu_count: int, machines: int) -> str:
    """The command that measures the model on ``gpu_count`` GPUs in all."""
    return model.own_command or (
        f"advisor bench --model {quoted(measured_as(model, gpu_count))} "
        f"{bench_flags(gpu_count, machines)}"
    )


def measure_command(model: Model, gpu_id: str, gpu_count: int, machines: int) -> str:
    """What to type first to measure it."""
    kept = keep_command(model, gpu_id, gpu_count)
    return kept or bench_command(model, gpu_count, machines)


def measure_build(model: Model, build: Build) -> str:
    """The same of a build."""
    return measure_command(model, build.gpu.gpu_id, gpus_of(build), build.machines)
