"""What a worker may do wrong costs its own trial, with a reason: real child processes, no torch."""

from __future__ import annotations

import json
import os
import resource
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bench_runner import runner
from bench_runner.launch import events, process_group
from bench_runner.launch.events import BadEventError, EventTail, read_event
from bench_runner.launch.trial import Outcome, TrialSpec
from bench_runner.records import journal
from bench_runner.settings import paper_space
from tests.bench_runner.test_results import outcome, record, setup

SETTINGS = paper_space.settings_for(free_lunch=True)
TIMED = outcome(0.2).events[1] | {"gpu": {}}
STARTED = {"event": "started", "pid": 1}
DONE = {"event": "done"}


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Programs that stand in for the group, one a trial; `say` writes a line of events."""
    programs: list[str] = []

    def command(spec_file: Path, *_: Any) -> list[str]:
        before = (
            "import json, os, sys, time\n"
            f"path = {str(spec_file.parent / 'events.jsonl')!r}\n"
            "def say(line):\n"
            "    line = line if isinstance(line, bytes) else json.dumps(line).encode()\n"
            "    with open(path, 'ab') as file: file.write(line + b'\\n')\n"
        )
        return [sys.executable, "-c", before + programs.pop(0)]

    monkeypatch.setattr(process_group, "command", command)
    return programs


def run(folder: Path, **options: Any) -> Outcome:
    spec = TrialSpec(recipe={}, settings=SETTINGS, gpu_count=1)
    return process_group.run_group(spec, work_directory=folder, time_limit_s=20, **options)


GARBAGE: list[tuple[Any, str]] = [
    (b"Traceback (most recent call last):", "a line that is not JSON"),
    (b"\xff\xfe\x00\x1b[2J", "a line that is not JSON"),
    (b"[" * 100_000, "a line that is not JSON"),
    ([1, 2], "not a JSON object"),
    ({"event": 7}, "no event"),
    ({"event": "of-the-future"}, "no event"),
    ({"event": "probe"}, "no event"),
    ({"event": "probe", "fits": True, "micro_batch_size": 0}, "micro_batch_size = 0"),
    ({"event": "climbed", "micro_batch_size": 2}, "stopped_by"),
    ({k: v for k, v in TIMED.items() if k != "raw"}, "raw = nothing"),
    ({**TIMED, "raw": {**TIMED["raw"], "pass_s": [float("nan")]}}, "raw"),
    ({**TIMED, "raw": {**TIMED["raw"], "pass_s": [float("inf")]}}, "raw"),
    ({**TIMED, "raw": {**TIMED["raw"], "pass_s": [-1.0]}}, "raw"),
    ({**TIMED, "gpu": {"power_w": float("nan")}}, "not finite"),
    ({**TIMED, "micro_batch_size": 10**40}, "micro_batch_size"),
    ({"event": "error"}, "type = nothing"),
]


@pytest.mark.parametrize(("line", "words"), GARBAGE)
def test_a_bad_line_is_named_and_steers_no_terminal(line: Any, words: str) -> None:
    raw = line if isinstance(line, bytes) else json.dumps(line).encode()
    with pytest.raises(BadEventError, match=words) as caught:
        read_event(raw)
    assert str(caught.value).isprintable()
    assert len(str(caught.value)) < 300


def test_events_that_come_by_a_pipe_are_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "events.jsonl")
    with pytest.raises(BadEventError, match="no plain file"):
        list(EventTail(tmp_path / "events.jsonl").new())


@pytest.mark.parametrize("line", [GARBAGE[0][0], GARBAGE[3][0], GARBAGE[9][0], GARBAGE[10][0]])
def test_a_bad_line_fails_its_trial_alone(tmp_path: Path, worker: list[str], line: Any) -> None:
    text = line if isinstance(line, bytes) else json.dumps(line).encode()
    worker.append(f"say({STARTED}); say({text!r}); say({DONE}); time.sleep(30)")
    began = time.monotonic()
    ended = run(tmp_path)
    assert time.monotonic() - began < 30
    assert ended.status == "failed"
    assert ended.reason is not None and ended.reason.startswith("a worker wrote ")


def test_the_search_goes_on_after_a_bad_worker(tmp_path: Path, worker: list[str]) -> None:
    good = f"say({STARTED}); say(json.loads({json.dumps(TIMED)!r})); say({DONE})"
    worker += ["say(b'garbage')", good]
    told: list[dict[str, Any]] = []
    options = runner.Options(
        strategy="exhaustive",
        records_file=tmp_path / "records.jsonl",
        work_directory=tmp_path / "work",
    )
    candidates = [paper_space.settings_for(free_lunch=False), SETTINGS]
    search = runner.Search(setup(), options, told.append, threading.Event())
    best = search.run(candidates, name_the_best=False)
    first, second = journal.read(tmp_path / "records.jsonl")
    assert first.status == "failed"
    assert first.reason == "a worker wrote a line that is not JSON (garbage)"
    assert second.status == "ok"
    assert best == second


@pytest.mark.parametrize("seconds", [0.0, float("nan"), float("inf")])
def test_a_time_that_is_none_is_never_ok(seconds: float) -> None:
    found = outcome(seconds)
    raw = found.events[1]["raw"]
    raw |= {name: [seconds] * 3 for name in raw}
    kept = record(found)
    assert kept.status == "failed"
    assert kept.training_days is None
    assert "do not add up to a step" in kept.reason


def test_a_work_folder_that_cannot_be_written_is_the_reason(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("a file")
    ended = run(tmp_path / "work")
    assert ended.status == "failed"
    assert ended.reason is not None and "could not be started: Not a directory" in ended.reason
    assert "--work" in ended.reason


def test_a_worker_s_endless_line_and_log_are_cut(
    tmp_path: Path, worker: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_group, "MAX_LOG_BYTES", 3 * 1024 * 1024)
    monkeypatch.setattr(events, "MAX_LINE_BYTES", 1024 * 1024)
    worker.append("say(b'x' * 2_000_000); time.sleep(30)")
    ended = run(tmp_path)
    assert ended.reason == "a worker wrote a line longer than 1 MiB"
    worker.append("print('y' * 9_000_000, flush=True); time.sleep(30)")
    ended = run(tmp_path)
    assert ended.reason == "its processes wrote more than 3 MiB of log"
    assert all(log.stat().st_size < 2_000_000 for log in tmp_path.rglob("log.txt"))
    assert len(ended.log_tail) < 1000


def test_twenty_gigabytes_of_events_or_of_log_cost_neither_memory_nor_time(
    tmp_path: Path, worker: list[str]
) -> None:
    """Both without content, so that the disk has room; whoever reads them has them in full."""
    size = 20 * 1024**3
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic()
    worker.append(f"open(path, 'wb').truncate({size}); time.sleep(30)")
    assert run(tmp_path / "events").reason == "a worker wrote a line longer than 8 MiB"
    worker.append(f"os.ftruncate(1, {size}); time.sleep(30)")
    assert run(tmp_path / "log").reason == "its processes wrote more than 64 MiB of log"
    # A flood that is really written: as much as the disk takes until somebody looks.
    worker.append("while True: os.write(1, b'x' * 1_000_000)")
    assert run(tmp_path / "flood").reason == "its processes wrote more than 64 MiB of log"
    assert time.monotonic() - began < 30
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024
    assert all(log.stat().st_size < 2_000_000 for log in tmp_path.rglob("log.txt"))


def test_a_rank_that_the_kernel_killed_is_said_to_be_killed(
    tmp_path: Path, worker: list[str]
) -> None:
    # As torchrun tells it, after another rank missed the one that is gone.
    lost = {"event": "error", "type": "RuntimeError", "message": "Connection closed by peer"}
    worker.append(
        f"say({STARTED}); say({lost}); print('E1122 failed (exitcode: -9) local_rank: 1 (pid: 7)"
        " of binary: python'); sys.exit(1)"
    )
    ended = run(tmp_path)
    assert ended.status == "failed"
    assert ended.reason is not None and "killed by the system (SIGKILL)" in ended.reason
    assert "host memory" in ended.reason
    worker.append("os.kill(os.getpid(), 9)")
    assert "SIGKILL" in str(run(tmp_path).reason)
    # One that failed for a reason of its own is not.
    worker.append(f"say({lost}); print('failed (exitcode: 78) local_rank: 0'); sys.exit(1)")
    assert run(tmp_path).reason == "RuntimeError: Connection closed by peer"
