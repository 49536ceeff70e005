"""What a config.json says that changes the work of a training and is not counted: refused."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

_TELLING = (
    *("expert", "moe_", "lora", "adapter", "peft", "prefix_tuning", "mamba", "ssm", "conv_"),
    *("cross_attention", "vision", "audio", "mask_ratio", "prune", "memory_", "altup", "laurel"),
    *("linear_attn", "linear_attention", "hyena", "early_exit", "num_hidden_groups", "kv_share"),
)
"""Parts of keys that make a model another one where their value says so."""
_PARTS = ("text_config", "vision_config", "audio_config", "encoder", "decoder", "backbone_config")
_PLAIN_LAYERS = {"full_attention", "sliding_attention", "attention", "global", "local"}
_HARMLESS = {
    "num_experts_per_token",
    "moe_layer_freq",
    "ep_size",
    "expert_dropout",
    "output_router_logits",
    "memory_efficient_attention",
}


def adapter(content: Mapping[str, Any]) -> bool:
    """Whether the file describes an adapter, whose base model lies elsewhere."""
    return "peft_type" in content or ("base_model_name_or_path" in content and "r" in content)


def uncounted(
    content: Mapping[str, Any], known: Collection[str], *, family: str
) -> tuple[str, str] | None:
    """A key of the file that says something of the work that would be passed over, and why it is
    refused; None where there is none. ``known`` are the keys that are counted."""
    quantized = content.get("quantization_config")
    if quantized:
        how = quantized.get("quant_method", "") if isinstance(quantized, dict) else ""
        bits = _bits(quantized)
        return "quantization_config", (
            f"the weights are stored in {bits or 'fewer'} bits{f' ({how})' if how else ''}, which "
            "are not trained as they are; remove the key to ask for a training in mixed precision"
        )
    for key in _PARTS:
        if isinstance(content.get(key), dict):
            return key, "a model of several models is not counted; give the config.json of one"
    layers = content.get("layer_types") or content.get("layers_block_type")
    if isinstance(layers, list):
        other = next((each for each in layers if each not in _PLAIN_LAYERS), None)
        if other is not None:
            return "layer_types", f"layers of the kind {str(other)[:40]!r} are not counted here"
    if family != "encoder" and content.get("is_encoder_decoder") is True:
        return "is_encoder_decoder", "a decoder with an encoder is counted as T5 or mT5 alone"
    for key in ("add_cross_attention", "is_decoder"):
        if content.get(key) is True and family == "encoder":
            return key, "an encoder made a decoder is not counted; remove the key for the encoder"
    for name in content.get("architectures") or ():
        if "ForMaskedImageModeling" in str(name) or str(name).endswith("MAEForPreTraining"):
            return "architectures", (
                f"{str(name)[:60]} is trained on masked images, which is other work than a "
                "classifier's; remove the key to ask for the classifier"
            )
    for key, value in content.items():
        telling = any(word in key.lower() for word in _TELLING)
        if not telling or key in known or key in _HARMLESS or key.endswith(("_dropout", "_prob")):
            continue
        if (isinstance(value, int | float) and value) or (isinstance(value, dict | list) and value):
            return key, (
                "says something of the architecture that is not counted here; remove the key if "
                "the model is one without it"
            )
    return None


def _bits(quantized: object) -> str:
    if not isinstance(quantized, dict):
        return ""
    for bits, keys in (
        ("4", ("load_in_4bit", "_load_in_4bit")),
        ("8", ("load_in_8bit", "_load_in_8bit")),
    ):
        if any(quantized.get(key) is True for key in keys):
            return bits
    bits_said = quantized.get("bits")
    if isinstance(bits_said, int):
        return str(bits_said)
    return "8" if "fp8" in str(quantized.get("quant_method")) else ""


def said_of_windows(content: Mapping[str, Any], length: int) -> str | None:
    """What is assumed of a window of attention that is shorter than the sequence: under the mask of
    a fused kernel the whole square is computed."""
    window = content.get("sliding_window") or content.get("local_attention")
    if content.get("model_type") == "gpt_neo":
        window = content.get("window_size", 256)
    if not isinstance(window, int) or isinstance(window, bool) or not 0 < window < length:
        return None
    if content.get("use_sliding_window") is False:
        return None
    return f"attention computed over all {length:,} tokens, its window of {window:,} only masked"
