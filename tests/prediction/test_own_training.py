"""A training of one's own, moved from the GPU where it was timed to others."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.prediction.own_training import (
    Moved,
    OwnTraining,
    moved,
    read_definition,
    source_gpu,
    training_text,
    waits_words,
)
from advisor.prediction.shipped_predictions import shipped_fit
from bench_runner.own_command import own_run
from bench_runner.own_command.kernel_kinds import KINDS
from price_catalog.gpu_names import find_gpu, index_gpus
from price_catalog.load import load_catalog
from tests.own_trainings_for_tests import RUN, timed

GPUS = load_catalog().gpus
NAMED = index_gpus(GPUS)
COSTS = shipped_fit().costs


def on(own: OwnTraining, gpu: str, count: int = 1) -> Moved:
    here = source_gpu(own, GPUS)
    assert here is not None
    return moved(own, here, find_gpu(gpu, NAMED), count, COSTS)


@given(st.dictionaries(st.sampled_from(KINDS), st.floats(1e-6, 1e3), min_size=1))
def test_where_it_was_timed_it_takes_what_it_took(seconds: dict[str, float]) -> None:
    step_s = sum(seconds.values())
    own = timed(seconds=seconds, step_s=step_s, step_s_low=step_s, step_s_high=step_s)
    here = on(own, "H100")
    assert here.step_s == pytest.approx(step_s)
    assert here.low_s <= step_s <= here.high_s < 1.1 * step_s


@pytest.mark.parametrize(
    ("kind", "figure"),
    [("bf16", "bf16_tflops"), ("fp32", "fp32_tflops"), ("memory", "memory_bandwidth_gb_s")],
)
def test_a_kernel_moves_by_the_figure_that_binds_it(kind: str, figure: str) -> None:
    """An A100 differs from an H100 by about the ratio of its rates; an H200 by its memory alone."""
    own = timed(seconds={kind: 0.5})
    ratio = (getattr(find_gpu("H100", NAMED), figure)) / getattr(find_gpu("A100", NAMED), figure)
    there = on(own, "A100")
    assert there.step_s is not None
    assert there.step_s / 0.5 == pytest.approx(ratio, rel=0.25)
    faster = on(own, "H200").step_s
    assert faster is not None
    assert (faster < 0.49) == (kind == "memory")


def test_what_waits_for_data_is_no_faster_on_any_gpu() -> None:
    own = timed(seconds={"bf16": 0.2, "memory": 0.1, "data": 0.2})
    for gpu in ("H200", "B200"):
        there = on(own, gpu)
        assert there.step_s == pytest.approx(RUN.step_s)
    slower = on(own, "RTX 3090", 1)
    assert not slower.fits
    assert "40" in slower.reason
    words = waits_words(own.run)
    assert words is not None
    assert words.startswith("your GPUs wait 40 % of the time for data: no faster GPU will help")
    assert waits_words(own.run, {"bf16": 1.0, "host": 0.05}) is None


def test_what_is_loaded_between_steps_takes_as_long_beside_any_gpu() -> None:
    own = timed(seconds={"bf16": 0.3, "data": 0.2}, loads_serially=True)
    there = on(own, "B200")
    assert there.step_s is not None
    assert 0.2 < there.step_s < 0.5
    assert "between steps" in (waits_words(own.run) or "")


@pytest.mark.parametrize("gpu", ["A100", "H100", "A6000"])
def test_more_gpus_never_make_it_slower_nor_more_than_as_many_times_as_fast(gpu: str) -> None:
    own = timed(allocated_gib=20.0)
    seconds = [on(own, gpu, count).step_s for count in (1, 2, 4, 8)]
    for few, many in pairwise(seconds):
        assert few is not None
        assert many is not None
        assert few / 2 <= many * (1 + 1e-9) <= few * (1 + 1e-9)


def test_what_is_sharded_fits_more_gpus_alone() -> None:
    own = timed(sharded=True, gpu_count=4, allocated_gib=30.0, state_gib=20.0)
    assert not on(own, "H100", 1).fits
    assert on(own, "H100", 4).fits
    assert on(own, "A100", 8).memory_gib == pytest.approx(20.0)


def test_no_figure_no_estimate() -> None:
    old = on(timed(allocated_gib=4.0), "V100 32GB SXM")
    assert old.step_s is None
    assert "bf16 rate" in old.reason
    unseen = on(timed(seconds={}, allocated_gib=4.0), "A100")
    assert unseen.step_s is None


def test_a_definition_is_read_as_it_was_written() -> None:
    own = timed()
    assert read_definition(training_text(own)) == own
    long = timed(kernels=tuple((f"kernel{'x' * 4000}{n}", 0.1) for n in range(40)))
    assert len(training_text(long)) < 64 * 1024
    assert isinstance(read_definition(training_text(long)), OwnTraining)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("step_s", 0),
        ("step_s", float("nan")),
        ("step_s", "1"),
        ("step_s_low", 0.6),
        ("gpu_count", 0),
        ("gpu", "H100\x1b[2J"),
        ("seconds", {"sleep": 1.0}),
        ("seconds", {"bf16": -1.0}),
        ("kernels", [["a"]]),
        ("kernels", 3),
        ("parameters", -1),
        ("more", 1),
        ("settled", "yes"),
    ],
)
def test_a_definition_from_elsewhere_is_checked(key: str, value: Any) -> None:
    content = json.loads(training_text(timed()))
    content["own_training"]["run"][key] = value
    with pytest.raises(ValueError, match=r"\w"):
        read_definition(json.dumps(content))


@pytest.mark.parametrize("text", ['{"own_training":1}', '{"own_training":{}}', '{"own_training":'])
def test_a_damaged_definition_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(ValueError, match="definition") as caught:
        read_definition(text)
    assert "\n" not in str(caught.value)


def test_a_command_that_is_timed_is_ranked_predicted_reached_and_planned(
    own_store: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The example, timed by a real child process on this processor, taken for an H100's."""

    def as_gpu(*asked: Any, **named: Any) -> Any:
        ended = timed_here(*asked, **named, window_s=0.5)
        assert ended.run is not None and ended.run.gpu == "cpu"
        return replace(ended, run=replace(ended.run, gpu="H100", allocated_gib=20.0))

    timed_here = own_run.measure
    monkeypatch.setattr(own_run, "measure", as_gpu)
    store = ("--store", str(own_store))
    command = (sys.executable, str(Path("examples/own_training.py").absolute()))
    assert main(["bench", "--name", "My-Run", "--steps", "2M", *store, "--", *command]) == 0
    assert "kept as my-run" in capsys.readouterr().err

    def answer(*words: str) -> dict[str, Any]:
        assert main([*words, "--format", "json", *store]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    measured = answer("predict", "--model", "my-run", "--gpu", "H100")
    assert measured["basis"] == "measured"
    ranked = answer("rank", "--model", "my-run", "--gpus", "A6000")
    days = {row["gpu_count"]: row["training_days"] for row in ranked["ranked"]}
    assert days[1] > measured["training_days"]
    predicted = answer("predict", "--model", "my-run", "--gpu", "A6000")
    assert predicted["training_days"] == pytest.approx(days[1], rel=1e-3)
    for count in ("1", "5"):
        rows = answer("reach", "--gpu", "A6000", "--count", count)["models"]
        (mine,) = [row for row in rows if row["model"] == "my-run"]
        assert mine["estimated_memory_gib"] == 20.0
        assert count == "5" or mine["training_days"] == days[1]
    grant = tmp_path / "grant.toml"
    grant.write_text(
        '[grant]\nstart = 2027-01-01\nyears = 2\n[budget]\ntotal = "90k"\n[rentals]\nallowed = '
        'false\n[[experiments]]\nmodel = "my-run"\n[[owned]]\ngpu = "A6000"\ngpu_count = 1\n'
    )
    (placed,) = answer("plan", str(grant), "--quick")["schedule"]
    assert (placed["experiment"], placed["machine"]) == ("My-Run", "1 × A6000 (owned)")
    assert main(["plan", str(grant), "--quick", "--out", str(tmp_path / "r.md"), *store]) == 0
    assert "2 million steps" in (tmp_path / "r.md").read_text()
    capsys.readouterr()
    assert main(["rank", "--model", "my-run", "--train", "lora", *store]) == 2
    assert "advisor bench --name my-run -- COMMAND" in capsys.readouterr().err
