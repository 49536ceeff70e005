"""The whole path on the CPU: real Trainer steps, one and two processes, FSDP, faults, a kill."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from bench_runner import export
from bench_runner.launch.processes import MARK
from bench_runner.recipes import load_recipe
from bench_runner.records import journal
from tests.torch_for_tests import loaded_later

torch = loaded_later("torch")
loaded_later("transformers")
loaded_later("accelerate")
pytestmark = [
    pytest.mark.torch,
    pytest.mark.skipif(sys.platform != "linux", reason="process groups are found through /proc"),
]

TINY = Path(__file__).with_name("tiny.toml")
TINY_SSM = Path(__file__).with_name("tiny-ssm.toml")
QUIET_DEEPSPEED = str(Path(__file__).with_name("quiet_deepspeed"))
INSTALLED_TOO = str(Path(__file__).with_name("installed_too"))
"""Packages of others that transformers loads where they are there: a sixth of each rank's start."""
BROKEN_RANKS = str(Path(__file__).with_name("broken_ranks"))
QUICK = ("--device", "cpu", "--yes", "--minimum-steps", "2", "--maximum-steps", "6")


def start(folder: Path, *words: str, recipe: Path = TINY) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "bench_runner", words[0], "--recipe", str(recipe)),
            *(*words[1:], *QUICK),
            *("--records", str(folder / "records.jsonl"), "--work", str(folder / "work")),
            *("--exchange-timeout-s", "1", "--settle-s", "1"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )


def run(folder: Path, *words: str, recipe: Path = TINY) -> tuple[int, list[dict[str, Any]]]:
    process = start(folder, *words, recipe=recipe)
    printed, complaints = process.communicate(timeout=400)
    assert "Traceback" not in complaints
    return process.returncode, [json.loads(line) for line in printed.splitlines()]


