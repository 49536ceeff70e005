"""The same loss for less: no stored logits, no token fed for nothing. To import in a training.

    lean = lean_model(model, loss="fused", inputs="trimmed")

returns the model, changed in place, whose ``forward(input_ids=..., labels=...)`` gives the loss
that Hugging Face's own model gives, term by term:

- ``fused``: the last linear layer and the cross-entropy are computed together, a few thousand
  tokens at a time. The logits of a batch (tokens x vocabulary, written and read several times in
  full precision) are never stored; their gradient is made in the same pass. A masked encoder's
  tokens without a label (85 % of them, as RoBERTa is trained) count for nothing in its loss, so
  no logits are computed for them.
- ``trimmed``: a decoder that is given n tokens has n - 1 of them to predict. The last one is not
  fed, which also makes lengths such as 2,049 the power of two that GPUs like.

Needs torch and transformers only; this file stands alone, so that it can be copied beside a
training script.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import torch
from torch import nn

IGNORED = -100
_CHANGES_LOGITS = ("final_logit_softcapping", "logit_scale", "logits_scaling")
CHUNK_BYTES = 256 * 1024**2
"""About what one chunk's logits take; larger ones leave the caches, smaller ones starve the GPU."""
ALIGNED = 64
"""Tensor cores want rows of logits that begin at multiples of this; RoBERTa has 50,265 of them."""
ROWS = 256
"""Labelled tokens are counted up to multiples of this: fewer sizes for allocator and compiler."""


def lean_model(model: nn.Module, *, loss: str = "fused", inputs: str = "trimmed") -> nn.Module:
    """Make a causal or masked language model compute its own loss in the lean way.

    ``loss`` is ``plain`` or ``fused``; ``inputs`` is ``full`` or ``trimmed`` (decoders only).
    Raises ValueError where the model has no linear layer that gives its logits.
    """
    if loss not in ("plain", "fused") or inputs not in ("full", "trimmed"):
        raise ValueError(f"loss {loss!r} must be plain or fused, inputs {inputs!r} full or trimmed")
    if loss == "plain" and inputs == "full":
        return model
    head = model.get_output_embeddings()
    if loss == "fused" and type(head) is not nn.Linear:
        raise ValueError(f"{type(model).__name__} has no plain linear layer that gives its logits")
    changed = [
        name for name in _CHANGES_LOGITS if getattr(model.config, name, None) not in (None, 1)
    ]
    if loss == "fused" and changed:
        raise ValueError(
            f"{type(model).__name__} changes its logits after the last linear layer "
            f"({', '.join(changed)}): its loss cannot be fused exactly"
        )
    if getattr(model.config, "output_router_logits", False) is True:
        raise ValueError(
            f"{type(model).__name__} adds to its loss how evenly its experts are used "
            "(output_router_logits), of all tokens that it is fed: train it with the plain loss "
            "and whole inputs"
        )
    causal = "CausalLM" in type(model).__name__ or "LMHead" in type(model).__name__
    if inputs == "trimmed" and not causal:
        raise ValueError(f"{type(model).__name__} predicts tokens in their places: nothing to trim")
    before = _probe(model)
    if loss == "fused":
        head.__class__ = _LossHead
        head.target = head.rows = None
    # A class of its own, of the same name: it survives what compilers and wrappers do to a model,
    # which copy attributes or bind methods to the model that they saw.
    base = type(model)
    parameters = inspect.signature(base.forward).parameters.values()
    model.__class__ = type(
        base.__name__,
        (_Lean, base),
        {
            "__module__": base.__module__,
            # The Trainer reads from the signature which columns of the data are wanted ...
            "forward": functools.wraps(base.forward)(_forward),
            # ... and whether the model divides its loss by what the whole step holds.
            "accepts_loss_kwargs": getattr(
                base, "accepts_loss_kwargs", any(p.kind == p.VAR_KEYWORD for p in parameters)
            ),
            "lean_loss": loss,
            "lean_inputs": inputs,
            "causal": causal,
        },
    )
    after = _probe(model)
    if before is not None and not torch.allclose(before, after, rtol=1e-3):
        raise ValueError(
            f"{base.__name__} computes its loss in a way of its own ({before:.4f}, in the "
            f"lean way {after:.4f}): train it with the plain loss"
        )
    return model


