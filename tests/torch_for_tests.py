"""Libraries that take seconds to load, loaded by the first test that uses one and not before."""

from __future__ import annotations

import importlib
import importlib.util
from typing import Any

import pytest


class Later:
    """A library that is loaded when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, what: str) -> Any:
        if what.startswith(("_", "pytest")):  # pytest asks everything whether it is a test
            raise AttributeError(what)
        return getattr(importlib.import_module(self._name), what)


def loaded_later(name: str) -> Any:
    """As `pytest.importorskip`, but a worker that runs none of a file's tests loads nothing."""
    if importlib.util.find_spec(name) is None:
        pytest.skip(f"{name} is not installed", allow_module_level=True)
    return Later(name)
