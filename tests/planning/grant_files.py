"""A small grant as a file, and what is said of a wrong one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from advisor.planning.grant.grant_record import Grant
from advisor.planning.grant.read_grant import read_grant
from advisor.typed_input import InputError

SMALL = """
[grant]
start = 2027-01-01
years = 1
[budget]
total = "$30,000"
[evidence]
predictions = false
[[experiments]]
model = "pythia-410m"
[rentals]
allowed = false
"""
FREELY = """
[running]
slack = 0
longest_run_days = 5000
share_gpus = false
"""
"""As long as a run takes, up to the last day, on a whole machine."""


def grant_file(folder: Path, text: str) -> Path:
    path = folder / "grant.toml"
    path.write_text(text, encoding="utf-8")
    return path


def refused(folder: Path, text: str) -> str:
    with pytest.raises(InputError) as caught:
        read_grant(grant_file(folder, text))
    message = str(caught.value)
    assert "\n" not in message
    assert "grant.toml" in message
    return message


def changed(grant: Grant, **changes: Any) -> Grant:
    """A grant with other values; those of a table, as ``rentals``, by their keys."""
    for name, value in changes.items():
        if isinstance(value, dict):
            changes[name] = structs.replace(getattr(grant, name), **value)
    return replace(grant, **changes)
