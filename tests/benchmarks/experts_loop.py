"""Products of experts, forward and backward: torch's grouped product, and what it does without.

    python tests/benchmarks/experts_loop.py > experts.jsonl

A layer's first product of three mixtures of experts, each in BF16, of which torch has a kernel on
compute capabilities 9 and 10, and in FP16 and FP32, where it loops over the experts. The rows of an
expert are the same in every repetition, so that cuBLAS looks for kernels once; a router sends
others each time (`profile_trainer.py ... loop`). Needs a GPU.
"""

from __future__ import annotations

import json
import time

import torch
from torch.nn.functional import grouped_mm

SHAPES = {
    "granite-3.0-1b-a400m-shape": (32, 8, 1024, 1024, 8 * 2048),
    "deepseekmoe-2b-shape": (63, 7, 1280, 1728, 8 * 2048),
    "mixtral-1.5b-shape": (8, 2, 1024, 7168, 16 * 2048),
}
"""Experts, chosen of them, inputs, outputs (two inner sizes), tokens."""
REPEATS = 4


def main() -> None:
    torch.manual_seed(0)
    for name, (experts, chosen, inputs, outputs, tokens) in SHAPES.items():
        rows = tokens * chosen
        sent = torch.bincount(torch.randint(0, experts, (rows,)), minlength=experts)
        ends = sent.cumsum(0).to("cuda", torch.int32)
        for dtype in (torch.bfloat16, torch.float16, torch.float32):
            states = torch.randn(rows, inputs, device="cuda", dtype=dtype, requires_grad=True)
            weights = torch.randn(experts, outputs, inputs, device="cuda", dtype=dtype)
            weights.requires_grad_()

            def once(
                states: torch.Tensor = states,
                weights: torch.Tensor = weights,
                ends: torch.Tensor = ends,
            ) -> None:
                made = grouped_mm(states, weights.transpose(-2, -1), offs=ends)
                made.backward(torch.ones_like(made))
                states.grad = weights.grad = None

            for _ in range(2):
                once()
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(REPEATS):
                once()
            torch.cuda.synchronize()
            spent_ms = (time.perf_counter() - began) / REPEATS * 1e3
            row = {
                "shape": name,
                "dtype": str(dtype).removeprefix("torch."),
                "products": 3 * experts,
            }
            print(json.dumps(row | {"ms": round(spent_ms, 3)}), flush=True)


if __name__ == "__main__":
    main()
