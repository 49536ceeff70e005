"""Locks that end with whoever holds them: one writer of a journal, one benchmark a GPU."""

from __future__ import annotations

import errno
import os
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    _CAN_LOCK = False
else:
    _CAN_LOCK = True

WAIT_S = 30.0
"""How long to wait for another writer; each needs milliseconds."""
NAMESPACE = "BENCH_RUNNER_LOCKS"
"""Environment variable: benchmarks under another name do not see each other (tests have theirs)."""
DEVICE_WAIT_S = 6.0
"""How long a benchmark waits for one that is just ending; a killed one's ranks need 5 s."""
_UNSUPPORTED = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EINVAL}


def lock(descriptor: int, path: Path) -> None:
    """Be the only writer of an open file until it is closed, also among the nodes that share its
    file system, where that has locks. Raises OSError."""
    deadline = time.monotonic() + WAIT_S
    while _CAN_LOCK:
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except OSError as error:
            if error.errno in _UNSUPPORTED:
                return
            if error.errno not in (errno.EACCES, errno.EAGAIN):
                raise
        if time.monotonic() > deadline:
            raise TimeoutError(errno.ETIMEDOUT, "Another program keeps it locked", str(path))
        time.sleep(0.005)


class DeviceInUseError(ValueError):
    """Another benchmark runs on the same device."""


@contextmanager
def only_benchmark(devices: Iterable[str], wait_s: float = DEVICE_WAIT_S) -> Iterator[None]:
    """Be the only benchmark on these devices of this machine, whoever else's it may be.

    ``devices`` are the GPUs' UUIDs, or ``cpu``. Raises DeviceInUseError, which names one.
    """
    deadline = time.monotonic() + wait_s
    with ExitStack() as held:
        # In one order, so that two that want the same two do not hold one each.
        for device in sorted(set(devices)):
            while True:
                taken = _take(f"{os.environ.get(NAMESPACE, '')}:{device}")
                if taken is not None:
                    held.callback(taken.close)
                    break
                if time.monotonic() > deadline:
                    raise DeviceInUseError(device)
                time.sleep(0.1)
        yield


def _take(name: str) -> socket.socket | None:
    """A socket bound to a name, or None where another process has it.

    On Linux the name lies in no folder: nothing is left behind, nobody's rights or temporary
    folder matter, and it is free as soon as its process is gone.
    """
    if sys.platform != "linux":
        return socket.socket()  # benchmarks of GPUs run on Linux
    found = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        found.bind(f"\0gpu-grant-advisor:{name}"[:100])
    except OSError as error:
        found.close()
        if error.errno == errno.EADDRINUSE:
            return None
        return socket.socket(socket.AF_UNIX)  # a sandbox without such names: nobody can tell
    return found
