"""What the screen hears while the runner measures, from its start to its end (in a thread)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from advisor.benchmark.recorder import Recorder, follow
from advisor.benchmark.runner_process import Run
from advisor.parse import InputError
from advisor.tui.benchmark.benchmark_messages import Ended, Happened, Started

if TYPE_CHECKING:
    from advisor.benchmark.benchmark_plan import Plan
    from advisor.store import Store


def measuring(
    store: Store, plan: Plan, runner: Sequence[str], now_s: Callable[[], float]
) -> Iterator[Started | Happened | Ended]:
    """Start the runner, follow it to its end and keep what it measures; the last is how it ended.

    ``now_s`` is the clock that the screen goes by.
    """
    run: Run | None = None
    kept = ""
    try:
        recorder = Recorder(store, plan)
        run = Run(plan.request, runner=runner)
        yield Started(run)
        with closing(follow(run, recorder)) as events:
            for event in events:
                yield Happened(event, now_s())
        kept = recorder.words()
    except InputError as error:
        yield Ended(None, str(error), kept)
    except Exception as error:
        # Whatever went wrong in this thread, the screen must hear that it is over.
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        yield Ended(run.ending() if run else None, words, kept)
    else:
        yield Ended(run.ending(), None, kept)
