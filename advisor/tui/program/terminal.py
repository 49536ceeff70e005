"""What a terminal sends: keys that come faster than they are handled, bytes that are not UTF-8; and
what ends the program from outside: a request, and the terminal when it is closed."""

from __future__ import annotations

import asyncio
import codecs
import os
import select
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic

from textual import events
from textual.app import App
from textual.driver import Driver
from textual.message_pump import MessagePump

LONGEST_S = 1.0
"""So long does a key wait for the one before it: what had that may be gone."""


class TypedAhead(App[None]):
    """Handles one key after the other."""

    _handling_since: float | None = None

    def __init__(self) -> None:
        super().__init__()
        self._waiting: deque[events.Key | events.Paste] = deque()

    async def on_event(self, event: events.Event) -> None:
        """Take a key from the terminal now, or once the one before it is done."""
        if not isinstance(event, events.Key | events.Paste) or event.is_forwarded:
            await super().on_event(event)
            return
        self._waiting.append(event)
        if self._handling_since is None:
            await self._next()
        else:
            self.set_timer(LONGEST_S, self._wait_no_longer)

    async def _wait_no_longer(self) -> None:
        """Go on where nothing came back of a key, as of one that closed all that it passed."""
        since = self._handling_since
        if since is not None and monotonic() - since >= LONGEST_S:
            await self._next()

    async def _next(self) -> None:
        self._handling_since = None
        if not self._waiting:
            return
        self._handling_since = monotonic()
        target = self.focused or (self.screen_stack[-1] if self.screen_stack else self)
        await super().on_event(self._waiting.popleft())
        way = list(target.ancestors_with_self)
        # A key bubbles up to the program, where what it is bound to is done; a message that this
        # sends, such as that a text is entered, takes the same way. Then come the page that was
        # opened, and what it gives the focus to.
        self._follow([*way, self, *way, self])

    def _follow(self, nodes: Sequence[MessagePump]) -> None:
        """Come behind the key, and what it set going, through all that they pass."""
        for at, node in enumerate(nodes):
            if node.is_running and node.call_later(self._follow, nodes[at + 1 :]):
                return
        top = self.screen_stack[-1] if self.screen_stack else self
        if not top.call_later(self.call_later, self._next):
            self.call_later(self._next)


def taking_any_bytes(driver: type[Driver]) -> type[Driver]:
    """The driver, whose decoder shows a byte that is no UTF-8 as a replacement character."""
    module = sys.modules[driver.__module__]
    if hasattr(module, "getincrementaldecoder"):
        vars(module)["getincrementaldecoder"] = _lenient
    return driver


def _lenient(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


ENDED_BY = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
END_WITHIN_S = 3.0
_INPUT = 0


def end_from_outside(app: App[None]) -> None:
    """End ``app`` as by its key when it is asked to, or when its terminal is closed."""
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
