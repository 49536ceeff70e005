"""A recipe of somebody else's has no library read a file, fetch weights or run code."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bench_runner.recipes import load_recipe

TEXT = """
id = "theirs"
name = "Theirs"
family = "{family}"
source = "somebody else"
[architecture]
{architecture}
[training]
batch_size = 8
training_steps = 100
{size}
precision = "bf16"
optimizer = "adamw"
"""


def refusal(tmp_path: Path, architecture: str, *, image: bool = False) -> str:
    path = tmp_path / "theirs.toml"
    size = "image_size = 224\nclasses = 10" if image else "sequence_length = 32"
    family = "vit" if image else "decoder"
    path.write_text(TEXT.format(family=family, architecture=architecture, size=size))
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the tests look at the message
        load_recipe(path)
    assert str(caught.value).isprintable()
    return str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [
        'auto_map = { AutoModelForCausalLM = "theirs.py" }',
        "trust_remote_code = true",
        'text_config = { auto_map = { AutoModel = "org/repo--model.py" } }',
        'parts = [{ custom_code = "run.py" }]',
        'attn_implementation = "org/kernel"',
        '_attn_implementation = "org/kernel:name"',
        '_attn_implementation_internal = { text_config = "sdpa", auto_map = "x" }',
        'attn_implementation = { text_config = "org/kernel" }',
        'experts_implementation = "org/kernel@main"',
        'sub = { attn_implementation = "paged|org/kernel" }',
        'backbone = "org/model"',
        "use_pretrained_backbone = true",
        'vision_config = { architecture = "hf-hub:org/model" }',
        'vision_config = { architecture = "LOCAL-DIR:/tmp/x" }',
    ],
)
def test_of_transformers(tmp_path: Path, arguments: str) -> None:
    words = f'config_class = "LlamaConfig"\narguments = {{ hidden_size = 64, {arguments} }}'
    assert "names weights or code to load" in refusal(tmp_path, words)


@pytest.mark.parametrize(
    "arguments",
    [
        'checkpoint_path = "/tmp/x.pt"',
        'pretrained_cfg = "other"',
        'pretrained_cfg_overlay = { file = "/tmp/x.pt" }',
        "pretrained = true",
        'cache_dir = "/tmp/theirs"',
        'model_args = { checkpoint_path = "/tmp/x.pt" }',
    ],
)
def test_of_timm(tmp_path: Path, arguments: str) -> None:
    words = f'timm = "vit_tiny_patch16_224"\narguments = {{ {arguments} }}'
    assert "names weights or code to load" in refusal(tmp_path, words, image=True)


@pytest.mark.parametrize(
    "name", ["hf-hub:org/model", "hf_hub:org/model", "local-dir:/tmp/x", "../x", "org/model", "a:b"]
)
def test_a_timm_model_of_a_hub_or_a_folder(tmp_path: Path, name: str) -> None:
    assert "is no name of one of timm's own" in refusal(tmp_path, f'timm = "{name}"', image=True)


def test_timm_by_the_back_door(tmp_path: Path) -> None:
    arguments = 'architecture = "resnet18", model_args = { depth = 3 }'
    words = f'config_class = "TimmWrapperConfig"\narguments = {{ {arguments} }}'
    assert "write timm =" in refusal(tmp_path, words, image=True)
    config = {"model_type": "timm_wrapper", "architecture": "resnet18"}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert "write timm =" in refusal(tmp_path, 'hf_config_json = "config.json"', image=True)


@pytest.mark.parametrize("depth", [90, 900])
def test_however_deep_it_lies(tmp_path: Path, depth: int) -> None:
    inner = '{"in":' * depth + '{"auto_map": {"AutoModel": "x.py"}}' + "}" * depth
    (tmp_path / "config.json").write_text(f'{{"model_type": "llama", "deep": {inner}}}')
    words = refusal(tmp_path, 'hf_config_json = "config.json"')
    assert "names weights or code to load" in words or "nested too deeply" in words


def test_what_every_config_says_is_read(tmp_path: Path) -> None:
    path = tmp_path / "theirs.toml"
    (tmp_path / "config.json").write_text(
        '{"model_type": "llama", "hidden_size": 64, "attn_implementation": null,'
        ' "_attn_implementation": "flash_attention_2", "auto_map": {}, "use_backbone": false,'
        ' "_attn_implementation_autoset": true, "_name_or_path": "org/model"}'
    )
    words = 'hf_config_json = "config.json"'
    path.write_text(TEXT.format(family="decoder", architecture=words, size="sequence_length = 32"))
    assert load_recipe(path).model.arguments["hidden_size"] == 64
