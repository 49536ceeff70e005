"""What a benchmark would run, and requests that are refused in one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.benchmark.benchmark_plan import make_plan
from advisor.benchmark.measurement_request import MachineState
from advisor.benchmark.runner_process import look_here
from advisor.store import Store
from advisor.typed_input import InputError
from bench_runner.recipes import load_recipe
from tests.benchmark.fake_runs import TINY, measure, planned, request, runner

pytestmark = pytest.mark.usefixtures("two_fake_gpus")


# What would run


HERE = MachineState(host="n", cpu="c", gpus=(), disk_free_gib=1.0, concerns=())


def test_without_a_gpu_it_says_so(own_store: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no GPU on this machine") as caught:
        make_plan(Store(own_store), request(tmp_path), HERE)
    assert "never ranks as a GPU" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "count", "words"),
    [
        ({"recipe": "pythia-161m"}, 1, "pythia-160m"),
        ({"recipe": ""}, 1, "no model is named"),
        ({"recipe": "missing.toml"}, 1, "missing.toml"),
        ({"methods": "some"}, 1, "choose among naive, free-lunch, paper, all"),
        ({"methods": ""}, 1, "choose among"),
        ({}, 3, "shows 2"),
        ({"device": "cpu"}, 3, "choose --gpus so that it divides"),
    ],
)
def test_wrong_requests_are_one_line(
    own_store: Path, tmp_path: Path, changes: dict[str, Any], count: int, words: str
) -> None:
    wanted = request(tmp_path, **changes)
    here = look_here(wanted.work_directory, None, runner("good"))
    with pytest.raises(InputError, match=words) as caught:
        make_plan(Store(own_store), wanted, here, gpu_count=count)
    assert "\n" not in str(caught.value)


def test_gpus_of_two_kinds_are_refused(own_store: Path, tmp_path: Path) -> None:
    here = look_here(tmp_path, None, runner("good"))
    mixed = replace(here, gpus=(here.gpus[0], replace(here.gpus[1], name="NVIDIA A40")))
    with pytest.raises(InputError, match="CUDA_VISIBLE_DEVICES"):
        make_plan(Store(own_store), request(tmp_path), mixed, gpu_count=2)


def test_a_recipe_of_one_s_own_may_not_take_a_known_name(own_store: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TINY.replace('"tiny"', '"pythia-160m"'))
    with pytest.raises(InputError, match="give this one an id of its own"):
        make_plan(Store(own_store), request(tmp_path, recipe=str(file), device="cpu"), HERE)


@pytest.mark.predicts_anew
def test_a_recipe_of_one_s_own_is_kept_with_what_predicts_it(
    own_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TINY.replace("= 32\n", "= 1024\n", 1))
    measure(planned(own_store, tmp_path, recipe=str(file)), "good")
    store = Store(own_store)
    (own,) = store.own_models()
    assert own.recipe == load_recipe(file)
    with store.reading() as reader:
        foreseen = {row.recipe_id for row in reader.predictions()}
    assert "tiny" in foreseen
