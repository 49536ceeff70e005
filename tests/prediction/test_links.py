"""What the exchange between GPUs takes, and how sure that is: machines of one card are wired
differently."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from advisor.prediction.fitted import KNOWN, LINKS, Fitted, lower_triangle
from advisor.prediction.intervals import LEAST_LINKS
from advisor.prediction.observed_times import REFERENCE, Observation
from advisor.prediction.own_records import conditioned
from advisor.prediction.predict_many import Asked, Predictions, predict_many
from tests.prediction.what_ships import CHIPS, WORKLOADS
from tools.fit.log_step import Mean
from tools.fit.shipped_evidence import load_evidence


def several(
    fitted: Fitted, model: str, gpu: str, counts: Sequence[int], method: str = "paper"
) -> Predictions:
    zero = np.zeros(len(counts), dtype=int)
    pairs = ([WORKLOADS[model]], [CHIPS[gpu]], zero, zero, np.array(counts))
    return predict_many(Asked(*pairs, fitted, method=method))


def without_links(fitted: Fitted) -> Fitted:
    """The same fit, in which all machines are wired as reckoned."""
    widths = [
        replace(width, sd=0.0) if name == LINKS else width
        for name, width in zip(KNOWN, fitted.widths, strict=True)
    ]
    return replace(fitted, widths=tuple(widths))


def test_what_is_not_known_of_the_links_widens_by_the_share_of_the_exchange(
    fitted: Fitted,
) -> None:
    sure = without_links(fitted)
    gains = {}
    for gpu in ("RTX 3090", "A100"):  # staged in host memory, and by NVLink
        counts = (1, 8)
        with_doubt, with_none = (several(f, "pythia-410m", gpu, counts) for f in (fitted, sure))
        assert (with_doubt.days == with_none.days).all()
        wider = np.log(with_doubt.high_days / with_none.high_days)
        assert wider[0] == 0.0  # one GPU exchanges nothing
        gains[gpu] = wider[1]
    assert gains["RTX 3090"] > 0.0 and gains["RTX 3090"] > 3.0 * gains["A100"]


def slow_machine(fitted: Fitted, share: float) -> Observation:
    """Our own time of four RTX 3090 whose exchange takes more than is reckoned."""
    time = next(
        o
        for o in load_evidence()
        if o.harness == REFERENCE and o.workload.workload_id == "pythia-410m" and o.count == 1
    )
    asked = replace(
        time, chip=CHIPS["RTX 3090"], count=4, option=None, micro_batch_size=None, method="optimal"
    )
    logs, _ = Mean([asked], fitted.costs).at(np.array(fitted.factors))
    return replace(asked, step_s=math.exp(logs[0]) * share)


def test_a_slow_machine_of_ones_own_slows_what_exchanges_much(fitted: Fitted) -> None:
    moved = conditioned(fitted, [slow_machine(fitted, 1.6)])
    assert "links:own|RTX 3090" in moved.effects
    before, after = (several(f, "pythia-160m", "RTX 3090", (1, 2, 8)) for f in (fitted, moved))
    slower = after.days / before.days
    # Some of it was the card, more the links.
    assert slower[2] > slower[1] >= slower[0] * (1 - 1e-12) > 1.0


def test_links_never_make_gpus_faster_than_linear(fitted: Fitted) -> None:
    place = len(fitted.effects)
    covariance = np.zeros((place + 1, place + 1))
    covariance[:place, :place] = fitted.covariance()
    better = replace(
        fitted,
        effects=(*fitted.effects, "links:own|RTX 3090"),
        effect_means=(*fitted.effect_means, 10.0 * LEAST_LINKS),
        effect_covariance=lower_triangle(covariance),
    )
    for model in ("pythia-160m", "pythia-410m"):  # which fit one card with the settings of several
        many = several(better, model, "RTX 3090", (1, 2, 4, 8))
        assert (many.days * (1, 2, 4, 8) >= many.days[0] * (1 - 2e-3)).all()
