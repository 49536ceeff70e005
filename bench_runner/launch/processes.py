"""Child processes of a measurement: found, ended as a group, and what their logs say last."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = "BENCH_RUNNER_GROUP"
"""Environment variable by which every process of a group is known, whatever session it is in."""
LOG_LINES = 20
MAX_LINE = 400
"""Characters of a log's line that are told."""
WATCHED_PARENT = "BENCH_RUNNER_WATCHED_PARENT"
"""Environment variable: the process without which a child has nothing to do."""
_TERMINATE_S = 2.0
_LOOK_S = 0.5
_ROOT = str(Path(__file__).resolve().parents[2])


def module_command(module: str) -> list[str]:
    """How a module of this program is started: the folder one stands in is nowhere on its path."""
    return [sys.executable, "-P", "-m", module]


def child_environment(base: Mapping[str, str] | None = None) -> dict[str, str]:
    """``base`` (else our own environment) for a Python child and all that it starts.

    They find this very program, and the tools beside this Python before others of that name: two
    versions of ninja would build an extension anew in turn. The folder one stands in is code of
    nobody: neither by PYTHONPATH's empty entries nor, down to torchrun's ranks, by ``-m``.
    """
    environment = dict(os.environ if base is None else base)
    paths = [entry for entry in environment.get("PYTHONPATH", "").split(os.pathsep) if entry]
    # Where it is installed every Python looks; named here, it would go before Python's own.
    if _ROOT not in (sysconfig.get_path("purelib"), sysconfig.get_path("platlib")):
        paths.insert(0, _ROOT)
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    environment["PYTHONSAFEPATH"] = "1"
    tools = str(Path(sys.executable).parent)
    found = environment.get("PATH") or os.defpath
    if found.split(os.pathsep)[0] != tools:
        environment["PATH"] = os.pathsep.join([tools, found])
    return environment


def ending_signals() -> tuple[signal.Signals, ...]:
    """The signals that ask this program to end: not SIGHUP where it was started with nohup."""
    numbers = [signal.SIGINT, signal.SIGTERM]
    hangup = getattr(signal, "SIGHUP", None)  # not on Windows
    if hangup is not None and signal.getsignal(hangup) is not signal.SIG_IGN:
        numbers.append(hangup)
    return tuple(numbers)


@contextmanager
def at_signals(then: Callable[[], object]) -> Iterator[None]:
    """Within the block the signals that ask this program to end do this instead."""
    before = {n: signal.signal(n, lambda *_: then()) for n in ending_signals()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that ended and only waits for its parent to look does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        state = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return True  # no /proc here
    return not state or state[0] not in ("Z", "X")


def when_parent_ends(then: Callable[[], None]) -> None:
    """Do this as soon as the process is gone that named itself in our environment.

    A kill leaves no time to tell a child anything, so the child looks.
    """
    said = os.environ.pop(WATCHED_PARENT, "")
    if not said.isdigit() or os.name != "posix":
        return
    parent = int(said)

    def watch() -> None:
        while is_alive(parent):
            time.sleep(_LOOK_S)
        then()

    threading.Thread(target=watch, daemon=True).start()


def end_hard(patience_s: float = 2.0) -> None:
    """End this process as SIGTERM does, and for certain after a moment."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(patience_s)
    os._exit(128 + signal.SIGTERM)


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


def read_end(path: Path, count: int) -> str:
    """The last bytes of a file as text, however large it is; "" where there is none."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - count))
            return file.read(count).decode("utf-8", errors="replace")
    except OSError:
        return ""


def shorten(path: Path, count: int = 1024 * 1024) -> None:
    """Keep of a log its last bytes alone."""
    try:
        if path.stat().st_size > count:
            end = read_end(path, count)
            path.write_text(end, encoding="utf-8", errors="replace")
    except OSError:
        pass


def log_tail(path: Path, lines: int = LOG_LINES, before: str = "\0") -> tuple[str, ...]:
    """The last lines of a log, however large it is, above the first with a word; () where there
    is none."""
    text, found, _ = read_end(path, 256 * 1024).replace("\0", "").partition(before)
    # A progress bar overwrites its line: what came last counts.
    kept = [line.rstrip().rpartition("\r")[2] for line in text.split("\n")[: -1 if found else None]]
    return tuple(line[-MAX_LINE:] for line in kept if line.strip())[-lines:]


def end_group(process: subprocess.Popen[bytes], value: str, variable: str = MARK) -> None:
    """End a process and all that carries its mark: terminate, wait, kill. torchrun's workers have
    sessions of their own, so the mark in their environment is what finds them."""
    _signal(process, marked(variable, value), signal.SIGTERM)
    deadline = time.monotonic() + _TERMINATE_S
    while time.monotonic() < deadline and (process.poll() is None or marked(variable, value)):
        time.sleep(0.05)
    for _ in range(20):
        left = marked(variable, value)
        if process.poll() is not None and not left:
            return
        _signal(process, left, signal.SIGKILL)
        time.sleep(0.1)


def _signal(process: subprocess.Popen[bytes], pids: list[int], number: signal.Signals) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
