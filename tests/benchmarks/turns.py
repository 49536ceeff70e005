"""Trials that get ready together and are timed one by one, for an exhaustive search in minutes.

A trial of a small model is process start and compilation for 25 to 70 seconds and timed steps for
two. Here several processes do the former at the same time, as many on the device at once as its
memory holds; then each in its turn, while all others wait without a kernel or a thread at work,
settles and times its steps as bench_runner.worker does in any trial, and ends. Who is not ready
when others have waited `patience_s` is stopped (SIGSTOP) while they take their turns. With a short
patience the processors are never idle for long: who is ready is timed, and the others go on.

What this shortens is the way to the timed steps, never these. One thing is decided beside others
all the same: which variant of a kernel the compiler takes, by medians of its own timing. What that
costs, if anything, is what settings differ by that were measured in the ordinary way too.

A record's environment says so under "turns": seconds of its own process before the device
("start_s"), until everything was compiled ("warm_s", both beside other processes), alone
("alone_s") and to take the trainer apart ("end_s"); `trial_wall_s` is their sum.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from datetime import date
from pathlib import Path
from typing import IO, Any

from bench_runner import launch, processes
from bench_runner.events import BadEventError, EventTail
from bench_runner.leftovers import in_use
from bench_runner.records import Measurement, Settings
from bench_runner.results import Setup, record_of
from bench_runner.space import label
from bench_runner.trial import TrialSpec, recipe_to_json

POLL_S = 0.05
TURN_POLL_S = 0.01
TURN_S = 60.0
"""No turn takes longer; such a process is ended, and its setting not recorded."""
WARM_S = 240.0
"""Nor does compiling."""
LEFT_S = 5.0
"""Of the minutes, for ending everybody."""
IDLE_GIB = 1.2
"""What a waiting process keeps on the device: CUDA's context, libraries' workspaces, a small model
and its states."""
SPARE_GIB = 3.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """How the processes share the machine."""

    together: int
    """So many processes at once."""
    memory_gib: float
    """Of the device; on a CPU, what all that warm up together may count."""
    needs_gib: Callable[[Settings], float]
    """What a step of these settings holds of it."""
    patience_s: float = 60.0
    minimum_steps: int = 3
    settle_s: float = 8.0
    compilers: int = 4
    """Compiler processes of each trial."""


@dataclass(slots=True)
class _Process:
    """A trial's process, and what it has come to."""

    settings: Settings
    group: str
    process: subprocess.Popen[bytes]
    log: IO[bytes]
    folder: Path
    tail: EventTail
    held: ExitStack
    needs_gib: float
    since: float
    state: str = "starting"
    """starting, ready, warming, warm, alone, timed, ending"""
    seconds: dict[str, float] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    stopped_s: float = 0.0

    def enter(self, state: str) -> None:
        """Note how long it was in the state that it leaves."""
        now = time.monotonic()
        spent = now - self.since - self.stopped_s
        self.seconds[self.state] = self.seconds.get(self.state, 0.0) + spent
        self.state, self.since, self.stopped_s = state, now, 0.0

    def go(self, state: str) -> None:
        """Answer what it waits for."""
        self.enter(state)
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(b"go\n")
            self.process.stdin.flush()

    def look(self) -> None:
        """Take up what it has reported."""
        for event in self.tail.new():
            self.events.append(event)
            if event["event"] == "phase" and event["phase"] == "warm":
                self.enter("ready")
            if event["event"] == "phase" and event["phase"] == "turn":
                self.enter("warm")
            if event["event"] == "phase" and event["phase"] == "end":
                self.enter("timed")


