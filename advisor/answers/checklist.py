"""What to settle before somebody relies on an answer: doubts and their commands (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, NamedTuple

from advisor.tables.plain_values import fill

if TYPE_CHECKING:
    from price_catalog.builds import Build

WIDTH = 100
"""Columns of an answer for a person."""
NARROW = 80
"""Below it a long command runs on: lines are dear there."""

TYPED_STORE: ContextVar[str | None] = ContextVar("TYPED_STORE", default=None)
"""The store that a command line named: every command that an answer to it suggests names it too."""


class Doubt(NamedTuple):
    """One thing to settle."""

    about: str
    """One word: ``ties``, ``time``, ``power``, ``price``, ``rent``, ..."""
    words: str
    command: str
    """Settles it, and works as typed; empty where only the words help."""


def doubt_objects(doubts: Iterable[Doubt]) -> list[dict[str, Any]]:
    """The doubts as JSON has them."""
    return [
        {"about": d.about, "words": d.words, "command": of_typed_store(d.command)} for d in doubts
    ]


def of_typed_store(command: str) -> str:
    """A command as it has to be typed to ask the same store; an empty one stays empty."""
    store = TYPED_STORE.get()
    if store is None or not command.startswith("advisor") or " --store " in f"{command} ":
        return command
    own, mark, theirs = command.partition(" -- ")
    return f"{own} --store {quoted(store)}{mark}{theirs}"


def quoted(text: str) -> str:
    """A word for a shell: in quotes where it needs them."""
    plain = text.isascii() and all(ch.isalnum() or ch in "-._,/:+=@%" for ch in text)
    return text if plain and text else "'" + text.replace("'", "'\"'\"'") + "'"


def asked_of(command: str, model: str, build: Build, *, machine: bool = False) -> str:
    """``advisor prices rent --model pythia-1b --gpu rtx-5090 --count 2``: a command about a build;
    with ``machine`` about the very machine."""
    words = f"advisor {command} --model {quoted(model)} --gpu {quoted(build.gpu.gpu_id)} "
    words += f"--count {build.gpu_count}"
    return f"{words} --machine {quoted(build.host.host_id)}" if machine else words


def with_command(words: str, command: str, width: int) -> str:
    """Words and the command they speak of, which stands whole on a line of its own where both do
    not fit in one."""
    command = of_typed_store(command)
    if len(words) + 1 + len(command) <= width:
        return f"{words} {command}"
    return f"{fill(words, width)}\n  {command}"


def doubt_block(title: str, doubts: Sequence[Doubt], width: int) -> list[str]:
    """The doubts under a title as one block of text; [] where there are none. One a line with its
    command at the end, which has lines of its own where it does not fit."""
    lines, label = [title], max((len(doubt.about) for doubt in doubts), default=0) + 4
    for about, words, plain in doubts:
        start, command = f"  {about}".ljust(label), of_typed_store(plain)
        gap = width - label - len(command) - len(words)
        if gap >= 2:
            lines.append(f"{start}{words}{' ' * gap}{command}".rstrip())
            continue
        lines.append(fill(words, width, initial_indent=start, subsequent_indent=" " * label))
        lines += command_lines(command, label, width) if command else []
    return ["\n".join(lines)] if doubts else []


def command_lines(command: str, label: int, width: int) -> list[str]:
    """A command after ``label`` blanks, broken before a flag as a shell reads it."""
    start, *flags = command.split(" --")
    lines = [f"{' ' * label}{start}"]
    for flag in flags:
        if width < NARROW or len(lines[-1]) + len(f" --{flag} \\") <= width:
            lines[-1] += f" --{flag}"
        else:
            lines[-1] += " \\"
            lines.append(f"{' ' * (label + 2)}--{flag}")
    return lines
