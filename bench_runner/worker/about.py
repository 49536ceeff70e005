"""What this rank runs on and with: the part of a record's environment that only torch knows."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from bench_runner.settings import configure
from bench_runner.worker import models
from bench_runner.worker.trial_session import Session


def about(session: Session) -> dict[str, Any]:
    """Devices, library builds, kernels, and what of the free lunch was served."""
    recipe, settings = session.recipe, session.spec.settings
    facts: dict[str, Any] = {
        "device": session.device.type,
        "devices": session.ranks.gather(_device_name(session.device)),
        "torch": torch.__version__,
        "cuda": torch.version.cuda,
        "cudnn": torch.backends.cudnn.version() if torch.cuda.is_available() else None,
        "nccl": ".".join(map(str, torch.cuda.nccl.version()))
        if torch.cuda.is_available()
        else None,
        "backend": dist.get_backend() if dist.is_initialized() else None,
        "compilation": configure.compilation(recipe, settings),
        "weights": configure.half_type(recipe, settings) or "float32",
        "attention": models.attention_here(recipe, settings),
        "tf32": torch.backends.cuda.matmul.fp32_precision == "tf32",
        "missing_kernels": models.missing_kernels(recipe) if settings.free_lunch else [],
        "usable_memory_gib": session.memory.usable_gib,
        "capability": session.capability,
    }
    return facts


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
