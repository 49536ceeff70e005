"""Half-precision weights: masters stay FP32, and a step is the plain one within rounding."""

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


def gradients(model: Any) -> Any:
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def passes(model: Any, batches: list[dict[str, Any]], half: Any = None, scale: float = 1.0) -> Any:
    """The gradients of a step over several passes, and its last loss."""
    for batch in batches:
        with torch.autocast("cpu", half or torch.bfloat16, enabled=half is not None):
            loss = model(**batch).loss
        (loss * scale).backward()
    return gradients(model) / scale, float(loss.detach())


@pytest.mark.parametrize("half", ["bfloat16", "float16"])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_is_as_near_the_truth_as_autocast_within_rounding(family: str, half: str) -> None:
    from bench_runner.worker.exported.half_weights import HALVES, half_weights

    truth, batch = build(family, "sdpa")
    batches = [batch, FAMILIES[family][2](), FAMILIES[family][2]()]
    plain = copy.deepcopy(truth)
    halved = half_weights(copy.deepcopy(truth), half)
    exact, expected = passes(truth, batches)
    rounded, _ = passes(plain, batches, HALVES[half], 1024.0)
    found, loss = passes(halved, batches, HALVES[half], 1024.0)
    rounding = torch.finfo(HALVES[half]).eps
    assert abs(loss - expected) <= rounding * expected
    error, usual = ((each - exact).norm() / exact.norm() for each in (found, rounded))
    assert usual <= 2 * rounding and error <= 4 * rounding, (float(error), float(usual))
    assert error <= 3 * usual


@pytest.mark.parametrize("family", FAMILIES)
def test_masters_names_and_saved_weights_are_fp32(family: str) -> None:
    from bench_runner.worker.exported.half_weights import half_weights

    model, _ = build(family, "sdpa")
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    halved = half_weights(model, "bfloat16")
    assert type(halved).__name__ == type(model).__name__
    assert all(p.dtype == torch.float32 for p in halved.parameters())
    after = halved.state_dict()
    assert list(after) == list(before)
    assert all(torch.equal(after[name], before[name]) for name in before)
    linear = next(m for m in halved.modules() if isinstance(m, torch.nn.Linear))
    assert linear.weight.dtype == torch.bfloat16
    assert linear._parameters["weight"].dtype == torch.float32


def test_updates_too_small_for_half_precision_add_up() -> None:
    """What a model without masters would lose: a step below half of bfloat16's last place."""
    from bench_runner.worker.exported.half_weights import half_weights

    model, batch = build("decoder", "sdpa")
    half_weights(model, "bfloat16")
    weight = next(m for m in model.modules() if isinstance(m, torch.nn.LayerNorm))
    start = weight._parameters["weight"].detach().clone()
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-5, weight_decay=0.0)
    for _ in range(3):
        optimiser.zero_grad()
        model(**batch).loss.backward()
        optimiser.step()
    assert all(s["exp_avg"].dtype == torch.float32 for s in optimiser.state.values())
    moved = (weight._parameters["weight"] - start).abs()
    assert (moved > 0).any()
    assert moved.max() < 2**-8
