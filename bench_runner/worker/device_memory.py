"""Device memory: how much there is, a cap below it, peaks, and how they grow with the batch."""

from __future__ import annotations

import gc
from collections.abc import Sequence

import torch

GIB = 1024**3


class DeviceMemory:
    """The allocator's view of one device; a CPU has no peaks and no cap."""

    def __init__(self, device: torch.device, limit_gib: float | None) -> None:
        self._device = device
        self._cuda = device.type == "cuda"
        self.usable_gib: float | None = None
        if not self._cuda:
            return
        torch.empty(1, device=device)
        free, total = torch.cuda.mem_get_info(device)
        outside = total - free - torch.cuda.memory_reserved(device)
        limit = total if limit_gib is None else min(total, limit_gib * GIB)
        # The CUDA context takes its share of a smaller card too.
        usable = max(0.0, limit - outside)
        if limit_gib is not None:
            torch.cuda.set_per_process_memory_fraction(usable / total, device)
        self.usable_gib = usable / GIB

    def reset_peak(self) -> None:
        """Begin a new peak."""
        if self._cuda:
            torch.cuda.reset_peak_memory_stats(self._device)

    def peak_gib(self) -> float | None:
        """The most that tensors held since the last reset."""
        return torch.cuda.max_memory_allocated(self._device) / GIB if self._cuda else None

    def peak_reserved_gib(self) -> float | None:
        """The most that the allocator held since the last reset."""
        return torch.cuda.max_memory_reserved(self._device) / GIB if self._cuda else None

    def counts(self) -> tuple[int, int]:
        """Allocations from the device, and retries after freeing the cache, since the start."""
        if not self._cuda:
            return (0, 0)
        stats = torch.cuda.memory_stats(self._device)
        return int(stats.get("num_device_alloc", 0)), int(stats.get("num_alloc_retries", 0))

    def release(self) -> None:
        """Give back what nothing refers to any more."""
        gc.collect()
        if self._cuda:
            torch.cuda.empty_cache()


def predicted_peak_gib(sizes: Sequence[int], peaks_gib: Sequence[float], size: int) -> float | None:
    """The peak at a micro-batch size by a straight line through the last two; None before that."""
    if len(sizes) < 2 or len(peaks_gib) < 2:
        return None
    slope = (peaks_gib[-1] - peaks_gib[-2]) / (sizes[-1] - sizes[-2])
    return peaks_gib[-1] + max(0.0, slope) * (size - sizes[-1])
