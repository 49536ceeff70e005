"""Machines that are not like the one this was written on: drivers, slices, numbers, variables."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from bench_runner import runner
from bench_runner.__main__ import main
from bench_runner.arguments import find_recipe
from bench_runner.launch import hardware, process_group, shell_variables
from bench_runner.launch.trial import TrialSpec
from bench_runner.launch.trial_record import configuration_key
from bench_runner.records import journal
from bench_runner.settings import batch_and_sharding, fastest_possible_step
from tests.bench_runner.test_results import LISTING, outcome, record, setup

SETTINGS = batch_and_sharding.settings_for(free_lunch=True)
TWO_KINDS = """\
0, GPU-aaa, NVIDIA RTX A4000, 16376, 0, 0, 8.6, 580.159.04, 140.00
1, GPU-bbb, NVIDIA H200, 143771, 0, 0, 9.0, 580.159.04, 700.00
"""
SLICES = """\
GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-aaa)
  MIG 3g.40gb     Device  0: (UUID: MIG-111)
  MIG 3g.40gb     Device  1: (UUID: MIG-222)
GPU 1: NVIDIA H100 80GB HBM3 (UUID: GPU-bbb)
"""


@pytest.fixture
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A program of that name that prints a listing, or what `-L` lists, or fails."""

    def make(listing: str, slices: str = "", code: int = 0) -> None:
        program = tmp_path / "bin" / "nvidia-smi"
        program.parent.mkdir(exist_ok=True)
        for name, text in (("listing", listing), ("slices", slices)):
            (program.parent / name).write_text(text)
        program.write_text(
            f'#!/bin/sh\ncd "{program.parent}"\n'
            f'if [ "$1" = "-L" ]; then cat slices; else cat listing; fi\nexit {code}\n'
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")

    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return make


def refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What a run says that never begins, in one line."""
    asked = ["run", "--recipe", "pythia-160m", "--yes", "--work", str(tmp_path / "w"), *words]
    assert main([*asked, "--records", str(tmp_path / "r.jsonl")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert not (tmp_path / "r.jsonl").exists()
    return said


def test_why_there_is_no_gpu_is_told(
    nvidia_smi: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    broken = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
    nvidia_smi(broken, code=9)
    assert "couldn't communicate with the NVIDIA driver" in refused(tmp_path, capsys)
    nvidia_smi(LISTING)
    for hidden in ("", "-1", "NoDevFiles", "7"):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", hidden)
        said = refused(tmp_path, capsys)
        assert f"CUDA_VISIBLE_DEVICES is {hidden!r}, which names none of this machine's 2" in said
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "no nvidia-smi on this machine's PATH" in refused(tmp_path, capsys)


def test_two_kinds_and_slices_are_refused_and_one_of_them_is_not(
    nvidia_smi: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    nvidia_smi(TWO_KINDS)
    assert "the GPUs differ (NVIDIA H200, NVIDIA RTX A4000)" in refused(
        tmp_path, capsys, "--gpus", "2"
    )
    listing = LISTING.replace("H200", "H100 80GB HBM3")
    nvidia_smi(listing, SLICES)
    assert "is divided by MIG" in refused(tmp_path, capsys)
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    (whole,) = hardware.machine(tmp_path).gpus
    hardware.check_alike([whole])
    assert (whole.index, whole.divided) == (1, False)


def test_cuda_is_told_which_gpus_are_meant() -> None:
    """It numbers the fastest first where nobody says otherwise, nvidia-smi by the slot."""
    gpus = hardware.parse_gpus(TWO_KINDS)
    assert hardware.pinned(gpus, 2, None) == {}
    assert hardware.pinned(gpus, 1, None) == {
        "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
        "CUDA_VISIBLE_DEVICES": "0",
    }
    # DeepSpeed reads numbers only.
    by_uuid = hardware.visible(gpus, "GPU-bbb")
    assert hardware.pinned(by_uuid, 1, "GPU-bbb")["CUDA_VISIBLE_DEVICES"] == "1"
    # As CUDA does, none behind a word that names no GPU.
    assert [gpu.index for gpu in hardware.visible(gpus, "1,7,0")] == [1]
    environment = process_group.child_environment(
        {"CUDA_VISIBLE_DEVICES": "GPU-bbb"},
        TrialSpec(
            recipe=find_recipe("pythia-160m"),
            settings=SETTINGS,
            gpu_count=1,
            pinned=hardware.pinned(by_uuid, 1, "GPU-bbb"),
        ),
        Path("w"),
        "g",
    )
    assert environment["CUDA_VISIBLE_DEVICES"] == "1"


def test_a_gpu_that_tells_no_memory_shares_the_host_s() -> None:
    (gpu,) = hardware.parse_gpus(
        "0, GPU-ccc, NVIDIA GB10, [N/A], [N/A], 0, 12.1, 580.95.05, [N/A]\n", shared_gib=119.7
    )
    assert (gpu.memory_gib, gpu.memory_used_gib, gpu.power_limit_w) == (119.7, 0.0, None)
    assert hardware.parse_gpus("Unable to determine the handle, a, b, c, d, e, f, g, h") == ()


def test_a_time_of_another_gpu_than_the_record_names_is_no_time() -> None:
    assert record(outcome(0.2, devices=["NVIDIA H200"])).status == "ok"
    assert record(outcome(0.2, devices=["H200"])).status == "ok"
    for other in ("NVIDIA H200 MIG 3g.71gb", "NVIDIA RTX A4000"):
        found = record(outcome(0.2, devices=[other]))
        assert found.status == "failed" and found.training_days is None
        assert found.reason.startswith(f"torch ran on {other}, where nvidia-smi names NVIDIA H200")


def test_variables_that_change_a_time_are_told_and_stand_in_the_record(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shell = {"CUDA_LAUNCH_BLOCKING": "1", "TORCHDYNAMO_DISABLE": "0", "NCCL_P2P_DISABLE": "1"}
    shell |= {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "NET", "NVIDIA_TF32_OVERRIDE": "0"}
    kept = shell_variables.that_matter({**shell, "HOME": "/h"})
    assert kept.keys() == {"CUDA_LAUNCH_BLOCKING", "NCCL_P2P_DISABLE", "NVIDIA_TF32_OVERRIDE"}
    assert len(shell_variables.warnings(shell)) == 2
    monkeypatch.setenv("CUDA_LAUNCH_BLOCKING", "1")
    (said,) = hardware.concerns(setup().machine, 1)
    assert said.startswith("CUDA_LAUNCH_BLOCKING is set to '1', so that every kernel is waited for")
    assert record(outcome(0.2), variables=kept).environment["variables"] == kept
    keys = {configuration_key(setup(variables=v), SETTINGS) for v in ({}, kept)}
    assert len(keys) == 2 and "variables" not in record(outcome(0.2)).environment


@pytest.mark.parametrize(
    ("ended", "again"),
    [
        ({"of_the_moment": True}, True),
        ({"time_limit_s": 60.0}, True),
        ({"time_limit_s": 1200.0}, False),
        ({}, False),
    ],
    ids=["killed or a full disk", "a shorter limit", "the same limit", "the settings' own fault"],
)
def test_what_failed_by_the_moment_is_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended: dict[str, Any], again: bool
) -> None:
    failed = replace(outcome(0.2), status="failed", events=(), reason="ended", **ended)
    good = outcome(0.2)
    asked: list[str] = []

    def group(self: runner.Search, spec: TrialSpec) -> Any:
        asked.append(spec.settings.sharding or "")
        return good

    monkeypatch.setattr(runner.Search, "_group", group)
    file = tmp_path / "records.jsonl"
    journal.append(file, record(failed))
    given = setup(strategy="fast", records_file=file, work_directory=tmp_path, trial_minutes=20.0)
    found = runner.Search(given, lambda event: None, Event())
    best = found.run([SETTINGS], name_the_best=False)
    assert bool(asked) is again
    assert (best is not None) is again
    assert fastest_possible_step.best_of(journal.read(file)) == (best if again else None)


def test_a_gpu_that_torch_cannot_use_ends_the_search_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "torch 2.11.0+cpu cannot use GPU 0"
    error = {"event": "error", "type": "NoDeviceError", "message": said}
    wrong = replace(outcome(0.2), status="failed", events=(error,), reason=said)
    asked = []

    def group(self: runner.Search, spec: TrialSpec) -> Any:
        asked.append(spec)
        return wrong

    monkeypatch.setattr(runner.Search, "_group", group)
    given = setup(strategy="exhaustive", records_file=tmp_path / "r.jsonl", work_directory=tmp_path)
    found = runner.Search(given, lambda event: None, Event())
    with pytest.raises(ValueError, match="cannot use GPU 0"):
        found.run(batch_and_sharding.space(1), name_the_best=True)
    assert len(asked) == 1 and not (tmp_path / "r.jsonl").exists()


def written(folder: Path, files: dict[str, str], own: str) -> tuple[Path, Path]:
    """A tree of control groups, and the file that says which one is ours."""
    for name, text in files.items():
        place = folder / "cgroup" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    (folder / "own").write_text(own)
    return folder / "cgroup", folder / "own"


def test_a_part_of_a_machine_is_told_as_that_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A container of a large machine: threads for all of it would wait for one another, and states
    that were offloaded to all of it would be killed."""
    monkeypatch.setattr(os, "cpu_count", lambda: 192)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(64)), raising=False)
    container = {"cpu.max": "1600000 100000", "memory.max": str(128 << 30)}
    container |= {
        "memory.current": str(40 << 30),
        "memory.stat": f"anon 7\ninactive_file {10 << 30}",
    }
    places = written(tmp_path / "a", container, "0::/\n")
    assert hardware.allowed_processors(*places) == 16
    assert hardware.allowed_memory_bytes(*places) == (128 << 30, 98 << 30)
    job = {
        "job/step/memory.max": "max",
        "job/memory.max": str(8 << 30),
        "job/cpu.max": "max 100000",
    }
    places = written(tmp_path / "b", job, "0::/job/step\n")
    assert hardware.allowed_processors(*places) == 64
    assert hardware.allowed_memory_bytes(*places) == (8 << 30, 8 << 30)
    assert hardware.allowed_memory_bytes(tmp_path / "no", tmp_path / "no") is None
    machine = hardware.machine(tmp_path)
    assert machine.memory_available_gib <= machine.memory_gib
