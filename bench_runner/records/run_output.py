"""What the runner printed, found again in a log that others wrote into as well.

SLURM's output has the greetings of modules among the events; SkyPilot puts a name before each line.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench_runner.outside import OutsideError, each_once, lines_outside
from bench_runner.records.journal import MAX_FILE_BYTES, MAX_LINE_BYTES, from_json
from bench_runner.records.measurement import Measurement

SUFFIXES = (".log", ".out")
"""Of files that are read so."""
_BEGIN = '{"event":'
_DECODER = json.JSONDecoder(object_pairs_hook=each_once)


def events_in(text: str, *, strict: bool = False) -> Iterator[dict[str, Any]]:
    """The events of finished lines, in order; everything else is passed over.

    An event with a name twice, too, unless ``strict``: then it raises OutsideError.
    """
    for line in text.split("\n")[:-1]:
        at = line.find(_BEGIN)
        if at < 0:
            continue
        try:
            event, _ = _DECODER.raw_decode(line, at)
        except OutsideError:
            if strict:
                raise
            continue
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            yield event


def records_in_output(path: Path) -> list[Measurement]:
    """The finished records, each once; ValueError where the file has none or cannot be read."""
    found: dict[str, Measurement] = {}
    try:
        for line in lines_outside(path, MAX_FILE_BYTES, MAX_LINE_BYTES):
            for event in events_in(line.decode("utf-8", errors="replace"), strict=True):
                row = event.get("record") or event.get("best")
                if isinstance(row, dict):
                    try:
                        record = from_json(row)
                    except (ValueError, TypeError) as error:
                        raise ValueError(f"{path}: a record in it: {error}") from None
                    found.setdefault(record.measurement_id, record)
    except OutsideError as error:
        raise ValueError(f"{path} {error}") from None
    except OSError as error:
        raise ValueError(f"{path}: cannot be read ({error.strerror}): name another file") from None
    if not found:
        raise ValueError(f"{path}: holds no record that bench_runner printed: has it ended?")
    return list(found.values())
