"""All that ships as observations: the paper, published throughput, this project's own records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from advisor.prediction.model.workload import Workload, workload_of
from advisor.prediction.observed_times import (
    PAPER,
    Observation,
    chips_by_name,
    option_of,
    own_times,
)
from advisor.prediction.physics.chip import Chip
from bench_runner.recipes import load_recipes
from bench_runner.records.measurement import Measurement
from bench_runner.records.published import load_published
from bench_runner.records.timing import SECONDS_PER_DAY
from tools.fit.public_speeds import EVIDENCE_FOLDER, from_images, from_throughput

PAPER_SOURCES = ("paper-table1", "paper-table4")


def load_evidence() -> tuple[Observation, ...]:
    """Everything that ships."""
    recipes = {recipe.recipe_id: recipe for recipe in load_recipes()}
    workloads = {name: workload_of(recipe) for name, recipe in recipes.items()}
    chips = chips_by_name()
    return (
        *paper_times(load_published(), workloads, chips),
        *own_times(load_published(), workloads, chips),
        *from_throughput(EVIDENCE_FOLDER / "throughput.csv", chips),
        *from_images(EVIDENCE_FOLDER / "images.csv", chips),
    )


def paper_times(
    records: Iterable[Measurement],
    workloads: Mapping[str, Workload],
    chips: Mapping[str, Chip],
) -> list[Observation]:
    """The paper's tables: what fitted, with which micro-batch, and what did not. Its times are by a
    clock that did not wait for the GPU, and teach nothing."""
    observations = []
    for record in records:
        workload, chip = workloads.get(record.recipe_id), chips.get(record.gpu)
        if workload is None or chip is None or record.status not in ("ok", "infeasible"):
            continue
        if record.source_id not in PAPER_SOURCES or record.method == "changes-training":
            continue
        days, settings = record.training_days, record.settings
        searched = None
        if settings is not None and settings.micro_batch_size is not None:
            searched = option_of(settings), settings.micro_batch_size
        observations.append(
            Observation(
                observation_id=record.measurement_id,
                source_id=record.source_id,
                software="ours",
                harness=PAPER,
                workload=workload,
                chip=chip,
                count=record.gpu_count,
                method="naive" if record.method == "naive" else "optimal",
                option=None,
                micro_batch_size=None,
                step_s=None if days is None else days * SECONDS_PER_DAY / workload.training_steps,
                rounding=0.0,
                searched=searched,
            )
        )
    return observations
