"""The lean loss is the plain one: the same value and gradients, for each family of models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.torch_for_tests import loaded_later

pytestmark = pytest.mark.torch
torch = loaded_later("torch")
transformers = loaded_later("transformers")

VOCABULARY, LENGTH, BATCH = 97, 33, 3
SMALL = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
SMALL |= {"intermediate_size": 64, "vocab_size": VOCABULARY}
DECODERS = {
    "GPTNeoX": lambda: transformers.GPTNeoXConfig(**SMALL, max_position_embeddings=64),
    "Llama": lambda: transformers.LlamaConfig(**SMALL, num_key_value_heads=2),
    "Qwen3, tied": lambda: transformers.Qwen3Config(
        **SMALL, num_key_value_heads=2, head_dim=8, tie_word_embeddings=True
    ),
    "GPT-2, tied": lambda: transformers.GPT2Config(
        n_embd=32, n_layer=2, n_head=4, vocab_size=VOCABULARY, n_positions=64
    ),
}
ENCODERS = {
    "RoBERTa, with a bias": lambda: transformers.RobertaConfig(**SMALL, max_position_embeddings=64),
    "BERT": lambda: transformers.BertConfig(**SMALL, max_position_embeddings=64),
    "ModernBERT": lambda: transformers.ModernBertConfig(
        **SMALL, max_position_embeddings=64, pad_token_id=0, reference_compile=False
    ),
}


def routed() -> Any:
    """Its experts' own loss is added to the tokens'."""
    return transformers.MixtralConfig(
        **SMALL, num_key_value_heads=2, num_local_experts=4, output_router_logits=True
    )


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several chunks even here, the last one smaller."""
    from bench_runner.worker.exported import lean_loss

    monkeypatch.setattr(lean_loss, "CHUNK_BYTES", 41 * 128 * 4)
    monkeypatch.setattr(lean_loss, "ROWS", 4)
    torch.manual_seed(7)


def build(config: Any, kind: str = "AutoModelForCausalLM") -> Any:
    """A model without dropout: what is compared must not be random."""
    model = getattr(transformers, kind).from_config(config, dtype=torch.float32)
    return model.eval()


def tokens() -> Any:
    return torch.randint(VOCABULARY, (BATCH, LENGTH))


def masked(ids: Any) -> Any:
    return torch.where(torch.rand(ids.shape) < 0.15, ids, -100)


def assert_same(plain: Any, lean: Any, batches: list[dict[str, Any]]) -> None:
    """One optimiser step's loss and gradients, over all its micro-batches."""
    for batch in batches:
        expected, found = plain(**batch).loss, lean(**batch).loss
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
        expected.backward()
        found.backward()
    whole = torch.cat([p.grad.flatten() for p in plain.parameters() if p.grad is not None]).norm()
    for (name, one), (other_name, other) in zip(
        plain.named_parameters(), lean.named_parameters(), strict=True
    ):
        assert name == other_name
        assert (one.grad is None) == (other.grad is None)
        if one.grad is not None:
            assert (one.grad - other.grad).norm() <= 2e-6 * (one.grad.norm() + whole), name


@pytest.mark.parametrize("inputs", ["full", "trimmed"])
@pytest.mark.parametrize("loss", ["plain", "fused"])
@pytest.mark.parametrize("name", DECODERS)
def test_a_decoder_s_step_is_the_same(name: str, loss: str, inputs: str) -> None:
    from bench_runner.worker.exported.lean_loss import lean_model

    plain, lean = build(DECODERS[name]()), build(DECODERS[name]())
    lean.load_state_dict(plain.state_dict())
    assert lean_model(lean, loss=loss, inputs=inputs) is lean
    assert type(lean).__name__ == type(plain).__name__
    ids = [tokens() for _ in range(3)]
    ids[1][0, 5:9] = -100  # labels that do not count
    count = torch.tensor(BATCH * LENGTH * 3)
    batches = [
        {"input_ids": each.clamp(min=0), "labels": each, "num_items_in_batch": count}
        for each in ids
    ]
    assert_same(plain, lean, batches)


