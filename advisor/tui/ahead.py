"""Reads the store in a second process while this one is still loading Textual.

Importing DuckDB and asking the first questions takes about as long as importing Textual does. A
forked child does the one while we do the other, and hands its answer over through a pipe. Where
that cannot be done (no fork, threads already running, a large store) the program reads the store
itself a little later: nothing depends on this but the time to the first screen.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

MAX_STORE_BYTES = 16 * 1024 * 1024
"""Handing over what a larger store holds would take longer than reading it here."""


class Ahead:
    """A reading under way in a child process."""

    def __init__(self, pid: int, pipe: int) -> None:
        self._pid = pid
        self._pipe = pipe
        self._content = b""
        # A pipe holds less than an answer: somebody has to read it, or the child cannot finish.
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def _receive(self) -> None:
        with os.fdopen(self._pipe, "rb") as file:
            self._content = file.read()
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)

    @property
    def is_here(self) -> bool:
        """Whether `take` would not wait."""
        return not self._thread.is_alive()

    def take(self) -> object | None:
        """Wait for what the child read; None where it could not."""
        self._thread.join()
        # Our own child wrote this; a child that failed wrote nothing.
        return pickle.loads(self._content) if self._content else None


def read_ahead(path: Path, read: Callable[[], object]) -> Ahead | None:
    """Run ``read`` in a child process; None where it has to be done here."""
    if not hasattr(os, "fork") or threading.active_count() != 1:
        return None
    try:
        if path.stat().st_size > MAX_STORE_BYTES:
            return None
        reading, writing = os.pipe()
        pid = os.fork()
    except OSError:
        return None
    if pid:
        os.close(writing)
        return Ahead(pid, reading)
    # From here on this is the child, which must never return into the program.
    try:
        os.close(reading)
        with os.fdopen(writing, "wb") as file:
            file.write(pickle.dumps(read(), pickle.HIGHEST_PROTOCOL))
    except BaseException:
        # What is wrong with the store is said by the parent, which now reads it itself.
        os._exit(1)
    os._exit(0)
