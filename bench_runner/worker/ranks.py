"""What the ranks of a group agree on, over a channel of its own that never waits for ever."""

from __future__ import annotations

import os
import time
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from accelerate.utils import DistributedType, FullyShardedDataParallelPlugin
from transformers import Trainer

from bench_runner.launch import node_links


def tell_deepspeed() -> None:
    """Without it DeepSpeed takes a group that torch has made on CPUs for one process."""
    import deepspeed

    deepspeed.init_distributed(verbose=False)


def shard_on_cpus(trainer: Trainer) -> None:
    """Without it accelerate takes FSDP's ranks for plain ones on CPUs, in silence."""
    # What would be offloaded lies in the host's memory already.
    asked = trainer.args.fsdp_plugin_args | {"cpu_offload": False}
    plugin = FullyShardedDataParallelPlugin(**asked)
    state = trainer.accelerator.state
    if state.mixed_precision != "no":
        plugin.set_mixed_precision(state.mixed_precision)
    state.distributed_type = DistributedType.FSDP
    state.fsdp_plugin = plugin


class Ranks:
    """All-reduced flags and gathered objects, beside whatever the training itself exchanges.

    The channel is a gloo group with a time limit: a rank that is stuck in the training's own
    collectives makes the others give up here, and the launcher ends the group.
    """

    def __init__(self, timeout_s: float) -> None:
        self._timeout = timedelta(seconds=timeout_s)
        self._group: Any = None
        self.rank = dist.get_rank() if dist.is_initialized() else 0
        self.size = dist.get_world_size() if dist.is_initialized() else 1
        if self.size > 1:
            self._group = dist.new_group(backend="gloo", timeout=self._timeout)

    def any(self, flag: bool) -> bool:
        """Whether the flag is up on any rank."""
        if self._group is None:
            return flag
        value = torch.tensor([int(flag)])
        dist.all_reduce(value, op=dist.ReduceOp.MAX, group=self._group)
        return bool(value.item())

    def all(self, flag: bool) -> bool:
        """Whether the flag is up on every rank."""
        return not self.any(not flag)

    def largest(self, value: float) -> float:
        """The largest of the ranks' numbers."""
        if self._group is None:
            return value
        tensor = torch.tensor([value], dtype=torch.float64)
        dist.all_reduce(tensor, op=dist.ReduceOp.MAX, group=self._group)
        return float(tensor.item())

    def gather(self, value: Any) -> list[Any]:
        """Every rank's object, in the order of the ranks."""
        if self._group is None:
            return [value]
        found: list[Any] = [None] * self.size
        dist.all_gather_object(found, value, group=self._group)
        return found


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
