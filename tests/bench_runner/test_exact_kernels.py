"""What the search takes for exact is exact: attention, compilation, checkpointing change no step.

The lean loss and the trimmed inputs have tests of their own; sharding over processes runs in
test_torch_trials.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from tests.torch_for_tests import loaded_later

pytestmark = pytest.mark.torch
torch = loaded_later("torch")
transformers = loaded_later("transformers")

SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
SMALL |= {"intermediate_size": 64}
TEXT = SMALL | {"vocab_size": 97, "max_position_embeddings": 64}


def text() -> dict[str, Any]:
    ids = torch.randint(97, (3, 33))
    return {"input_ids": ids, "labels": ids}


def masked() -> dict[str, Any]:
    ids = torch.randint(97, (3, 33))
    return {"input_ids": ids, "labels": torch.where(torch.rand(ids.shape) < 0.15, ids, -100)}


def images() -> dict[str, Any]:
    return {"pixel_values": torch.randn(3, 3, 32, 32), "labels": torch.randint(10, (3,))}


FAMILIES: dict[str, tuple[Callable[[], Any], str, Callable[[], dict[str, Any]]]] = {
    "decoder": (lambda: transformers.GPTNeoXConfig(**TEXT), "AutoModelForCausalLM", text),
    "decoder, grouped heads": (
        lambda: transformers.Qwen3Config(**TEXT, num_key_value_heads=2, head_dim=8),
        "AutoModelForCausalLM",
        text,
    ),
    "encoder": (lambda: transformers.RobertaConfig(**TEXT), "AutoModelForMaskedLM", masked),
    "image": (
        lambda: transformers.ViTConfig(**SMALL, image_size=32, patch_size=8, num_labels=10),
        "AutoModelForImageClassification",
        images,
    ),
}


def build(family: str, attention: str) -> tuple[Any, dict[str, Any]]:
    """A model without dropout, and a batch: what is compared must not be random."""
    torch.manual_seed(11)
    config, kind, batch = FAMILIES[family]
    model = getattr(transformers, kind).from_config(
        config(), dtype=torch.float32, attn_implementation=attention
    )
    return model.eval(), batch()


def step(model: Any, batch: dict[str, Any]) -> tuple[Any, Any]:
    """The loss and all gradients as one vector."""
    loss = model(**batch).loss
    loss.backward()
    return loss.detach(), torch.cat([p.grad.flatten() for p in model.parameters()])


def assert_same(found: tuple[Any, Any], expected: tuple[Any, Any]) -> None:
    """Within the rounding of FP32."""
    torch.testing.assert_close(found[0], expected[0], rtol=1e-5, atol=1e-6)
    assert (found[1] - expected[1]).norm() <= 1e-4 * expected[1].norm()


@pytest.mark.parametrize("family", FAMILIES)
def test_the_attention_kernel_changes_no_step(family: str) -> None:
    eager, batch = build(family, "eager")
    fused = copy.deepcopy(eager)
    fused.set_attn_implementation("sdpa")
    assert fused.config._attn_implementation == "sdpa"
    assert_same(step(fused, batch), step(eager, batch))
