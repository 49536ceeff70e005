"""Measured step times as the fit and a user's own records see them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from advisor.prediction.fitted import OWN_STACK, Piece
from advisor.prediction.model.workload import Workload
from advisor.prediction.physics.chip import Chip, chip_of, gpu_type
from advisor.prediction.physics.memory import HOST_GIB_A_GPU, Option, Software
from bench_runner.recipes import TEXT_FAMILIES
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.records.timing import SECONDS_PER_DAY
from bench_runner.settings.batch_and_sharding import STAGES
from bench_runner.settings.exact_settings import ROUND_LENGTH
from price_catalog.load import load_catalog

REFERENCE = "reference"
PAPER = "paper"
Key = tuple[object, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One measured step time, or (``step_s`` None) that a setting did not fit."""

    observation_id: str
    source_id: str
    software: Software
    """Whose software: ``ours`` (and the paper's), ``plain`` or ``tuned``."""
    harness: str
    """Whose bias it carries: ``paper``, ``reference`` (our own synchronised runs), or the id of
    another source."""
    workload: Workload
    chip: Chip
    count: int
    method: str
    """``naive``, ``optimal`` (the best of a search), or ``trial`` (settings as given)."""
    option: Option | None
    """The settings where they were given; None: the method's best."""
    micro_batch_size: int | None
    step_s: float | None
    rounding: float
    """Relative standard deviation that printing added."""
    searched: tuple[Option, int] | None = None
    """Of a search: the settings that it found, with their micro-batch."""
    host_gib: float = HOST_GIB_A_GPU
    """Host memory for each GPU."""
    peak_gib: float | None = None
    """GPU memory that it held at most, without CUDA's context."""

    @property
    def stack(self) -> str:
        """Whose software it is: our records of all machines are one."""
        return OWN_STACK if self.harness == REFERENCE else self.source_id

    @property
    def settings(self) -> str:
        """``naive``, ``tuned``, or ``lean`` with settings beyond the paper's."""
        if self.option is not None and self.option.lean:
            return "lean"
        return "naive" if self.method == "naive" else "tuned"


def cell(o: Observation) -> Key:
    """One model on a number of one GPU, all its settings."""
    return (o.workload.workload_id, o.chip.gpu_id, o.count)


def pieces_of(observations: Iterable[Observation]) -> set[Piece]:
    """The cells that were timed."""
    return {
        Piece(
            model=o.workload.workload_id,
            family=o.workload.family,
            parameters=o.workload.parameters,
            timm=o.workload.always_fused,
            half=o.workload.precision != "fp32",
            gpu=gpu_type(o.chip),
            count=o.count,
            by="own" if o.harness == REFERENCE else "others",
        )
        for o in observations
        if o.step_s is not None
    }


def option_of(settings: Settings) -> Option:
    """The runner's settings as prediction sees them: ZeRO and FSDP of one stage are one."""
    return Option(
        free_lunch=settings.free_lunch,
        checkpointing=settings.activation_checkpointing,
        stage=STAGES[settings.sharding],
        offloading=settings.offloading,
        lean=settings.loss == "fused",
        half_weights=settings.weights == "half",
    )


def chips_by_name() -> dict[str, Chip]:
    """Every GPU of the catalogue under its name and its aliases."""
    chips: dict[str, Chip] = {}
    for gpu in load_catalog().gpus:
        chip = chip_of(gpu)
        for name in (gpu.name, gpu.gpu_id, *gpu.aliases):
            chips.setdefault(name, chip)
    return chips


def own_times(
    records: Iterable[Measurement],
    workloads: Mapping[str, Workload],
    chips: Mapping[str, Chip],
) -> list[Observation]:
    """Synchronised records of our own software, of known models on known GPUs.

    The fastest trial of a search is what its method reaches (``naive`` or ``optimal``); the others
    show what their own settings cost (``trial``). Failed and pruned trials say nothing of speed.
    """
    trials: list[Observation] = []
    fastest: dict[tuple[object, ...], Observation] = {}
    searched: set[str] = set()
    """What a search found, or the only naive settings: not one setting that was tried."""
    for record in records:
        observation = _own_time(record, workloads, chips)
        if observation is None:
            continue
        if record.method in ("naive", "optimal"):
            searched.add(record.measurement_id)
        workload = observation.workload
        key = (
            *(workload.workload_id, workload.fused_attention, observation.chip.gpu_id),
            *(record.gpu_count, observation.method, _is_lean(observation)),
        )
        slower = observation
        if key not in fastest:
            fastest[key] = observation
            continue
        if (observation.step_s or 0.0) < (fastest[key].step_s or 0.0):
            slower, fastest[key] = fastest[key], observation
        trials.append(replace(slower, method="trial"))
    best = [
        replace(o, option=None, micro_batch_size=None, searched=_found(o))
        if o.observation_id in searched and not _is_lean(o)
        else o
        for o in fastest.values()
    ]
    return [*trials, *best]


def _found(o: Observation) -> tuple[Option, int] | None:
    return (o.option, o.micro_batch_size) if o.option and o.micro_batch_size else None


def _own_time(
    record: Measurement, workloads: Mapping[str, Workload], chips: Mapping[str, Chip]
) -> Observation | None:
    workload, chip = workloads.get(record.recipe_id), chips.get(record.gpu)
    settings, days = record.settings, record.training_days
    if workload is None or chip is None or record.timing != "synchronised":
        return None
    if record.status != "ok" or record.method == "changes-training":
        return None
    if off_fast_path(settings, workload):
        return None
    option = None if settings is None else option_of(settings)
    if settings is not None:
        if settings.attention is not None:
            workload = replace(workload, fused_attention=settings.attention != "eager")
        if settings.compilation == "none" and not settings.sharding:
            workload = replace(workload, compiles=False)  # of sharded ones the option says it
        if settings.compilation == "regional":
            workload = replace(workload, opens=False)
            fuses_loss = workload.family in TEXT_FAMILIES and workload.fuses_loss
            if option is not None and not fuses_loss:
                option = replace(option, lean=workload.layered)
    held = (record.environment or {}).get("host_memory_gib")
    return Observation(
        observation_id=record.measurement_id,
        source_id=record.source_id,
        software="ours",
        harness=REFERENCE,
        workload=workload,
        chip=chip,
        count=record.gpu_count,
        method="naive" if record.method == "naive" else "optimal",
        option=option,
        micro_batch_size=None if settings is None else settings.micro_batch_size,
        step_s=None if days is None else days * SECONDS_PER_DAY / workload.training_steps,
        rounding=0.0,
        host_gib=float(held) / record.gpu_count
        if isinstance(held, int | float)
        else HOST_GIB_A_GPU,
        peak_gib=record.peak_memory_gib,
    )


def off_fast_path(settings: Settings | None, workload: Workload) -> bool:
    """Whether a state space model was fed a length that its kernels are slow with. The program
    never writes out such settings, so the time says nothing of what it does."""
    trimmed = settings is not None and settings.inputs == "trimmed"
    return trimmed and workload.family == "ssm" and (workload.tokens - 1) % ROUND_LENGTH > 0


def _is_lean(o: Observation) -> bool:
    return o.option is not None and o.option.lean
