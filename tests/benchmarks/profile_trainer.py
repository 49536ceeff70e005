"""Kernels of one optimiser step of Hugging Face's Trainer itself, longest first.

    python tests/benchmarks/profile_trainer.py roberta-base 64 free-lunch > profile.jsonl
    python tests/benchmarks/profile_trainer.py granite-3.0-1b-a400m-shape 8 zero-1,fused loop

What `profile_pass.py` does for a pass of the model alone: the two tell what the Trainer adds. Four
passes a step; milliseconds are of one pass, `step_ms` of the step before the one that is profiled.
``loop`` puts a loop over the experts in the place of torch's grouped product, as it has none on
most GPUs. Needs a GPU.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections import Counter
from typing import Any

import torch
from profile_pass import SHOWN, class_of
from torch.profiler import ProfilerActivity, profile
from transformers import TrainingArguments

from bench_runner import configure
from bench_runner.arguments import find_recipe, parse_settings, settings_words
from bench_runner.worker import models
from bench_runner.worker.prepared_model import prepared_model
from bench_runner.worker.timed_trainer import PlainTrainer, StepEnd

PASSES, WARM_STEPS = 4, 4
ALONE = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
"""DeepSpeed wants to be launched."""


class _Loop(torch.autograd.Function):
    """Products of one expert after the other, as ATen's GroupedMMUtils.h makes them."""

    @staticmethod
    def forward(
        context: Any, states: torch.Tensor, weights: torch.Tensor, ends: torch.Tensor
    ) -> torch.Tensor:
        context.save_for_backward(states, weights)
        context.ends = ends.tolist()
        made = states.new_empty(len(states), weights.shape[2])
        start = 0
        for weight, end in zip(weights, context.ends, strict=True):
            torch.mm(states[start:end], weight, out=made[start:end])
            start = end
        return made

    @staticmethod
    def backward(context: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        states, weights = context.saved_tensors
        of_states = torch.empty_like(states)
        of_weights = weights.new_empty(weights.shape)
        start = 0
        for i, end in enumerate(context.ends):
            torch.mm(gradient[start:end], weights[i].T, out=of_states[start:end])
            torch.mm(states[start:end].T, gradient[start:end], out=of_weights[i])
            start = end
        return of_states, of_weights, None


def _looped(states: torch.Tensor, weights: torch.Tensor, *, offs: torch.Tensor) -> torch.Tensor:
    return _Loop.apply(states, weights, offs)


def main() -> None:
    recipe, samples = find_recipe(sys.argv[1]), int(sys.argv[2])
    settings = parse_settings(sys.argv[3])
    if not settings.free_lunch:
        models.hide_kernels(recipe)
    device, capability = torch.device("cuda"), torch.cuda.get_device_capability()
    written = configure.training_arguments(
        recipe,
        settings,
        micro_batch_size=samples,
        accumulation_steps=PASSES,
        device="cuda",
        compute_capability=capability,
    )
    os.environ |= configure.environment(settings, ".".join(map(str, capability)))
    if settings.sharding is not None:
        os.environ |= ALONE | {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29511"}
    if sys.argv[4:] == ["loop"]:
        torch.nn.functional.grouped_mm = _looped
    arguments = TrainingArguments(**written | {"max_steps": WARM_STEPS + 2})
    model = prepared_model(recipe, settings, arguments, device)
    batches = models.RandomBatches(
        recipe, samples=samples * PASSES, passes=PASSES * (WARM_STEPS + 2), device=device, seed=0
    )
    batches.micro_batch_size = samples
    found = profile(activities=[ProfilerActivity.CUDA])
    steps, step_s, before = 0, 0.0, 0.0

    def ended() -> bool:
        nonlocal steps, step_s, before
        steps += 1
        torch.cuda.synchronize()
        now = time.perf_counter()
        if steps <= WARM_STEPS:
            step_s, before = now - before, now
        if steps == WARM_STEPS:
            found.start()
        if steps == WARM_STEPS + 1:
            found.stop()
        return steps > WARM_STEPS

    PlainTrainer(
        batches=batches,
        model=model,
        args=arguments,
        callbacks=[StepEnd(ended)],
        optimizer_cls_and_kwargs=models.optimizer(recipe, device),
    ).train()
    kernels: Counter[str] = Counter()
    launches: Counter[str] = Counter()
    classes: Counter[str] = Counter()
    for event in found.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            spent_ms = event.device_time / 1000 / PASSES
            kernels[event.name] += spent_ms
            launches[event.name] += 1
            classes[class_of(event.name)] += spent_ms
    summary = {
        "recipe": recipe.recipe_id,
        "settings": settings_words(settings),
        "micro_batch_size": samples,
        "step_ms": round(step_s * 1e3, 1),
        "kernels_ms": round(sum(kernels.values()), 2),
        "classes_ms": {name: round(ms, 2) for name, ms in classes.most_common()},
    }
    print(json.dumps(summary))
    for name, spent_ms in kernels.most_common(SHOWN):
        row = {"kernel": name[:150], "ms": round(spent_ms, 3), "launches": launches[name] / PASSES}
        print(json.dumps(row))


if __name__ == "__main__":
    main()
