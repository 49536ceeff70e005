"""The linear layers of a language model in four bits, to train adapters beside. To import in a
training, before adapters are added.

    model = four_bit_weights(model)

returns the model, changed in place: the weights of all linear layers but the one that gives the
logits are NF4 with quantised scales, as QLoRA has them (Dettmers et al. 2023), by torchao. They
are unpacked in each pass, where a compiler can write that into one kernel. bitsandbytes stores the
same four bits and unpacks them by kernels of its own, whose times are others.

Needs torch and torchao only; this file stands alone, so that it can be copied beside a training
script.
"""

from __future__ import annotations

from typing import Any

from torch import nn

BLOCK, BLOCK_OF_SCALES = 64, 256
"""Weights that share a scale, and scales that share one, as in QLoRA."""


def four_bit_weights(model: Any) -> Any:
    """The model with linear layers of four bits, which are not trained."""
    from torchao.quantization import NF4Tensor

    head = model.get_output_embeddings()
    for module in model.modules():
        if isinstance(module, nn.Linear) and module is not head:
            if module.weight.numel() % (BLOCK * BLOCK_OF_SCALES):
                raise ValueError(
                    f"a linear layer of {tuple(module.weight.shape)} has no whole blocks of "
                    f"{BLOCK * BLOCK_OF_SCALES:,} weights: train it in half precision"
                )
            quantised = NF4Tensor.from_tensor(module.weight.data, BLOCK, BLOCK_OF_SCALES)
            module.weight = nn.Parameter(quantised, requires_grad=False)
    return model
