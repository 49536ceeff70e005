"""What ends the program from outside: a request, and the terminal when it is closed."""

from __future__ import annotations

import asyncio
import os
import select
import signal
import threading
from contextlib import suppress

from textual.app import App

ENDED_BY = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
END_WITHIN_S = 3.0
_INPUT = 0


def end_from_outside(app: App[None]) -> None:
    """End ``app`` as by its key when it is asked to, or when nobody can see it any more."""
    loop = asyncio.get_running_loop()
    for number in ENDED_BY:
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
            loop.add_signal_handler(number, _end, app, 128 + number)
    if hasattr(select, "poll") and not app.is_headless and os.isatty(_INPUT):
        threading.Thread(target=_end_with_terminal, args=(app, loop), daemon=True).start()


def no_more() -> None:
    """A request while it is ending already does what it does to any program."""
    for number in ENDED_BY:
        with suppress(NotImplementedError, RuntimeError, ValueError):
            asyncio.get_running_loop().remove_signal_handler(number)


def _end_with_terminal(app: App[None], loop: asyncio.AbstractEventLoop) -> None:
    """SIGHUP goes to whoever's terminal it was, which may be a shell or a recorder before us."""
    look = select.poll()
    look.register(_INPUT, 0)  # no input: only that the other end is gone
    while not any(found & (select.POLLHUP | select.POLLERR) for _, found in look.poll()):
        pass
    # What draws may wait for ever for a terminal that is gone.
    _end_for_certain(128 + signal.SIGHUP)
    with suppress(RuntimeError):  # it has ended by itself
        loop.call_soon_threadsafe(_end, app, 128 + signal.SIGHUP)


def _end(app: App[None], code: int) -> None:
    """The terminal is put back, and a benchmark of ours ends."""
    _end_for_certain(code)
    app.exit(return_code=code)


def _end_for_certain(code: int) -> None:
    timer = threading.Timer(END_WITHIN_S, os._exit, [code])
    timer.daemon = True
    timer.start()
