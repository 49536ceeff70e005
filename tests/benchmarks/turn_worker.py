"""One trial's process, as bench_runner.worker runs it, that waits for its turn twice.

    python -m tests.benchmarks.turn_worker SPEC.json

Started by tests/benchmarks/turns.py. It imports what it needs and opens the device; asks for "warm"
before it builds its model; trains WARM steps, in which everything is compiled and every state
allocated, gives back the memory that only a running step needs, and asks for "turn". What comes
after is the worker's own method from its first warm-up step on: nothing that was timed beside
another process is kept. When its steps are timed it asks for the "end", since taking a trainer
apart takes longer than a small model's steps. A line on its standard input is the answer; where
that ends, so does it.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from bench_runner.worker import session as sessions
from bench_runner.worker.__main__ import FAILED_EXIT
from bench_runner.worker.__main__ import main as work

WARM = 3
"""Steps before the turn: the first compiles, the second has gradients and states already."""


class TurnSession(sessions.Session):
    """A session whose timed steps wait until no other process works."""

    def __init__(self, spec: Any, report: Any) -> None:
        super().__init__(spec, report)
        self.before_the_turn: int | None = None
        if spec.settings.offloading and (spec.settings.sharding or "").startswith("zero-"):
            _build_cpu_optimizer()

    def _ask(self, what: str) -> None:
        self.report({"event": "phase", "phase": what})
        if not sys.stdin.readline():
            os._exit(FAILED_EXIT)

    def time_steps(self, micro_batch_size: int) -> None:
        """As the session does, when this process may use the device."""
        self._ask("warm")
        super().time_steps(micro_batch_size)

    def _dismantle(self, trainer: Any) -> None:
        """Beside other processes again; not before those that wait have had their turns."""
        if self.before_the_turn is not None:
            self.memory.release()
            self._ask("end")
        super()._dismantle(trainer)

    def _settled(
        self, steps: Any, usable: list[bool], allocations: Any, ends_s: list[float]
    ) -> tuple[int | None, str]:
        """Nothing before the turn counts, neither as a time nor for having settled."""
        before = self.before_the_turn
        if before is None:
            if sum(usable) >= WARM:
                self.memory.release()
                self._ask("turn")
                self.before_the_turn = len(steps)
            return None, ""
        place, how = super()._settled(
            steps[before:], usable[before:], allocations[before:], ends_s[before:]
        )
        return (None if place is None else place + before), how


def _build_cpu_optimizer() -> None:
    """DeepSpeed compiles it on first use, and that needs no device: not while holding one."""
    try:
        from deepspeed.ops.op_builder import CPUAdamBuilder

        CPUAdamBuilder().load(verbose=False)
    except Exception as error:
        print(f"left to DeepSpeed: {error}", flush=True)


if __name__ == "__main__":
    sessions.Session = TurnSession
    code = work(Path(sys.argv[1]))
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
