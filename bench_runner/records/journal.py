"""Measurements as JSON lines: written and synced one by one, read back past a torn last line."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import asdict, replace
from datetime import date
from pathlib import Path
from typing import Any

from bench_runner.records.locks import lock
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.records.record_checks import check_environment, check_object
from bench_runner.untrusted_text import (
    MIB,
    OutsideError,
    each_once,
    is_plain_file,
    json_outside,
    lines_outside,
)

MAX_FILE_BYTES = 512 * MIB
MAX_LINE_BYTES = 16 * MIB
_LOOKED_BACK = 64 * 1024
_RAW_SECONDS = ("pass_s", "sync_pass_s", "update_s", "first_pass_s", "fetch_s")


def to_json(measurement: Measurement) -> dict[str, Any]:
    """A record as JSON takes it."""
    row = asdict(measurement)
    row["measured_on"] = measurement.measured_on.isoformat() if measurement.measured_on else None
    return row


def from_json(row: dict[str, Any]) -> Measurement:
    """A record from its JSON object. Raises ValueError, one line, where a field is not what it is
    in a record, or is unknown or missing."""
    check_object(row, Measurement, "the record")
    check_environment(row.get("environment", {}))
    settings, measured_on = row["settings"], row["measured_on"]
    if settings is not None:
        check_object(settings, Settings, "settings")
    values = {
        **row,
        "settings": None if settings is None else Settings(**settings),
        "measured_on": date.fromisoformat(measured_on) if measured_on else None,
        **{name: tuple(row.get(name) or ()) for name in _RAW_SECONDS},
    }
    read = Measurement(**values)
    if read.node_count > read.gpu_count:
        raise ValueError(f"node_count is {read.node_count}, more than the {read.gpu_count} GPUs")
    changes = read.settings is not None and read.settings.changes_training
    if changes != (read.method == "changes-training"):
        raise ValueError(
            f"method is {read.method!r}, but its settings {'' if changes else 'do not '}change "
            "the training"
        )
    return read


def with_id(measurement: Measurement) -> Measurement:
    """The record under the id that its own content gives it."""
    row = to_json(measurement)
    del row["measurement_id"]
    # Fields of later versions change no id while they say nothing.
    for name, nothing in (("node_count", 1), ("lab", None)):
        if row[name] == nothing:
            del row[name]
    if row["settings"] is not None:
        row["settings"] = said_settings(measurement.settings)
    content = json.dumps(row, sort_keys=True, separators=(",", ":"))
    return replace(
        measurement, measurement_id="m-" + hashlib.sha256(content.encode()).hexdigest()[:20]
    )


def said_settings(settings: Settings | None) -> dict[str, Any]:
    """The settings by name, those of later versions only where they say something."""
    row = {} if settings is None else asdict(settings)
    for name, nothing in (("weights", "fp32"), ("matmul", "recipe"), ("states", "fp32")):
        if row.get(name) == nothing:
            del row[name]
    return row


def check_place(path: Path) -> None:
    """Raise ValueError where no record could be kept at ``path``, before hours go into one."""
    real = Path(os.path.realpath(path))
    folder = real.parent
    try:
        while not folder.exists() and folder != folder.parent:
            folder = folder.parent  # append makes those that are missing
        if real.is_symlink() or (real.exists() and not is_plain_file(real)):
            raise ValueError(f"{path} is no plain file: name a file for the records")
        if real.exists():
            os.close(os.open(real, os.O_RDWR))
        else:
            # Rights tell nothing of a file system that takes no new files, such as /proc.
            tempfile.TemporaryFile(dir=folder).close()
    except OSError as error:
        said = error.strerror or error
        raise ValueError(
            f"no records can be kept at {path} ({said}): name a file in a folder of yours "
            "with --records"
        ) from None


def append(path: Path, measurement: Measurement) -> None:
    """Add one record and sync it to the disk; a line torn by an earlier kill is cut off first.

    Several programs may append to one file, also from several nodes that share it.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        lock(descriptor, path)
        end = _end_of_lines(descriptor)
        os.ftruncate(descriptor, end)
        line = (json.dumps(to_json(measurement), separators=(",", ":")) + "\n").encode()
        if os.pwrite(descriptor, line, end) < len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        os.fsync(descriptor)
    except OSError as error:
        error.filename = error.filename or str(path)  # a full disk names none
        raise
    finally:
        os.close(descriptor)


