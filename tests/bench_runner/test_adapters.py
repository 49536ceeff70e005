"""Adapters by peft: what may be set, that the lean loss trains them as the plain one does, and the
whole road from a trial to a script that trains."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_runner.arguments import find_recipe
from bench_runner.recipe_flops import count_flops
from bench_runner.recipes import Recipe
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement, Settings
from bench_runner.settings import exact_settings, obstacles, search
from bench_runner.settings.fastest_possible_step import Situation
from bench_runner.settings.obstacles import parse_settings
from bench_runner.settings.search import Try
from tests.bench_runner.records_of_searches import tried
from tests.torch_for_tests import loaded_later

TINY = Path(__file__).with_name("tiny-lora.toml")


def adapted(name: str, **changes: Any) -> Recipe:
    recipe = find_recipe(name)
    return replace(recipe, training=replace(recipe.training, adapter_rank=16, **changes))


LLAMA = adapted("llama3.2-1b-shape")


@pytest.mark.parametrize(
    ("recipe", "words", "why"),
    [
        (LLAMA, "regional,fused,pure-half,checkpointing", None),
        (LLAMA, "naive", None),
        (LLAMA, "zero-2", "with zero-2 here"),
        (LLAMA, "half-weights", "with half-weights here"),
        (adapted("pythia-160m"), "pure-half", "with pure-half here"),
        (adapted("vit"), "regional", "no transformer of text"),
        (adapted("llama3.2-1b-shape", weight_bits=8), "naive", "4 alone"),
        (find_recipe("llama3.2-1b-shape"), "pure-half", None),
        (find_recipe("llama3.2-1b-shape"), "pure-half,zero-1", "leave words out"),
        (find_recipe("mamba"), "pure-half", "with pure-half here"),
    ],
)
def test_what_may_be_set(recipe: Recipe, words: str, why: str | None) -> None:
    said = obstacles.why_not(recipe, parse_settings(words), obstacles.every_setting(recipe))
    assert said == why or (said is not None and why is not None and why in said)


@pytest.mark.parametrize("recipe", [LLAMA, find_recipe("llama3.2-1b-shape"), adapted("roberta")])
def test_a_search_tries_the_fastest_exact_settings_with_other_rounding(recipe: Recipe) -> None:
    candidates = exact_settings.settings_of_methods("naive,all,rounding", recipe, 1, flash=False)
    every = obstacles.every_setting(recipe)
    assert all(obstacles.why_not(recipe, each, every) is None for each in candidates)
    changed = [each for each in candidates if each.changes_training]
    assert bool(changed) == (recipe.training.precision == "bf16")
    if not changed:
        with pytest.raises(ValueError, match="nothing is rounded otherwise"):
            exact_settings.settings_of_methods("rounding", recipe, 1, flash=False)
    situation = Situation(
        gpu_count=1,
        batch_size=recipe.training.batch_size,
        parameters=None,
        half_precision=True,
        usable_memory_gib=80.0,
        host_memory_gib=100.0,
    )
    done: list[Measurement] = []
    order: list[Settings] = []
    while (action := search.next_action(candidates, done, situation, "fast")) is not None:
        if not isinstance(action, Try):
            done.append(tried(action.settings, 1, status="pruned"))
            continue
        # The plain loss is the fastest here, and other rounding faster still.
        fused = action.settings.loss == "fused"
        took = 1.0 + fused + (not action.settings.free_lunch)
        took -= 0.5 * action.settings.changes_training
        sized = replace(action.settings, micro_batch_size=8, gradient_accumulation_steps=8)
        done.append(tried(sized, 1, status="ok", step_s=9 * took, sync_pass_s=(took,)))
        order.append(action.settings)
    exact = [each for each in order if not each.changes_training]
    assert order[: len(exact)] == exact
    assert len(order) - len(exact) == bool(changed)
    if changed:
        assert order[-1].loss == "plain" and order[-1].weights == "pure"


def test_products_with_weights_that_stay_make_two_passes_of_three() -> None:
    full, kept = count_flops(find_recipe("llama3.2-1b-shape")), count_flops(LLAMA)
    linear = full.model.weights
    assert full.train_sample_full - kept.train_sample_full == linear


@pytest.mark.torch
def test_a_lean_loss_gives_adapters_the_gradients_of_the_plain_one() -> None:
    torch = loaded_later("torch")
    loaded_later("peft")
    from bench_runner.worker.models import prepared_model

    recipe = find_recipe(str(TINY))
    recipe = replace(recipe, training=replace(recipe.training, precision="fp32"))
    tokens = torch.arange(66).reshape(2, 33) % 128
    found = []
    for words in ("not-compiled", "not-compiled,fused,trimmed"):
        torch.manual_seed(1)
        model = prepared_model(recipe, parse_settings(words), None, torch.device("cpu"))
        trained = {n: p for n, p in model.named_parameters() if p.requires_grad}
        assert trained and all(".lora_" in name for name in trained)
        for name, parameter in trained.items():
            if ".lora_B." in name:  # as after a step: at the start it is zero
                torch.nn.init.normal_(parameter, std=0.1)
        loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()
        assert model.get_base_model().get_output_embeddings().weight.grad is None
        found.append([loss.detach(), *(p.grad for p in trained.values())])
    for plain, lean in zip(*found, strict=True):
        torch.testing.assert_close(lean, plain, rtol=1e-4, atol=1e-6)


@pytest.mark.torch
def test_a_trial_of_adapters_is_recorded_and_exported(tmp_path: Path) -> None:
    loaded_later("peft")
    records, winner = tmp_path / "records.jsonl", tmp_path / "winner"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"

    def runner(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "bench_runner", *words, "--recipe", str(TINY)],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
            timeout=300,
        )

    runner(
        *(
            "run",
            "--settings",
            "not-compiled,fused,trimmed,pure-half",
            "--micro-batch",
            "8",
            "--device",
            "cpu",
            "--yes",
        ),
        *("--minimum-steps", "2", "--maximum-steps", "4", "--settle-s", "1"),
        *("--records", str(records), "--work", str(tmp_path / "work")),
    )
    (record,) = journal.read(records)
    assert record.status == "ok", record.reason
    assert record.method == "changes-training"
    runner("export", "--records", str(records), "--out", str(winner), "--rounding")
    # The script trains adapters alone, of the type that was measured.
    told = (
        "import json, train; trainer, _ = train.main(max_steps=1); "
        "print(json.dumps([[n, str(p.dtype)] for n, p in trainer.model.named_parameters() "
        "if p.requires_grad]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", told],
        cwd=winner,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    trained = json.loads(done.stdout.strip().splitlines()[-1])
    assert trained and all(".lora_" in name for name, _ in trained)
    assert {kind for _, kind in trained} == {"torch.bfloat16"}
