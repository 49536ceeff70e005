"""How much of a host's memory an estimate's settings need."""

from __future__ import annotations

from advisor.prediction.physics.memory import Option, host_gib_needed
from advisor.ranking.times import Model, TrainingTime
from bench_runner.settings.space import STAGES


def host_gib_of(time: TrainingTime | None, model: Model) -> float | None:
    """GiB in all; None for what is no estimate, or offloads nothing."""
    settings = None if time is None or time.basis != "predicted" else time.settings
    if settings is None or not settings.offloading:
        return None
    stage = STAGES[settings.sharding]
    option = Option(free_lunch=True, checkpointing=False, stage=stage, offloading=True)
    return float(host_gib_needed(option, model.parameters, half=model.precision != "fp32"))
