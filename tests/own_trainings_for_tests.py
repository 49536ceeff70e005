"""Trainings of a user's own, as `advisor bench -- COMMAND` measures them."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

from advisor.prediction.own_training import OwnTraining, own_training
from bench_runner.own_command.own_run import OwnRun

RUN = OwnRun(
    gpu="NVIDIA H100 80GB HBM3",
    gpu_count=1,
    step_s=0.5,
    step_s_low=0.49,
    step_s_high=0.51,
    settled=True,
    steps_timed=40,
    pauses=0,
    seconds={"bf16": 0.25, "attention": 0.05, "memory": 0.14, "transfer": 0.02, "host": 0.04},
    kernels=(("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_TNT", 0.25),),
    loads_serially=False,
    memory_gib=45.0,
    allocated_gib=40.0,
    state_gib=16.0,
    sharded=False,
    parameters=1_000_000_000,
    parameter_bytes=4_000_000_000,
    joules=300.0,
    max_steps=None,
    torch="2.9.0",
)


def timed(name: str = "my-run", steps: int = 100_000, **changes: Any) -> OwnTraining:
    """A training that was timed on an H100, but for ``changes`` of its run."""
    return own_training(replace(RUN, **changes), name, steps, date(2026, 11, 20))
