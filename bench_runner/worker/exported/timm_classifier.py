"""A timm model as a Trainer takes it. ``bench_runner export`` copies this file."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn


class TimmClassifier(nn.Module):  # type: ignore[misc]
    """A timm model that takes and returns what the Trainer expects."""

    def __init__(self, name: str, arguments: dict[str, Any], classes: int | None) -> None:
        super().__init__()
        import timm

        self.model = timm.create_model(name, pretrained=False, num_classes=classes, **arguments)
        self.loss = nn.CrossEntropyLoss()

    def gradient_checkpointing_enable(self, **_: Any) -> None:
        """timm's own activation checkpointing."""
        self.model.set_grad_checkpointing(True)

    def forward(self, pixel_values: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        logits = self.model(pixel_values)
        return {"loss": self.loss(logits.float(), labels), "logits": logits}
