"""Ctrl-C while the program is still loading."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quiet_interrupt() -> Iterator[None]:
    """Let Ctrl-C end the process on the spot, where there is nothing yet to tidy up.

    As an exception it would surface in the middle of an import: as a traceback, or not at all.
    """
    usual = signal.getsignal(signal.SIGINT)
    if usual is not signal.default_int_handler:
        yield  # whoever started us has it ignored
        return
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
