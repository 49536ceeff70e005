"""The command that measures a build is one that its GPUs can run."""

from __future__ import annotations

import shlex
from dataclasses import replace

import pytest

from advisor.answers.shared_batch import measure_build
from bench_runner.settings.space import micro_batch_sizes
from price_catalog.builds import enumerate_builds
from tests.facts_for_tests import make_gpu, make_host, make_model

MODEL = replace(make_model(), batch_size=1024)


@pytest.mark.parametrize("count", [1, 2, 4, 8])
def test_gpus_that_share_the_batch_are_measured_as_they_are(count: int) -> None:
    (build,) = enumerate_builds([make_gpu("card")], [make_host(count)], counts=(count,))
    assert measure_build(MODEL, build) == f"advisor bench --model tiny --gpus {count}"


def test_a_batch_that_three_gpus_do_not_share_is_changed_first() -> None:
    (build,) = enumerate_builds([make_gpu("card")], [make_host(3)], counts=(3,))
    words = shlex.split(measure_build(MODEL, build))
    assert words[:4] == ["advisor", "predict", "--model", "tiny"]
    assert words[words.index("--count") + 1] == "3"
    assert micro_batch_sizes(int(words[words.index("--batch") + 1]), 3)[-1] >= 16
    assert words[-2:] == ["--keep", "tiny-3gpus"]
