"""What a kill left behind is taken away later, and never what somebody is still using.

Whoever uses a folder or a draft holds a lock on it, which ends with the process.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    _CAN_LOCK = False
else:
    _CAN_LOCK = True

YOUNG_S = 60.0
"""Nothing younger is taken away: it may have been made and not yet locked."""
BUILD_YOUNG_S = 600.0
"""The same for a lock of torch's on an extension that it builds, of which DeepSpeed's take a minute
or two; on a home of several nodes another one may be building."""


@contextmanager
def in_use(path: Path) -> Iterator[None]:
    """Say that a file or folder is being used, until the block or the process ends."""
    descriptor = None
    if _CAN_LOCK:
        with suppress(OSError):
            descriptor = os.open(path, os.O_RDONLY)
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    try:
        yield
    finally:
        if descriptor is not None:
            os.close(descriptor)


def is_in_use(path: Path) -> bool:
    """Whether somebody says so; never where nothing can be locked."""
    if not _CAN_LOCK:
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    finally:
        os.close(descriptor)
    return False


def sweep(folder: Path, name: str, *, young_s: float = YOUNG_S) -> int:
    """Take away what lies in a folder under a name like this regular expression, is ours, is not
    young and is used by nobody; how many. Never raises for what cannot be taken away."""
    if not _CAN_LOCK:
        return 0
    gone = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if re.fullmatch(name, entry.name):
                with suppress(OSError):
                    gone += _take_away(entry, young_s)
    return gone


def sweep_build_locks() -> int:
    """Take away the locks of builds that were ended, for which every later one would wait; how
    many."""
    told = os.environ.get("TORCH_EXTENSIONS_DIR")
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    builds = Path(told).glob("*") if told else Path(cache, "torch_extensions").glob("*/*")
    return sum(sweep(build, "lock", young_s=BUILD_YOUNG_S) for build in builds)


def _take_away(entry: os.DirEntry[str], young_s: float) -> bool:
    found = entry.stat(follow_symlinks=False)
    if entry.is_symlink() or found.st_uid != os.getuid():
        return False
    if time.time() - found.st_mtime < young_s:
        return False
    descriptor = os.open(entry.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        # Somebody who uses it, or a file system without locks: it stays.
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if entry.is_dir(follow_symlinks=False):
            import shutil  # late: it loads what unpacks archives, and most starts find nothing

            shutil.rmtree(entry.path, ignore_errors=True)
        else:
            os.unlink(entry.path)
    finally:
        os.close(descriptor)
    return not os.path.lexists(entry.path)
