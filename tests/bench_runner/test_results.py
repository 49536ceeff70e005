"""From an outcome to a record: what is refused, marked or capped; hardware; wrong input."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_runner.arguments import parse_peaks
from bench_runner.launch import gpu_sampler, hardware
from bench_runner.launch.trial import Outcome
from bench_runner.launch.trial_record import Setup, record_of
from bench_runner.recipes import load_recipes
from bench_runner.settings import batch_and_sharding
from bench_runner.settings.obstacles import parse_settings

LISTING = """\
0, GPU-aaa, NVIDIA H200, 143771, 0, 0, 9.0, 580.159.04, 700.00
1, GPU-bbb, NVIDIA H200, 143771, 90000, 97, 9.0, 580.159.04, [N/A]
"""
PYTHIA = next(recipe for recipe in load_recipes() if recipe.recipe_id == "pythia-160m")


def setup(**changes: Any) -> Setup:
    machine = hardware.Machine(
        host="node",
        cpu="cpu",
        cpu_count=8,
        memory_gib=128.0,
        memory_available_gib=100.0,
        disk_free_gib=50.0,
        gpus=hardware.parse_gpus(LISTING),
        versions={"torch": "2.11"},
    )
    known: dict[str, Any] = {
        "recipe": PYTHIA,
        "machine": machine,
        "gpu_count": 1,
        "device": "cuda",
        "peak_tflops": {"fp16": 989.0},
        "records_file": Path("records.jsonl"),
        "work_directory": Path("work"),
    }
    return Setup(**(known | changes))


def outcome(pass_s: float, gpu: dict[str, float] | None = None, **about: Any) -> Outcome:
    timed = {
        "event": "timed",
        "micro_batch_size": 32,
        "accumulation_steps": 32,
        "raw": {
            "pass_s": [pass_s] * 3,
            "sync_pass_s": [pass_s] * 3,
            "update_s": [0.01] * 3,
            "first_pass_s": [pass_s] * 3,
            "fetch_s": [0.001] * 3,
        },
        "settled": "after 2 steps",
        "warm_up_s": [1.0],
        "skipped_updates": 0,
        "step_s_by_rank": [1.0],
        "slowest_rank": 0,
        "timed_passes": 3,
        "peak_reserved_gib": 60.0,
        "peak_memory_gib": 50.0,
        "allocator_retries": 0,
        "gpu": {"sm_clock_mhz": 1980.0} if gpu is None else gpu,
        "parameters": 162_000_000,
    }
    events = ({"event": "about", **about}, timed, {"event": "done"})
    return Outcome(status="ok", reason=None, events=events, log_tail="", wall_s=30.0)


def record(found: Outcome, **changes: Any) -> Any:
    return record_of(setup(**changes), batch_and_sharding.settings_for(free_lunch=True), found)


def test_a_plausible_time_is_kept_with_its_utilisation() -> None:
    kept = record(outcome(0.2))
    assert kept.status == "ok"
    assert 0.2 < kept.mfu < 0.4
    assert kept.training_days_low <= kept.training_days <= kept.training_days_high
    assert kept.method == "free-lunch"


def test_more_than_the_peak_is_refused_with_the_reason() -> None:
    refused = record(outcome(0.02))
    assert refused.status == "failed"
    assert refused.training_days is None
    assert refused.mfu is None
    assert "refused" in refused.reason
    assert "989" in refused.reason


def test_without_its_kernels_a_row_is_not_called_free_lunch() -> None:
    kept = record(outcome(0.2, missing_kernels=["mamba_ssm (ImportError)"]))
    assert kept.method == "naive"
    assert "mamba_ssm" in kept.environment["not_free_lunch_because"]


class FakeNvml:
    """A GPU that draws 600 W, and has no counter of energy."""

    NVML_CLOCK_SM = NVML_TEMPERATURE_GPU = 0

    def nvmlInit(self) -> None: ...

    def nvmlDeviceGetHandleByUUID(self, uuid: str) -> str:
        return uuid

    def nvmlDeviceGetClockInfo(self, handle: str, kind: int) -> int:
        return 1980

    def nvmlDeviceGetTemperature(self, handle: str, kind: int) -> int:
        return 50

    def nvmlDeviceGetPowerUsage(self, handle: str) -> int:
        return 600_000


class CountingNvml(FakeNvml):
    """... and has one; heat holds it back."""

    def nvmlDeviceGetTotalEnergyConsumption(self, handle: str) -> int:
        return 0

    def nvmlDeviceGetCurrentClocksEventReasons(self, handle: str) -> int:
        return 0x40


@pytest.mark.parametrize(
    ("nvml", "says"),
    [
        (None, set()),
        (FakeNvml(), {"power_w"}),
        (CountingNvml(), {"power_w", "counted_w", "slowed_by_heat"}),
    ],
    ids=["no library", "no counter", "a counter"],
)
def test_a_record_has_what_the_gpu_tells_while_steps_are_timed(
    monkeypatch: pytest.MonkeyPatch, nvml: FakeNvml | None, says: set[str]
) -> None:
    monkeypatch.setitem(sys.modules, "pynvml", nvml)
    monkeypatch.setattr(gpu_sampler, "POWER_AVERAGED_S", 0.0)
    sampler, began_s = gpu_sampler.GpuSampler("GPU-aaa", every_s=0.01), time.monotonic()
    sampler.start()
    while says - sampler.summary(began_s, time.monotonic()).keys():
        assert time.monotonic() - began_s < 60
    sampler.stop()
    gpu = sampler.summary(began_s, time.monotonic())
    assert says <= gpu.keys() and ("counted_w" in gpu) is ("counted_w" in says)
    assert sampler.summary(time.monotonic(), time.monotonic()) == {}
    assert record(outcome(0.2, gpu=gpu)).environment["gpu"] == gpu


def test_power_is_what_the_counter_grew_by_while_steps_were_timed() -> None:
    sampler = gpu_sampler.GpuSampler("GPU-aaa")
    joules = ((0.0, 0.0), (1.0, 100.0), (2.0, 700.0), (3.0, 1300.0), (4.0, 1380.0))
    sampler._read["joules"] += joules
    sampler._read["slowed"] += ((1.0, 0.0), (2.0, 1.0), (3.0, 1.0), (4.0, 0.0))
    assert sampler.summary(1.0, 3.0) == {"counted_w": 600.0, "slowed_by_heat": 0.667}
    assert sampler.summary(2.0, 3.0) == {}


def test_busy_gpus_and_scarce_memory_are_named() -> None:
    busy = hardware.concerns(setup().machine, 2, 10_000_000_000)
    assert any("GPU 1" in sentence and "97 %" in sentence for sentence in busy)
    assert any("host memory" in sentence for sentence in busy)
    assert hardware.concerns(setup().machine, 1) == []
    (scarce,) = hardware.concerns(replace(setup().machine, memory_available_gib=4.0), 1)
    assert scarce.startswith("4 GiB of host memory is free where about 8 GiB is needed; a process")


def test_peaks_by_number_or_by_name() -> None:
    assert parse_peaks("989", PYTHIA) == {"fp16": 989.0}
    assert parse_peaks("tf32=494.7,fp32=66.9", PYTHIA) == {"tf32": 494.7, "fp32": 66.9}
    for wrong in ("fast", "-1", "nan", "fp8=1", "1e400"):
        with pytest.raises(ValueError, match="--peak-tflops"):
            parse_peaks(wrong, PYTHIA)


@pytest.mark.parametrize(
    "words",
    [
        "",
        "regional,whole",
        "naive,regional",
        "eager,sdpa",
        "zero-1,zero-2",
        "free-lunch,offloading",
        "faster",
        "naive;zero-1",
    ],
)
def test_settings_that_make_no_sense_are_refused(words: str) -> None:
    with pytest.raises(ValueError, match="--settings"):
        parse_settings(words)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("run", "--recipe", "pythia-161m", "--device", "cpu"), "pythia-160m"),
        (("run", "--recipe", "missing.toml", "--device", "cpu"), "missing.toml"),
        (("run", "--recipe", "pythia-160m", "--gpus", "3", "--device", "cpu"), "--gpus"),
        (("run", "--recipe", "pythia-160m", "--gpus", "64"), "nvidia-smi"),
        (("run", "--recipe", "pythia-160m", "--device", "cpu", "--settings", "x"), "--settings"),
    ],
)
def test_wrong_input_is_one_line_and_exit_code_two(words: tuple[str, ...], says: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-m", "bench_runner", *words], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 2
    assert "Traceback" not in answer.stderr
    assert len(answer.stderr.strip().splitlines()) == 1
    assert says in answer.stderr
