"""Child processes of a measurement: found, ended as a group, and what their logs say last."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections import deque
from contextlib import suppress
from pathlib import Path

LOG_LINES = 20


MAX_LINE = 400


def marked(mark: str) -> list[int]:
    """The processes with this entry in their environment (Linux; [] elsewhere)."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if mark.encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
    return found


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


MARK = "BENCH_RUNNER_GROUP"
"""Environment variable by which every process of a group is known, whatever session it is in."""


_TERMINATE_S = 10.0


def members(group: str) -> list[int]:
    """The living processes that carry a group's mark (Linux; [] elsewhere)."""
    wanted = f"{MARK}={group}".encode()
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if wanted not in (entry / "environ").read_bytes().split(b"\0"):
                continue
            # A zombie has ended already and only waits for its parent to look.
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
        except (OSError, IndexError):
            continue
        if state != "Z":
            found.append(int(entry.name))
    return found


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
