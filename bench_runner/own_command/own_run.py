"""Runs a training of the user's own, unchanged, until its steps are timed and profiled."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import tempfile
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median, stdev
from threading import Event
from typing import Any

from bench_runner.launch.gpu_sampler import GpuSampler
from bench_runner.launch.leftovers import in_use, sweep
from bench_runner.launch.processes import MARK, end_group
from bench_runner.own_command.kernel_kinds import KINDS
from bench_runner.own_command.timeline import Timeline, read_trace
from bench_runner.records.journal import events_since
from bench_runner.typed_numbers import NORMAL_90
from bench_runner.untrusted_text import printable

INJECTED = Path(__file__).parent / "injected"
"""What each Python of the training loads first; never imported here."""
WINDOW_S = 5.0
"""Seconds of steps that are compared with as many before, until both are alike."""
PAUSE = 3.0
"""A step that takes so many times the median is a pause: an evaluation, a checkpoint ..."""
MOST_PAUSES = 0.05
"""... unless a larger share of the steps is, and more than one."""
_PREFIX = "advisor-own-"
_POLL_S = 0.05
QUIET_S = 60.0
"""Without a step the user is told what may be wrong."""
_LEAVE_S = 30.0
"""How long a training that was asked to end may take before it is ended."""
_INTERRUPT_S = 5.0
_MOST_TRACE = 2 * 1024**3


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnRun:
    """What one training took, a step of it, on this machine."""

    gpu: str
    """As the driver calls it; ``cpu`` where it trained on processors."""
    gpu_count: int
    step_s: float
    step_s_low: float
    step_s_high: float
    """9 in 10 runs' mean step lies between, as far as the spread of the steps says."""
    settled: bool
    steps_timed: int
    pauses: int
    """Steps that took more than three times the median: evaluations, checkpoints."""
    seconds: Mapping[str, float]
    """Of a step, by what they are spent on (`kernel_kinds.KINDS`); {} where it was not profiled."""
    kernels: tuple[tuple[str, float], ...]
    loads_serially: bool
    """Whether the data of a step is loaded between steps: then a faster GPU waits no longer."""
    memory_gib: float
    """Most that was reserved on any GPU; 0 on processors."""
    allocated_gib: float
    state_gib: float
    """Weights, gradients and optimiser states on one GPU."""
    sharded: bool
    """Whether each GPU holds a part of the weights or of the optimiser's states."""
    parameters: int
    parameter_bytes: int
    joules: float | None
    """Of a step, all GPUs together, by NVML."""
    max_steps: int | None
    """How many steps the Trainer itself will make, where it says so."""
    torch: str
    not_profiled: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How it ended: with a measurement, or with the training's own exit code."""

    run: OwnRun | None
    code: int
    """0 where this program ended it; below 0 a signal."""
    reason: str | None = None
    """Why there is no measurement."""
    cancelled: bool = False


def environment_for(folder: Path, group: str, window_s: float) -> dict[str, str]:
    """Our own environment, and what brings the injected file into each Python of the training."""
    paths = [str(INJECTED), *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "ADVISOR_BENCH_FOLDER": str(folder),
        "ADVISOR_BENCH_PID": str(os.getpid()),
        "ADVISOR_BENCH_WINDOW_S": f"{window_s:g}",
        MARK: group,
    }


def measure(
    words: Sequence[str],
    *,
    stop: Event,
    say: Callable[[str], None] = lambda text: None,
    window_s: float = WINDOW_S,
) -> Ended:
    """Start the command, time it, end it; nothing of it is left. Raises ValueError where it cannot
    be started. ``stop`` cancels. What the training prints goes to stderr."""
    sweep(Path(tempfile.gettempdir()), re.escape(_PREFIX) + r"\w{8}")
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as name, in_use(Path(name)):
        folder, group = Path(name), uuid.uuid4().hex
        try:
            process = subprocess.Popen(
                list(words),
                env=environment_for(folder, group, window_s),
                stdout=2,
                start_new_session=True,
            )
        except OSError as error:
            raise ValueError(
                f"{printable(words[0])} cannot be started ({error.strerror}): write the command "
                "after -- as you start your training, such as -- python train.py"
            ) from None
        watched = _Watched(process, folder, say)
        try:
            watched.follow(stop)
        finally:
            watched.close()
            end_group(process, group)
        return watched.ended(cancelled=stop.is_set())


