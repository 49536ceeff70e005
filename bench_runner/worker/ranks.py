"""What the ranks of a group agree on, over a channel of its own that never waits for ever."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from accelerate.utils import DistributedType, FullyShardedDataParallelPlugin
from transformers import Trainer


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
        return self.largest(float(flag)) > 0

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
