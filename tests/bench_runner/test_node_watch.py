"""Which nodes of a job are gone, by stand-ins for SLURM's own commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench_runner.launch import node_links
from bench_runner.launch.trial import Outcome

JOB = {"SLURM_JOB_ID": "7", "SLURM_NNODES": "2", "SLURM_JOB_NODELIST": "n[1-2]"}
ERROR = {"event": "error", "type": "RuntimeError", "message": "Connection closed by peer"}
SRUN_SAYS = "srun: error: n1: task 0: Exited with exit code 1\n"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A trial's log, beside a SLURM whose second node does not answer."""
    scripts = {
        "scontrol": "echo n1; echo n2",
        "srun": f'echo "$*" >> {tmp_path}/asked; case "$*" in *n2*) exit 1;; esac',
    }
    for name, body in scripts.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{body}\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(node_links, "_FAREWELL_S", 0.0)
    path = tmp_path / "log.txt"
    path.write_text("step 7\n")
    return path


def asked(log: Path) -> int:
    file = log.with_name("asked")
    return len(file.read_text().splitlines()) if file.exists() else 0


def test_nothing_is_asked_while_nothing_is_wrong(log: Path) -> None:
    watch = node_links.NodeWatch(JOB)
    assert not watch.lost_by([{"event": "started"}], log)
    log.write_text("the model says: srun: error: is a word\nsrun: job 7 queued\n")
    assert not watch.lost_by([], log)
    assert asked(log) == 0


def test_a_lost_node_is_found_by_a_ranks_error_and_asked_for_once(log: Path) -> None:
    watch = node_links.NodeWatch(JOB)
    assert watch.lost_by([ERROR], log)
    assert asked(log) == 2
    assert not watch.lost_by([ERROR], log)
    assert asked(log) == 2


def test_a_lost_leader_whose_ranks_never_spoke_is_found_by_what_srun_says(log: Path) -> None:
    log.write_text("RendezvousConnectionError: the store has failed\n" * 500 + SRUN_SAYS)
    watch = node_links.NodeWatch(JOB)
    assert watch.lost_by([], log)
    failed = Outcome(status="failed", reason="exit code 1", events=(), log_tail="", wall_s=1.0)
    judged = watch.judged(failed)
    assert judged.lost_nodes == 1
    assert judged.reason == "the job lost 1 of its 2 nodes during the trial: exit code 1"


def test_a_failure_of_a_whole_job_is_no_nodes_and_outside_a_job_nobody_is_asked(log: Path) -> None:
    for name in ("srun", "asked"):
        log.with_name(name).write_text("#!/bin/sh\n")
    watch = node_links.NodeWatch(JOB)
    assert not watch.lost_by([ERROR], log)
    failed = Outcome(status="failed", reason="no", events=(), log_tail="", wall_s=1.0)
    assert watch.judged(failed) == failed
    assert not node_links.NodeWatch({}).lost_by([ERROR], log)
