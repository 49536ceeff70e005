"""Model types that are counted as another's kin, against the library's own model of each."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.targets import Run

DECODERS = (
    *("ministral3", "cwm", "granite_swa", "hyperclovax", "vaultgemma", "jais2", "persimmon"),
    *("openai-gpt", "xglm", "granitemoe_swa", "granitemoeshared", "phimoe", "minimax_m2"),
    *("mellum", "flex_olmo"),
)
ENCODERS = ("megatron-bert", "data2vec-text", "roberta-prelayernorm", "xlm-roberta-xl")
IMAGES = ("vit_msn", "data2vec-vision")


@pytest.mark.torch
@pytest.mark.parametrize("model_type", [*DECODERS, *ENCODERS, *IMAGES])
def test_a_kind_is_counted_as_the_library_builds_it(model_type: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")

    layers = {"xglm": "num_layers", "openai-gpt": "n_layer"}.get(model_type, "num_hidden_layers")
    config = transformers.AutoConfig.for_model(model_type, **{layers: 6})
    path = tmp_path / "config.json"
    content = {**json.loads(config.to_json_string(use_diff=False)), "model_type": model_type}
    path.write_text(json.dumps(content))
    tokens, images = (None, 1e9) if model_type in IMAGES else (1e9, None)
    found = target_of_config(path, Run(batch_size=512, tokens=tokens, images=images))
    auto = transformers.AutoModelForCausalLM
    if model_type in ENCODERS:
        auto = transformers.AutoModelForMaskedLM
    elif model_type in IMAGES:
        auto = transformers.AutoModelForImageClassification
    with torch.device("meta"):
        model = auto.from_config(config)
    own = sum(parameter.numel() for parameter in model.parameters())
    assert found.workload.parameters == pytest.approx(own, rel=0.005)
    # No key that the library itself writes is passed over.
    assert not [words for words in found.assumptions if "unknown here" in words]


@pytest.mark.parametrize(
    ("model_type", "words"),
    [
        ("deepseek_v32", "chooses the tokens that it looks at"),
        ("gemma4_text", "layers that share keys"),
        ("llama4", "with experts and without in turn"),
        ("llama4_text", "with experts and without in turn"),
        ("qwen3_5_text", "layers of recurrence among those of attention"),
        ("xlstm", "layers of recurrence are counted as Mamba's alone"),
        ("ibert", "trained in whole numbers"),
        ("bit", "timm name alone; write one, such as resnetv2_50x1_bit"),
    ],
)
def test_a_kind_of_the_library_s_is_no_slip_of_the_pen(
    model_type: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": model_type, "hidden_size": 64}))
    with pytest.raises(ValueError, match=words) as caught:
        target_of_config(path, Run(batch_size=512, tokens=1e9))
    assert "did you mean" not in str(caught.value)


@pytest.mark.parametrize("model_type", ["olmo4", "llama5", "phi4", "gemma4", "qwen"])
def test_a_newer_kind_is_no_slip_of_the_pen(model_type: str, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": model_type, "hidden_size": 64}))
    with pytest.raises(ValueError, match="model_type") as caught:
        target_of_config(path, Run(batch_size=512, tokens=1e9))
    assert "did you mean" not in str(caught.value)
