"""One rank of two that train a small model with half-precision weights: its gradients, to a file.

Run by test_half_weights as ``half_ranks.py RANK RENDEZVOUS OUT``.
"""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bench_runner.worker.exported.half_weights import half_weights

PASSES = 4


class Small(nn.Module):  # type: ignore[misc]
    """An embedding, a layer with a norm, and a head whose loss is taken in full precision."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(31, 16)
        self.layer = nn.Sequential(
            nn.LayerNorm(16), nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16)
        )
        self.classifier = nn.Linear(16, 31)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        hidden = self.embedding(tokens)
        logits = self.classifier(hidden + self.layer(hidden))
        return nn.functional.cross_entropy(logits[:-1], tokens[1:])


def model() -> Any:
    torch.manual_seed(5)
    return half_weights(Small(), "bfloat16")


def texts(rank: int) -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(rank)
    return [torch.randint(31, (40,), generator=draw) for _ in range(PASSES)]


def gradients(trained: nn.Module) -> torch.Tensor:
    found = [p.grad for p in trained.parameters()]
    assert all(g is not None and g.dtype == torch.float32 for g in found)
    return torch.cat([g.flatten() for g in found if g is not None])


def main(rank: int, rendezvous: str, out: str) -> None:
    dist.init_process_group("gloo", init_method=f"file://{rendezvous}", rank=rank, world_size=2)
    trained = model()
    shared = DistributedDataParallel(trained)
    for number, text in enumerate(texts(rank), start=1):
        # As the Trainer accumulates: the ranks exchange after the last pass alone.
        with nullcontext() if number == PASSES else shared.no_sync():
            (shared(text) / PASSES).backward()
    torch.save(gradients(trained), f"{out}.{rank}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3])
