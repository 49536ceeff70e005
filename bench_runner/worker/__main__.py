"""``python -m bench_runner.worker SPEC``: one rank of one trial's process group.

Rank 0 reports by appending JSON lines to events.jsonl beside the task; any rank reports the
error that ended it.
"""

from __future__ import annotations

import gc
import json
import os
import pickle
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench_runner.launch.processes import when_parent_ends
from bench_runner.launch.trial import TrialSpec
from bench_runner.records.measurement import Settings
from bench_runner.settings.configure import zero_stage

if TYPE_CHECKING:
    from bench_runner.worker.trial_session import Report, Session

OUT_OF_MEMORY_EXIT = 77
FAILED_EXIT = 78


def unused(settings: Settings) -> tuple[str, ...]:
    """Packages that transformers and accelerate load where they are installed, though no step of
    these settings calls them: a sixth of the start, on each GPU of each trial.

    Only what nobody but these two loads, and they where it is found: SciPy hidden so would break
    scikit-learn, which transformers loads as well.
    """
    return () if zero_stage(settings) is not None else ("deepspeed",)


def main(spec_file: Path) -> int:
    """Run the task; 0 where it was answered."""
    when_parent_ends(lambda: os._exit(FAILED_EXIT))
    spec: TrialSpec = pickle.loads(spec_file.read_bytes())
    rank = int(os.environ.get("RANK", "0"))
    began = time.monotonic()
    events = spec_file.parent / "events.jsonl"

    def report(event: dict[str, Any], *, from_any_rank: bool = False) -> None:
        if rank != 0 and not from_any_rank:
            return
        said = {**event, "rank": rank, "at_s": round(time.monotonic() - began, 2)}
        with events.open("ab", buffering=0) as file:  # one write a line: the ranks share the file
            file.write((json.dumps(said) + "\n").encode())

    report({"event": "started", "pid": os.getpid()})
    # Whatever torch and transformers bring stays: looking through it takes a fifth of the start.
    gc.disable()
    for package in unused(spec.settings):
        sys.modules[package] = None  # type: ignore[assignment]
    try:
        if not spec.settings.free_lunch:
            from bench_runner.worker.models import hide_kernels

            hide_kernels(spec.recipe)
        from bench_runner.worker.timed_trainer import is_out_of_memory
        from bench_runner.worker.trial_session import Misfit, Session
    except Exception as error:  # a library, or something that it loads, does not go here
        return _failed(error, report)

    # From here on as in any training, what the collector takes of a step included.
    gc.enable()
    session: Session | None = None
    try:
        session = Session(spec, report)
        report({"event": "about", **session.about()})
        size = spec.settings.micro_batch_size or 1
        if spec.climb != "none":
            size = climb(session, report)
        session.time_steps(size)
    except Misfit as error:
        print(error, file=sys.stderr)
        return OUT_OF_MEMORY_EXIT
    except Exception as error:
        if session is not None and is_out_of_memory(error):
            traceback.print_exc()
            report(misfit(session.size, error), from_any_rank=True)
            session.tell_out_of_memory()
            return OUT_OF_MEMORY_EXIT
        return _failed(error, report)
    report({"event": "done"})
    return 0


def _failed(error: Exception, report: Callable[..., None]) -> int:
    """Tell of what ended this rank: where one error came of another, of the first."""
    traceback.print_exception(error)
    first: BaseException = error
    while isinstance(first, ImportError) and isinstance(first.__cause__, ImportError):
        first = first.__cause__
    report(
        {"event": "error", "type": type(first).__name__, "message": _one_line(first)},
        from_any_rank=True,
    )
    return FAILED_EXIT


def climb(session: Session, report: Report) -> int:
    """The micro-batch size to time; the climb may end in want of memory where that harms nobody."""
    from bench_runner.worker.timed_trainer import is_out_of_memory

    try:
        return session.climb()
    except Exception as error:
        if not (session.recovers and session.rates and is_out_of_memory(error)):
            raise
        report(misfit(session.size, error))
    # Out of the handler: the error's traceback holds the tensors of the failed pass.
    session.memory.release()
    return session.climbed("memory")


def misfit(size: int, error: BaseException) -> dict[str, Any]:
    """The event of a micro-batch size that did not fit."""
    return {
        "event": "probe",
        "micro_batch_size": size,
        "fits": False,
        "reason": _one_line(error),
    }


def _one_line(error: BaseException) -> str:
    words = " ".join(str(error).split())
    return words if len(words) <= 400 else words[:400] + "…"


if __name__ == "__main__":
    code = main(Path(sys.argv[1]))
    # Without waiting for the process group's own farewell: after a fault it may never come.
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
