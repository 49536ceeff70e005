"""The search as it runs: asks the planner, starts process groups, writes records, tells events."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from threading import Event
from typing import Any

from bench_runner.launch import hardware
from bench_runner.launch.leftovers import sweep, sweep_build_locks
from bench_runner.launch.process_group import run_group
from bench_runner.launch.trial import NoDeviceError, Outcome, TrialSpec
from bench_runner.launch.trial_record import (
    Setup,
    configuration_key,
    counted,
    left_out,
    record_of,
)
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement, Settings, Status
from bench_runner.settings import batch_and_sharding, fastest_possible_step, search

Emit = Callable[[dict[str, Any]], None]
_NOT_REPEATED: tuple[Status, ...] = ("ok", "infeasible", "failed")


class Search:
    """One recipe on one machine: every chosen setting measured, left out, or reused."""

    def __init__(self, setup: Setup, emit: Emit, stop: Event) -> None:
        self._setup = setup
        self._emit = emit
        self._stop = stop
        self._began = time.monotonic()
        self._done: list[Measurement] = []
        self.lost_nodes = 0
        """How many nodes did not answer any more after the last trial; no other one starts then."""

    def run(self, candidates: Sequence[Settings], *, name_the_best: bool) -> Measurement | None:
        """Work through the candidates; the fastest record, or None where none has a time."""
        # The logs of the run before, where it has ended; another that still runs keeps its own.
        sweep(self._setup.work_directory / "trials", "[0-9a-f]{12}")
        sweep_build_locks()
        journalled = journal.read(self._setup.records_file)
        self._reuse(candidates, journalled)
        situation = self._situation()
        complete = False
        while not (self._stop.is_set() or self._seconds_left() <= 0 or self.lost_nodes):
            action = search.next_action(candidates, self._done, situation, self._setup.strategy)
            if action is None:
                complete = True
                break
            if isinstance(action, search.LeaveOut):
                self._leave_out(action, journalled)
                continue
            self._emit(
                {
                    "event": "trial-started",
                    "label": batch_and_sharding.label(action.settings),
                    "reason": action.reason,
                }
            )
            record = self._trial(action.settings)
            if record is None:
                break
            journal.append(self._setup.records_file, record)
            self._tell("trial-finished", record)
            situation = self._situation()
        best = fastest_possible_step.best_of(self._done)
        # What changes the training stands for no other time.
        exact = best is not None and best.settings and not best.settings.changes_training
        if best is not None and exact and name_the_best and not self.lost_nodes:
            answer = journal.with_id(replace(best, method="optimal"))
            if all(answer.measurement_id != old.measurement_id for old in journalled):
                journal.append(self._setup.records_file, answer)
            best = answer
        self._emit(
            {
                "event": "search-finished",
                "complete": complete,
                "cancelled": self._stop.is_set(),
                "best": None if best is None else journal.to_json(best),
                "label": None
                if best is None or not best.settings
                else batch_and_sharding.label(best.settings),
            }
        )
        return best

    def _situation(self) -> fastest_possible_step.Situation:
        setup = self._setup
        parameters = None
        usable = None
        for record in self._done:
            parameters = record.environment.get("parameters") or parameters
            usable = (record.environment.get("about") or {}).get("usable_memory_gib") or usable
        if usable is None and setup.device == "cuda":
            limits = [gpu.memory_gib for gpu in setup.machine.gpus[: setup.gpu_count]]
            usable = min(limits)
        return fastest_possible_step.Situation(
            gpu_count=setup.gpu_count,
            batch_size=setup.recipe.training.batch_size,
            # The states of adapters are small, and what stays is the same for all settings.
            parameters=None
            if setup.recipe.training.adapter_rank is not None
            else parameters or getattr(counted(setup.recipe), "parameters", None),
            half_precision=setup.recipe.training.precision != "fp32",
            usable_memory_gib=usable,
            host_memory_gib=setup.machine.memory_gib,
        )

    def _reuse(self, candidates: Sequence[Settings], journalled: list[Measurement]) -> None:
        if self._setup.again:
            return
        by_key = {
            record.environment.get("configuration_key"): record
            for record in journalled
            if record.status in _NOT_REPEATED and record.method != "optimal"
        }
        for settings in candidates:
            key = configuration_key(self._setup, settings)
            record = by_key.get(key)
            if record is not None and not self._may_be_otherwise(record):
                # Under the settings that were asked for: kernels may have been missing.
                asked = replace(record.settings or settings, free_lunch=settings.free_lunch)
                self._done.append(replace(record, settings=asked))
                self._tell("reused", record)

    def _may_be_otherwise(self, record: Measurement) -> bool:
        """Whether it failed by what is gone by now, and so says nothing of its settings: a full
        disk, a kill, a shorter time limit, a node of another job."""
        facts = record.environment
        limit_s = facts.get("time_limit_s")
        if facts.get("of_the_moment"):
            return True
        if isinstance(limit_s, int | float) and limit_s < self._setup.trial_minutes * 60:
            return True
        nodes = facts.get("nodes") or {}
        return bool(nodes.get("lost")) and nodes.get("job") != self._setup.job_number

    def _tell(self, kind: str, record: Measurement) -> None:
        assert record.settings is not None
        row = journal.to_json(record)
        self._emit(
            {"event": kind, "label": batch_and_sharding.label(record.settings), "record": row}
        )
        best = fastest_possible_step.best_of(self._done)
        if best is not None and best.settings is not None:
            label = batch_and_sharding.label(best.settings)
            self._emit({"event": "best", "label": label, "training_days": best.training_days})

    def _leave_out(self, action: search.LeaveOut, journalled: list[Measurement]) -> None:
        record = left_out(self._setup, action.settings, action.reason)
        self._done.append(record)
        if all(record.measurement_id != old.measurement_id for old in journalled):
            journal.append(self._setup.records_file, record)
        self._tell("left-out", record)

    # -- one trial --------------------------------------------------------------------------

    def _trial(self, settings: Settings) -> Measurement | None:
        """Measure one combination; None where the search itself was ended in the middle."""
        setup, gpus = self._setup, self._setup.machine.gpus
        visible, on_cpu = os.environ.get("CUDA_VISIBLE_DEVICES"), setup.device == "cpu"
        spec = TrialSpec(
            recipe=setup.recipe,
            settings=settings,
            gpu_count=setup.gpu_count,
            device=setup.device,
            launcher=setup.launcher,
            compute_capability=gpus[0].compute_capability if gpus else None,
            pinned={} if on_cpu else hardware.pinned(gpus, setup.gpu_count, visible),
            climb="fastest" if setup.strategy == "fast" else "largest",
            largest_micro_batch=setup.largest_micro_batch,
            **setup.trial,
        )
        if setup.micro_batch_size is not None:
            spec = spec.at(setup.micro_batch_size)
        outcome = self._group(spec)
        while True:
            if outcome.status == "cancelled" or self._out_of_minutes(outcome):
                return None
            error = outcome.last("error")
            if error is not None and error["type"] == NoDeviceError.__name__:
                # No other settings would change that.
                raise ValueError(error["message"])
            self.lost_nodes = outcome.lost_nodes
            smaller = None if outcome.lost_nodes else next_size(outcome)
            if smaller is None:
                break
            self._emit(
                {
                    "event": "trial-progress",
                    "label": batch_and_sharding.label(settings),
                    "phase": "again",
                    "micro_batch_size": smaller,
                    "reason": outcome.reason,
                }
            )
            again = self._group(spec.at(smaller))
            outcome = replace(
                again,
                events=(*outcome.events, *again.events),
                wall_s=outcome.wall_s + again.wall_s,
            )
        record = record_of(setup, settings, outcome)
        # The planner goes by the settings that were asked for.
        asked = replace(record.settings or settings, free_lunch=settings.free_lunch)
        self._done.append(replace(record, settings=asked))
        return record

    def _group(self, spec: TrialSpec) -> Outcome:
        label = batch_and_sharding.label(spec.settings)

        def progress(event: dict[str, Any]) -> None:
            kind = event["event"]
            if kind in ("probe", "phase", "climbed"):
                shown = {k: v for k, v in event.items() if k != "rank"}
                phase = event.get("phase", kind)
                self._emit({**shown, "event": "trial-progress", "phase": phase, "label": label})

        return run_group(
            spec,
            work_directory=self._setup.work_directory,
            time_limit_s=min(self._setup.trial_minutes * 60, self._seconds_left()),
            on_event=progress,
            stop=self._stop,
        )

    def _seconds_left(self) -> float:
        if self._setup.minutes is None:
            return float("inf")
        return self._setup.minutes * 60 - (time.monotonic() - self._began)

    def _out_of_minutes(self, outcome: Outcome) -> bool:
        """Whether the search's own time, not the trial's, ended this group."""
        return outcome.status == "timed-out" and self._seconds_left() <= 0


def next_size(outcome: Outcome) -> int | None:
    """The micro-batch size to start the group again with, or None where it has its answer.

    After a climb that ended the group: the largest size that fitted, or what the climb chose.
    After a timed run that fell over: half of its size.
    """
    misfits = [probe["micro_batch_size"] for probe in outcome.probes() if not probe["fits"]]
    climbed = outcome.last("climbed")
    if outcome.status in ("climbed", "infeasible") and misfits:
        if misfits[-1] == 1:
            return None
        if climbed is None and len(misfits) == 1 and outcome.largest_fitting() is not None:
            return outcome.largest_fitting()
        half = int(misfits[-1]) // 2
        return half if half >= 1 else None
    if outcome.status == "failed" and climbed is not None:
        # The climb went well and its group then broke: once more, in a group of its own, unless it
        # said what is wrong with what was asked for.
        restarted = sum(event["event"] == "started" for event in outcome.events) > 1
        told = (outcome.reason or "").startswith("ValueError")
        return None if restarted or told else int(climbed["micro_batch_size"])
    return None
