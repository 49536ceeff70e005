"""Lets a waiting writer in between readers that come and go without a gap.

DuckDB's lock has no queue: many readers whose visits overlap would keep a writer out for as long
as they like. So a writer that has to wait says so by a shared lock on a file beside the store, and
readers that see it hold back for a moment. This is courtesy only: whoever cannot take part (a
read-only folder, a system without flock) just tries its luck, and a kill leaves at most an empty
file that means nothing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    _CAN_LOCK = False
else:
    _CAN_LOCK = True


_AS_IT_IS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
"""Neither wait for a pipe of that name nor follow a link."""


def _sign(store: Path) -> Path:
    return store.with_name(f"{store.name}.writer-waits")


def writer_waits(store: Path) -> bool:
    """Whether some writer says that it is waiting."""
    if not _CAN_LOCK:
        return False
    try:
        descriptor = os.open(_sign(store), os.O_RDONLY | _AS_IT_IS)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a disk without locks: nobody can say so
        return False
    finally:
        os.close(descriptor)
    return False


@contextmanager
def waiting_writer(store: Path) -> Iterator[None]:
    """Say that a writer is waiting, until the block ends."""
    sign = _sign(store)
    descriptor = None
    try:
        if _CAN_LOCK:
            descriptor = os.open(sign, os.O_RDWR | os.O_CREAT | _AS_IT_IS, 0o666)
            # Held up only by a reader in the middle of its look, which is over at once.
            fcntl.flock(descriptor, fcntl.LOCK_SH)
    except OSError:
        pass
    try:
        yield
    finally:
        if descriptor is not None:
            _take_down(sign, descriptor)


def _take_down(sign: Path, descriptor: int) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        sign.unlink()
    except OSError:
        pass  # another writer waits and will do it
    finally:
        os.close(descriptor)
