"""What a benchmark would run, and requests that are refused in one line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.benchmark.benchmark_plan import make_plan
from advisor.benchmark.measurement_request import look_here
from advisor.prediction.model.askable_models import Ask
from advisor.ranking.fine_tuning import FineTuning
from advisor.store import Store
from advisor.typed_input import InputError
from bench_runner.recipes import load_recipe
from tests import fake_runner
from tests.benchmark.fake_runs import TINY, measure, planned, request

pytestmark = pytest.mark.usefixtures("two_fake_gpus")


# What would run


HERE = replace(fake_runner.machine(Path()), gpus=())


def test_without_a_gpu_it_says_so(own_store: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="on this machine") as caught:
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
    here = look_here(wanted.work_directory)
    with pytest.raises(InputError, match=words) as caught:
        make_plan(Store(own_store), wanted, here, gpu_count=count)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("tuning", "name", "rank", "bits"),
    [
        (FineTuning(train="full"), "llama3.2-1b-shape-full", None, None),
        (FineTuning(train="lora"), "llama3.2-1b-shape-lora-rank-16", 16, None),
        (
            FineTuning(train="qlora", rank=8, data=5e6),
            "llama3.2-1b-shape-qlora-rank-8",
            8,
            4,
        ),
    ],
)
def test_a_fine_tuning_is_a_recipe_of_its_own(
    own_store: Path,
    tmp_path: Path,
    tuning: FineTuning,
    name: str,
    rank: int | None,
    bits: int | None,
) -> None:
    ask = Ask(tuning=tuning)
    wanted = request(tmp_path, recipe="llama3.2-1b-shape", ask=ask, device="cpu", gpu_count=1)
    plan = make_plan(Store(own_store), wanted, HERE)
    assert plan.recipe_id == name and plan.own_recipe is not None
    assert plan.as_kept is not None and "batches of 64" in plan.as_kept
    file = tmp_path / "written.toml"
    file.write_text(plan.request.recipe_text or "")
    training = load_recipe(file).training
    assert (training.adapter_rank, training.weight_bits) == (rank, bits)
    assert training.training_steps == round(tuning.seen(text=True) / 64 / 2048 + 0.5)
    short = request(tmp_path, recipe="llama3.2-1b-shape", device="cpu", gpu_count=1)
    few = Ask(tuning=replace(tuning, data=1e6))
    with pytest.raises(InputError, match="8 optimiser steps"):
        make_plan(Store(own_store), replace(short, ask=few), HERE)
    images = request(tmp_path, recipe="vit", ask=ask, device="cpu", gpu_count=1)
    with pytest.raises(InputError, match="models of text"):
        make_plan(Store(own_store), images, HERE)


def test_gpus_of_two_kinds_are_refused(own_store: Path, tmp_path: Path) -> None:
    here = look_here(tmp_path)
    mixed = replace(here, gpus=(here.gpus[0], replace(here.gpus[1], name="NVIDIA A40")))
    with pytest.raises(InputError, match="CUDA_VISIBLE_DEVICES"):
        make_plan(Store(own_store), request(tmp_path), mixed, gpu_count=2)


def test_a_recipe_of_one_s_own_may_not_take_a_known_name(own_store: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TINY.replace('"tiny"', '"pythia-160m"'))
    with pytest.raises(InputError, match="give this one an id of its own"):
        make_plan(Store(own_store), request(tmp_path, recipe=str(file), device="cpu"), HERE)


def test_a_recipe_of_one_s_own_is_kept(own_store: Path, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(TINY.replace("= 32\n", "= 1024\n", 1))
    measure(planned(own_store, tmp_path, recipe=str(file)), "good")
    (own,) = Store(own_store).own_definitions().models
    assert own.recipe == load_recipe(file)
