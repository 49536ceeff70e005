"""Runs that are cancelled, crash or talk nonsense: nothing that was measured is lost."""

from __future__ import annotations

import signal
import time
from contextlib import closing
from pathlib import Path

import pytest

from advisor.benchmark.measurement_request import look_here
from advisor.benchmark.progress import (
    TIME,
)
from advisor.benchmark.runner_process import Run
from advisor.store import Store
from advisor.typed_input import InputError
from bench_runner.launch.processes import marked
from tests.benchmark.fake_runs import LEAN, QUICK, measure, planned, request, runner
from tests.store_for_tests import look

pytestmark = pytest.mark.usefixtures("two_fake_gpus")

# How runs end


def test_a_deaf_runner_and_its_child_in_another_session_are_killed(
    own_store: Path, tmp_path: Path
) -> None:
    plan = planned(own_store, tmp_path)
    run, recorder, _ = measure(plan, "deaf", cancel_at="trial-started")
    assert run.process.returncode == -signal.SIGKILL
    assert run.ending().kind == "cancelled"
    assert recorder.kept == 1
    child = int((tmp_path / "work" / "child.pid").read_text())
    assert not _alive(child)


def test_cancelling_twice_does_not_wait(own_store: Path, tmp_path: Path) -> None:
    plan = planned(own_store, tmp_path)
    run = Run(plan.request, runner=runner("deaf"), patience_s=60.0)
    began = time.monotonic()
    with closing(run.events()) as events:
        for event in events:
            if event["event"] == "trial-progress":
                run.cancel()
    assert time.monotonic() - began < 30
    assert run.process.returncode == -signal.SIGKILL


def test_whoever_stops_following_leaves_nothing_running(own_store: Path, tmp_path: Path) -> None:
    plan = planned(own_store, tmp_path)
    run = Run(plan.request, runner=runner("hang"), patience_s=QUICK)
    events = run.events()
    next(events)
    events.close()
    assert run.process.returncode is not None
    run.cancel()  # after the end: nothing to do
    assert marked("ADVISOR_BENCH", "0" * 32) == []


def test_a_crash_loses_no_record_and_says_what_to_do(own_store: Path, tmp_path: Path) -> None:
    plan = planned(own_store, tmp_path)
    run, recorder, progress = measure(plan, "crash")
    ending = run.ending()
    assert ending.kind == "failed"
    assert "signal 9" in ending.message
    assert ending.log_tail[-1] == "RuntimeError: no more"
    assert ending.log_file.is_file()
    assert ending.suggestion is not None
    assert "host memory" in ending.suggestion
    # The second was only in the runner's file.
    assert recorder.kept == 2
    assert len(look(Store(own_store)).times("pythia-160m", origin="local")) == 2
    assert progress.rows[LEAN].state == TIME


def test_garbage_is_passed_over(own_store: Path, tmp_path: Path) -> None:
    plan = planned(own_store, tmp_path)
    run, recorder, progress = measure(plan, "garbage")
    assert run.ending().kind == "answered"
    assert progress.rows[LEAN].training_days == 3.0
    assert recorder.kept == 2


def test_a_flood_on_stderr_blocks_nobody(own_store: Path, tmp_path: Path) -> None:
    run, _, _ = measure(planned(own_store, tmp_path), "loud")
    ending = run.ending()
    assert ending.kind == "failed"
    assert ending.log_tail[-1] == "the last word"
    assert len(ending.log_tail) <= 20
    assert all(len(line) <= 400 for line in ending.log_tail)
    run.log_file.write_bytes(b"begun\n\0\0\0\nRuntimeError: no more\n")  # as one cut while written
    assert run.ending().log_tail == ("begun", "RuntimeError: no more")


def test_what_the_runner_refuses_is_one_line(own_store: Path, tmp_path: Path) -> None:
    run, _, _ = measure(planned(own_store, tmp_path), "refuse")
    ending = run.ending()
    assert ending.kind == "refused"
    assert ending.message == "--methods is 'x': choose among naive, free-lunch, paper, all"


def test_a_store_that_is_gone_costs_no_record(own_store: Path, tmp_path: Path) -> None:
    plan = planned(own_store, tmp_path)
    own_store.rename(tmp_path / "away.duckdb")
    run, recorder, _ = measure(plan, "good")
    assert run.ending().kind == "answered"
    assert recorder.waiting == 23
    assert f"advisor merge --mine {plan.request.records_file}" in recorder.words()
    (tmp_path / "away.duckdb").rename(own_store)
    assert Store(own_store).merge(plan.request.records_file, mine=True).added == 23


def test_a_runner_that_cannot_be_started_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="could not be started") as caught:
        Run(request(tmp_path), runner=("/nonexistent/python",))
    assert "\n" not in str(caught.value)
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="--work"):
        Run(request(tmp_path, work_directory=tmp_path / "file"), runner=runner("good"))
    with pytest.raises(InputError, match="--work"):
        look_here(tmp_path / "file")


def _alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
