"""One prediction over several machines, from that of one of them."""

from __future__ import annotations

import math
from dataclasses import replace

from advisor.prediction.model.targets import Target
from advisor.prediction.predict_many import MEASURED_GPUS, beyond_measured
from advisor.prediction.predict_one import MOST_GPUS, Prediction
from advisor.ranking.fabric import Fabric, fabric_words, scaled_days, shared_settings
from bench_runner.typed_numbers import percent


def over_machines(one: Prediction, target: Target, machines: int, network: Fabric) -> Prediction:
    """What ``machines`` like that of ``one`` take together; beyond MEASURED_GPUS with a wider
    interval. Raises ValueError, one line, if they cannot share its batch."""
    import numpy as np

    workload = target.workload
    count = one.gpu_count * machines
    if count > MOST_GPUS:
        raise ValueError(f"{count:,} GPUs cannot be predicted; give --count {MOST_GPUS:,} or less")
    if workload.batch_size < count:
        raise ValueError(
            f"a batch of {workload.batch_size:,} cannot be shared by {count} GPUs: give a larger "
            "--batch or fewer --nodes"
        )
    days, low, high = one.training_days, one.training_days_low, one.training_days_high
    joined = replace(
        one,
        gpu_count=count,
        machines=machines,
        network=network,
        one_machine_days=days,
        one_machine_days_low=low,
        one_machine_days_high=high,
        paper_settings_days=None,
        paper_settings_days_low=None,
        paper_settings_days_high=None,
        other_software_days_low=None,
        other_software_days_high=None,
        fitting=(),
        measured=(),
        analytic_days=None if one.analytic_days is None else one.analytic_days / machines,
    )
    if days is None or low is None or high is None:
        return joined
    settings = shared_settings(one.settings, workload.batch_size, count)
    scaled = scaled_days(
        (days, low, high),
        settings,
        workload.parameters,
        workload.training_steps,
        workload.precision,
        machines,
        network,
    )
    slow, beyond = scaled.slowdown, float(beyond_measured(np.array(count)))
    far = (f"more than {MEASURED_GPUS:g} GPUs, where the interval is wider",) if beyond else ()
    return replace(
        joined,
        settings=settings,
        training_days=scaled.days,
        training_days_low=scaled.days * _wider(scaled.low / scaled.days, beyond),
        training_days_high=scaled.days * _wider(scaled.high / scaled.days, beyond),
        assumptions=(
            *one.assumptions,
            f"{fabric_words(network)} between the machines, one port each, nobody else on it",
            f"{percent(slow.middle - 1)} longer than if they shared the work without waiting "
            f"({percent(slow.low - 1)} to {percent(slow.high - 1)})",
            *far,
        ),
    )


def _wider(factor: float, beyond: float) -> float:
    """An end of an interval, as a factor of its middle, with a further doubt of its logarithm."""
    return math.exp(math.copysign(math.hypot(math.log(factor), beyond), factor - 1.0))
