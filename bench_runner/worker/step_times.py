"""Marks on the device's own time line, the seconds between them, and which steps count."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch

from bench_runner.launch.trial import TrialSpec
from bench_runner.records import timing
from bench_runner.typed_numbers import percent
from bench_runner.worker.ranks import Ranks


@dataclass(slots=True)
class StepSeconds:
    """One optimiser step, cut at the Trainer's own boundaries without a gap."""

    fetch_s: list[float] = field(default_factory=list)
    first_pass_s: list[float] = field(default_factory=list)
    pass_s: list[float] = field(default_factory=list)
    sync_pass_s: list[float] = field(default_factory=list)
    update_s: list[float] = field(default_factory=list)

    def total_s(self) -> float:
        """The whole step."""
        parts = (self.fetch_s, self.first_pass_s, self.pass_s, self.sync_pass_s, self.update_s)
        return sum(sum(part) for part in parts)


class Clock:
    """Device events on CUDA, a monotonic clock on the CPU, where work is done when it returns."""

    def __init__(self, device: torch.device) -> None:
        self._cuda = device.type == "cuda"
        self._marks: list[tuple[str, Any]] = []

    def mark(self, kind: str) -> None:
        """Note that everything queued so far belongs before this mark."""
        if self._cuda:
            event = torch.cuda.Event(enable_timing=True)
            event.record()
            self._marks.append((kind, event))
        else:
            self._marks.append((kind, time.perf_counter()))

    def clear(self) -> None:
        """Forget the marks of a step that did not end."""
        self._marks.clear()

    def _between(self, earlier: Any, later: Any) -> float:
        """Seconds from one mark to another; waits for the later one."""
        if not self._cuda:
            return float(later - earlier)
        later.synchronize()
        return float(earlier.elapsed_time(later)) / 1000

    def step(self) -> StepSeconds:
        """The seconds of the step that has just ended: begin, fetched, pass..., end."""
        seconds = StepSeconds()
        marks, self._marks = self._marks, []
        gaps = [self._between(before, after) for (_, before), (_, after) in pairwise(marks)]
        passes = gaps[1:-1]
        seconds.fetch_s = [gaps[0] / len(passes)] * len(passes)
        seconds.sync_pass_s = passes[-1:]
        seconds.first_pass_s = passes[:-1][:1]
        seconds.pass_s = passes[:-1][1:]
        seconds.update_s = gaps[-1:]
        return seconds


class StepLog:
    """What is known of each step that has ended."""

    def __init__(self, spec: TrialSpec, ranks: Ranks) -> None:
        self._spec = spec
        self._ranks = ranks
        self.steps: list[StepSeconds] = []
        self.ends_s: list[float] = []
        self.usable: list[bool] = []
        """Whether the step had an update."""
        self.allocations: list[tuple[int, int]] = []
        self.settled_at: int | None = None
        """The first step whose time counts; None until times have settled."""
        self.settled_how = ""

    def add(
        self, step: StepSeconds, ended_s: float, usable: bool, allocations: tuple[int, int]
    ) -> None:
        """A step has ended."""
        self.steps.append(step)
        self.ends_s.append(ended_s)
        self.usable.append(usable)
        self.allocations.append(allocations)

    def settles(self) -> bool:
        """Whether times settle with this step, which was not so before."""
        if self.settled_at is not None:
            return False
        self.settled_at, self.settled_how = self._settled()
        return self.settled_at is not None

    def _settled(self) -> tuple[int | None, str]:
        """From which step on times count, and how that was seen; the ranks decide together.

        The first step compiles, which may take minutes, so the patience begins when it has ended.
        """
        steps, spec = self.steps, self._spec
        totals = tuple(s.total_s() for s, good in zip(steps, self.usable, strict=True) if good)
        calm = (
            len(steps) >= 4
            and all(self.usable[-3:])
            and timing.settled(totals)
            and self.allocations[-1][0] == self.allocations[-3][0]
        )
        if self._ranks.all(calm):
            return len(steps) - 3, (
                f"after {len(steps) - 3} steps: three in a row within "
                f"{percent(timing.SETTLED_WITHIN)}, without an allocation from the device"
            )
        late = self.ends_s[-1] - self.ends_s[0] > spec.settle_s or (
            len(steps) >= spec.maximum_steps - spec.minimum_steps
        )
        if self._ranks.any(late) and len(totals) >= 2 and self.usable[-1]:
            return len(steps) - 1, (
                f"not settled after {len(steps)} steps: times still differed by more than "
                f"{percent(timing.SETTLED_WITHIN)}, or memory was still being taken"
            )
        return None, ""

    def is_enough(self) -> bool:
        """Whether the ranks have as many settled steps as are wanted, or as there may be."""
        if self.settled_at is None:
            return False
        enough = sum(self.usable[self.settled_at :]) >= self._spec.minimum_steps
        return self._ranks.all(enough or len(self.steps) >= self._spec.maximum_steps)

    def kept(self) -> list[int]:
        """The steps that are timed: the last ones that had an update."""
        settled = range(self.settled_at or 0, len(self.steps))
        return [i for i in settled if self.usable[i]][-self._spec.minimum_steps :]

    def raw_seconds(self, kept: list[int]) -> timing.RawSeconds:
        """Every raw second of these steps."""
        timed = [self.steps[i] for i in kept]
        return timing.RawSeconds(
            **{
                name: tuple(second for step in timed for second in getattr(step, name))
                for name in ("pass_s", "sync_pass_s", "update_s", "first_pass_s", "fetch_s")
            }
        )