class _Watched:
    """The processes of one training and what they wrote."""

    def __init__(
        self, process: subprocess.Popen[bytes], folder: Path, say: Callable[[str], None]
    ) -> None:
        self.process, self.folder, self.say = process, folder, say
        self.events: list[dict[str, Any]] = []
        self.read: dict[Path, int] = {}
        self.samplers: dict[str, GpuSampler] = {}
        self.done_s: float | None = None

    def follow(self, stop: Event) -> None:
        """Until the training has ended, by itself or by what was seen of it."""
        quiet_s: float | None = time.monotonic() + QUIET_S
        while self.process.poll() is None:
            self.take_new()
            if quiet_s is not None and time.monotonic() > quiet_s:
                quiet_s = None
                if self.last("stepping") is None:
                    self.say(
                        "no step of a PyTorch optimiser yet: it may still load its data. Python "
                        "has to start without -E, -I and -S. ^C ends it"
                    )
            if self.done_s is not None and time.monotonic() - self.done_s > _LEAVE_S:
                return
            if stop.is_set():
                with suppress(ProcessLookupError):
                    os.killpg(self.process.pid, signal.SIGINT)
                with suppress(subprocess.TimeoutExpired):
                    self.process.wait(_INTERRUPT_S)
                return
            stop.wait(_POLL_S)
        self.take_new()

    def take_new(self) -> None:
        for path in self.folder.glob("*.jsonl"):
            new, self.read[path] = events_since(path, self.read.get(path, 0))
            for event in new:
                self.take(event)

    def take(self, event: dict[str, Any]) -> None:
        self.events.append(event)
        kind, leads = event["event"], event.get("leads")
        if kind == "stepping":
            for each in event.get("uuids") or ():
                if each not in self.samplers:
                    self.samplers[each] = GpuSampler(str(each))
                    self.samplers[each].start()
            if leads and sum(e["event"] == kind for e in self.events) == 1:
                self.say("it trains: waiting until its steps take as long as those before")
        elif kind == "profiling":
            self.say("its steps are timed; a few more are profiled")
        elif kind in ("profiled", "not-profiled"):
            self.done_s = time.monotonic()
            self.say("all was seen: ending the training")

    def close(self) -> None:
        for sampler in self.samplers.values():
            sampler.stop()

    def last(self, kind: str) -> dict[str, Any] | None:
        return next((e for e in reversed(self.events) if e["event"] == kind), None)

    def ended(self, *, cancelled: bool) -> Ended:
        """What came of it, once it has ended."""
        code = self.process.returncode
        timed = once_each([e for e in self.events if e["event"] == "timed"])
        leader = next((e for e in timed if e.get("leads")), None)
        if cancelled or leader is None or (self.done_s is None and code != 0):
            return Ended(
                run=None,
                code=code or 0,
                reason=None if cancelled or code else self.why_nothing(),
                cancelled=cancelled,
            )
        try:
            return Ended(run=self.run_of(leader, timed), code=0)
        except (ValueError, KeyError, TypeError) as error:
            return Ended(run=None, code=0, reason=f"what was seen cannot be read: {error}")

    def why_nothing(self) -> str:
        if (fault := self.last("fault")) is not None:
            return f"its steps could not be timed: {printable(str(fault.get('message')))}"
        if self.last("stepping") is None:
            return (
                "the training ended, and no step of a PyTorch optimiser was seen: start a Python "
                "with torch 2.0 or newer, without -E, -I or -S"
            )
        return (
            "the training ended before its steps were timed: let it run longer, a minute of steps "
            "or more"
        )

    def run_of(self, leader: Mapping[str, Any], timed: Sequence[Mapping[str, Any]]) -> OwnRun:
        """Raises ValueError where it makes no sense."""
        sample = [float(each) for each in leader["seconds"]]
        kept = without_pauses(sample)
        step_s = mean(kept)
        half = NORMAL_90 * (stdev(kept) if len(kept) > 1 else step_s) / len(kept) ** 0.5
        # A rank may have a little on the first GPU, too; an old torch tells no name of one.
        gpus = {uuid for e in timed for uuid in e["uuids"]}
        count = len(gpus) or sum(int(e["devices"]) for e in timed) or len(timed)
        world = int(leader["world"])
        if world > len(timed) and world > count:
            raise ValueError(
                f"{world} processes train, {len(timed)} of them here: give one machine alone"
            )
        on_gpu, not_profiled = leader["device"] is not None, None
        found = Timeline(seconds={}, kernels=(), on_gpu=on_gpu, loads_serially=False)
        try:
            found = self.timeline(on_gpu=on_gpu)
        except (OSError, ValueError) as error:
            not_profiled = " ".join(str(error).split())
        return OwnRun(
            gpu=printable(str(leader["device"])) if leader["device"] else "cpu",
            gpu_count=max(1, count),
            step_s=step_s,
            step_s_low=max(step_s - half, min(kept)),
            step_s_high=step_s + half,
            settled=leader["how"] == "settled",
            steps_timed=len(kept),
            pauses=len(sample) - len(kept),
            seconds=of_the_step(found, step_s) if found.seconds else {},
            kernels=found.kernels,
            loads_serially=found.loads_serially,
            memory_gib=max(float(e["reserved_gib"]) for e in timed),
            allocated_gib=max(float(e["allocated_gib"]) for e in timed),
            state_gib=max(int(e["state_bytes"]) for e in timed) / 1024**3,
            sharded=any(e["sharded"] for e in timed),
            parameters=max(int(e["parameters"]) for e in timed),
            parameter_bytes=int(leader["parameter_bytes"]),
            joules=self.joules(leader, step_s),
            max_steps=leader.get("max_steps"),
            torch=str(leader["torch"]),
            not_profiled=not_profiled,
        )

    def timeline(self, *, on_gpu: bool) -> Timeline:
        profiling, why = self.last("profiling"), self.last("not-profiled")
        if any(e.get("how") == "ended first" for e in self.events):
            raise ValueError("the training ended before a profile was taken: let it run longer")
        path = self.folder / "trace.json"
        if profiling is None or why is not None:
            raise ValueError(str((why or {}).get("message") or "the profiler did not start"))
        if path.stat().st_size > _MOST_TRACE:
            raise ValueError("the profile of a few steps is larger than 2 GiB")
        with path.open(encoding="utf-8", errors="replace") as file:
            return read_trace(json.load(file), int(profiling["steps"]), on_gpu=on_gpu)

    def joules(self, leader: Mapping[str, Any], step_s: float) -> float | None:
        """Of a step, where each GPU tells its power."""
        watts = []
        for sampler in self.samplers.values():
            found = sampler.summary(float(leader["began"]), float(leader["ended"]))
            watts.append(found.get("counted_w") or found.get("power_w"))
        if not watts or None in watts:
            return None
        return sum(each for each in watts if each is not None) * step_s


