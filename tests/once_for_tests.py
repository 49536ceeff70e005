"""What takes seconds to make and is only read: made by one of the workers, for all of them."""

from __future__ import annotations

import os
import pickle
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

T = TypeVar("T")
LIMIT_S = 280.0
"""Less than a test may take: who waits says for what."""


def folder_once(
    name: str, temporary: pytest.TempPathFactory, make: Callable[[Path], object]
) -> Path:
    """The folder that ``make`` fills, in the folder of this run of the tests."""
    run = temporary.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent  # a worker has a folder of its own in it
    folder, made, failed = (run / f"once-{name}{end}" for end in ("", ".made", ".failed"))
    try:
        folder.mkdir()
    except FileExistsError:
        deadline = time.monotonic() + LIMIT_S
        while not made.exists():
            assert not failed.exists(), f"the worker that made {name} failed"
            assert time.monotonic() < deadline, f"{name} is still not made"
            time.sleep(0.05)
        return folder
    try:
        make(folder)
    except BaseException:
        failed.touch()
        raise
    made.touch()
    return folder


def value_once(name: str, temporary: pytest.TempPathFactory, make: Callable[[], T]) -> T:
    """The same of a value that can be pickled; each worker has a copy."""

    def write(folder: Path) -> None:
        (folder / "value").write_bytes(pickle.dumps(make()))

    folder = folder_once(name, temporary, write)
    value: T = pickle.loads((folder / "value").read_bytes())
    return value
