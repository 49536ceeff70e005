"""How many bytes a second kernels of a training step reach, by kind, beside a plain copy.

    python tests/benchmarks/kernel_bandwidth.py [--elements N] [--repeats R]

One JSON line a kernel: its name, the seconds of each repetition, the bytes that it cannot but move,
and their rate. On a GPU the time is between two events on the stream, after warming up.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator

import torch
from torch.nn import functional as nn

WIDTH = 1024
WARM_UP = 3


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--elements", type=int, default=1 << 28)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    name = torch.cuda.get_device_name() if device.type == "cuda" else "cpu"
    for kernel, moved_bytes, run in kernels(arguments.elements, device):
        seconds = timed(run, device, arguments.repeats)
        middle = sorted(seconds)[len(seconds) // 2]
        print(
            json.dumps(
                {
                    "gpu": name,
                    "torch": torch.__version__,
                    "kernel": kernel,
                    "seconds": seconds,
                    "moved_bytes": moved_bytes,
                    "tb_s": round(moved_bytes / middle / 1e12, 3),
                }
            ),
            flush=True,
        )
    return 0


def kernels(elements: int, device: torch.device) -> Iterator[tuple[str, int, Callable[[], object]]]:
    """Each kernel with the bytes that it cannot but move: operands once, results once."""
    half = {"dtype": torch.bfloat16, "device": device}
    rows = elements // WIDTH
    x, y, out = (torch.randn(rows, WIDTH, **half) for _ in range(3))
    size = 2 * x.numel()
    yield "copy", 2 * size, lambda: out.copy_(x)
    yield "add, torch", 3 * size, lambda: torch.add(x, y, out=out)
    yield "gelu, torch", 2 * size, lambda: nn.gelu(x)
    weight, bias = torch.ones(WIDTH, **half), torch.zeros(WIDTH, **half)
    yield "layer norm, torch", 2 * size, lambda: nn.layer_norm(x, (WIDTH,), weight, bias)
    yield "softmax, torch", 2 * size, lambda: torch.softmax(x, dim=-1)
    yield "softmax to fp32, torch", 3 * size, lambda: torch.softmax(x, -1, dtype=torch.float32)

    def norm_and_sum(a: torch.Tensor, b: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        total = a + b
        return total, nn.layer_norm(total, (WIDTH,), weight, bias)

    def gate(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return nn.silu(a) * b

    summed, gated = torch.compile(norm_and_sum), torch.compile(gate)
    yield "sum and layer norm, compiled", 4 * size, lambda: summed(x, y)
    yield "silu and product, compiled", 3 * size, lambda: gated(x, y)
    for label, function in (
        ("layer norm, compiled", torch.compile(_norm)),
        ("layer norm, torch", _norm),
    ):
        held = x.detach().requires_grad_()
        scale = weight.detach().requires_grad_()
        result, given = function(held, scale), torch.ones_like(x)

        def backward(
            result: torch.Tensor = result,
            held: torch.Tensor = held,
            scale: torch.Tensor = scale,
            given: torch.Tensor = given,
        ) -> object:
            return torch.autograd.grad(result, (held, scale), given, retain_graph=True)

        yield f"{label}, backward", 3 * size, backward
    parameters = [torch.zeros(1 << 20, device=device) for _ in range(max(1, elements >> 22))]
    for parameter in parameters:
        parameter.grad = torch.ones_like(parameter)
    adam = torch.optim.AdamW(parameters, fused=device.type == "cuda")
    yield "Adam, fused", 28 * sum(p.numel() for p in parameters), adam.step


def _norm(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return nn.layer_norm(x, (WIDTH,), weight)


def timed(run: Callable[[], object], device: torch.device, repeats: int) -> list[float]:
    """Seconds of each repetition."""
    for _ in range(WARM_UP):
        run()
    seconds = []
    for _ in range(repeats):
        if device.type != "cuda":
            began = time.perf_counter()
            run()
            seconds.append(time.perf_counter() - began)
            continue
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        first.record()
        run()
        last.record()
        torch.cuda.synchronize()
        seconds.append(first.elapsed_time(last) / 1e3)
    return seconds


if __name__ == "__main__":
    sys.exit(main())