def _probe(model: Any) -> Any:
    """The loss of a few tokens; None where the weights lie elsewhere (ZeRO-3, the meta device)."""
    if any(p.numel() == 0 or p.is_meta for p in model.parameters()):
        return None
    device = next(model.parameters()).device
    tokens = torch.arange(1, 17, device=device).reshape(2, 8) % model.config.vocab_size
    training, products = model.training, torch.backends.fp32_precision
    model.eval()
    # TF32 keeps three digits, and Mamba's 64 layers without a trained weight lose one of them.
    torch.backends.fp32_precision = "ieee"
    attention = getattr(model.config, "_attn_implementation", None)
    if str(attention).startswith("flash"):  # which takes half precision on a GPU and nothing else
        model.config._attn_implementation = "eager"
    try:
        with torch.no_grad():
            loss = model(input_ids=tokens, labels=tokens).loss.float()
    finally:
        torch.backends.fp32_precision = products
        if str(attention).startswith("flash"):
            model.config._attn_implementation = attention
    model.train(training)
    return loss


class _Lean:
    """What a lean model does in the place of its library's forward pass."""

    lean_loss: str
    lean_inputs: str
    causal: bool

    def lean_forward(
        self,
        input_ids: torch.Tensor,
        labels: torch.Tensor | None = None,
        num_items_in_batch: torch.Tensor | int | None = None,
        **keywords: Any,
    ) -> Any:
        call: Any = super().forward  # type: ignore[misc]
        if labels is None:
            return call(input_ids=input_ids, **keywords)
        if self.causal:
            if self.lean_inputs == "trimmed":
                input_ids, labels = input_ids[:, :-1], labels[:, 1:]
                for name in ("attention_mask", "position_ids", "token_type_ids"):
                    if torch.is_tensor(keywords.get(name)):
                        keywords[name] = keywords[name][:, :-1]
            else:
                labels = nn.functional.pad(labels[:, 1:], (0, 1), value=IGNORED)
        labels = labels.contiguous()
        if self.lean_loss == "plain":
            return call(
                input_ids=input_ids,
                labels=labels,
                shift_labels=labels,
                num_items_in_batch=num_items_in_batch,
                **keywords,
            )
        head = _head(self)
        head.target, head.rows = labels, None if self.causal else _labelled(labels)
        try:
            outputs = call(input_ids=input_ids, **keywords)
        finally:
            head.target = head.rows = None
        total = outputs.logits
        # As transformers does: a decoder divides by what the whole step holds, where that is told.
        if num_items_in_batch is None or not self.causal:
            num_items_in_batch = (labels != IGNORED).sum()
        outputs.loss = total / num_items_in_batch
        outputs.logits = None
        return outputs


def _forward(model: Any, input_ids: torch.Tensor, **keywords: Any) -> Any:
    return model.lean_forward(input_ids, **keywords)


