"""Where the milliseconds of a pass go: kernels of one forward and backward pass, longest first.

    python tests/benchmarks/profile_pass.py pythia-160m 64 > profile.jsonl
    python tests/benchmarks/profile_pass.py resnet-50 128 whole

Built as the runner builds it, in the recipe's precision, with the settings that are named
(without any: layers compiled one by one, fused loss, trimmed inputs). JSON lines: the pass in all,
what each class of kernels takes, then the kernels by name. Needs a GPU.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from contextlib import nullcontext

import torch
from accelerate.utils import compile_regions
from torch.profiler import ProfilerActivity, profile
from transformers import TrainingArguments

from bench_runner import configure
from bench_runner.arguments import find_recipe, parse_settings, settings_words
from bench_runner.recipes import Recipe
from bench_runner.worker.models import RandomBatches, hide_kernels
from bench_runner.worker.prepared_model import prepared_model

PASSES = 3
SHOWN = 40
CLASSES = (
    ("attention", r"fmha|flash|attention|sdpa"),
    ("depthwise", r"depthwise|c1_k1|conv2d_c1"),
    ("layout", r"nchwToNhwc|nhwcToNchw|transpose"),
    ("convolution", r"fprop|dgrad|wgrad|convolve|implicit|winograd|conv"),
    ("product", r"gemm|nvjet|cublas|splitK|gemv|cutlass"),
    ("norm", r"batch_norm|layer_norm|bn_fw|bn_bw|GammaBeta"),
    ("softmax", r"softmax|SoftMax"),
    ("reduction", r"triton_(red|per)|reduce"),
    ("elementwise", r"triton_poi|elementwise|Copy|copy|CatArray|roll|index"),
)
"""Which words of a kernel's name tell what it does; the first that fits."""


def main() -> None:
    recipe = find_recipe(sys.argv[1])
    samples = int(sys.argv[2])
    settings = parse_settings(sys.argv[3] if len(sys.argv) > 3 else "regional,fused,trimmed")
    if not settings.free_lunch:
        hide_kernels(recipe)
    arguments = TrainingArguments(
        **configure.training_arguments(
            recipe,
            settings,
            micro_batch_size=samples,
            accumulation_steps=1,
            device="cuda",
            compute_capability=torch.cuda.get_device_capability(),
        )
    )
    device = torch.device("cuda")
    model = prepared_model(recipe, settings, arguments, device).train()
    how = configure.compilation(recipe, settings)
    if how == "regional":
        model = compile_regions(model)
    elif how == "whole":
        model = torch.compile(model)
    half = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(recipe.training.precision)
    batch = next(iter(_batches(recipe, samples, device)))

    def one_pass() -> None:
        with torch.autocast("cuda", half) if half else nullcontext():
            loss = model(**batch)["loss"]
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
    launches: Counter[str] = Counter()
    for event in found.events():
        if event.device_type == torch.autograd.DeviceType.CUDA:
            kernels[event.name] += event.device_time / 1000 / PASSES
            launches[event.name] += 1
    classes: Counter[str] = Counter()
    for name, spent in kernels.items():
        classes[class_of(name)] += spent
    print(
        json.dumps(
            {
                "recipe": recipe.recipe_id,
                "settings": settings_words(settings),
                "micro_batch_size": samples,
                "pass_ms": round(whole_ms, 2),
                "kernels_ms": round(sum(kernels.values()), 2),
                "launches": sum(launches.values()) // PASSES,
                "classes_ms": {name: round(ms, 2) for name, ms in classes.most_common()},
            }
        )
    )
    for name, spent in kernels.most_common(SHOWN):
        print(
            json.dumps(
                {
                    "kernel": name[:150],
                    "ms": round(spent, 3),
                    "launches": launches[name] // PASSES,
                }
            )
        )


def _batches(recipe: Recipe, samples: int, device: torch.device) -> RandomBatches:
    batches = RandomBatches(recipe, samples=samples, passes=1, device=device, seed=0)
    batches.micro_batch_size = samples
    return batches


def class_of(kernel: str) -> str:
    return next((name for name, words in CLASSES if re.search(words, kernel)), "other")


if __name__ == "__main__":
    main()
