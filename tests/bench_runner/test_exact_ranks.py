"""Two ranks that share a step, in every way that a search tries, take the step of one: exactly.

Gradients of the leanest settings of each family, accumulated, over real process groups (gloo).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.torch_for_tests import loaded_later

pytestmark = pytest.mark.torch
torch = loaded_later("torch")
loaded_later("deepspeed")

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, str], Any]:
    """By family and way of sharing: the loss of a step of two ranks, and what it changed."""
    folder = tmp_path_factory.mktemp("ranks")
    paths = [str(HERE / "quiet_deepspeed"), str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, str(HERE / "exact_ranks.py"), str(folder / "out.pt")],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr[-6000:]
    found: dict[tuple[str, str], Any] = torch.load(folder / "out.pt")
    return found


@pytest.mark.parametrize("family", ["decoder", "encoder", "vit"])
def test_a_step_that_two_ranks_share_is_that_of_one(
    shared: dict[tuple[str, str], Any],
    family: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tests.bench_runner import exact_ranks

    monkeypatch.chdir(tmp_path)
    _, expected = exact_ranks.step(family, "", 1)
    assert expected.norm() > 0.1
    for way in exact_ranks.SHARED[family]:
        _, found = shared[family, way]
        assert (found - expected).norm() <= 1e-6 * expected.norm(), way


@pytest.mark.parametrize("family", ["decoder", "encoder", "vit"])
def test_a_step_is_the_same_however_many_passes_it_has(
    family: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The Trainer added up the means of RoBERTa's micro-batches, which are no shares of one.
    from tests.bench_runner import exact_ranks

    monkeypatch.chdir(tmp_path)
    loss, expected = exact_ranks.step(family, "", 1, micro_batch=8, even=True)
    for size in (1, 2):
        for words in ("", exact_ranks.LEAN[family]):
            other, found = exact_ranks.step(family, words, 1, micro_batch=size, even=True)
            assert other == pytest.approx(loss, rel=1e-5)
            assert (found - expected).norm() <= 1e-6 * expected.norm()
