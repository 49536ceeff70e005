"""What the solver is asked, in a process of its own.

The solver's library prints on stdout, which belongs to the answer or to the screen, and a search
cannot be interrupted from Python; a child can be, and leaves the screen free. It reads a pickled
task from stdin and writes pickled messages to the stdout that it was given.
"""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from threading import Event, Timer
from typing import Any, Generic, Protocol, TypeVar

from advisor.parse import InputError
from bench_runner.processes import (
    WATCHED_PARENT,
    child_environment,
    module_command,
    when_parent_ends,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
GRACE_SECONDS = 30.0
"""Beyond the time for the search, after which a child that does not answer is ended."""


class Cancelled(Exception):
    """Somebody said stop."""


Say = Callable[[Any], None]
"""Hears how far a child has come, in what its task says."""


class Task(Protocol[T_co]):
    """What a child does; it can be pickled."""

    @property
    def seconds(self) -> float:
        """For all of it."""

    def run(self, say: Say) -> T_co:
        """The answer; ``say`` hears how far it has come. Raises InputError."""


class Search(Generic[T]):
    """One answer in the making; `cancel` ends it at once."""

    def __init__(self, task: Task[T]) -> None:
        self._task = pickle.dumps(task)
        self._seconds = task.seconds
        self._cancelled = Event()
        self._child: subprocess.Popen[bytes] | None = None

    def cancel(self) -> None:
        """End it; `run` then raises Cancelled."""
        self._cancelled.set()
        if self._child is not None:
            self._child.kill()

    def run(self, say: Say = lambda _: None) -> T:
        """The task's answer; ``say`` hears how far it has come. Raises InputError and Cancelled."""
        self._child = subprocess.Popen(
            module_command("advisor.planning.solver_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=child_environment() | {WATCHED_PARENT: str(os.getpid())},
        )
        limit = Timer(self._seconds + GRACE_SECONDS, self._child.kill)
        limit.daemon = True
        limit.start()
        try:
            with self._child as child:
                if self._cancelled.is_set():
                    child.kill()
                assert child.stdin is not None and child.stdout is not None
                try:
                    child.stdin.write(self._task)
                    child.stdin.close()
                    while True:
                        kind, value = pickle.load(child.stdout)
                        if kind == "done":
                            return value  # type: ignore[no-any-return]
                        if kind == "wrong":
                            raise InputError(value)
                        say(value)
                except (EOFError, BrokenPipeError, pickle.UnpicklingError):
                    child.kill()
        finally:
            limit.cancel()
        if self._cancelled.is_set():
            raise Cancelled
        raise InputError(
            "the search ended without an answer, which a plan too large for this computer's "
            "memory does: ask for fewer experiments or GPUs"
        )


def _main() -> None:
    # Ctrl-C reaches the whole group of processes; the solver would not hear of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    when_parent_ends(lambda: os._exit(1))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def send(kind: str, value: Any) -> None:
        pickle.dump((kind, value), answers)
        answers.flush()

    task: Task[Any] = pickle.load(sys.stdin.buffer)
    try:
        send("done", task.run(lambda said: send("at", said)))
    except InputError as error:
        send("wrong", str(error))


if __name__ == "__main__":
    _main()
