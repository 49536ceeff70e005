"""What one trial is asked and what it answered: plain data between the planner and the worker."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bench_runner.recipes import Recipe
from bench_runner.records.measurement import Settings

Ending = Literal["ok", "infeasible", "climbed", "failed", "timed-out", "cancelled"]
"""Of a process group. ``climbed``: memory ended it, and some sizes had fitted before."""


class NoDeviceError(RuntimeError):
    """torch cannot use the GPU, whatever the settings; the message says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrialSpec:
    """One process group's task: find a micro-batch size for these settings, then time steps."""

    recipe: Recipe
    settings: Settings
    """``micro_batch_size`` is where the climb starts, or the size to time where it does not."""
    gpu_count: int
    device: str = "cuda"
    """``cuda`` or ``cpu``."""
    launcher: str = "local"
    """``local`` or ``slurm``."""
    compute_capability: str | None = None
    """Of the GPUs, as ``9.0``."""
    pinned: Mapping[str, str] = field(default_factory=dict)
    """What makes CUDA take the GPUs that the search is about (bench_runner.launch.hardware)."""
    climb: Literal["largest", "fastest", "none"] = "largest"
    """``largest`` doubles until memory ends, as the paper does; ``fastest`` stops as soon as
    throughput stops growing or the next size is predicted not to fit; ``none`` takes the size."""
    largest_micro_batch: int | None = None
    """The climb goes no further than this."""
    minimum_steps: int = 5
    maximum_steps: int = 60
    settle_s: float = 60.0
    """Warm-up longer than this ends even where step times have not settled; the record says so.
    The first step, which compiles, is not counted in."""
    exchange_timeout_s: float = 60.0
    """How long the ranks wait for one another's out-of-memory flag."""
    headroom: float = 0.95
    """Share of the memory that a predicted size may fill."""
    growth: float = 0.02
    """Gain in throughput from a doubling under which the climb to the fastest size stops."""

    def at(self, micro_batch_size: int) -> TrialSpec:
        """The same task at one given micro-batch size, without a climb."""
        settings = replace(self.settings, micro_batch_size=micro_batch_size)
        return replace(self, settings=settings, climb="none")


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a process group ended, and what it reported before."""

    status: Ending
    reason: str | None
    events: tuple[dict[str, Any], ...]
    log_tail: str
    wall_s: float
    lost_nodes: int = 0
    """How many of the job's nodes do not answer any more."""
    time_limit_s: float | None = None
    """What ended it, where time did."""
    of_the_moment: bool = False
    """Whether it failed by what may be otherwise next time: a full disk, a kill."""

    def last(self, kind: str) -> dict[str, Any] | None:
        """The last event of a kind, or None."""
        return next((event for event in reversed(self.events) if event["event"] == kind), None)

    def probes(self) -> tuple[dict[str, Any], ...]:
        """The micro-batch sizes that were tried, in order."""
        return tuple(event for event in self.events if event["event"] == "probe")

    def largest_fitting(self) -> int | None:
        """The largest micro-batch size that fitted, or None."""
        sizes = [event["micro_batch_size"] for event in self.probes() if event["fits"]]
        return max(sizes, default=None)
