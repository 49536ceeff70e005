"""The fused loss by itself, at several sizes of its chunks: milliseconds of forward and backward.

    python tests/benchmarks/loss_chunks.py > loss.jsonl

One JSON line a shape and chunk, the median of 7 synchronised runs after 3. Needs a GPU.
"""

from __future__ import annotations

import json
from itertools import product
from statistics import median

import torch

from bench_runner.worker import lean_loss

SHAPES = {
    # recipe: tokens of a micro-batch, hidden size, vocabulary, type
    "pythia-160m": (64 * 2048, 768, 50304, torch.float16),
    "pythia-1b": (16 * 2048, 2048, 50304, torch.bfloat16),
    "qwen3-0.6b-shape": (8 * 4095, 1024, 151936, torch.bfloat16),
}
MIB = 1024**2


def main() -> None:
    for recipe, (tokens, hidden, vocabulary, dtype) in SHAPES.items():
        for one_kernel, chunk in product((False, True), (64, 128, 256, 512, 1024, 2048)):
            lean_loss.CHUNK_BYTES = chunk * MIB
            lean_loss.ADDS_IN_PRODUCT = one_kernel
            said: dict[str, object]
            try:
                said = {"ms": _milliseconds(tokens, hidden, vocabulary, dtype)}
                said["weight_off"] = _weight_error(hidden, vocabulary, dtype)
            except RuntimeError as error:
                said = {"failed": str(error).splitlines()[0]}
            shape = {"recipe": recipe, "chunk_mib": chunk, "adds_in_product": one_kernel}
            print(json.dumps(shape | said), flush=True)


def _milliseconds(tokens: int, hidden: int, vocabulary: int, dtype: torch.dtype) -> float:
    torch.manual_seed(1)
    states = torch.randn(tokens, hidden, device="cuda", dtype=dtype, requires_grad=True)
    weight = torch.randn(vocabulary, hidden, device="cuda", requires_grad=True)
    target = torch.randint(vocabulary, (tokens,), device="cuda")
    spent = []
    for run in range(10):
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        marks[0].record()
        with torch.autocast("cuda", dtype):
            loss = lean_loss.LinearCrossEntropy.apply(states, weight, None, target)
        (loss / tokens).backward()
        marks[1].record()
        torch.cuda.synchronize()
        states.grad = weight.grad = None
        if run >= 3:
            spent.append(marks[0].elapsed_time(marks[1]))
    return round(median(spent), 3)


def _weight_error(hidden: int, vocabulary: int, dtype: torch.dtype) -> float:
    """The weight's gradient against that in full precision, of 4,096 tokens: relative norm."""
    torch.manual_seed(2)
    states = torch.randn(4096, hidden, device="cuda", dtype=dtype)
    weight = (0.02 * torch.randn(vocabulary, hidden, device="cuda")).requires_grad_()
    target = torch.randint(vocabulary, (4096,), device="cuda")
    with torch.autocast("cuda", dtype):
        lean_loss.LinearCrossEntropy.apply(states, weight, None, target).backward()
    found = weight.grad
    weight.grad = None
    logits = torch.nn.functional.linear(states.float(), weight)
    torch.nn.functional.cross_entropy(logits, target, reduction="sum").backward()
    return float((found - weight.grad).norm() / weight.grad.norm())


if __name__ == "__main__":
    main()
