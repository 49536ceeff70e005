"""What a program does whose caller closed its stdin, stdout or stderr."""

from __future__ import annotations

import errno
import io
import os
import sys


class ClosedStream(io.TextIOBase):
    """Stands for a stdout that the caller closed, where an answer to nobody is none."""

    def write(self, text: str) -> int:
        """Refuse all but nothing. Raises OSError."""
        if text:
            raise OSError(errno.EBADF, "stdout is closed, so that nobody reads the answer")
        return 0


def fill_closed_streams() -> None:
    """Put the null device wherever one of the three is closed, and let Python write to it.

    Else the next file that is opened, such as the store, takes the number under which libraries
    and children write their messages, and Python prints what is meant for stderr on stdout.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
