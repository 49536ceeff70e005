"""Marks on the device's own time line, and the seconds between them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch


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

    def last(self) -> str | None:
        """The kind of the last mark."""
        return self._marks[-1][0] if self._marks else None

    def instant(self) -> Any:
        """One point in time, to be passed to ``between`` later."""
        if not self._cuda:
            return time.perf_counter()
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def between(self, earlier: Any, later: Any) -> float:
        """Seconds from one point to another; waits for the later one."""
        if not self._cuda:
            return float(later - earlier)
        later.synchronize()
        return float(earlier.elapsed_time(later)) / 1000

    def step(self) -> StepSeconds:
        """The seconds of the step that has just ended: begin, fetched, pass..., end."""
        seconds = StepSeconds()
        marks, self._marks = self._marks, []
        gaps = [self.between(before, after) for (_, before), (_, after) in pairwise(marks)]
        passes = gaps[1:-1]
        seconds.fetch_s = [gaps[0] / len(passes)] * len(passes)
        seconds.sync_pass_s = passes[-1:]
        seconds.first_pass_s = passes[:-1][:1]
        seconds.pass_s = passes[:-1][1:]
        seconds.update_s = gaps[-1:]
        return seconds
