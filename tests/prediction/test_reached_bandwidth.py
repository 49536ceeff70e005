"""How much of a memory's bandwidth kernels reach: no more than the multiprocessors fetch."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.columns import (
    CLOCK_BYTES,
    CLOCK_FLOPS,
    WorkloadTable,
    reached_bandwidth,
)
from tests.prediction.what_ships import CHIPS, WORKLOADS
from tools.fit.shipped_evidence import load_evidence

RATES = st.floats(1e9, 1e14)


@given(RATES, RATES, st.floats(1.0, 8.0))
def test_it_is_below_both_and_grows_with_either(
    bandwidth: float, load_rate: float, more: float
) -> None:
    def reached(bandwidth: float, load_rate: float) -> float:
        return float(reached_bandwidth(np.array([bandwidth]), np.array([load_rate]))[0])

    plain = reached(bandwidth, load_rate)
    fetched = load_rate * CLOCK_BYTES / CLOCK_FLOPS
    assert 0.84 * min(bandwidth, fetched) <= plain <= min(bandwidth, fetched) * (1 + 1e-9)
    assert reached(bandwidth * more, load_rate) >= plain * (1 - 1e-9)
    assert reached(bandwidth, load_rate * more) >= plain * (1 - 1e-9)
    assert reached(bandwidth * more, load_rate * more) == pytest.approx(plain * more)


def reached_by(chip: Chip) -> float:
    at = np.zeros(1, int)
    return float(
        WorkloadTable([WORKLOADS["vit"]], [chip]).columns(at, at, np.ones(1, int)).bandwidth[0]
    )


def test_of_a_chip_whose_multiprocessors_nobody_tells_it_is_the_memory_s() -> None:
    chip = replace(CHIPS["H100"], load_tflops=None)
    assert chip.bandwidth_gb_s is not None
    assert reached_by(chip) == chip.bandwidth_gb_s * 1e9


def test_a_chip_of_amd_has_64_lanes_and_16_load_units_a_compute_unit() -> None:
    """304 compute units at 2.1 GHz; the peak in its data sheet counts two packed operations."""
    chip = CHIPS["MI300X"]
    assert chip.load_tflops == pytest.approx(304 * 64 * 2 * 2.1e9 / 1e12, rel=0.01)
    assert chip.tap_tflops == chip.load_tflops / 2


def test_a_faster_memory_gains_as_little_as_trainings_do() -> None:
    """An H200 is an H100 with a memory 1.43 times as fast. What of a training waits for the memory
    gains no more than that; trainings that we measured on both gain 8 % in the middle."""
    fast, slow = CHIPS["H200"], CHIPS["H100"]
    assert fast.load_tflops == slow.load_tflops
    assert 1.1 < reached_by(fast) / reached_by(slow) < 1.3
    seconds = {
        (o.workload.workload_id, o.method, o.option, o.chip.gpu_id[:4]): o.step_s
        for o in load_evidence()
        if o.source_id in ("h100-2026-11", "h200-2026-11") and o.count == 1 and o.step_s
    }
    gains = [
        slower / faster
        for (*what, gpu), slower in seconds.items()
        if gpu == "h100" and (faster := seconds.get((*what, "h200")))
    ]
    assert len(gains) > 30
    assert 1.05 < float(np.median(gains)) < 1.12
