"""Half-precision weights with FP32 masters, for a Trainer as it is. To import in a training.

    model = half_weights(model, "bfloat16")

returns the model, changed in place. Its parameters stay FP32: they are the masters that the
optimiser updates, with FP32 moments, that gradients are summed and exchanged in over the passes of
a step, and that are saved. What a pass sees is each parameter rounded to half precision, with
activations, norms and the residual stream in half precision too and autocast off. That is what a
model in half precision with an optimiser that keeps FP32 masters computes, and as DeepSpeed's ZeRO
does; autocast rounds the same weights for its matrix products, but adds up the residual stream in
full precision.

With float16 the loss must be scaled (``fp16=True`` in TrainingArguments does it).

Needs torch only; this file stands alone, so that it can be copied beside a training script.
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch import nn

HALVES = {"float16": torch.float16, "bfloat16": torch.bfloat16}
_KEPT = (nn.modules.batchnorm._BatchNorm,)
"""Their statistics are FP32, and so are their weights, in every mixed-precision training."""


def half_weights(model: nn.Module, half: str) -> nn.Module:
    """Let every pass of the model see weights of ``float16`` or ``bfloat16``.

    Raises ValueError for another type, and for a model whose parameters are not FP32.
    """
    if half not in HALVES:
        raise ValueError(f"half precision {half!r} must be one of {', '.join(HALVES)}")
    if any(p.is_floating_point() and p.dtype != torch.float32 for p in model.parameters()):
        raise ValueError(f"{type(model).__name__} must be built in FP32: its weights are masters")
    head = _head(model)
    for module in model.modules():
        names = tuple(
            name
            for name, parameter in module._parameters.items()
            if parameter is not None and parameter.is_floating_point()
        )
        if isinstance(module, _KEPT) or not names:
            continue
        kind: Any = type(module)
        module.__class__ = (
            _rounded_embedding(kind, half)
            if isinstance(module, nn.Embedding)
            else _rounded(kind, names, half, module is head)
        )
    model.__class__ = _without_autocast(type(model), half)
    return model


def _subclass(base: type, members: dict[str, Any]) -> type:
    # Of the same name and module: libraries look for classes by name.
    return type(base)(base.__name__, (base,), {"__module__": base.__module__, **members})


def _head(model: Any) -> nn.Module | None:
    """The layer that gives the logits, where the model says which it is."""
    try:
        found = model.get_output_embeddings()
    except (AttributeError, NotImplementedError):
        found = None
    return found if found is not None else getattr(model, "classifier", None)


@functools.cache
def _rounded(base: Any, names: tuple[str, ...], half: str, gives_logits: bool) -> type:
    """The class of modules whose named parameters read as half precision; one for all layers
    alike, so that layers are compiled once."""

    def reader(name: str) -> property:
        return property(lambda module: module._parameters[name].to(HALVES[half]))

    def wide(module: Any, *arguments: Any, **keywords: Any) -> torch.Tensor:
        logits: torch.Tensor = base.forward(module, *arguments, **keywords)
        return logits.float()  # a loss is computed in full precision, as autocast has it

    members: dict[str, Any] = {name: reader(name) for name in names}
    return _subclass(base, members | ({"forward": wide} if gives_logits else {}))


@functools.cache
def _rounded_embedding(base: Any, half: str) -> type:
    """Rounded after the look-up: the same values, and gradients of a token's many places are
    summed in full precision."""

    def forward(module: Any, *arguments: Any, **keywords: Any) -> torch.Tensor:
        found: torch.Tensor = base.forward(module, *arguments, **keywords)
        return found.to(HALVES[half])

    return _subclass(base, {"forward": forward})


def _without_autocast(base: Any, half: str) -> type:
    """The class of the whole model: its pass runs in half precision without autocast."""

    def forward(module: Any, *arguments: Any, **keywords: Any) -> Any:
        with torch.autocast(_device(arguments, keywords), enabled=False):
            return base.forward(
                module,
                *(_narrow(value, half) for value in arguments),
                **{name: _narrow(value, half) for name, value in keywords.items()},
            )

    # The Trainer reads from the signature which columns of the data are wanted.
    forward = functools.wraps(base.forward)(forward)
    return _subclass(base, {"forward": forward})


def _device(arguments: tuple[Any, ...], keywords: dict[str, Any]) -> str:
    tensors = (v for v in (*arguments, *keywords.values()) if torch.is_tensor(v))
    first = next(tensors, None)
    return "cpu" if first is None else first.device.type


def _narrow(value: Any, half: str) -> Any:
    wide = torch.is_tensor(value) and value.dtype == torch.float32 and value.dim() > 1
    return value.to(HALVES[half]) if wide else value
