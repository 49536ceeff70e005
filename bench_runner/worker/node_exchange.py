"""How fast the nodes exchange gradients, timed by itself: the network's share of a step."""

from __future__ import annotations

import os
import time
from typing import Any

import torch
import torch.distributed as dist

from bench_runner.launch import node_links
from bench_runner.worker.ranks import Ranks

LARGEST_BYTES = 256 * 1024**2
WARM_UPS = 2
REPEATS = 5


def exchange(ranks: Ranks, device: torch.device, parameters: int) -> dict[str, Any] | None:
    """Seconds of all-reducing the gradients among all ranks, and among one rank of each node.

    None on one node. The second is what the network alone takes: each node sends and receives
    2 (n - 1) / n of the bytes, whence ``between_nodes_gb_s`` (the bus bandwidth of nccl-tests).
    """
    nodes = int(os.environ.get("GROUP_WORLD_SIZE", "1"))
    if nodes < 2 or not dist.is_initialized():
        return None
    found = ranks.gather((os.environ.get("GROUP_RANK", "0"), ranks.rank, node_links.ports()))
    firsts: dict[str, int] = {}
    for node, rank, _ in found:
        firsts.setdefault(node, rank)
    leaders = sorted(firsts.values())
    count = min(parameters * 4 or LARGEST_BYTES, LARGEST_BYTES) // 4
    tensor = torch.ones(count, dtype=torch.float32, device=device)
    all_s = _timed(tensor, device, None)
    group = dist.new_group(leaders)
    between_s = _timed(tensor, device, group) if ranks.rank in leaders else []
    slowest = max((s for s in ranks.gather(between_s) if s), key=sorted)
    middle = sorted(slowest)[len(slowest) // 2]
    share = 2 * (nodes - 1) / nodes
    fabrics = sorted({node_links.fabric_words(ports) or "not told" for _, _, ports in found})
    return {
        "event": "exchange",
        "node_count": nodes,
        "bytes": count * 4,
        "all_ranks_s": all_s,
        "between_nodes_s": slowest,
        "between_nodes_gb_s": count * 4 * share / middle / 1e9,
        "fabric": " or ".join(fabrics),
        "ports": found[0][2],
    }


def _timed(tensor: torch.Tensor, device: torch.device, group: Any) -> list[float]:
    seconds = []
    for _ in range(WARM_UPS + REPEATS):
        tensor.fill_(1.0)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        began = time.perf_counter()
        dist.all_reduce(tensor, group=group)
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        seconds.append(time.perf_counter() - began)
    return seconds[WARM_UPS:]
