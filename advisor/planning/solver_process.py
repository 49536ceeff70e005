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
from typing import IO, Any, Generic, Protocol, TypeVar

from advisor.costs.amount_words import seconds_words
from advisor.typed_input import InputError
from bench_runner.launch.processes import (
    WATCHED_PARENT,
    child_environment,
    module_command,
    when_parent_ends,
)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
START_SECONDS = 60.0
"""For a child to begin, on a busy machine; its time counts from then."""
GRACE_SECONDS = 1.0
GRACE_SHARE = 0.05
"""Beyond the time for the search, so long and this share of it, a child that does not answer is
ended."""


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
    """One answer in the making; `cancel` ends it at once.

    ``keep`` makes an answer from what the child has said; the last one stands where its time is
    over before it is done.
    """

    def __init__(self, task: Task[T], keep: Callable[[Any], T | None] = lambda _: None) -> None:
        self._task = pickle.dumps(task)
        self._keep = keep
        self._seconds = task.seconds
        self._cancelled = Event()
        self._over = Event()
        self._child: subprocess.Popen[bytes] | None = None

    def cancel(self) -> None:
        """End it; `run` then raises Cancelled."""
        self._cancelled.set()
        if self._child is not None:
            self._child.kill()

    def _limit(self, seconds: float) -> Timer:
        """Ends the child when it is over, by its own process."""
        child = self._child
        assert child is not None

        def end() -> None:
            self._over.set()
            child.kill()

        limit = Timer(seconds, end)
        limit.daemon = True
        limit.start()
        return limit

    def run(self, say: Say = lambda _: None) -> T:
        """The task's answer; ``say`` hears how far it has come. Raises InputError and Cancelled."""
        self._child = subprocess.Popen(
            module_command("advisor.planning.solver_process"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=child_environment() | {WATCHED_PARENT: str(os.getpid())},
        )
        limit = self._limit(START_SECONDS + self._seconds)
        begun = False
        kept: T | None = None
        try:
            with self._child as child:
                if self._cancelled.is_set():
                    child.kill()
                assert child.stdin is not None and child.stdout is not None
                try:
                    child.stdin.write(self._task)
                    child.stdin.close()
                except BrokenPipeError:
                    child.kill()
                while (told := _next(child.stdout)) is not None:
                    kind, value = told
                    if kind == "done":
                        return value  # type: ignore[no-any-return]
                    if kind == "wrong":
                        raise InputError(value)
                    if not begun:
                        begun = True
                        limit.cancel()
                        limit = self._limit(self._seconds * (1 + GRACE_SHARE) + GRACE_SECONDS)
                    kept = self._keep(value) or kept
                    # Outside of what watches the child: a reader of ours may be gone, not it.
                    say(value)
                child.kill()
        finally:
            limit.cancel()
        if self._cancelled.is_set():
            raise Cancelled
        if self._over.is_set() and kept is not None:
            return kept
        if self._over.is_set():
            given = seconds_words(self._seconds)
            raise InputError(f"no answer was found in {given}: give it more with --seconds")
        raise InputError(
            "the search ended without an answer, which a plan too large for this computer's "
            "memory does: ask for fewer experiments or GPUs"
        )


def _next(answers: IO[bytes]) -> tuple[str, Any] | None:
    """What the child says next; None when it has ended, in the middle of a word or after one."""
    try:
        return pickle.load(answers)  # type: ignore[no-any-return]
    except (EOFError, pickle.UnpicklingError):
        return None


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
