"""Child processes of a measurement: found, ended as a group, and what their logs say last."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

MARK = "BENCH_RUNNER_GROUP"
"""Environment variable by which every process of a group is known, whatever session it is in."""
LOG_LINES = 20
MAX_LINE = 400
"""Characters of a log's line that are told."""
_TERMINATE_S = 10.0


def marked(variable: str, value: str) -> list[int]:
    """The living processes with this in their environment, as far as it may be read."""
    import psutil  # merging and exporting records must not need it

    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            # A zombie has ended already and only waits for its parent to look.
            zombie = process.status() == psutil.STATUS_ZOMBIE
            if not zombie and process.environ().get(variable) == value:
                found.append(process.pid)
    return found


def members(group: str) -> list[int]:
    """The living processes that carry a group's mark."""
    return marked(MARK, group)


def log_tail(path: Path, lines: int = LOG_LINES) -> tuple[str, ...]:
    """The last lines of a log, however large it is; () where there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - 64 * 1024))
            text = file.read().decode("utf-8", errors="replace")
    except OSError:
        return ()
    # A progress bar overwrites its line: what came last counts.
    kept = (line.rstrip().rpartition("\r")[2] for line in text.split("\n"))
    return tuple(deque((line[-MAX_LINE:] for line in kept if line.strip()), maxlen=lines))


def end_group(process: subprocess.Popen[bytes], group: str) -> None:
    """End every process of a group: terminate, wait, kill. torchrun's workers have sessions of
    their own, so the mark in their environment is what finds them."""
    _signal(process, group, signal.SIGTERM)
    deadline = time.monotonic() + _TERMINATE_S
    while time.monotonic() < deadline and (process.poll() is None or members(group)):
        time.sleep(0.05)
    for _ in range(20):
        if process.poll() is not None and not members(group):
            return
        _signal(process, group, signal.SIGKILL)
        time.sleep(0.1)


def _signal(process: subprocess.Popen[bytes], group: str, number: signal.Signals) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
    for pid in members(group):
        with suppress(ProcessLookupError):
            os.kill(pid, number)
