"""Three GPUs do not share Pythia's batch of 1,024: wherever they rank, it is said, and what is
typed to measure them works."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.answers.builds.build_sections import measure_commands, section_lines
from advisor.answers.measure_commands import measure_build
from advisor.cli.main import main
from advisor.store import Store
from bench_runner.settings.batch_and_sharding import micro_batch_sizes
from price_catalog.builds import enumerate_builds
from tests.answers.test_one_build import page_of
from tests.facts_for_tests import make_gpu, make_host, make_model

SAID = "3 GPUs do not share a batch of 1,024 evenly: the time is with one of 1,008"
ASKED = ("--model", "pythia-1b", "--budget", "30k", "--gpus", "A6000")


def test_the_settings_of_every_row_make_up_its_batch(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rank", *ASKED, "--format", "json", "--store", str(store_path)]) == 0
    rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["ranked"]
    batches = {row["gpu_count"]: row["batch_size"] for row in rows}
    assert batches[3] == 1008
    assert {batches[count] for count in (1, 2, 4) if count in batches} == {1024}
    for row in rows:
        micro = row["settings"]["micro_batch_size"]
        assert micro in micro_batch_sizes(row["batch_size"], row["gpu_count"])


def test_the_page_of_such_a_build_says_so_and_measures_what_is_kept(store_path: Path) -> None:
    one = page_of(Store(store_path), gpus=3)
    assert SAID in [line.text for line in section_lines(one, "time")]
    first, here, *elsewhere = measure_commands(one).values()
    words = shlex.split(first)
    batch = int(words[words.index("--batch") + 1])
    assert micro_batch_sizes(batch, 3)[-1] >= 16
    kept = words[words.index("--keep") + 1]
    assert here.startswith(f"advisor bench --model {kept} --gpus 3")
    assert all(f"--model {kept}" in each for each in elsewhere if "advisor bench" in each)


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
