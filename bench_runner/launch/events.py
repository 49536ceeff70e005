"""What a worker may say, a JSON object a line: known events with every field that is used.

A line that is none of these ends its trial, not the search: it is checked before anybody uses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench_runner.outside import OutsideError, is_plain_file, json_outside, printable
from bench_runner.records.record_checks import (
    Check,
    is_count,
    is_flag,
    is_number,
    is_positive,
    is_seconds,
)

MAX_LINE_BYTES = 8 * 1024 * 1024
"""Of one event; the largest lists the seconds of every rank's passes."""
MAX_FILE_BYTES = 256 * 1024 * 1024


class BadEventError(ValueError):
    """A worker wrote what is no event; the message says what, in one line."""


def _text(value: object) -> bool:
    return isinstance(value, str)


def _rates(value: object) -> bool:
    return isinstance(value, dict) and all(
        size.isascii() and size.isdigit() and is_positive(rate) for size, rate in value.items()
    )


def _seconds(value: object) -> bool:
    return isinstance(value, list) and all(map(is_seconds, value))


def _raw(value: object) -> bool:
    names = {"pass_s", "sync_pass_s", "update_s", "first_pass_s", "fetch_s"}
    return isinstance(value, dict) and value.keys() == names and all(map(_seconds, value.values()))


def _none_or_seconds(value: object) -> bool:
    return value is None or is_seconds(value)


def _none_or_positive(value: object) -> bool:
    return value is None or is_positive(value)


def _none_or_texts(value: object) -> bool:
    return value is None or (isinstance(value, list) and all(map(_text, value)))


def _whole(value: object) -> bool:
    return type(value) is int and value >= 0


def _object(value: object) -> bool:
    return isinstance(value, dict)


_KINDS: Mapping[str, Mapping[str, Check]] = {
    "started": {},
    "about": {"missing_kernels": _none_or_texts, "usable_memory_gib": _none_or_positive},
    "phase": {"phase": _text},
    "model": {"parameters": _whole},
    "climbed": {"micro_batch_size": is_count, "stopped_by": _text, "samples_per_s": _rates},
    "timed": {
        "micro_batch_size": is_count,
        "accumulation_steps": is_count,
        "timed_passes": is_count,
        "raw": _raw,
        "slowest_rank": _whole,
        "step_s_by_rank": _seconds,
        "warm_up_s": _seconds,
        "settled": _text,
        "skipped_updates": _whole,
        "peak_memory_gib": _none_or_seconds,
        "peak_reserved_gib": _none_or_seconds,
        "allocator_retries": _whole,
        "parameters": _whole,
        "gpu": _object,
    },
    "exchange": {
        "node_count": is_count,
        "bytes": is_count,
        "all_ranks_s": _seconds,
        "between_nodes_s": _seconds,
        "between_nodes_gb_s": is_seconds,
        "fabric": _text,
    },
    "validated": {"step_s": _seconds, "median_s": is_positive},
    "error": {"type": _text, "message": _text},
    "done": {},
}
_PROBES: Mapping[bool, Mapping[str, Check]] = {
    True: {
        "micro_batch_size": is_count,
        "pass_s": is_positive,
        "peak_memory_gib": _none_or_seconds,
    },
    False: {"micro_batch_size": is_count, "reason": _text},
}


def read_event(line: bytes) -> dict[str, Any]:
    """The event of one line. Raises BadEventError."""
    try:
        row = json_outside(line)
    except OutsideError as error:
        raise BadEventError(f"an event that {error}") from None
    except (ValueError, RecursionError):
        raise BadEventError(f"a line that is not JSON ({_shown(line)})") from None
    if not isinstance(row, dict):
        raise BadEventError(f"a line that is not a JSON object ({_shown(line)})")
    kind = row.get("event")
    fields = _KINDS.get(kind) if isinstance(kind, str) else None
    if kind == "probe" and is_flag(row.get("fits")):
        fields = _PROBES[row["fits"]]
    if fields is None:
        raise BadEventError(f"a line that is no event ({_shown(line)})")
    for name, check in fields.items():
        if not check(row.get(name)):
            what = repr(row[name]) if name in row else "nothing"
            raise BadEventError(f"the event {kind} with {name} = {_shown(what.encode())}")
    if not _is_finite(row):
        raise BadEventError(f"the event {kind} with a number that is not finite")
    return row


def _is_finite(value: object) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, int | float) or isinstance(value, bool) or is_number(value)


def _shown(line: bytes) -> str:
    text = line[:80].strip().decode("utf-8", errors="replace")
    return printable(text)


class EventTail:
    """Reads the lines that the worker has finished writing since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def new(self) -> Iterator[dict[str, Any]]:
        """The events since the last time. Raises BadEventError, and OSError."""
        try:
            if not is_plain_file(self._path):  # a pipe would be waited for
                raise BadEventError("what is no plain file")
            file = self._path.open("rb")
        except FileNotFoundError:
            return
        with file:
            file.seek(self._offset)
            while line := file.readline(MAX_LINE_BYTES + 1):
                if not line.endswith(b"\n"):
                    if len(line) > MAX_LINE_BYTES:
                        raise BadEventError(f"a line longer than {MAX_LINE_BYTES >> 20} MiB")
                    return  # still being written
                self._offset += len(line)
                if self._offset > MAX_FILE_BYTES:
                    raise BadEventError(f"more than {MAX_FILE_BYTES >> 20} MiB of events")
                if line.strip():
                    yield read_event(line)
