"""What takes long, in a thread: of several of one name one runs, and the newest alone counts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from textual.dom import DOMNode
from textual.screen import Screen

Brought = TypeVar("Brought")
_FAULTS = (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError)
"""Errors that no person wrote words for."""
_under_way: WeakKeyDictionary[DOMNode, dict[str, tuple[Any, ...] | None]] = WeakKeyDictionary()
"""Of each widget what runs now, by name, and what waits for its end."""

_writes = count()


def in_thread(
    node: DOMNode,
    name: str,
    work: Callable[[], Brought],
    then: Callable[[Brought], object],
    wrong: Callable[[str], object] | None = None,
) -> None:
    """Do ``work`` in a thread, then ``then`` with what it brought, or ``wrong`` with one line that
    says why not. What was asked before the newest is dropped, and all once ``node`` is gone.

    A thread cannot be ended from outside: were each started at once, keys that come fast would fill
    all places with work that nobody waits for any more.
    """
    running = _under_way.setdefault(node, {})
    if name in running:
        running[name] = (work, then, wrong)
        return
    running[name] = None

    def run() -> None:
        brought: Any = None
        problem = None
        try:
            brought = work()
        except Exception as error:
            problem = error_words(error)
        node.call_later(done, brought, problem)

    def done(brought: Brought, problem: str | None) -> None:
        newer = running.pop(name)
        if isinstance(node, Screen) and not node.children:
            return  # it is being taken down
        if newer is not None:
            in_thread(node, name, *newer)
        elif problem is None:
            then(brought)
        elif wrong is not None:
            wrong(problem)

    node.run_worker(run, thread=True, group=name, exit_on_error=False)


def write_in_thread(
    node: DOMNode,
    work: Callable[[], Brought],
    then: Callable[[Brought], object],
    wrong: Callable[[str], object],
) -> None:
    """The same for what changes something: each is done, whatever is asked after it."""
    in_thread(node, f"write {next(_writes)}", work, then, wrong)


def error_words(error: Exception) -> str:
    """An error in one line."""
    words = " ".join(str(error).split())
    return f"{type(error).__name__}: {words}"[:300] if isinstance(error, _FAULTS) else words
