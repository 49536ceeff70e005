"""All that ships as observations: the paper, published throughput, this project's own records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from advisor.prediction.fit.observations import (
    PAPER,
    REFERENCE,
    SECONDS_PER_DAY,
    Observation,
    option_of,
)
from advisor.prediction.fit.public_speeds import EVIDENCE_FOLDER, from_images, from_throughput
from advisor.prediction.fitted import OWN_SOFTWARE
from advisor.prediction.model.workload import Workload, workload_of
from advisor.prediction.physics.chip import Chip, chip_of
from advisor.prediction.physics.memory import HOST_GIB_A_GPU, Option
from bench_runner.kernels import ROUND_LENGTH
from bench_runner.published import load_published
from bench_runner.recipes import TEXT_FAMILIES, load_recipes
from bench_runner.records import Measurement, Settings
from price_catalog.load import load_catalog

PAPER_SOURCES = ("paper-table1", "paper-table4")
ROUNDING_SD = 0.29
"""Standard deviation of a figure rounded to whole days, in days."""


def load_evidence() -> tuple[Observation, ...]:
    """Everything that ships."""
    recipes = {recipe.recipe_id: recipe for recipe in load_recipes()}
    workloads = {name: workload_of(recipe) for name, recipe in recipes.items()}
    chips = chips_by_name()
    return (
        *from_measurements(load_published(), workloads, chips),
        *from_throughput(EVIDENCE_FOLDER / "throughput.csv", chips),
        *from_images(EVIDENCE_FOLDER / "images.csv", chips),
    )


def chips_by_name() -> dict[str, Chip]:
    """Every GPU of the catalogue under its name and its aliases."""
    chips: dict[str, Chip] = {}
    for gpu in load_catalog().gpus:
        chip = chip_of(gpu)
        for name in (gpu.name, gpu.gpu_id, *gpu.aliases):
            chips.setdefault(name, chip)
    return chips


def from_measurements(
    records: Iterable[Measurement],
    workloads: Mapping[str, Workload],
    chips: Mapping[str, Chip],
) -> list[Observation]:
    """Records of known recipes on known GPUs; a CPU's and a capped GPU's are neither.

    Of a search the fastest trial is what its method reaches (``naive`` or ``optimal``); the others
    say what their own settings cost (``trial``). Failed and pruned trials say nothing of speed.
    """
    observations: list[Observation] = []
    fastest: dict[tuple[object, ...], Observation] = {}
    searched: set[str] = set()
    """What a search found, or the only naive settings: not one setting that was tried."""
    for record in records:
        workload, chip = workloads.get(record.recipe_id), chips.get(record.gpu)
        if workload is None or chip is None or record.status not in ("ok", "infeasible"):
            continue
        if record.method == "changes-training":
            continue
        if _off_fast_path(record.settings, workload):
            continue
        paper = record.source_id in PAPER_SOURCES
        if not paper and (record.timing != "synchronised" or record.status != "ok"):
            continue
        days = record.training_days
        settings = record.settings
        if not paper and settings is not None and settings.attention is not None:
            workload = replace(workload, fused_attention=settings.attention != "eager")
        if paper:
            workload = replace(workload, opens=False)  # its transformers wrote no such masks
        option = None if paper or settings is None else option_of(settings)
        if settings is not None and settings.compilation == "none" and not settings.sharding:
            workload = replace(workload, compiles=False)  # of sharded ones the option says it
        if settings is not None and settings.compilation == "regional":
            workload = replace(workload, opens=False)
            if option is not None and not (
                workload.family in TEXT_FAMILIES and workload.fuses_loss
            ):
                option = replace(option, lean=workload.layered)
        observation = Observation(
            observation_id=record.measurement_id,
            source_id=record.source_id,
            kind=OWN_SOFTWARE,
            harness=PAPER if paper else REFERENCE,
            workload=workload,
            chip=chip,
            count=record.gpu_count,
            method="naive" if record.method == "naive" else "optimal",
            option=option,
            micro_batch_size=None if paper or settings is None else settings.micro_batch_size,
            step_s=None if days is None else days * SECONDS_PER_DAY / workload.training_steps,
            rounding=ROUNDING_SD / days if paper and days else 0.0,
            searched=_searched(settings) if paper else None,
            host_gib=_host_gib(record),
        )
        if paper:
            observations.append(observation)
            continue
        if record.method in ("naive", "optimal"):
            searched.add(record.measurement_id)
        lean = _is_lean(observation)
        key = (
            *(workload.workload_id, workload.fused_attention, chip.gpu_id, record.gpu_count),
            *(observation.method, lean),
        )
        slower = observation
        if key not in fastest:
            fastest[key] = observation
            continue
        if (observation.step_s or 0.0) < (fastest[key].step_s or 0.0):
            slower, fastest[key] = fastest[key], observation
        observations.append(replace(slower, method="trial"))
    best = [
        replace(o, option=None, micro_batch_size=None)
        if o.observation_id in searched and not _is_lean(o)
        else o
        for o in fastest.values()
    ]
    return [*observations, *best]


def _off_fast_path(settings: Settings | None, workload: Workload) -> bool:
    """Whether a state space model was fed a length that its kernels are slow with: nothing is
    written out so, and what it took says nothing of what is."""
    trimmed = settings is not None and settings.inputs == "trimmed"
    return trimmed and workload.family == "ssm" and (workload.tokens - 1) % ROUND_LENGTH > 0


def _is_lean(o: Observation) -> bool:
    return o.option is not None and o.option.lean


def _host_gib(record: Measurement) -> float:
    held = (record.environment or {}).get("host_memory_gib")
    if not isinstance(held, int | float):
        return HOST_GIB_A_GPU
    return float(held) / record.gpu_count


def _searched(settings: Settings | None) -> tuple[Option, int] | None:
    if settings is None or settings.micro_batch_size is None:
        return None
    return option_of(settings), settings.micro_batch_size