@pytest.mark.parametrize("name", ENCODERS)
def test_a_masked_encoder_s_step_is_the_same(name: str) -> None:
    from bench_runner.worker.exported.lean_loss import lean_model

    kind = "AutoModelForMaskedLM"
    plain, lean = build(ENCODERS[name](), kind), build(ENCODERS[name](), kind)
    lean.load_state_dict(plain.state_dict())
    lean_model(lean, inputs="full")
    ids = [tokens() for _ in range(4)]
    labels = [masked(ids[0]), masked(ids[1]), ids[2], torch.full_like(ids[3], -100)]
    labels[3][1, 7] = 5  # a single one counts
    batches = [{"input_ids": i, "labels": y} for i, y in zip(ids, labels, strict=True)]
    assert_same(plain, lean, batches)


@pytest.mark.parametrize("half", ["bfloat16", "float16"])
def test_under_autocast_it_is_as_near_the_truth_as_the_plain_loss(half: str) -> None:
    from bench_runner.worker.exported.lean_loss import lean_model

    truth, plain, lean = (build(DECODERS["GPTNeoX"]()) for _ in range(3))
    plain.load_state_dict(truth.state_dict())
    lean.load_state_dict(truth.state_dict())
    lean_model(lean)
    ids = tokens()
    # As many tokens as a real step has: gradients of single logits far below fp16's range.
    count, scale = torch.tensor(2_000_000), 65_536.0
    truth(input_ids=ids, labels=ids, num_items_in_batch=count).loss.backward()
    errors = []
    for model in (plain, lean):
        with torch.autocast("cpu", getattr(torch, half)):
            loss = model(input_ids=ids, labels=ids, num_items_in_batch=count).loss
        (loss * scale).backward()
        wrong = [
            (p.grad / scale - t.grad).norm() / t.grad.norm()
            for p, t in zip(model.parameters(), truth.parameters(), strict=True)
            if t.grad.norm() > 1e-12
        ]
        errors.append(float(torch.stack(wrong).median()))
    assert errors[1] <= 1.1 * errors[0]


def test_it_survives_regional_compilation() -> None:
    from accelerate.utils import compile_regions

    from bench_runner.worker.exported.lean_loss import lean_model

    plain, lean = build(DECODERS["GPTNeoX"]()), build(DECODERS["GPTNeoX"]())
    lean.load_state_dict(plain.state_dict())
    compiled = compile_regions(lean_model(lean), backend="eager")
    ids = tokens()
    expected, found = (m(input_ids=ids, labels=ids).loss for m in (plain, compiled))
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)
    expected.backward()
    found.backward()
    torch.testing.assert_close(
        lean.get_output_embeddings().weight.grad, plain.get_output_embeddings().weight.grad
    )


@pytest.mark.parametrize(
    ("make", "asked", "words"),
    [
        (lambda: build(DECODERS["Llama"]()), {"loss": "quick"}, "must be plain or fused"),
        (
            lambda: build(ENCODERS["BERT"](), "AutoModelForMaskedLM"),
            {"inputs": "trimmed"},
            "nothing to trim",
        ),
        (
            lambda: build(transformers.Gemma2Config(**SMALL, num_key_value_heads=2, head_dim=8)),
            {},
            "changes its logits",
        ),
        (lambda: build(routed()), {}, "how evenly its experts are used"),
        (lambda: build(routed()), {"loss": "plain"}, "how evenly its experts are used"),
    ],
)
def test_what_cannot_be_exact_is_refused(
    make: Callable[[], Any], asked: dict[str, str], words: str
) -> None:
    from bench_runner.worker.exported.lean_loss import lean_model

    with pytest.raises(ValueError, match=words):
        lean_model(make(), **asked)
