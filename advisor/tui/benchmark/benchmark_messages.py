"""What the benchmark screen's threads post to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from textual.message import Message

if TYPE_CHECKING:
    from advisor.benchmark.benchmark_plan import Plan
    from advisor.benchmark.request import Ending, MachineState
    from advisor.benchmark.runner_process import Run


@dataclass
class Looked(Message):
    """The machine was looked at."""

    here: MachineState | None
    problem: str | None


@dataclass
class Planned(Message):
    """What would run, or why nothing can."""

    number: int
    plan: Plan | None
    problem: str | None


@dataclass
class Started(Message):
    """The runner runs."""

    run: Run


@dataclass
class Happened(Message):
    """The runner told something."""

    event: Mapping[str, Any]
    at_s: float


@dataclass
class Ended(Message):
    """The runner is gone."""

    ending: Ending | None
    problem: str | None
    """Why it never started."""
    kept: str
    """What became of the records, in words."""


@dataclass
class Logged(Message):
    """The newest trial's last line."""

    line: str
