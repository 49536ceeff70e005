"""What a worker may say, a JSON object a line: known events with every field that is used.

A line that is none of these ends its trial, not the search: it is checked before anybody uses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bench_runner.records.record_checks import (
    Field,
    is_any_text,
    is_count,
    is_flag,
    is_number,
    is_object,
    is_positive,
    is_seconds,
    wrong_field,
)
from bench_runner.untrusted_text import OutsideError, is_plain_file, json_outside, printable

MAX_LINE_BYTES = 8 * 1024 * 1024
"""Of one event; the largest lists the seconds of every rank's passes."""
MAX_FILE_BYTES = 256 * 1024 * 1024


class BadEventError(ValueError):
    """A worker wrote what is no event; the message says what, in one line."""


def _rates(value: object) -> bool:
    return isinstance(value, dict) and all(
        size.isascii() and size.isdigit() and is_positive(rate) for size, rate in value.items()
    )


_SECONDS: Field = (is_seconds, False, True)
_RAW = dict.fromkeys(("pass_s", "sync_pass_s", "update_s", "first_pass_s", "fetch_s"), _SECONDS)


def _raw(value: object) -> bool:
    return isinstance(value, dict) and value.keys() == _RAW.keys() and not wrong_field(value, _RAW)


_TEXT: Field = (is_any_text, False, False)
_COUNT: Field = (is_count, False, False)
_WHOLE: Field = (lambda value: type(value) is int and value >= 0, False, False)
_GIB: Field = (is_seconds, True, False)
_KINDS: Mapping[str, Mapping[str, Field]] = {
    "started": {},
    "about": {
        "missing_kernels": (is_any_text, True, True),
        "usable_memory_gib": (is_positive, True, False),
    },
    "phase": {"phase": _TEXT},
    "model": {"parameters": _WHOLE},
    "climbed": {
        "micro_batch_size": _COUNT,
        "stopped_by": _TEXT,
        "samples_per_s": (_rates, False, False),
    },
    "timed": {
        "micro_batch_size": _COUNT,
        "accumulation_steps": _COUNT,
        "timed_passes": _COUNT,
        "raw": (_raw, False, False),
        "slowest_rank": _WHOLE,
        "step_s_by_rank": _SECONDS,
        "warm_up_s": _SECONDS,
        "settled": _TEXT,
        "skipped_updates": _WHOLE,
        "peak_memory_gib": _GIB,
        "peak_reserved_gib": _GIB,
        "allocator_retries": _WHOLE,
        "parameters": _WHOLE,
        "gpu": (is_object, False, False),
    },
    "exchange": {
        "node_count": _COUNT,
        "bytes": _COUNT,
        "all_ranks_s": _SECONDS,
        "between_nodes_s": _SECONDS,
        "between_nodes_gb_s": (is_seconds, False, False),
        "fabric": _TEXT,
    },
    "validated": {"step_s": _SECONDS, "median_s": (is_positive, False, False)},
    "error": {"type": _TEXT, "message": _TEXT},
    "done": {},
}
_PROBES: Mapping[bool, Mapping[str, Field]] = {
    True: {
        "micro_batch_size": _COUNT,
        "pass_s": (is_positive, False, False),
        "peak_memory_gib": _GIB,
    },
    False: {"micro_batch_size": _COUNT, "reason": _TEXT},
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
    if (name := wrong_field(row, fields)) is not None:
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