def of(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [event for event in events if event["event"] == kind]


def survivors(folder: Path) -> list[int]:
    """Processes of any group whose work lies in the folder."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            environment = (entry / "environ").read_bytes()
        except OSError:
            continue
        if MARK.encode() in environment and str(folder / "work").encode() in environment:
            found.append(int(entry.name))
    return found


def test_one_process_measures_naive_settings_and_the_winner_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Out of memory ends the climb, and the size below is timed; beside packages of others."""
    monkeypatch.setenv("PYTHONPATH", INSTALLED_TOO, prepend=os.pathsep)
    monkeypatch.setenv("PYTHONPATH", BROKEN_RANKS, prepend=os.pathsep)
    monkeypatch.setenv("OOM_ABOVE", "2")
    code, events = run(tmp_path, "run", "--settings", "naive", "--search", "exhaustive")
    assert code == 0
    (record,) = journal.read(tmp_path / "records.jsonl")
    assert record.status == "ok"
    assert record.gpu == "cpu"
    assert record.environment["not_a_gpu"] is True
    assert record.timing == "synchronised"
    assert record.settings is not None
    assert record.settings.micro_batch_size == 2
    assert [probe["fits"] for probe in record.environment["probes"]] == [True, True, False]
    assert record.settings.gradient_accumulation_steps == 8
    assert record.sync_pass_s
    assert record.update_s
    assert record.step_s is not None
    assert record.step_s > 0
    assert record.mfu is None
    assert record.environment["settled"]
    assert record.environment["warm_up_s"]
    assert record.environment["about"]["attention"] == "eager"
    assert journal.from_json(of(events, "trial-finished")[0]["record"]) == record

    # That they train: test_kept_model, for every kind of model.
    files = export.write(load_recipe(TINY), record, tmp_path / "winner")
    assert {path.name for path in files} == {"training_arguments.json", "train.py", "launch.sh"}


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("recipe", "sharding", "configuration", "out_of_memory"),
    # Compilation of a sharded model takes longer than all the rest together, hence naive. The
    # other ways to share take their real steps in test_exact_ranks.
    [
        (TINY, "fsdp-shard-grad-op,offloading,checkpointing,fused,trimmed", "fsdp.json", True),
        # Its initialisation cannot be done in shards.
        (TINY_SSM, "zero-3", "deepspeed.json", False),
    ],
    ids=lambda value: value.stem if isinstance(value, Path) else value,
)
def test_two_processes_shard_and_the_winner_trains(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    recipe: Path,
    sharding: str,
    configuration: str,
    out_of_memory: bool,
) -> None:
    """Also where one rank of the two has no memory for what the other has: both begin again."""
    if out_of_memory:
        monkeypatch.setenv("PYTHONPATH", BROKEN_RANKS, prepend=os.pathsep)
        monkeypatch.setenv("OOM_ABOVE", "1")
        monkeypatch.setenv("OOM_RANK", "1")
    if configuration == "deepspeed.json":
        loaded_later("deepspeed")
        monkeypatch.setenv("PYTHONPATH", QUIET_DEEPSPEED, prepend=os.pathsep)
    code, events = run(
        tmp_path,
        *("run", "--gpus", "2", "--settings", f"naive,{sharding}"),
        *("--largest-micro-batch", "2", "--recipe", str(recipe), "--search", "exhaustive"),
    )
    assert code == 0, events
    assert survivors(tmp_path) == []
    (record,) = journal.read(tmp_path / "records.jsonl")
    assert record.status == "ok"
    assert record.gpu_count == 2
    assert record.settings is not None
    assert record.settings.micro_batch_size == (1 if out_of_memory else 2)
    again = [e["micro_batch_size"] for e in events if e.get("phase") == "again"]
    assert again == ([1] if out_of_memory else [])
    assert record.pass_s
    assert record.sync_pass_s
    assert record.environment["about"]["devices"] == ["cpu", "cpu"]
    assert record.environment["about"]["backend"] == "gloo"

    # The winner's files start a real training, by the command that they come with.
    winner = tmp_path / "winner"
    exported = subprocess.run(
        [
            *(sys.executable, "-m", "bench_runner", "export", "--recipe", str(recipe)),
            *("--records", str(tmp_path / "records.jsonl"), "--out", str(winner)),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert str(winner / configuration) in exported.stdout
    for _ in range(2):  # on a busy machine gloo was once seen to abort a rank, in C++
        trained = subprocess.run(
            [str(winner / "launch.sh"), "1"],
            cwd=tmp_path,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
                "OMP_NUM_THREADS": "1",
            },
            capture_output=True,
            text=True,
            timeout=400,
        )
        if "(exitcode: -6)" not in trained.stderr:
            break
    assert trained.returncode == 0, trained.stderr[-8000:]
    assert "train_runtime" in trained.stdout + trained.stderr
    assert len(record.environment["step_s_by_rank"]) == 2


def test_a_rank_that_hangs_is_ended_at_the_time_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", BROKEN_RANKS, prepend=os.pathsep)
    monkeypatch.setenv("HANG_RANK", "1")
    words = ("run", "--gpus", "2", "--settings", "naive", "--trial-minutes", "0.05")
    code, _ = run(tmp_path, *words)
    assert code == 1
    (record,) = journal.read(tmp_path / "records.jsonl")
    assert record.status == "failed"
    assert record.reason is not None
    assert "time limit" in record.reason
    assert "log_tail" in record.environment
    assert survivors(tmp_path) == []


def test_a_killed_search_goes_on_where_it_stopped(tmp_path: Path) -> None:
    words = ("run", "--methods", "naive,free-lunch")
    process = start(tmp_path, *words)
    assert process.stdout is not None
    for line in process.stdout:
        event = json.loads(line)
        if event["event"] == "trial-started" and event["label"] == "free lunch":
            break
    process.send_signal(signal.SIGKILL)
    process.wait()
    (first,) = journal.read(tmp_path / "records.jsonl")
    assert first.method == "naive"
    deadline = time.monotonic() + 120
    while survivors(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert survivors(tmp_path) == []

    # The second search finds the first one's record, and is cancelled in the middle.
    process = start(tmp_path, *words)
    assert process.stdout is not None
    seen = []
    for line in process.stdout:
        seen.append(json.loads(line))
        if seen[-1]["event"] == "trial-progress":
            process.send_signal(signal.SIGTERM)
            break
    seen += [json.loads(line) for line in process.stdout]
    assert process.wait(timeout=60) == 130
    (reused,) = of(seen, "reused")
    assert reused["record"]["measurement_id"] == first.measurement_id
    assert seen[-1]["event"] == "search-finished"
    assert seen[-1]["cancelled"] is True
    assert seen[-1]["best"]["measurement_id"] == first.measurement_id
    assert journal.read(tmp_path / "records.jsonl") == [first]
    assert survivors(tmp_path) == []
