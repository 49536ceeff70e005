"""What a worker decides by itself: when times count, and whether there is a GPU to use."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bench_runner.arguments import find_recipe
from bench_runner.launch.trial import NoDeviceError, TrialSpec
from bench_runner.records.timing import RawSeconds
from tests.torch_for_tests import loaded_later

pytestmark = pytest.mark.torch
torch = loaded_later("torch")
loaded_later("transformers")
loaded_later("accelerate")


def settled(ends_s: list[float], seconds: list[float]) -> tuple[int | None, str]:
    from bench_runner.worker.step_times import StepLog

    spec: Any = TrialSpec(recipe=find_recipe("pythia-160m"), settings=None, gpu_count=1)  # type: ignore[arg-type]
    ranks: Any = SimpleNamespace(all=bool, any=bool)
    log = StepLog(spec, ranks)
    for ended_s, second in zip(ends_s, seconds, strict=True):
        step = RawSeconds(pass_s=(), sync_pass_s=(second,), update_s=())
        log.add(step, ended_s, usable=True, allocations=(7, 0))
    log.settles()
    return log.settled_at, log.settled_how


def test_minutes_of_compilation_do_not_use_up_the_time_to_settle() -> None:
    """The first step compiles; the next ones must still come to rest before they count."""
    assert settled([300.0, 302.5], [300.0, 2.5]) == (None, "")
    assert settled([300.0, 302.5, 304.5], [300.0, 2.5, 2.0]) == (None, "")
    start, how = settled([300.0, 302.5, 304.5, 306.5, 308.5], [300.0, 2.5, 2.0, 2.0, 2.0])
    assert (start, how.partition(":")[0]) == (2, "after 2 steps")
    # ... but not for ever.
    start, how = settled([300.0, 325.0, 340.0, 365.0], [300.0, 25.0, 15.0, 25.0])
    assert (start, how.partition(":")[0]) == (3, "not settled after 4 steps")


def test_a_torch_without_this_gpu_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    from bench_runner.worker.trial_session import use_once

    use_once(torch.device("cpu"))

    def fails(*_: Any, **__: Any) -> Any:
        raise RuntimeError("CUDA error: no kernel image is available\nCompile with `TORCH_USE_...")

    monkeypatch.setattr("torch.ones", fails)
    with pytest.raises(NoDeviceError, match="no kernel image is available") as found:
        use_once(torch.device("cuda", 0))
    assert "\n" not in str(found.value)
