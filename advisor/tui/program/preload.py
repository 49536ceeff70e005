"""Reads the store in a second process while this one is still loading Textual.

Importing DuckDB and asking the first questions takes about as long as importing Textual does, and
threads of one process would take turns at it. A child does the one while we do the other, and
hands its answer over through a pipe. It is forked and not started anew: what both need is loaded
once. Where there is none (Windows, a large store, a child that failed) the program reads the store
itself a little later: only the time to the first screen depends on this.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MAX_STORE_BYTES = 16 * 1024 * 1024
"""Handing over what a larger store holds would take longer than reading it here."""
WAIT_S = 0.1
"""A wait that is shorter than drawing an empty screen first, and the answer after it."""


class Preload:
    """A reading under way in a child process."""

    def __init__(self, child: int, pipe: int) -> None:
        """``child`` is its process, ``pipe`` where its answer comes out."""
        self._child = child
        self._content = b""
        self._failed = True
        # A pipe holds less than an answer: somebody has to read it, or the child cannot finish.
        self._thread = threading.Thread(target=self._receive, args=[pipe], daemon=True)
        self._thread.start()

    def _receive(self, pipe: int) -> None:
        with open(pipe, "rb") as file:
            self._content = file.read()
        _, status = os.waitpid(self._child, 0)
        self._failed = status != 0

    def is_here(self) -> bool:
        """Whether the answer has come, waiting for it a moment at most."""
        self._thread.join(WAIT_S)
        return not self._thread.is_alive()

    def take(self) -> object | None:
        """Wait for what the child read; None where it could not."""
        self._thread.join()
        # Our own child wrote this. One that failed says nothing here: the program tries itself.
        return None if self._failed else pickle.loads(self._content)


def read_ahead(store_path: Path, read: Callable[[], object]) -> Preload | None:
    """Start ``read``, of that store, in a child process; None where that would not help.

    What it returns must be something that can be pickled.
    To be called before anything starts a thread: a fork takes none of them along, but their locks.
    """
    try:
        if sys.platform == "win32" or store_path.stat().st_size > MAX_STORE_BYTES:
            return None
        pipe, answer = os.pipe()
        child = os.fork()
    except OSError:
        return None
    if child == 0:
        os.close(pipe)  # or a child whose parent is gone would wait for somebody to read
        _answer(read, answer)
    os.close(answer)
    return Preload(child, pipe)


def _answer(read: Callable[[], object], pipe: int) -> None:
    """The child: read, write the pickled answer, and end without a word in any case."""
    failed = 1
    try:
        brought = read()
        with open(pipe, "wb") as file:
            pickle.dump(brought, file, pickle.HIGHEST_PROTOCOL)
        failed = 0
    finally:
        # Nothing of the parent's is tidied up here: neither its terminal nor what it buffered.
        os._exit(failed)
