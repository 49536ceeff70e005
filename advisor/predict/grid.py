"""Every recipe on every GPU and count, predicted at once: what a store keeps, so that a ranking
loads neither numpy nor this room's arithmetic."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from advisor.predict.chip import Chip
from advisor.predict.fitted import Fitted
from advisor.predict.workload import Workload
from bench_runner.records import Settings

COUNTS = (1, 2, 4, 8)


@dataclass(frozen=True, slots=True, kw_only=True)
class PredictedTime:
    """One cell: days with their 90 % interval, or that it does not fit (days None)."""

    workload_id: str
    gpu_id: str
    gpu_count: int
    fits: bool
    training_days: float | None
    training_days_low: float | None
    training_days_high: float | None
    settings: Settings | None
    distance: float


def predict_grid(
    workloads: Sequence[Workload],
    chips: Sequence[Chip],
    fitted: Fitted,
    *,
    counts: Sequence[int] = COUNTS,
    method: str = "optimal",
) -> list[PredictedTime]:
    """Workload by workload, GPU by GPU, count by count. Cells that fit but cannot be predicted
    (too far from the evidence, or a rate is not known) are left out: they say nothing."""
    import numpy as np

    from advisor.predict.many import predict_many

    shape = np.indices((len(workloads), len(chips), len(counts))).reshape(3, -1)
    count = np.array(counts)[shape[2]]
    many = predict_many(workloads, chips, shape[0], shape[1], count, fitted, method=method)
    found = []
    for i in range(shape.shape[1]):
        workload, chip, gpus = workloads[shape[0, i]], chips[shape[1, i]], int(count[i])
        fits, days = bool(many.fits[i]), float(many.days[i])
        if fits and math.isnan(days):
            continue
        settings = None
        if fits:
            micro = int(many.micro_batch_size[i])
            option = many.options[int(many.option[i])]
            settings = option.settings(micro, math.ceil(workload.batch_size / (gpus * micro)))
        found.append(
            PredictedTime(
                workload_id=workload.workload_id,
                gpu_id=chip.gpu_id,
                gpu_count=gpus,
                fits=fits,
                training_days=days if fits else None,
                training_days_low=float(many.low_days[i]) if fits else None,
                training_days_high=float(many.high_days[i]) if fits else None,
                settings=settings,
                distance=float(many.distance[i]),
            )
        )
    return found
