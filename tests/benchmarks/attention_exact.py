"""Loss and gradients of one step with each attention of this machine, beside PyTorch's own.

    python tests/benchmarks/attention_exact.py [--recipe pythia-160m] [--samples 4]

One JSON line for each of eager, sdpa and the FlashAttention that is installed: {attention, name,
loss, loss_off, gradient_off}. ``_off`` are relative distances from the same step without autocast
in FP32 and without a fused attention: what rounding alone makes of the recipe's half precision is
what the eager line shows, and an exact attention lies no further off.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import torch

from bench_runner.arguments import find_recipe
from bench_runner.worker import models


def step(recipe: Any, attention: str, precision: torch.dtype, samples: int) -> tuple[float, Any]:
    """The loss of one pass, and all gradients in one row."""
    torch.manual_seed(1)
    model: Any = models.build_model(recipe, attention).cuda()
    model.eval()  # no dropout: it would draw differently
    generator = torch.Generator(device="cuda").manual_seed(2)
    length = recipe.training.sequence_length
    words = torch.randint(
        model.config.vocab_size, (samples, length), device="cuda", generator=generator
    )
    with torch.autocast("cuda", precision, enabled=precision != torch.float32):
        loss = model(input_ids=words, labels=words).loss
    # Half-precision gradients are scaled, as the Trainer does.
    (loss * 1024).backward()
    rows = [p.grad.flatten().double().cpu() for p in model.parameters() if p.grad is not None]
    return float(loss), torch.cat(rows) / 1024


def main() -> int:
    words = argparse.ArgumentParser()
    words.add_argument("--recipe", default="pythia-160m")
    words.add_argument("--samples", type=int, default=4)
    arguments = words.parse_args()
    recipe = find_recipe(arguments.recipe)
    torch.backends.cuda.matmul.allow_tf32 = False
    half = {"fp16": torch.float16, "bf16": torch.bfloat16}[recipe.training.precision]
    true_loss, true_row = step(recipe, "eager", torch.float32, arguments.samples)
    size = true_row.norm()
    for name in ("eager", "sdpa", models.flash_attention()):
        if name is None:
            print(json.dumps({"attention": "flash", "name": None}))
            continue
        loss, row = step(recipe, name, half, arguments.samples)
        print(
            json.dumps(
                {
                    "attention": name,
                    "recipe": recipe.recipe_id,
                    "samples": arguments.samples,
                    "gpu": torch.cuda.get_device_name(),
                    "loss": loss,
                    "loss_off": abs(loss - true_loss) / true_loss,
                    "gradient_off": float((row - true_row).norm() / size),
                }
            ),
            flush=True,
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
