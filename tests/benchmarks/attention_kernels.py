"""Milliseconds of one causal attention, forward and backward, by each kernel that PyTorch offers.

    python tests/benchmarks/attention_kernels.py > attention.jsonl

One JSON line a shape and kernel: the median of 20 synchronised runs after 5, at the shapes of the
recipes' layers. Needs a GPU.
"""

from __future__ import annotations

import json
from statistics import median

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

SHAPES = {
    # recipe: (samples, heads, tokens, head size), dtype
    "pythia-160m": ((64, 12, 2048, 64), torch.float16),
    "pythia-410m": ((32, 16, 2048, 64), torch.float16),
    "pythia-1b": ((16, 8, 2048, 256), torch.bfloat16),
    "pythia-2.8b": ((8, 32, 2048, 80), torch.float16),
    "qwen3-0.6b-shape": ((8, 16, 4096, 128), torch.bfloat16),
}
KERNELS = (
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.CUDNN_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
)


def main() -> None:
    for recipe, (shape, dtype) in SHAPES.items():
        for kernel in KERNELS:
            try:
                forward, backward = _milliseconds(shape, dtype, kernel)
                said = {"forward_ms": forward, "backward_ms": backward}
            except RuntimeError as error:
                said = {"error": str(error).splitlines()[0]}
            print(json.dumps({"recipe": recipe, "shape": shape, "kernel": kernel.name} | said))


def _milliseconds(
    shape: tuple[int, ...], dtype: torch.dtype, kernel: SDPBackend
) -> tuple[float, float]:
    query, key, value = (
        torch.randn(shape, device="cuda", dtype=dtype, requires_grad=True) for _ in range(3)
    )
    gradient = torch.randn(shape, device="cuda", dtype=dtype)
    forwards, backwards = [], []
    for run in range(25):
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
        marks[0].record()
        with sdpa_kernel(kernel):
            found = scaled_dot_product_attention(query, key, value, is_causal=True)
        marks[1].record()
        found.backward(gradient)
        marks[2].record()
        torch.cuda.synchronize()
        if run >= 5:
            forwards.append(marks[0].elapsed_time(marks[1]))
            backwards.append(marks[1].elapsed_time(marks[2]))
    return round(median(forwards), 3), round(median(backwards), 3)


if __name__ == "__main__":
    main()
