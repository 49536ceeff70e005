"""What a worker may do wrong costs its own trial, with a reason: real child processes, no torch."""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from bench_runner import runner
from bench_runner.arguments import find_recipe
from bench_runner.launch import process_group, processes
from bench_runner.launch.trial import Outcome, TrialSpec
from bench_runner.records import journal
from bench_runner.settings import batch_and_sharding
from tests.bench_runner.test_results import outcome, record, setup

SETTINGS = batch_and_sharding.settings_for(free_lunch=True)
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
    spec = TrialSpec(recipe=find_recipe("pythia-160m"), settings=SETTINGS, gpu_count=1)
    return process_group.run_group(spec, work_directory=folder, time_limit_s=20, **options)


GARBAGE = (b"Traceback (most recent call last):", b"\xff\xfe\x00\x1b[2J", [1, 2], {"type": "x"})


@pytest.mark.parametrize("line", GARBAGE)
def test_a_line_that_is_no_event_is_passed_over(
    tmp_path: Path, worker: list[str], line: Any
) -> None:
    text = line if isinstance(line, bytes) else json.dumps(line).encode()
    worker.append(f"say({STARTED}); say({text!r}); say({DONE})")
    ended = run(tmp_path)
    assert (ended.status, ended.events) == ("ok", (STARTED, DONE))


def test_the_search_goes_on_after_a_bad_worker(tmp_path: Path, worker: list[str]) -> None:
    good = f"say({STARTED}); say(json.loads({json.dumps(TIMED)!r})); say({DONE})"
    worker += ["say(b'garbage')", good]
    told: list[dict[str, Any]] = []
    asked = setup(
        strategy="exhaustive",
        records_file=tmp_path / "records.jsonl",
        work_directory=tmp_path / "work",
    )
    candidates = [batch_and_sharding.settings_for(free_lunch=False), SETTINGS]
    search = runner.Search(asked, told.append, threading.Event())
    best = search.run(candidates, name_the_best=False)
    first, second = journal.read(tmp_path / "records.jsonl")
    assert first.status == "failed"
    assert first.reason is not None and first.reason.endswith("no result")
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


def test_a_group_that_was_ended_with_its_search_has_not_failed(
    tmp_path: Path, worker: list[str]
) -> None:
    """The signal may reach the group before the search has looked at its own."""
    stop = threading.Event()

    def end(event: dict[str, Any]) -> None:
        stop.set()
        os.kill(event["pid"], signal.SIGTERM)
        while processes.is_alive(event["pid"]):
            time.sleep(0.01)

    started = "{'event': 'started', 'pid': os.getpid()}"
    worker.append(f"say({started}); time.sleep(60)")
    assert run(tmp_path, stop=stop, on_event=end).status == "cancelled"


def test_a_log_without_end_is_cut(tmp_path: Path, worker: list[str]) -> None:
    """A flood that is really written, and 20 GiB without content."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    worker.append(f"os.ftruncate(1, {20 * 1024**3}); time.sleep(30)")
    assert run(tmp_path / "log").reason == "its processes wrote more than 64 MiB of log"
    worker.append("while True: os.write(1, b'x' * 1_000_000)")
    ended = run(tmp_path / "flood")
    assert ended.reason == "its processes wrote more than 64 MiB of log"
    assert len(ended.log_tail) < 1000
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
    worker.append("sys.exit(1)")
    assert run(tmp_path).reason == "the process group ended with exit code 1 and no result"
