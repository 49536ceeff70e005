"""Stands in for bench_runner: the same two commands, and events by a script instead of training.

    python fake_runner.py SCENARIO hardware|run ...

The machine has GPUs as $FAKE_GPUS says (``2:NVIDIA H200``); the scenario says what ``run`` does.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from bench_runner.arguments import find_recipe
from bench_runner.launch import hardware
from bench_runner.recipes import load_recipe, recipe_hash
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings import batch_and_sharding, exact_settings, search

DAYS = {"free lunch": 3.0, "checkpointing": 4.0}


def kind(settings: Settings) -> str:
    """The label of what is sharded, offloaded and kept, whatever the kernels."""
    return batch_and_sharding.label(
        replace(settings, compilation=None, loss="plain", inputs="full")
    )


def emit(kind: str, **values: Any) -> None:
    print(json.dumps({"event": kind, **values}), flush=True)


def gpus() -> list[str]:
    count, _, name = os.environ.get("FAKE_GPUS", "2:NVIDIA H200").partition(":")
    return [name] * int(count)


def machine(work_directory: Path) -> hardware.Machine:
    """The machine that has these GPUs."""
    listed = [
        f"{n}, GPU-{n}, {name}, {139.8 * 1024}, 0, 0, 9.0, 580, 700"
        for n, name in enumerate(gpus())
    ]
    return hardware.Machine(
        host="node7",
        cpu="A CPU",
        cpu_count=8,
        memory_gib=512.0,
        memory_available_gib=500.0,
        disk_free_gib=512.0,
        gpus=hardware.parse_gpus("\n".join(listed)),
        versions={},
    )


class Fake:
    """One run, as its command line asks for it."""

    def __init__(self, words: list[str]) -> None:
        self.flags = {
            word: words[at + 1] if at + 1 < len(words) else ""
            for at, word in enumerate(words)
            if word.startswith("--")
        }
        self.count = int(self.flags["--gpus"])
        self.records = Path(self.flags["--records"])
        self.work = Path(self.flags["--work"])
        self.recipe_id, self.recipe_hash = self.flags["--recipe"], None
        if self.recipe_id.endswith(".toml"):
            recipe = load_recipe(Path(self.recipe_id))
            self.recipe_id, self.recipe_hash = recipe.recipe_id, recipe_hash(recipe)
        self.stopped = False
        self.best: Measurement | None = None
        self.settings = search.named_ahead(
            exact_settings.settings_of_methods(
                self.flags["--methods"],
                find_recipe(self.flags["--recipe"]),
                self.count,
                flash=False,
            ),
            "fast",
        )

    def record(self, settings: Settings, status: str, **changes: Any) -> Measurement:
        days = DAYS.get(kind(settings), 5.0) if status == "ok" else None
        base = Measurement(
            measurement_id="",
            recipe_id=self.recipe_id,
            recipe_hash=self.recipe_hash,
            gpu="cpu" if self.flags["--device"] == "cpu" else gpus()[0],
            gpu_count=self.count,
            method=batch_and_sharding.method_name(settings),
            settings=settings,
            status=status,
            reason=None,
            training_days=days,
            training_days_low=days,
            training_days_high=days,
            timing="synchronised",
            source_id="measured-here",
            measured_on=date(2026, 11, 21),
            step_s=None if days is None else days / 2,
            mfu=None if days is None else 0.4,
            peak_memory_gib=None if days is None else 61.5,
        )
        return journal.with_id(replace(base, **changes))

    def start(self) -> None:
        labels = [batch_and_sharding.label(settings) for settings in self.settings]
        emit("search-started", labels=labels)

    def begin(self, settings: Settings) -> None:
        label = batch_and_sharding.label(settings)
        emit("trial-started", label=label, settings={}, reason="next in the list")
        for size in (1, 2):
            emit(
                "trial-progress",
                label=label,
                phase="probe",
                micro_batch_size=size,
                fits=True,
                pass_s=0.1,
                peak_memory_gib=12.5,
            )
        folder = self.work / "trials" / f"t{time.monotonic_ns()}"
        folder.mkdir(parents=True)
        (folder / "log.txt").write_text(f"compiling\r12%\r{label} is at step 7\n")

    def end(self, record: Measurement, kind: str = "trial-finished") -> None:
        journal.append(self.records, record)
        assert record.settings is not None
        label = batch_and_sharding.label(record.settings)
        emit(kind, label=label, record=journal.to_json(record))
        if record.status == "ok" and (
            self.best is None or (record.training_days or 0) < (self.best.training_days or 0)
        ):
            self.best = record
        if self.best is not None and self.best.settings is not None:
            emit("best", label=batch_and_sharding.label(self.best.settings), elapsed_s=1.0)

    def finish(self, *, cancelled: bool = False) -> int:
        best, label = None, None
        if self.best is not None and self.best.settings is not None:
            answer = journal.with_id(replace(self.best, method="optimal"))
            journal.append(self.records, answer)
            best, label = journal.to_json(answer), batch_and_sharding.label(answer.settings)  # type: ignore[arg-type]
        emit("search-finished", complete=not cancelled, cancelled=cancelled, best=best, label=label)
        return 130 if cancelled else 0 if best else 1

    def wait(self) -> None:
        """Until a signal comes."""
        while not self.stopped:
            time.sleep(0.02)

    # The scenarios

    def good(self) -> int:
        """One time, one misfit, one failure, the rest left out."""
        self.start()
        ends: list[dict[str, Any]] = [
            {"status": "ok"},
            {"status": "infeasible", "reason": "out of memory at micro-batch 1"},
            {
                "status": "failed",
                "reason": "the time limit of 1200 s passed",
                "environment": {"log_tail": "NCCL watchdog\nsecond line"},
            },
            {"status": "ok"},
        ]
        for at, settings in enumerate(self.settings):
            if at < len(ends):
                self.begin(settings)
                time.sleep(float(os.environ.get("FAKE_TRIAL_S", "0")))
                self.end(self.record(settings, **ends[at]))
            else:
                reason = "cannot beat free lunch: at best 9 s a step"
                self.end(self.record(settings, "pruned", reason=reason), "left-out")
        return self.finish()

    def hang(self) -> int:
        """One time, then a trial that does not end by itself; ends well when it is interrupted."""
        signal.signal(signal.SIGINT, lambda *_: setattr(self, "stopped", True))
        self.start()
        self.begin(self.settings[0])
        self.end(self.record(self.settings[0], "ok"))
        self.begin(self.settings[1])
        self.wait()
        return self.finish(cancelled=True)

    def stepwise(self) -> int:
        """One setting a start; waits for its end where some are left, as a job does that is out of
        time. What is on record is not measured again."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: setattr(self, "stopped", True))
        self.start()
        known = {record.settings: record for record in journal.read(self.records)}
        left = [settings for settings in self.settings if settings not in known]
        for settings in self.settings:
            if settings in known:
                row = journal.to_json(known[settings])
                emit("reused", label=batch_and_sharding.label(settings), record=row)
        if left:
            self.begin(left[0])
            self.end(self.record(left[0], "ok"))
        if len(left) > 1:
            self.begin(left[1])
            self.wait()
            return self.finish(cancelled=True)
        return self.finish()

    def flood(self) -> int:
        """Five thousand events at once, then as hang."""
        label = batch_and_sharding.label(self.settings[0])
        for n in range(5000):
            emit("trial-progress", label=label, phase="probe", micro_batch_size=n, fits=True)
        return self.hang()

    def deaf(self) -> int:
        """The same, but deaf to signals, and with a child in a session of its own."""
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        self.start()
        self.begin(self.settings[0])
        self.end(self.record(self.settings[0], "ok"))
        child = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True
        )
        self.begin(self.settings[1])
        (self.work / "child.pid").write_text(str(child.pid))
        self.wait()
        return 0

    def crash(self) -> int:
        """One time told, one written but not told, a word on stderr, and gone."""
        self.start()
        self.begin(self.settings[0])
        self.end(self.record(self.settings[0], "ok"))
        journal.append(self.records, self.record(self.settings[1], "ok"))
        print("Traceback (most recent call last):\nRuntimeError: no more", file=sys.stderr)
        sys.stderr.flush()
        os.kill(os.getpid(), signal.SIGKILL)
        return 0

    def garbage(self) -> int:
        """Lines that are no events among those that are."""
        self.start()
        print("Downloading: 100%|####|", flush=True)
        print('{"event": 3}', flush=True)
        print("[1, 2]", flush=True)
        sys.stdout.buffer.write(b"\xff\xfe\n\n")
        emit("trial-finished", label="free lunch", record={"colour": 1})
        emit("of-the-future", label="free lunch")
        self.begin(self.settings[0])
        self.end(self.record(self.settings[0], "ok"))
        return self.finish()

    def loud(self) -> int:
        """More on stderr than any pipe holds."""
        self.start()
        for _ in range(200):
            sys.stderr.write("x" * 99 + "\n")
            sys.stderr.write("y" * 20_000 + "\n")
        sys.stderr.write("the last word\n")
        sys.stderr.flush()
        return 1

    def refuse(self) -> int:
        """Wrong input."""
        emit("error", message="--methods is 'x': choose among naive, free-lunch, paper, all")
        print("bench_runner: --methods is 'x': choose", file=sys.stderr)
        return 2


def main(scenario: str, words: list[str]) -> int:
    return int(getattr(Fake(words[1:]), scenario)())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
