"""One line on a terminal's stderr that says how far a long search has come."""

from __future__ import annotations

import sys
from threading import Event, Lock, Thread
from time import monotonic

from advisor.cli.safe_output import erase_line

EVERY_S = 1.0
WIDTH = 110


class ProgressLine:
    """Rewritten every second until its block ends; where stderr is no terminal, no line can be
    taken back, and nothing is said."""

    def __init__(self, words: str) -> None:
        self._words = words
        self._began = monotonic()
        self._done = Event()
        self._lock = Lock()
        self._shown = False
        self._thread = Thread(target=self._run, daemon=True)

    def __enter__(self) -> ProgressLine:
        if sys.stderr.isatty():
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """Say no more."""
        self._done.set()
        if self._thread.is_alive():
            self._thread.join()
        self.clear()

    def say(self, words: str) -> None:
        """What is said from now on."""
        self._words = words

    def clear(self) -> None:
        """Make room for what is printed; the line comes back below it."""
        with self._lock:
            if self._shown:
                erase_line()
                sys.stderr.flush()
                self._shown = False

    def _run(self) -> None:
        wait_s = EVERY_S / 2
        while not self._done.wait(wait_s):
            wait_s = EVERY_S
            with self._lock:
                erase_line()
                line = f"{monotonic() - self._began:.0f} s: {self._words}"[:WIDTH]
                print(line, end="", file=sys.stderr, flush=True)
                self._shown = True
