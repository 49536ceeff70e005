"""The one place where text leaves the commands: nothing in it steers the terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from advisor.tables.plain_values import harmless


class SafeStream:
    """A stream that shows control and direction characters as question marks."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write the text, line ends and tabs as they are."""
        self._stream.write(harmless(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def erase_line() -> None:
    """Erase the line of a terminal's stderr: the one sequence that is the program's own."""
    stream = sys.stderr._stream if isinstance(sys.stderr, SafeStream) else sys.stderr
    stream.write("\r\x1b[K")


@contextmanager
def safe_output() -> Iterator[None]:
    """Let stdout and stderr pass through the filter until the block ends."""
    streams = sys.stdout, sys.stderr
    safe = tuple(None if stream is None else SafeStream(stream) for stream in streams)
    sys.stdout, sys.stderr = safe
    try:
        yield
    finally:
        # Whoever put something else in its place (a reader that went away) meant it.
        if sys.stdout is safe[0]:
            sys.stdout = streams[0]
        if sys.stderr is safe[1]:
            sys.stderr = streams[1]
