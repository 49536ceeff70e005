"""Reads what others wrote, with a limit in size and time; pipes are read, devices are not.

A file of 20 GB without content, a device that never ends and a pipe that nobody writes to are all
files by name.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

MIB = 1024 * 1024
PATIENCE_S = 6.0
"""How long a pipe may say nothing: no command waits more than 10 s for one."""
LONGEST_S = 600.0
"""How long a pipe may take in all."""
_CHUNK = MIB
_TOO_LONG = "holds a number of thousands of digits: correct it"
DEEPEST = 60
"""Points in a key of TOML."""
LONGEST_NUMBER = 1000
"""Digits of a number in TOML; no amount that is asked for has fifty."""
_LONG_NUMBER = re.compile(rf"[0-9_]{{{LONGEST_NUMBER},}}")
_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*\"""")


class OutsideError(ValueError):
    """What was named is not read; the message follows its name: ``is larger than 1 MiB``."""


class TooLargeError(OutsideError):
    """It holds more than is read."""


def printable(text: str, instead: str = "?") -> str:
    """What others wrote with ``instead`` for each character that could steer a terminal."""
    if text.isprintable():
        return text
    return "".join(ch if ch.isprintable() else instead for ch in text)


def read_outside(path: str | Path, limit: int) -> bytes:
    """All of a file or pipe of at most ``limit`` bytes. Raises OutsideError and OSError."""
    return b"".join(chunks_outside(path, limit))


def text_outside(path: str | Path, limit: int) -> str:
    """The same as text, without the mark that some editors put before it. Raises OutsideError and
    OSError."""
    raw = read_outside(path, limit)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise OutsideError(f"is not UTF-8 text (byte {error.start}): save it as UTF-8") from None


def check_toml(toml: str) -> None:
    """Raise OutsideError where TOML text has what Python's parser cannot take: a key of 100,000
    parts would keep it busy for minutes, a number of 5,000 digits it refuses in words of its own.
    """
    for number, line in enumerate(toml.split("\n"), start=1):
        if len(line) > LONGEST_NUMBER and _LONG_NUMBER.search(line):
            raise OutsideError(f"has a number too long to be one in line {number}: correct it")
        if line.count(".") > DEEPEST:
            plain = _QUOTED.sub("q", line)
            if any(part.count(".") > DEEPEST for part in re.split("[,=]", plain)):
                raise OutsideError(f"has a key of more than {DEEPEST} parts in line {number}")


def json_outside(text: str | bytes) -> Any:
    """What JSON text says. Raises JSONDecodeError, RecursionError, and OutsideError where a name
    stands twice in an object (which of the two was meant?) or a number has thousands of digits."""
    import json

    try:
        return json.loads(text, object_pairs_hook=each_once)
    except (json.JSONDecodeError, UnicodeDecodeError, OutsideError):
        raise
    except ValueError:
        raise OutsideError(_TOO_LONG) from None


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The object of these names and values. Raises OutsideError where a name stands twice."""
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for name, _ in pairs:
            if name in seen:
                short = ascii(name) if len(name) < 60 else f"{name[:60]!a}…"
                raise OutsideError(f"names {short} twice in one object: leave one of them")
            seen.add(name)
    return found


def lines_outside(path: str | Path, limit: int, longest: int) -> Iterator[bytes]:
    """Its lines with their ends, one by one, none above ``longest`` bytes.

    Only one is held at a time. Raises OutsideError and OSError.
    """
    rest = b""
    number = 1
    for chunk in chunks_outside(path, limit):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line + b"\n"
            number += 1
        if len(rest) > longest:
            raise OutsideError(f"has a line {number} of more than {longest // MIB} MiB")
    if rest:
        yield rest


def is_plain_file(path: str | Path) -> bool:
    """Whether it is a file that can be read twice. Raises OSError."""
    return stat.S_ISREG(os.stat(path).st_mode)


def chunks_outside(path: str | Path, limit: int) -> Iterator[bytes]:
    """A file or pipe of at most ``limit`` bytes by the MiB. Raises OutsideError and OSError."""
    # Without blocking: opening a pipe that nobody writes to would wait for ever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        found = os.fstat(descriptor)
        kind = found.st_mode
        if stat.S_ISDIR(kind):
            raise IsADirectoryError(21, "Is a directory", str(path))
        plain = stat.S_ISREG(kind)
        # A file of /proc says that it is empty, and some keep their reader waiting.
        waits = stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind) or (plain and not found.st_size)
        if not waits and not plain:
            raise OutsideError("is a device, not a file: name a file")
        if not waits and found.st_size > limit:
            raise _too_large(limit)
        deadline = time.monotonic() + LONGEST_S
        total = 0
        while True:
            if waits:
                _wait(descriptor, deadline)
            try:
                chunk = os.read(descriptor, min(_CHUNK, limit + 1))
            except BlockingIOError:
                continue
            if not chunk:
                return
            total += len(chunk)
            if total > limit:
                raise _too_large(limit)
            yield chunk
    finally:
        os.close(descriptor)


def _too_large(limit: int) -> TooLargeError:
    size = f"{limit // MIB} MiB" if limit >= MIB else f"{limit // 1024} KiB"
    return TooLargeError(f"is larger than {size}, which is all that is read: split it")


def _wait(descriptor: int, deadline: float) -> None:
    import select  # only a pipe is waited for

    patience_s = min(PATIENCE_S, deadline - time.monotonic())
    poller = select.poll()
    poller.register(descriptor, select.POLLIN | select.POLLHUP)
    if patience_s <= 0 or not poller.poll(patience_s * 1000):
        raise OutsideError(
            f"is a pipe or device that said nothing for {PATIENCE_S:.0f} s: name a file instead"
        )