def _end_of_lines(descriptor: int) -> int:
    """Where the last finished line ends."""
    place = os.fstat(descriptor).st_size
    while place > 0:
        start = max(0, place - _LOOKED_BACK)
        found = os.pread(descriptor, place - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        place = start
    return 0


def read(path: Path) -> list[Measurement]:
    """Every finished record of a file; [] where there is no file.

    A last line without its newline was never finished and is passed over; any other line that
    cannot be read is an error that names its place.
    """
    found = []
    try:
        for number, raw in enumerate(lines_outside(path, MAX_FILE_BYTES, MAX_LINE_BYTES), start=1):
            line = raw.decode("utf-8", errors="replace")
            if not line.endswith("\n") and line.strip("\0")[:1] not in ("{", ""):
                # An append would cut it off as torn; it is something of the user's.
                raise ValueError(f"{path}:{number}: not a JSON line; name a file of records")
            if line.endswith("\n") and line.strip():
                found.append(_parse(line, where=f"{path}:{number}"))
    except FileNotFoundError:
        return []
    except OutsideError as error:
        raise ValueError(f"{path} {error}") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror}): name another file") from None
    return found


def _parse(line: str, where: str) -> Measurement:
    try:
        row = json_outside(line)
    except OutsideError as error:
        raise ValueError(f"{where}: {error}") from None
    except (ValueError, RecursionError):
        raise ValueError(f"{where}: not a JSON line; take the line out or mend it") from None
    if not isinstance(row, dict):
        raise ValueError(f"{where}: not a JSON object; take the line out or mend it")
    try:
        return from_json(row)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{where}: {error}") from None


def merge(files: Iterable[Path]) -> list[Measurement]:
    """The records of several files, each id once, in the order in which they first appear.

    Raises ValueError, also where one of them is not there, or an id stands for two things.
    """
    found: dict[str, Measurement] = {}
    for path in files:
        if not path.exists():
            raise ValueError(f"there is no file {path}: name a file of records")
        for measurement in read(path):
            name = measurement.measurement_id
            if found.setdefault(name, measurement) != measurement:
                raise ValueError(
                    f"{path}: the record {name} was read before with other content: take one of "
                    "the two out of its file"
                )
    return list(found.values())


SUFFIXES = (".log", ".out")
"""Of files that are read for events."""
_BEGIN = '{"event":'
_DECODER = json.JSONDecoder(object_pairs_hook=each_once)


def event_of(line: bytes) -> dict[str, Any] | None:
    """The event in a line, whatever stands before it; None where there is none."""
    text = line.decode("utf-8", errors="replace")
    at = text.find(_BEGIN)
    try:
        event: dict[str, Any] = {} if at < 0 else _DECODER.raw_decode(text, at)[0]
    except (ValueError, RecursionError):
        return None
    return event if isinstance(event.get("event"), str) else None


def events_since(path: Path, start: int = 0) -> tuple[list[dict[str, Any]], int]:
    """The events of a file's finished lines from a byte on, and the byte behind these lines.

    Everything else is passed over: a module's greeting, a torn line, a file that cannot be read.
    """
    found: list[dict[str, Any]] = []
    with suppress(OSError):
        if not is_plain_file(path):
            return found, start  # a pipe would be waited for
        with path.open("rb") as file:
            file.seek(start)
            while start < MAX_FILE_BYTES and (line := file.readline(MAX_LINE_BYTES)):
                if not line.endswith(b"\n") and len(line) < MAX_LINE_BYTES:
                    break  # it is still being written
                start += len(line)
                if (event := event_of(line)) is not None:
                    found.append(event)
    return found, start


def records_in_output(path: Path) -> list[Measurement]:
    """The records in a log, each once; ValueError where it has none or one is not right."""
    found: dict[str, Measurement] = {}
    for event in events_since(path)[0]:
        row = event.get("record") or event.get("best")
        if isinstance(row, dict):
            try:
                record = from_json(row)
            except (ValueError, TypeError) as error:
                raise ValueError(f"{path}: a record in it: {error}") from None
            found.setdefault(record.measurement_id, record)
    if not found:
        raise ValueError(f"{path}: holds no record that bench_runner printed: has it ended?")
    return list(found.values())
