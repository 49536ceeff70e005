"""What trains faster or in less memory, but not the same: fp8 products, half-precision states.

Neither is a part of any search, and no time of theirs stands for a training. To import:

    fp8_products(model)
    optimizer_cls_and_kwargs=(HalfStateAdam, {"lr": 6e-4, "decoupled": True})

Needs torch only, and torchao for fp8; this file stands alone, so that it can be copied beside a
training script.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import nn

FP8_MULTIPLE = 16
"""Both sizes of a layer must be multiples, as the GPU's fp8 products want it."""


def fp8_products(model: nn.Module) -> nn.Module:
    """Let the linear layers but the last one multiply in fp8 with one scale a tensor (torchao).

    Raises ValueError where no layer's sizes allow it, ModuleNotFoundError without torchao.
    """
    from torchao.float8 import convert_to_float8_training

    head = _head(model)

    def fits(module: nn.Module, name: str) -> bool:
        return (
            type(module) is nn.Linear
            and module is not head
            and module.in_features % FP8_MULTIPLE == 0
            and module.out_features % FP8_MULTIPLE == 0
        )

    if not any(fits(module, name) for name, module in model.named_modules()):
        raise ValueError(
            f"{type(model).__name__} has no linear layer whose sizes are multiples of "
            f"{FP8_MULTIPLE}: train it without fp8"
        )
    converted: nn.Module = convert_to_float8_training(model, module_filter_fn=fits)
    return converted


def _head(model: Any) -> nn.Module | None:
    try:
        found = model.get_output_embeddings()
    except (AttributeError, NotImplementedError):
        found = None
    return found if found is not None else getattr(model, "classifier", None)


class HalfStateAdam(torch.optim.Optimizer):  # type: ignore[misc]
    """Adam whose two moments are kept in bfloat16, rounded up or down by chance.

    Rounded to the nearest, a second moment would stand still: it moves by less than bfloat16's last
    place in each step. ``decoupled`` tells AdamW's weight decay from Adam's (Loshchilov and Hutter
    2019); arithmetic and parameters are FP32.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        decoupled: bool = True,
    ) -> None:
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, {**defaults, "decoupled": decoupled})

    @torch.no_grad()  # type: ignore[untyped-decorator]
    def step(self, closure: Any = None) -> Any:
        """One update of all parameters that have a gradient."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._update(parameter, group)
        return loss

    def _update(self, parameter: torch.Tensor, group: dict[str, Any]) -> None:
        state = self.state[parameter]
        if not state:
            state["step"] = 0
            for name in ("exp_avg", "exp_avg_sq"):
                state[name] = torch.zeros_like(parameter, dtype=torch.bfloat16)
        state["step"] += 1
        (beta1, beta2), decay = group["betas"], group["weight_decay"]
        gradient = parameter.grad.float()
        if decay and group["decoupled"]:
            parameter.mul_(1 - group["lr"] * decay)
        elif decay:
            gradient = gradient.add(parameter, alpha=decay)
        mean = state["exp_avg"].float().lerp_(gradient, 1 - beta1)
        square = state["exp_avg_sq"].float().mul_(beta2)
        square.addcmul_(gradient, gradient, value=1 - beta2)
        unbiased = square.div(1 - beta2 ** state["step"]).sqrt_().add_(group["eps"])
        parameter.addcdiv_(mean, unbiased, value=-group["lr"] / (1 - beta1 ** state["step"]))
        state["exp_avg"].copy_(rounded_by_chance(mean))
        state["exp_avg_sq"].copy_(rounded_by_chance(square))


def rounded_by_chance(wide: torch.Tensor) -> torch.Tensor:
    """FP32 as bfloat16, up or down with the chances that keep the mean."""
    bits = wide.contiguous().view(torch.int32)
    noise = torch.randint_like(bits, 1 << 16)
    return ((bits + noise) & -65536).view(torch.float32).to(torch.bfloat16)
