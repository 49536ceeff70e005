"""The nodes of a SLURM job: names, addresses, whether they still answer, by SLURM's commands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from bench_runner.launch.processes import read_end
from bench_runner.launch.trial import Outcome

NODE_LOST = 75
"""The runner's exit code where a node does not answer any more: start it again where the nodes are
whole; everything finished is kept."""
_ASK_S = 60.0
"""Longest that a busy node may take to start a step; for one that is gone SLURM gives up before."""
_FAREWELL_S = 3.0
"""How long the processes of a group may outlive one rank's error before its nodes are asked."""
_TASK_FAILED = re.compile(r"^srun: error: ", re.MULTILINE)
_SAID_LAST = 4096
"""Bytes at the end of a log in which srun's last words stand."""


class NodeWatch:
    """Whether the nodes of a SLURM job still answer; without a job it watches nothing."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment
        self._failed_at: float | None = None
        self._lost: int | None = None

    def lost_by(self, events: Sequence[Mapping[str, Any]], log_file: Path) -> bool:
        """Whether nodes are gone: asked once, where an error does not end the whole group.

        A rank tells its error; where the node that led them is gone torchrun ends the ranks before
        they can, and srun alone says that a task has failed.
        """
        if not self._environment or self._lost is not None:
            return False
        if self._failed_at is None and (
            any(event["event"] == "error" for event in events)
            or _TASK_FAILED.search(read_end(log_file, _SAID_LAST))
        ):
            self._failed_at = time.monotonic()
        if self._failed_at is None or time.monotonic() - self._failed_at < _FAREWELL_S:
            return False
        return self._ask() > 0

    def judged(self, outcome: Outcome) -> Outcome:
        """The outcome, which says where a failure was a node's."""
        if not self._environment or outcome.status not in ("failed", "timed-out"):
            return outcome
        lost = self._ask() if self._lost is None else self._lost
        if not lost:
            return outcome
        count = node_count(self._environment)
        reason = f"the job lost {lost} of its {count} nodes during the trial: {outcome.reason}"
        return replace(outcome, status="failed", reason=reason, lost_nodes=lost)

    def _ask(self) -> int:
        lost = lost_nodes(self._environment)
        if lost:
            # On stderr alone: a record is shared without names.
            print(f"these nodes do not answer any more: {', '.join(lost)}", file=sys.stderr)
        self._lost = len(lost)
        return self._lost


def node_count(environment: Mapping[str, str]) -> int:
    """Nodes of the SLURM job that this process is in; 0 outside one."""
    if "SLURM_JOB_ID" not in environment:
        return 0
    return int(environment.get("SLURM_NNODES") or environment.get("SLURM_JOB_NUM_NODES") or 0)


def node_address(name: str) -> str:
    """Where SLURM itself reaches a node; the name where it does not tell."""
    told = _ask("scontrol", "show", "node", "-o", name)
    found = re.search(r"\bNodeAddr=(\S+)", told or "")
    return found[1] if found else name


def lost_nodes(environment: Mapping[str, str]) -> list[str]:
    """Nodes of the job that start nothing any more; each is asked by a step of its own."""
    listed = _ask("scontrol", "show", "hostnames", environment.get("SLURM_JOB_NODELIST", ""))
    names = (listed or "").split()
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(_answers, names))
    return [name for name, answered in zip(names, answers, strict=True) if not answered]


def _answers(name: str) -> bool:
    words = ("srun", "--overlap", "--nodes=1", "--ntasks=1", f"--nodelist={name}", "true")
    return _ask(*words) is not None


def _ask(*words: str) -> str | None:
    """What a command printed; None where it failed or did not end."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SLURM_CPUS_PER_TASK")}
    try:
        done = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ASK_S,
            env=environment,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
