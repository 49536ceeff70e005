"""Writes the table of timm's models: what a step of each one asks, counted by building it.

    python tools/count_models/count_timm.py --out bench_runner/models/timm_models.csv

Every architecture that `timm.list_models()` names is built with 1,000 classes on the meta device,
which holds no numbers, and two samples of its own default size are passed through. Products,
convolutions and attention are counted by torch's own formulas (torch.utils.flop_counter), the
elements kept for the backward pass by autograd's own hooks, what batch norms take statistics of by
channel, what convolutions in groups of channels write by their outputs, scores by whether the model
asks torch for its attention. What cannot be built is left out and said on stderr. Takes about a
quarter of an hour on one core; needs no GPU and no download.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch import nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry

from bench_runner.models.timm_models import CLASSES, COLUMNS

_SAMPLES = 2
_aten = torch.ops.aten
_NORMS = (_aten.native_batch_norm, _aten.cudnn_batch_norm, _aten._batch_norm_with_update)
_OVERWRITE = (_aten.silu_, _aten.hardswish_, _aten.hardtanh_, _aten.hardsigmoid_, _aten.mish_)
"""Activations in place whose gradient asks for what they overwrite: autograd keeps a copy of it."""


class _Counter(TorchDispatchMode):  # type: ignore[misc]
    """Counts operations as they are dispatched."""

    def __init__(self) -> None:
        super().__init__()
        self.matmul = self.attention = self.convolution = self.taps = self.scores = 0
        self.normed_pixels = self.grouped = self.copied = self.weighted = 0
        self.softmax: dict[int, torch.Tensor] = {}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        packet = func._overloadpacket
        if packet in (_aten._softmax, _aten._safe_softmax) and out.dim() >= 3:
            self.scores += out.numel()
            self.softmax[_storage(out)] = out
        if packet in _NORMS:
            self.normed_pixels += out[0].numel() // out[0].shape[1]
        if packet in _OVERWRITE:
            self.copied += out.numel()
        if packet in (_aten.convolution, _aten.mm, _aten.addmm):
            self.weighted += 1
        if packet in flop_registry:
            operations = int(flop_registry[packet](*args, **(kwargs or {}), out_val=out))
            if packet is _aten.convolution:
                self.convolution += operations
                channels, groups = args[0].shape[1], args[8]
                if groups > 1 and groups == channels:
                    self.taps += operations // 2
                elif groups > 1:
                    self.grouped += out.numel()
            elif packet in (_aten.mm, _aten.addmm):
                self.matmul += operations
            else:
                self.attention += operations
        return out


class _Asked:
    """Attention that a model asks torch for: how many scores."""

    def __init__(self) -> None:
        self.scores = 0
        self._attention = torch.nn.functional.scaled_dot_product_attention

    def __call__(self, query: Any, key: Any, value: Any, *rest: Any, **named: Any) -> Any:
        self.scores += math.prod(query.shape[:-1]) * key.shape[-2]
        return self._attention(query, key, value, *rest, **named)


def _storage(tensor: torch.Tensor) -> int:
    return int(tensor.untyped_storage()._cdata)


class _Blocks:
    """What passes between a model's blocks: how many, how many elements each."""

    def __init__(self, model: nn.Module) -> None:
        self.sizes: list[int] = []
        self.first: tuple[int, ...] | None = None
        for module in _blocks(model):
            module.register_forward_hook(self._seen)

    def _seen(self, _: nn.Module, inputs: Any, output: Any) -> None:
        while isinstance(output, tuple | list):
            output = output[0]
        if isinstance(output, torch.Tensor):
            self.sizes.append(output.numel() // _SAMPLES)
            self.first = self.first or tuple(output.shape)


def _blocks(model: nn.Module) -> list[nn.Module]:
    """The repeated blocks: of those whose class says so, the ones with no other inside."""
    words = ("Block", "Bottleneck", "Layer", "Cell", "Stage", "Residual", "Separable", "Unit")

    def named(module: nn.Module) -> bool:
        name = type(module).__name__
        plain = not name.startswith(("LayerNorm", "LayerScale", "Layernorm"))
        return plain and any(word in name for word in words) and any(module.children())

    found = [m for m in model.modules() if named(m)]
    inner = [m for m in found if not any(named(n) for n in m.modules() if n is not m)]
    return inner or [m for m in model.modules() if isinstance(m, nn.Conv2d | nn.Linear)]


def _positions(shape: tuple[int, ...] | None) -> int:
    """Of a block's output: tokens (B, N, C), or pixels (B, C, H, W) or (B, H, W, C)."""
    if shape is None or len(shape) < 3:
        return 1
    if len(shape) == 3:
        return shape[1]
    if shape[2] == shape[3]:
        return shape[2] * shape[3]
    return shape[1] * shape[2]


def count(name: str) -> dict[str, Any]:
    """One row of the table."""
    import timm

    with torch.device("meta"):
        model = timm.create_model(name, pretrained=False, num_classes=CLASSES)
        model.train()
        blocks = _Blocks(model)
        channels, size, _ = (model.pretrained_cfg or {}).get("input_size") or (3, 224, 224)
        images = torch.empty(_SAMPLES, channels, size, size)
    own = {_storage(p) for p in (*model.parameters(), *model.buffers())}
    kept: dict[int, torch.Tensor] = {}

    def pack(tensor: torch.Tensor) -> torch.Tensor:
        if (place := _storage(tensor)) not in own:
            kept[place] = tensor
        return tensor

    counter = _Counter()
    asked = _Asked()
    kernel = torch.nn.attention.SDPBackend.MATH
    with (
        torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor),
        torch.nn.attention.sdpa_kernel(kernel),
        torch.device("meta"),
        patch.object(torch.nn.functional, "scaled_dot_product_attention", asked),
        counter,
    ):
        model(images)
    parameters = sum(p.numel() for p in model.parameters() if p.requires_grad)
    elements = sum(
        tensor.untyped_storage().nbytes() // tensor.element_size()
        for place, tensor in kept.items()
        if place not in counter.softmax
    )
    tokens = max(1, _positions(blocks.first))
    layers = max(1, len(blocks.sizes))
    width = max(1, round(sum(blocks.sizes) / layers / tokens)) if blocks.sizes else 1
    flops = {"matmul": counter.matmul, "attention": counter.attention}
    flops |= {"convolution": counter.convolution}
    row = {key: value // _SAMPLES for key, value in flops.items()}
    if not sum(row.values()) or not parameters:
        raise ValueError("nothing was counted")
    return row | {
        "name": name,
        "image_size": size,
        "parameters": parameters,
        "features": getattr(model, "head_hidden_size", None) or model.num_features,
        "elements": elements // _SAMPLES,
        "scores": counter.scores // _SAMPLES,
        "plain_scores": max(counter.scores - asked.scores, 0) // _SAMPLES,
        "taps": counter.taps // _SAMPLES,
        "normed_pixels": counter.normed_pixels // _SAMPLES,
        "grouped": counter.grouped // _SAMPLES,
        "copied": counter.copied // _SAMPLES,
        "weighted": counter.weighted,
        "layers": layers,
        "tokens": tokens,
        "width": width,
    }


def main() -> int:
    """Count every model; the exit status is 0 where any could be."""
    import timm

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="", help="a pattern such as 'resnet*'")
    options = parser.parse_args()
    rows, names = [], timm.list_models(options.only)
    for number, name in enumerate(names, start=1):
        try:
            rows.append(count(name))
        except Exception as error:
            why = str(error).partition("\n")[0][:120]
            print(f"left out {name}: {type(error).__name__}: {why}", file=sys.stderr)
        if number % 100 == 0:
            print(f"{number} of {len(names)}", file=sys.stderr, flush=True)
    with options.out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"{len(rows)} of {len(names)} models, timm {timm.__version__}", file=sys.stderr)
    return 0 if rows and math.isfinite(len(rows)) else 1


if __name__ == "__main__":
    sys.exit(main())