def once_each(timed: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """One event a rank: of the last start, where a launcher started the training again, and of
    processes that say the same rank the one that was timed longest."""
    newest = max((e["restarts"] for e in timed), default=0)
    found: dict[int, dict[str, Any]] = {}
    for event in sorted(timed, key=lambda e: len(e["seconds"])):
        if event["restarts"] == newest:
            found[event["rank"]] = event
    return list(found.values())


def without_pauses(sample: list[float]) -> list[float]:
    """The steps' seconds but for a few that an evaluation or a checkpoint interrupted; all of them
    where they differ that much."""
    typical = median(sample)
    kept = [each for each in sample if each <= PAUSE * typical]
    return kept if len(sample) - len(kept) <= max(1, MOST_PAUSES * len(sample)) else sample


def of_the_step(found: Timeline, step_s: float) -> dict[str, float]:
    """The profile's seconds as parts of a step without a profiler, which slows the host alone: on a
    GPU what it is busy with stays, and the waiting is what is left of the step."""
    idle = ("data", "host") if found.on_gpu else ()
    waiting = sum(found.seconds.get(kind, 0.0) for kind in idle)
    computed = sum(found.seconds.values()) - waiting
    busy, idling = step_s / computed, 0.0
    if waiting and step_s > computed:
        busy, idling = 1.0, (step_s - computed) / waiting
    parts = {kind: s * (idling if kind in idle else busy) for kind, s in found.seconds.items()}
    return {kind: parts[kind] for kind in KINDS if parts.get(kind)}
