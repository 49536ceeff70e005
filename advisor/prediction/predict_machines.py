"""One prediction over several machines, from that of one of them."""

from __future__ import annotations

from dataclasses import replace

from advisor.prediction.model.targets import Target
from advisor.prediction.predict_one import Prediction
from advisor.ranking.fabric import Fabric, fabric_words, scaled_days, shared_settings


def over_machines(one: Prediction, target: Target, machines: int, network: Fabric) -> Prediction:
    """What so many machines like that of ``one`` take together. Raises ValueError, one line, where
    its batch cannot be shared by them all."""
    workload = target.workload
    count = one.gpu_count * machines
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
    settings = shared_settings(one.settings, machines)
    scaled = scaled_days(
        (days, low, high),
        settings,
        workload.parameters,
        workload.training_steps,
        workload.precision,
        machines,
        network,
    )
    slow = scaled.slowdown
    return replace(
        joined,
        settings=settings,
        training_days=scaled.days,
        training_days_low=scaled.low,
        training_days_high=scaled.high,
        assumptions=(
            *one.assumptions,
            f"{fabric_words(network)} between the machines, one port each, nobody else on it",
            f"{slow.middle:.2f} times as long as linear ({slow.low:.2f} to {slow.high:.2f})",
        ),
    )
