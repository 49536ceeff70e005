"""Benchmarks of the fake runner, planned and followed."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from advisor.benchmark.benchmark_plan import Plan, make_plan
from advisor.benchmark.measurement_request import Request, look_here
from advisor.benchmark.progress import (
    Progress,
)
from advisor.benchmark.recorder import Recorder, follow
from advisor.benchmark.runner_process import Run
from advisor.store import Store

FAKE = Path(__file__).parents[1] / "fake_runner.py"
QUICK = 1.0
TINY = """
id = "tiny"
name = "Tiny"
family = "decoder"
source = "measured-here"
[architecture]
config_class = "GPTNeoXConfig"
[architecture.arguments]
hidden_size = 32
num_hidden_layers = 2
num_attention_heads = 2
intermediate_size = 64
vocab_size = 128
max_position_embeddings = 64
[training]
batch_size = 16
training_steps = 1000
sequence_length = 32
precision = "fp32"
optimizer = "adam"
learning_rate = 1e-4
beta1 = 0.9
beta2 = 0.95
scheduler = "cosine"
warmup_steps = 10
min_lr_rate = 0.1
max_grad_norm = 1.0
[support]
fsdp_wrap = ["GPTNeoXLayer"]
"""
LEAN = "free lunch + layers compiled + fused loss + trimmed"
"""What the search of all exact settings tries first for a decoder."""


def runner(scenario: str) -> tuple[str, ...]:
    return (sys.executable, str(FAKE), scenario)


def request(tmp_path: Path, **changes: Any) -> Request:
    values: dict[str, Any] = {
        "recipe": "pythia-160m",
        "gpu_count": 2,
        "records_file": tmp_path / "records.jsonl",
        "work_directory": tmp_path / "work",
    }
    return Request(**values | changes)


def planned(store: Path, tmp_path: Path, **changes: Any) -> Plan:
    wanted = request(tmp_path, **changes)
    here = look_here(wanted.work_directory)
    return make_plan(Store(store), wanted, here, gpu_count=wanted.gpu_count)


def measure(plan: Plan, scenario: str, **options: Any) -> tuple[Run, Recorder, Progress]:
    """A whole run of the fake, followed to its end."""
    run = Run(plan.request, runner=runner(scenario), patience_s=QUICK)
    return (run, *followed(run, plan, **options))


def followed(run: Run, plan: Plan, cancel_at: str | None = None) -> tuple[Recorder, Progress]:
    recorder = Recorder(Store(plan.store_path), plan)
    progress = Progress(plan.labels, plan.estimated_minutes)
    started = 0
    with closing(follow(run, recorder)) as events:
        for event in events:
            progress.apply(event, 0.0)
            started += event["event"] == "trial-started"
            if cancel_at == event["event"] and started == 2:
                run.cancel()
    progress.close()
    return recorder, progress