@torch.compiler.disable  # type: ignore[untyped-decorator]
def _labelled(labels: torch.Tensor) -> torch.Tensor:
    """Where the tokens with a label lie in the batch, and so many without one as fill a size up."""
    counted = (labels != IGNORED).flatten()
    size = min(counted.numel(), -(-int(counted.sum()) // ROWS) * ROWS)
    return torch.argsort(counted.int(), descending=True, stable=True)[:size]


def _head(model: Any) -> Any:
    head = model.get_output_embeddings()
    return getattr(head, "_orig_mod", head)


class _LossHead(nn.Linear):  # type: ignore[misc]
    """Gives logits; with a target set, the sum of their cross-entropies instead."""

    target: torch.Tensor | None
    rows: torch.Tensor | None
    """Those of the batch's tokens, one after another, that count; None for all."""

    # The loss is compiled as one piece below; a graph around it would store the logits.
    @torch.compiler.disable  # type: ignore[untyped-decorator]
    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        if self.target is None:
            return super().forward(hidden)
        hidden, target = hidden.flatten(0, -2), self.target.flatten()
        if self.rows is not None:
            hidden, target = hidden.index_select(0, self.rows), target[self.rows]
        return LinearCrossEntropy.apply(hidden, self.weight, self.bias, target)


class LinearCrossEntropy(torch.autograd.Function):  # type: ignore[misc]
    """Sum over tokens of the cross-entropy of a linear layer's outputs, without storing these.

    The gradients are computed with the loss, chunk by chunk, and scaled when the backward pass
    comes. They are those of the sum, so that half precision holds them however many tokens a step
    has. Matrix products run in autocast's type where that is on.
    """

    @staticmethod
    def forward(
        ctx: Any,
        hidden: torch.Tensor,
        weight: torch.Tensor,
        bias: torch.Tensor | None,
        target: torch.Tensor,
    ) -> torch.Tensor:
        kind = hidden.device.type
        half = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else weight.dtype
        ctx.types = (hidden.dtype, weight.dtype)
        hidden, narrow = hidden.to(half), weight.to(half)
        narrow_bias = None if bias is None else bias.to(half)
        narrow, narrow_bias = _aligned(narrow, narrow_bias)
        total = torch.zeros((), device=hidden.device, dtype=torch.float32)
        hidden_grad = torch.empty_like(hidden)
        # A head beside adapters is not trained.
        trained = ctx.needs_input_grad[1]
        weight_grad = torch.zeros_like(narrow, dtype=torch.float32) if trained else None
        bias_grad = None
        if bias is not None and trained:
            bias_grad = torch.zeros_like(narrow_bias, dtype=torch.float32)
        rows = max(1, CHUNK_BYTES // (narrow.shape[0] * hidden.element_size()))
        count = max(1, -(-hidden.shape[0] // rows))
        rows = -(-hidden.shape[0] // count)
        with torch.autocast(kind, enabled=False):
            for chunk in range(count):
                part = slice(chunk * rows, (chunk + 1) * rows)
                logits = nn.functional.linear(hidden[part], narrow, narrow_bias)
                loss, grad = _kernel(kind)(logits, target[part])
                del logits
                total += loss
                torch.mm(grad, narrow, out=hidden_grad[part])
                if weight_grad is not None:
                    _add_product(weight_grad, grad.T, hidden[part])
                if bias_grad is not None:
                    bias_grad += grad.sum(0, dtype=torch.float32)
        classes = weight.shape[0]
        weight_grad = None if weight_grad is None else weight_grad[:classes]
        bias_grad = None if bias_grad is None else bias_grad[:classes]
        ctx.save_for_backward(hidden_grad, weight_grad, bias_grad)
        return total

    @staticmethod
    def backward(ctx: Any, scale: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        hidden_grad, weight_grad, bias_grad = ctx.saved_tensors
        hidden_type, weight_type = ctx.types
        return (
            (hidden_grad * scale).to(hidden_type),
            None if weight_grad is None else weight_grad.mul_(scale).to(weight_type),
            None if bias_grad is None else bias_grad.mul_(scale).to(weight_type),
            None,
        )


def _aligned(
    weight: torch.Tensor, bias: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """The layer with a round number of classes; those that are added are never expected."""
    missing = -weight.shape[0] % ALIGNED
    if not missing:
        return weight, bias
    if bias is None:
        bias = weight.new_zeros(weight.shape[0])
    padded = nn.functional.pad(bias, (0, missing), value=-torch.inf)
    return nn.functional.pad(weight, (0, 0, 0, missing)), padded


ADDS_IN_PRODUCT = hasattr(torch.ops.aten.addmm, "dtype_out")
"""Whether a GPU's product of half-precision matrices can be added to a full-precision one."""


def _add_product(total: torch.Tensor, left: torch.Tensor, right: torch.Tensor) -> None:
    """Add left @ right to the total, which is in full precision; on a GPU in one kernel."""
    if ADDS_IN_PRODUCT and total.is_cuda and left.dtype != total.dtype:
        torch.addmm(total, left, right, out_dtype=total.dtype, out=total)
    else:
        total += torch.mm(left, right)


def _loss_and_gradient(
    logits: torch.Tensor, target: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """The summed cross-entropy in full precision, and its gradient in the logits' own type."""
    wide = logits.float()
    counted = target != IGNORED
    index = torch.where(counted, target, 0)
    normaliser = torch.logsumexp(wide, dim=1)
    picked = torch.gather(wide, 1, index[:, None])[:, 0]
    loss = torch.where(counted, normaliser - picked, 0.0).sum()
    classes = torch.arange(wide.shape[1], device=wide.device)
    hit = (classes[None, :] == index[:, None]).float()
    gradient = (torch.exp(wide - normaliser[:, None]) - hit) * counted[:, None]
    return loss, gradient.to(logits.dtype)


_compiled: dict[str, Any] = {}


def _kernel(kind: str) -> Any:
    """Compiled on a GPU, where it is read and written once instead of eight times.

    Not once for each number of rows: a search tries many micro-batch sizes, and after eight
    versions the compiler gives up and leaves it as it is, several times slower.
    """
    if kind != "cuda":
        return _loss_and_gradient
    if kind not in _compiled:
        _compiled[kind] = torch.compile(_loss_and_gradient)
    return _compiled[kind]
