"""One line on stderr that says how far a long search has come."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock, Thread
from time import monotonic

from advisor.cli.safe_output import erase_line

EVERY_S = 1.0
LISTEN_S = 0.1
ELSEWHERE_S = 3.0
"""Where no line can be taken back, at least so long until the next."""
WIDTH = 110


class ProgressLine:
    """Rewritten every second on a terminal; elsewhere a line is added where the words changed.

    ``words`` are of what comes before the search, and are only where they can be taken back: what
    is wrong with what was asked shows by then, and is said in one line, however slow the machine.
    """

    def __init__(self, words: str) -> None:
        self._words = words
        self._began = monotonic()
        self._done = Event()
        self._lock = Lock()
        self._live = sys.stderr.isatty()
        self._said = "" if self._live else words
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()

    def say(self, words: str) -> None:
        """What is said from now on."""
        self._words = words

    def clear(self) -> None:
        """Make room for what is printed; the line comes back below it."""
        with self._lock:
            if self._live and self._said:
                erase_line()
                sys.stderr.flush()
                self._said = ""

    def end(self) -> None:
        """Say no more."""
        self._done.set()
        self._thread.join()
        self.clear()

    def _run(self) -> None:
        wait = EVERY_S / 2
        while not self._done.wait(wait):
            wait = EVERY_S if self._live else LISTEN_S
            with self._lock:
                if self._live:
                    erase_line()
                elif self._words == self._said:
                    continue
                line = f"{monotonic() - self._began:.0f} s: {self._words}"[:WIDTH]
                print(line, end="" if self._live else "\n", file=sys.stderr, flush=True)
                self._said = self._words
            wait = EVERY_S if self._live else ELSEWHERE_S


@contextmanager
def progress_line(words: str) -> Iterator[ProgressLine]:
    """A line until the end of the block."""
    line = ProgressLine(words)
    try:
        yield line
    finally:
        line.end()
