"""What this rank runs on and with: the part of a record's environment that only torch knows."""

from __future__ import annotations

from typing import Any

import torch
import torch.distributed as dist

from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.models.images import Vit
from bench_runner.models.transformer import Transformer
from bench_runner.settings import configure
from bench_runner.worker import models
from bench_runner.worker.trial_session import Session

_CUDNN_FIRST = ((9, 0), (10, 0), (10, 3))
"""Compute capabilities on which torch prefers cuDNN's attention (since 2.10, its sdp_utils.cpp); on
an H100 the kernels of a pass were seen to be cuDNN's (docs/measurements.md)."""


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
        "compiled": configure.compilation(recipe, settings) != "none",
        "compilation": configure.compilation(recipe, settings),
        "loss": settings.loss,
        "inputs": settings.inputs,
        "matmul": settings.matmul,
        "states": settings.states,
        "weights": configure.half_type(recipe, settings) or "float32",
        "not_compiled_because": configure.why_not_compiled(recipe, settings),
        "attention": models.attention_here(recipe, settings),
        "tf32": torch.backends.cuda.matmul.fp32_precision == "tf32",
        "missing_kernels": models.missing_kernels(recipe) if settings.free_lunch else [],
        "usable_memory_gib": session.memory.usable_gib,
        "memory_limit_gib": session.spec.memory_limit_gib,
        "capability": session.capability,
    }
    architecture = recipe.architecture
    on_gpu = session.device.type == "cuda"
    if (
        facts["attention"] == "sdpa"
        and on_gpu
        and isinstance(architecture, Transformer | EncoderDecoder | Vit)
    ):
        facts["sdpa_kernel"] = _sdpa_kernel(session, architecture)
    return facts


def _device_name(device: torch.device) -> str:
    return torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"


def _sdpa_kernel(session: Session, architecture: Transformer | EncoderDecoder | Vit) -> str:
    """The kernel that torch's SDPA would take for this recipe's attention."""
    from torch.backends.cuda import (
        SDPAParams,
        can_use_cudnn_attention,
        can_use_efficient_attention,
        can_use_flash_attention,
    )

    dtype = {"fp16": torch.float16, "bf16": torch.bfloat16}.get(
        session.recipe.training.precision, torch.float32
    )
    shape = (1, architecture.num_attention_heads, 128, architecture.head_dim)
    query = torch.empty(shape, device=session.device, dtype=dtype)
    parameters = SDPAParams(query, query, query, None, 0.0, architecture.causal, False)
    if session.capability in _CUDNN_FIRST and can_use_cudnn_attention(parameters):
        return "cudnn"
    if can_use_flash_attention(parameters):
        return "flash"
    return "memory-efficient" if can_use_efficient_attention(parameters) else "math"
