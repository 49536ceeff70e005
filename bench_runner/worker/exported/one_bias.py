"""FSDP trains the bias of a masked encoder's logits, too. To import in a training.

BERT's and RoBERTa's heads hold that bias under two names, their own and their last linear layer's.
accelerate (1.15) shards a model so that its optimiser is given the one and its loss uses the other,
which stays as it was drawn. ``one_bias(model)`` leaves the layer's name alone a parameter; the
head's own still finds it.

Needs torch only; this file stands alone, so that it can be copied beside a training script.
"""

from __future__ import annotations

from torch import nn


def one_bias(model: nn.Module) -> nn.Module:
    """The model, changed in place; as it was where no bias has two names."""
    for head in model.modules():
        layer, bias = getattr(head, "decoder", None), head._parameters.get("bias")
        if bias is None or not isinstance(layer, nn.Linear) or layer.bias is not bias:
            continue
        del head._parameters["bias"]
        base = type(head)
        found = property(lambda self: self.decoder.bias)
        names = {"__module__": base.__module__, "bias": found}
        head.__class__ = type(base.__name__, (base,), names)
        # The library ties what it knows by two names, and would look for the one that is gone.
        for each in ("_tied_weights_keys", "all_tied_weights_keys"):
            tied = getattr(model, each, None) or {}
            setattr(model, each, {key: tied[key] for key in tied if not key.endswith(".bias")})
    return model
