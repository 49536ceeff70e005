"""Process groups: the command, the environment, and that a stuck group is ended whole."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_runner.arguments import find_recipe
from bench_runner.launch import process_group, processes
from bench_runner.launch.trial import Outcome, TrialSpec
from bench_runner.records.measurement import Settings
from bench_runner.runner import next_size
from bench_runner.settings import batch_and_sharding

SLURM = {
    "SLURM_JOB_ID": "4711",
    "SLURM_NNODES": "2",
    "SLURM_JOB_NODELIST": "gpu[03-04],gpu09",
}


def trial(settings: Settings | None = None, **more: Any) -> TrialSpec:
    asked = {"gpu_count": 2, "compute_capability": "9.0", **more}
    settings = settings or batch_and_sharding.settings_for(free_lunch=True)
    return TrialSpec(recipe=find_recipe("pythia-160m"), settings=settings, **asked)


def test_one_process_starts_by_itself_with_what_torchrun_would_tell_it(tmp_path: Path) -> None:
    spec = trial(gpu_count=1)
    words = process_group.command(tmp_path / "spec.json", spec, {})
    assert words == [sys.executable, "-P", "-m", "bench_runner.worker", str(tmp_path / "spec.json")]
    left = {"RANK": "3", "WORLD_SIZE": "8", "MASTER_PORT": "29500", "TORCHELASTIC_RUN_ID": "x"}

    def told(spec: TrialSpec) -> dict[str, str]:
        found = process_group.child_environment(left, spec, tmp_path, "g")
        return {name: found[name] for name in (*left, "LOCAL_RANK") if name in found}

    alone = {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "MASTER_PORT": "0"}
    assert told(spec) == alone
    assert told(replace(spec, launcher="slurm")) == told(trial()) == {}


def test_slurm_starts_one_launcher_a_node_with_the_first_host_as_meeting_point(
    tmp_path: Path,
) -> None:
    spec = trial(gpu_count=8, launcher="slurm")
    words = process_group.command(tmp_path / "spec.json", spec, SLURM)
    assert words[0] == "srun"
    assert "--nproc-per-node=4" in words
    assert "--rdzv-endpoint=gpu03:24711" in words


@pytest.mark.parametrize(
    ("environment", "gpus", "words"),
    [({}, 2, "inside salloc or sbatch"), (SLURM, 3, "change --gpus")],
)
def test_a_launcher_that_cannot_work_says_so(
    tmp_path: Path, environment: dict[str, str], gpus: int, words: str
) -> None:
    spec = trial(gpu_count=gpus, launcher="slurm")
    with pytest.raises(ValueError, match=words):
        process_group.command(tmp_path / "spec.json", spec, environment)


def test_the_environment_is_offline_and_keeps_what_no_other_launcher_left(tmp_path: Path) -> None:
    left = {"ACCELERATE_USE_FSDP": "true", "FSDP_OFFLOAD_PARAMS": "true", "RANK": "3"}
    left |= {"ACCELERATE_MIXED_PRECISION": "no", "PET_NNODES": "2", "MASTER_ADDR": "gone"}
    base = left | {"NCCL_NVLS_ENABLE": "0", "OMP_NUM_THREADS": "3", "PYTHONPATH": "/somewhere"}
    base["TORCH_CUDA_ARCH_LIST"] = "8.0 12.0+PTX"
    offloading = batch_and_sharding.settings_for(
        free_lunch=True, sharding="zero-2", offloading=True
    )
    environment = process_group.child_environment(base, trial(offloading), tmp_path, "g")
    assert environment["NCCL_NVLS_ENABLE"] == "0"
    assert environment["OMP_NUM_THREADS"] == "3"
    assert environment["HF_HUB_OFFLINE"] == "1"
    assert environment["TORCH_CUDA_ARCH_LIST"] == "9.0"
    assert environment["PYTHONPATH"].endswith(":/somewhere")
    assert not left.keys() & environment.keys()


def test_a_group_that_clips_gradients_in_host_memory_can_exchange_them_there(
    tmp_path: Path,
) -> None:
    def variables(**more: Any) -> dict[str, str]:
        sharded = batch_and_sharding.settings_for(
            free_lunch=True, sharding="fsdp-full-shard", **more
        )
        return process_group.child_environment({}, trial(sharded), tmp_path, "g")

    offloading = variables(offloading=True)
    assert offloading["ACCELERATE_USE_FSDP"] == offloading["FSDP_OFFLOAD_PARAMS"] == "true"
    assert "ACCELERATE_USE_FSDP" not in variables()


@pytest.mark.skipif(sys.platform != "linux", reason="groups are found through /proc")
def test_a_stubborn_group_is_ended_whole_even_across_sessions() -> None:
    # The child ignores SIGTERM and leaves a grandchild in a session of its own, as torchrun does.
    program = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "subprocess.Popen([sys.executable, '-c', 'import signal, time;"
        " signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)'],"
        " start_new_session=True)\n"
        "print('ready', flush=True)\n"
        "time.sleep(600)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=subprocess.PIPE,
        env={**os.environ, process_group.MARK: "test-group"},
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    while len(processes.marked(processes.MARK, "test-group")) < 2:
        time.sleep(0.05)
    original, processes._TERMINATE_S = processes._TERMINATE_S, 0.5
    try:
        processes.end_group(process, "test-group")
    finally:
        processes._TERMINATE_S = original
    assert process.wait(timeout=5) == -signal.SIGKILL
    assert processes.marked(processes.MARK, "test-group") == []


def probe(size: int, fits: bool) -> dict[str, object]:
    return {"event": "probe", "micro_batch_size": size, "fits": fits, "reason": "no room"}


def outcome(status: str, *events: dict[str, object]) -> Outcome:
    return Outcome(status=status, reason=None, events=events, log_tail="", wall_s=1.0)


def test_after_a_climb_that_ended_its_group_the_largest_fitting_size_is_timed() -> None:
    assert next_size(outcome("climbed", probe(1, True), probe(2, True), probe(4, False))) == 2


def test_a_timed_run_that_falls_over_is_halved_until_nothing_is_left() -> None:
    climbed = {"event": "climbed", "micro_batch_size": 4}
    assert next_size(outcome("climbed", probe(4, True), climbed, probe(4, False))) == 2
    assert next_size(outcome("infeasible", probe(1, False))) is None


def test_a_broken_group_is_started_again_once_after_its_climb() -> None:
    started, climbed = {"event": "started"}, {"event": "climbed", "micro_batch_size": 8}
    assert next_size(outcome("failed", started, climbed)) == 8
    assert next_size(outcome("failed", started, climbed, started)) is None
    assert next_size(outcome("timed-out", started, climbed)) is None
    assert next_size(outcome("ok", started, climbed)) is None
    # What says what is wrong with what was asked for would say it again.
    told = replace(outcome("failed", started, climbed), reason="ValueError: too short")
    assert next_size(told) is None


@pytest.mark.parametrize(
    "words", [[], ["xyz"], ["run"], ["run", "--gpus", "many"], ["export", "a\x1b[2J\u202e"]]
)
def test_a_wrong_command_line_is_one_line(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    from bench_runner.__main__ import main

    with pytest.raises(SystemExit, match="2"):
        main(words)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("bench_runner: ") and said.err.count("\n") == 1
    assert said.err[:-1].isprintable()
    assert "--help)" in said.err
