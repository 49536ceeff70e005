"""Milliseconds of one attention, forward and backward, by whichever kernel PyTorch takes for it.

    python tests/benchmarks/attention_shapes.py > attention_shapes.jsonl

One JSON line a shape: the median of 8 synchronised runs after 3, the kernels by name, and what
share of the half-precision peak the products reach (a causal one counts half). 65,536 tokens and
1,024 elements of all heads each, so that the lines compare. Needs a GPU.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from statistics import median

import torch
from torch.nn.functional import scaled_dot_product_attention
from torch.profiler import ProfilerActivity, profile

TOKENS, WIDTH = 65536, 1024
LENGTHS = (128, 256, 512, 1024, 2048, 4096, 8192, 16384)
HEADS = (32, 64, 80, 96, 128, 256)


def main() -> None:
    peak = float(sys.argv[1]) * 1e12 if len(sys.argv) > 1 else 989e12
    cases = [(n, h, c, 0.0, None) for n, h, c in product(LENGTHS, (64, 128), (True, False))]
    cases += [(2048, h, c, 0.0, None) for h, c in product(HEADS, (True, False))]
    cases += [(n, h, False, 0.1, None) for n, h in product(LENGTHS[:5], (64, 128))]
    cases += [(n, 64, True, 0.1, None) for n in (512, 1024, 2048)]
    cases += [
        (n, h, False, 0.0, mask)
        for n, h, mask in product((512, 2048, 4096), (64, 128, 256), ("bool", "float", "graded"))
    ]
    for length, head, causal, dropout, mask in cases:
        case = {"tokens": length, "head": head, "causal": causal, "dropout": dropout, "mask": mask}
        try:
            found = _measured(length, head, causal, dropout, mask)
        except (RuntimeError, torch.OutOfMemoryError) as error:
            found = {"error": str(error).splitlines()[0][:200]}
        else:
            flops = 4.0 * TOKENS * length * WIDTH * 3.5 * (0.5 if causal else 1.0)
            found["reach"] = flops / (found["forward_ms"] + found["backward_ms"]) / 1e-3 / peak
        torch.cuda.empty_cache()
        print(json.dumps(case | found), flush=True)


def _measured(length: int, head: int, causal: bool, dropout: float, mask: str | None) -> dict:
    shape = (TOKENS // length, WIDTH // head, length, head)
    query, key, value = (
        torch.randn(shape, device="cuda", dtype=torch.bfloat16, requires_grad=True)
        for _ in range(3)
    )
    hidden = None
    if mask == "bool":  # a window of an eighth
        places = torch.arange(length, device="cuda")
        gap = places[:, None] - places[None, :]
        hidden = ((gap >= 0) & (gap < length // 8))[None, None]
    elif mask is not None:
        hidden = torch.randn((1, shape[1], length, length), device="cuda", dtype=torch.bfloat16)
        hidden.requires_grad = mask == "graded"  # T5's relative positions, ALiBi's biases
    gradient = torch.randn(shape, device="cuda", dtype=torch.bfloat16)
    forwards, backwards = [], []

    def once() -> None:
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(3)]
        marks[0].record()
        found = scaled_dot_product_attention(
            query, key, value, attn_mask=hidden, dropout_p=dropout, is_causal=causal
        )
        marks[1].record()
        found.backward(gradient)
        marks[2].record()
        torch.cuda.synchronize()
        forwards.append(marks[0].elapsed_time(marks[1]))
        backwards.append(marks[1].elapsed_time(marks[2]))

    for _ in range(11):
        once()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        once()
    kernels = sorted(seen.key_averages(), key=lambda k: -k.device_time_total)[:3]
    return {
        "forward_ms": median(forwards[3:11]),
        "backward_ms": median(backwards[3:11]),
        "kernels": [k.key[:60] for k in kernels],
    }


if __name__ == "__main__":
    main()
