"""Where the milliseconds of a pass go: kernels of one forward and backward pass, longest first.

    python tests/benchmarks/profile_pass.py pythia-160m 64 > profile.jsonl

Built as the runner builds it: layers compiled one by one, fused loss, trimmed inputs, autocast in
the recipe's precision. JSON lines: the pass in all, then its kernels by name. Needs a GPU.
"""

from __future__ import annotations

import json
import sys
from collections import Counter

import torch
from accelerate.utils import compile_regions
from torch.profiler import ProfilerActivity, profile

from bench_runner import configure
from bench_runner.arguments import find_recipe, parse_settings
from bench_runner.worker.lean_loss import lean_model
from bench_runner.worker.models import build_model

PASSES = 4
SHOWN = 25


def main() -> None:
    recipe = find_recipe(sys.argv[1])
    samples = int(sys.argv[2])
    settings = parse_settings(sys.argv[3] if len(sys.argv) > 3 else "regional,fused,trimmed")
    half = {"fp16": torch.float16, "bf16": torch.bfloat16}[recipe.training.precision]
    attention = configure.attention(recipe, settings, flash=None)
    with torch.device("cuda"):
        model = build_model(recipe, attention)
    model = lean_model(model, loss=settings.loss, inputs=settings.inputs).train()
    if settings.compilation == "regional":
        model = compile_regions(model)
    tokens = torch.randint(
        model.config.vocab_size, (samples, recipe.training.sequence_length), device="cuda"
    )

    def one_pass() -> None:
        with torch.autocast("cuda", half):
            loss = model(input_ids=tokens, labels=tokens).loss
        loss.backward()

    for _ in range(4):
        one_pass()
    torch.cuda.synchronize()
    marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    marks[0].record()
    for _ in range(PASSES):
        one_pass()
    marks[1].record()
    torch.cuda.synchronize()
    whole_ms = marks[0].elapsed_time(marks[1]) / PASSES
    with profile(activities=[ProfilerActivity.CUDA]) as found:
        for _ in range(PASSES):
            one_pass()
        torch.cuda.synchronize()
    kernels: Counter[str] = Counter()
    for event in found.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            kernels[event.name] += event.device_time / 1000 / PASSES
    busy = sum(kernels.values())
    print(
        json.dumps(
            {
                "recipe": recipe.recipe_id,
                "micro_batch_size": samples,
                "pass_ms": round(whole_ms, 2),
                "kernels_ms": round(busy, 2),
            }
        )
    )
    for name, spent in kernels.most_common(SHOWN):
        print(json.dumps({"kernel": name[:110], "ms": round(spent, 2)}))


if __name__ == "__main__":
    main()
