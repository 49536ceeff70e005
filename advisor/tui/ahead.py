"""Reads the store in a second process while this one is still loading Textual.

Importing DuckDB and asking the first questions takes about as long as importing Textual does, and
threads of one process would take turns at it. A child does the one while we do the other, and
hands its answer over through a pipe. Where there is none (a large store, a child that failed) the
program reads the store itself a little later: only the time to the first screen depends on this.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from pathlib import Path

MAX_STORE_BYTES = 16 * 1024 * 1024
"""Handing over what a larger store holds would take longer than reading it here."""


class Ahead:
    """A reading under way in a child process."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process
        self._content = b""
        # A pipe holds less than an answer: somebody has to read it, or the child cannot finish.
        self._thread = threading.Thread(target=self._receive, daemon=True)
        self._thread.start()

    def _receive(self) -> None:
        self._content, _ = self._process.communicate()

    def is_here(self, *, within_s: float) -> bool:
        """Whether the answer has come, waiting for it a moment at most."""
        self._thread.join(within_s)
        return not self._thread.is_alive()

    def take(self) -> object | None:
        """Wait for what the child read; None where it could not."""
        self._thread.join()
        # Our own child wrote this. One that failed says nothing here: the program tries itself.
        return pickle.loads(self._content) if self._process.returncode == 0 else None


def read_ahead(path: Path, state_path: Path) -> Ahead | None:
    """Start reading for the inputs that were kept; None where that would not help."""
    try:
        if path.stat().st_size > MAX_STORE_BYTES:
            return None
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(path), str(state_path)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
    except OSError:
        return None
    return Ahead(process)


def main() -> None:
    """The child: read, and write the pickled answer to stdout."""
    from advisor.state import load_state
    from advisor.tui.feed import Feed

    state, _ = load_state(Path(sys.argv[2]))
    read = Feed(Path(sys.argv[1])).read_for_another(state)
    sys.stdout.buffer.write(pickle.dumps(read, pickle.HIGHEST_PROTOCOL))


if __name__ == "__main__":
    main()
