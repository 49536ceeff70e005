"""The commands that measure a model on some GPUs, also where they do not share its batch evenly."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from advisor.answers.checklist import quoted
from advisor.ranking.times import is_uneven, uneven_words
from bench_runner.settings.batch_and_sharding import even_batch

if TYPE_CHECKING:
    from advisor.ranking.times import Model
    from price_catalog.builds import Build


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
    nodes = f" --nodes {machines} --on slurm" if machines > 1 else ""
    name = quoted(measured_as(model, gpu_count))
    return model.own_command or f"advisor bench --model {name} --gpus {gpu_count}{nodes}"


def measure_command(model: Model, gpu_id: str, gpu_count: int, machines: int) -> str:
    """What to type first to measure it."""
    kept = keep_command(model, gpu_id, gpu_count)
    return kept or bench_command(model, gpu_count, machines)


def measure_build(model: Model, build: Build) -> str:
    """The same of a build."""
    return measure_command(model, build.gpu.gpu_id, gpus_of(build), build.machines)