class Turns:
    """Settings of one recipe, each timed alone; records are handed on as they come."""

    def __init__(
        self,
        setup: Setup,
        rules: Rules,
        *,
        work: Path,
        ends: float,
        micro_batch: int,
        keep: Callable[[Measurement], None],
    ) -> None:
        self.setup = setup
        self.rules = rules
        self.work = work.absolute()
        self.ends = ends
        self.micro_batch = micro_batch
        self.keep = keep
        self.living: list[_Process] = []
        self.pending: list[Settings] = []
        self.crowded: set[Settings] = set()
        """Those that failed beside others: once more, with the device to themselves."""

    def left_s(self) -> float:
        return self.ends - LEFT_S - time.monotonic()

    def run(self, wanted: Sequence[Settings]) -> bool:
        """Whether each came to an answer before the minutes were over."""
        self.pending = list(wanted)
        try:
            while (self.pending or self.living) and self.left_s() > 0:
                self._batch()
        finally:
            for each in [*self.living]:
                self._close(each)
        return not self.pending

    def _batch(self) -> None:
        """As many as may live at once get ready; then those that are take their turns."""
        began = time.monotonic()
        while self.left_s() > 0:
            self._attend()
            while self.pending and len(self.living) < self.rules.together:
                self._start(self.pending.pop(0))
            self._let_warm()
            warm = [each for each in self.living if each.state == "warm"]
            busy = [each for each in self.living if each.state not in ("warm", "timed", "ending")]
            if not self.living:
                return
            late = time.monotonic() - began > self.rules.patience_s
            # What is ready is timed before the minutes end.
            short = self.left_s() < 10 + 5 * len(warm)
            if warm and (not busy or late or short):
                self._take_turns(warm, [each for each in self.living if each.state != "warm"])
                time.sleep(POLL_S)
                return
            time.sleep(POLL_S)

    def _attend(self) -> None:
        """Look at all; who has ended before its turn has its answer."""
        for each in [*self.living]:
            ended = each.process.poll() is not None
            with suppress(BadEventError, OSError):
                each.look()
            if ended:
                self._finish(each)
            elif each.state == "warming" and time.monotonic() - each.since > WARM_S:
                print(f"given up while it compiled: {label(each.settings)}", flush=True)
                self._close(each)

    def _let_warm(self) -> None:
        room = self.rules.memory_gib - SPARE_GIB - IDLE_GIB * len(self.living)
        warming = [each for each in self.living if each.state == "warming"]
        room -= sum(each.needs_gib for each in warming)
        # Whoever is warm finds room for its turn beside those that are stopped meanwhile.
        room -= max((each.needs_gib for each in self.living if each.state == "warm"), default=0.0)
        for each in self.living:
            if each.state != "ready":
                continue
            wants_all = each.settings in self.crowded
            if any(other.settings in self.crowded for other in warming) or (wants_all and warming):
                continue
            if each.needs_gib <= room or not warming:
                each.go("warming")
                warming.append(each)
                room -= each.needs_gib

    def _take_turns(self, warm: Sequence[_Process], others: Sequence[_Process]) -> None:
        stopped = time.monotonic()
        print(
            f"{len(warm)} take turns, {len(others)} stopped meanwhile, {len(self.pending)} not "
            f"begun, {self.left_s():.0f} s left",
            flush=True,
        )
        for each in [*others, *others]:  # what one was just starting is found the second time
            _signal(each, signal.SIGSTOP)
        try:
            for each in warm:
                if self.left_s() <= 0:
                    return
                held = sum(other.needs_gib for other in others if other.state == "warming")
                idle = IDLE_GIB * len(self.living)
                if held and each.needs_gib + held + idle > self.rules.memory_gib:
                    continue  # those that were stopped hold what it needs: when they are warm
                each.go("alone")
                until = time.monotonic() + min(TURN_S, self.left_s())
                while (
                    each.process.poll() is None
                    and each.state == "alone"
                    and time.monotonic() < until
                ):
                    time.sleep(TURN_POLL_S)
                    with suppress(BadEventError, OSError):
                        each.look()
                if each.process.poll() is not None:
                    with suppress(BadEventError, OSError):
                        each.look()
                    self._finish(each)
                elif each.state == "alone":
                    print(f"ended in its turn: {label(each.settings)}", flush=True)
                    self._close(each)
        finally:
            for each in warm:
                if each.state == "timed":
                    each.go("ending")
            for each in others:
                each.stopped_s += time.monotonic() - stopped
                _signal(each, signal.SIGCONT)

    def _start(self, settings: Settings) -> None:
        setup, rules = self.setup, self.rules
        spec = TrialSpec(
            recipe=recipe_to_json(setup.recipe),
            settings=settings,
            gpu_count=1,
            device=setup.device,
            minimum_steps=rules.minimum_steps,
            settle_s=rules.settle_s,
        ).at(self.micro_batch)
        group = uuid.uuid4().hex
        folder = self.work / "trials" / group[:12]
        folder.mkdir(parents=True)
        (folder / "spec.json").write_text(json.dumps(spec.as_json()))
        gpus = setup.machine.gpus
        environment = launch.child_environment(
            {"TORCHINDUCTOR_COMPILE_THREADS": str(rules.compilers), **os.environ},
            work_directory=self.work,
            spec=spec,
            compute_capability=gpus[0].compute_capability if gpus else None,
            group=group,
        ) | {
            # What torchrun tells its one process.
            **{"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1", "LOCAL_WORLD_SIZE": "1"},
            **{"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(_free_port())},
        }
        log = (folder / "log.txt").open("wb")
        words = [*processes.module_command("tests.benchmarks.turn_worker"), folder / "spec.json"]
        process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=environment,
            cwd=folder,
            start_new_session=True,
        )
        held = ExitStack()
        held.enter_context(in_use(folder))
        self.living.append(
            _Process(
                settings=settings,
                group=group,
                process=process,
                log=log,
                folder=folder,
                tail=EventTail(folder / "events.jsonl"),
                held=held,
                needs_gib=rules.needs_gib(settings),
                since=time.monotonic(),
            )
        )

    def _finish(self, each: _Process) -> None:
        """The record of a process that has ended by itself."""
        each.enter("ended")
        self._close(each)
        timed = any(event["event"] == "timed" for event in each.events)
        if not timed and each.settings not in self.crowded:
            # Perhaps for want of memory that others held.
            print(f"once more: {label(each.settings)}: {_last_words(each)}", flush=True)
            self.crowded.add(each.settings)
            self.pending.append(each.settings)
            return
        took = {
            "start_s": each.seconds.get("starting", 0.0),
            "warm_s": each.seconds.get("warming", 0.0),
            "alone_s": each.seconds.get("alone", 0.0),
            "end_s": each.seconds.get("ending", 0.0),
        }
        log = each.folder / "log.txt"
        outcome = launch._outcome(
            events=tuple(each.events),
            ended_by=None,
            wrong=None,
            exit_code=each.process.returncode,
            first_exit=None,
            log_tail=launch.log_tail(log),
            wall_s=sum(took.values()),
            time_limit_s=TURN_S,
        )
        record = record_of(
            self.setup,
            each.settings,
            outcome,
            climb=f"micro-batch {self.micro_batch}",
            measured_on=date.today(),
        )
        said = {"together": self.rules.together} | {k: round(v, 2) for k, v in took.items()}
        self.keep(replace(record, environment=record.environment | {"turns": said}))

    def _close(self, each: _Process) -> None:
        if each.process.poll() is None:
            _signal(each, signal.SIGCONT)
        processes.end_group(each.process, each.group)
        if each.process.stdin is not None:
            with suppress(BrokenPipeError):
                each.process.stdin.close()
        each.log.close()
        each.held.close()
        self.living.remove(each)


def _signal(each: _Process, number: signal.Signals) -> None:
    for pid in processes.members(each.group):
        with suppress(ProcessLookupError):
            os.kill(pid, number)


def _last_words(each: _Process) -> str:
    said = [event for event in each.events if event["event"] in ("error", "probe")]
    if said:
        return str(said[-1].get("message") or said[-1].get("reason"))
    return launch.log_tail(each.folder / "log.txt", 3) or "it said nothing"


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])
