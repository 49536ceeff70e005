"""Marks on the device's own time line, the seconds between them, and which steps count."""

from __future__ import annotations

import time
from dataclasses import asdict
from itertools import pairwise
from typing import Any

import torch

from bench_runner.launch.trial import TrialSpec
from bench_runner.records import timing
from bench_runner.records.timing import RawSeconds
from bench_runner.typed_numbers import percent
from bench_runner.worker.ranks import Ranks


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

    def step(self) -> RawSeconds:
        """The seconds of the step that has just ended, cut at the Trainer's own boundaries without
        a gap: begin, fetched, pass..., end."""
        marks, self._marks = self._marks, []
        gaps = [self._between(before, after) for (_, before), (_, after) in pairwise(marks)]
        passes = tuple(gaps[1:-1])
        return RawSeconds(
            fetch_s=(gaps[0] / len(passes),) * len(passes),
            sync_pass_s=passes[-1:],
            first_pass_s=passes[:-1][:1],
            pass_s=passes[:-1][1:],
            update_s=(gaps[-1],),
        )


class StepLog:
    """What is known of each step that has ended."""

    def __init__(self, spec: TrialSpec, ranks: Ranks) -> None:
        self._spec = spec
        self._ranks = ranks
        self.steps: list[RawSeconds] = []
        self.ends_s: list[float] = []
        self.usable: list[bool] = []
        """Whether the step had an update."""
        self.allocations: list[tuple[int, int]] = []
        self.settled_at: int | None = None
        """The first step whose time counts; None until times have settled."""
        self.settled_how = ""

    def add(
        self, step: RawSeconds, ended_s: float, usable: bool, allocations: tuple[int, int]
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
        totals = tuple(s.total_s for s, good in zip(steps, self.usable, strict=True) if good)
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

    def raw_seconds(self, kept: list[int]) -> RawSeconds:
        """Every raw second of these steps."""
        steps = [asdict(self.steps[i]) for i in kept]
        return RawSeconds(**{name: sum((s[name] for s in steps), ()) for name in steps[0]})
