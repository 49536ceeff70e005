"""What dropping elements costs a residual sum and its norm, compiled and not, forward and backward.

    python tests/benchmarks/dropout_cost.py > dropout.jsonl

One JSON line a case: the median of 10 synchronised runs after 5, with dropout and without, and the
difference in picoseconds an element. Needs a GPU.
"""

from __future__ import annotations

import json
from itertools import product
from statistics import median

import torch
from torch import nn

POSITIONS = 131072


class Sum(nn.Module):
    def __init__(self, width: int, dropped: float) -> None:
        super().__init__()
        self.norm, self.dropout = nn.LayerNorm(width), nn.Dropout(dropped)

    def forward(self, new: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
        return self.norm(self.dropout(new) + kept)


def main() -> None:
    for width, dtype, compiled in product(
        (768, 1024), (torch.float16, torch.bfloat16, torch.float32), (True, False)
    ):
        took = {p: _milliseconds(width, dtype, compiled, p) for p in (0.0, 0.1)}
        more = 1e9 * (took[0.1] - took[0.0]) / (POSITIONS * width)
        case = {"width": width, "dtype": str(dtype)[6:], "compiled": compiled}
        print(json.dumps(case | {"ms": took, "picoseconds_an_element": more}), flush=True)


def _milliseconds(width: int, dtype: torch.dtype, compiled: bool, dropped: float) -> float:
    torch._dynamo.reset()
    module = Sum(width, dropped).cuda()
    run = torch.compile(module) if compiled else module
    new, kept, gradient = (torch.randn((POSITIONS, width), device="cuda") for _ in range(3))
    new, kept = (x.to(dtype).requires_grad_() for x in (new, kept))
    times = []
    for _ in range(15):
        marks = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
        marks[0].record()
        with torch.autocast("cuda", dtype, enabled=dtype != torch.float32):
            found = run(new, kept)
        found.backward(gradient.to(found.dtype))
        marks[1].record()
        torch.cuda.synchronize()
        times.append(marks[0].elapsed_time(marks[1]))
    return median(times[5:])


if __name__ == "__main__":
    main()
