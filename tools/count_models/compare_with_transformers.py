"""Compares the table of model types with the models that transformers builds.

    python tools/count_models/compare_with_transformers.py [MODEL_TYPE ...]

Of every type in the table the library's own model is built on the meta device, which holds no
numbers, and its parameters are compared with ours: with the library's default configuration, with
a small one, and with each number of the small one changed and each switch turned, one at a time.
So are the numbers that the library takes where a file says nothing, and whether it builds heads
that do not divide the width. Prints what differs; the exit status is the number of types that do.
Takes some ten minutes on one core; needs no GPU and no download.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from typing import Any

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from bench_runner.models.architecture import Architecture, ModelType
from bench_runner.models.model_types import description_of, model_types, read_architecture

_PIXELS = 64
_SMALL: Mapping[str, Any] = {
    **{"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 8, "vocab_size": 512},
    **{"num_key_value_heads": 4, "head_dim": 16, "intermediate_size": 96, "positions": 40},
    **{"num_decoder_layers": 2, "decoder_heads": 4, "decoder_inner": 80, "embedding_size": 32},
    **{"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 24, "n_group": 2},
    **{"topk_group": 1, "dense_layers": 1, "shared_intermediate_size": 40, "q_lora_rank": 24},
    **{"kv_lora_rank": 20, "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 10},
    **{"rotary_dim": 8, "patch_size": 8, "num_labels": 7, "embed_dim": 32, "depths": (1, 2, 1, 1)},
    **{"num_heads": (1, 2, 4, 4), "window_size": 4, "hidden_sizes": (32, 64, 128, 256)},
}
_LARGER: Mapping[str, Any] = {
    "hidden_size": 128,
    "head_dim": 24,
    "num_attention_heads": 16,
    "num_experts": 16,
    "n_group": 4,
    "patch_size": 16,
    "embed_dim": 64,
    "depths": (2, 1, 1, 1),
    "num_heads": (2, 2, 4, 4),
    "hidden_sizes": (64, 64, 128, 256),
    "mlp_only_layers": (0,),
    "rotary_dim": 4,
}
_ONCE = ("expand", "inner_group_num", "rotary_dim", "padding_token")
"""Fields that have one value, or none of which weights follow."""


def main() -> int:
    """Compare the types that are named, or all."""
    warnings.filterwarnings("ignore")
    transformers.logging.set_verbosity_error()
    wrong = 0
    for name, kind in model_types().items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        if not kind.own_class:
            print(f"{name}: built as {kind.config_class}, which is compared under its own name")
            continue
        differences = list(compare(kind))
        wrong += bool(differences)
        print(f"{name}: {'agrees' if not differences else ''}", flush=True)
        for difference in differences:
            print(f"    {difference}", flush=True)
    return min(wrong, 125)


def compare(kind: ModelType, *, thorough: bool = True) -> Iterator[str]:
    """What differs between a row and the library; ``thorough``: with each change, too."""
    own = CONFIG_MAPPING[kind.name]
    if own.__name__ != kind.config_class:
        yield f"the library's class is {own.__name__}"
    small = {
        kind.keys[field][0]: list(value) if isinstance(value, tuple) else value
        for field, value in _SMALL.items()
        if field in kind.keys and not isinstance(kind.defaults[field], bool)
    }
    if "intermediate_size" in kind.keys and kind.defaults.get("always_four"):
        small.pop(kind.keys["intermediate_size"][0])
    if kind.description == "Mamba":
        small.pop("intermediate_size")
    if kind.defaults.get("heads_make_width"):
        small["head_dim"] = 8
    needed = _needed(kind)
    for what, arguments in (("defaults", {}), ("small", small)):
        yield from _one(kind, what, arguments, needed)
    for what, arguments in _changes(kind, small) if thorough else ():
        yield from _one(kind, what, arguments, needed, stricter=True)
    if "num_attention_heads" in kind.keys:
        heads = {kind.keys["num_attention_heads"][0]: 6}
        for field in ("num_key_value_heads", "decoder_heads"):
            if field in kind.keys:
                heads[kind.keys[field][0]] = 6
        uneven = small | heads
        if "head_dim" in kind.keys:
            uneven.pop(kind.keys["head_dim"][0], None)
        yield from _one(kind, "6 heads of a width of 64", uneven, needed, stricter=True)


def _changes(kind: ModelType, small: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The small configuration with one number changed or one switch turned."""
    described = description_of(kind)
    for field, keys in kind.keys.items():
        if field in _ONCE:
            continue
        key, default = keys[0], kind.defaults[field]
        now = small.get(key, default)
        if field in described.choices:
            for word in described.choices[field]:
                yield f"{key} = {word!r}", {**small, key: word}
        elif isinstance(default, bool):
            yield f"{key} = {not default}", {**small, key: not default}
        elif field in _LARGER:
            value = _LARGER[field]
            yield f"{key}", {**small, key: list(value) if isinstance(value, tuple) else value}
        elif isinstance(default, int) and now >= 0:
            if field == "intermediate_size" and kind.defaults.get("always_four"):
                continue
            if key in small or field in ("type_vocab_size", "state_size", "mlp_ratio"):
                yield key, {**small, key: 2 * now}


def _one(
    kind: ModelType,
    what: str,
    arguments: dict[str, Any],
    needed: dict[str, Any],
    *,
    stricter: bool = False,
) -> Iterator[str]:
    """What differs of one configuration. ``stricter``: it may be refused here where the library
    builds a model, whose forward pass fails; and what fails in the library for reasons of its own
    (no ValueError) cannot be compared."""
    ours, theirs = _count(kind, arguments, needed), _built(kind, arguments, needed)
    refused = isinstance(ours, str) and (stricter or isinstance(theirs, str))
    broken = isinstance(theirs, str) and "Validation" not in theirs and "ValueError" not in theirs
    if ours != theirs and not refused and not broken:
        yield f"{what}: {ours} here, {theirs} there"


def _count(kind: ModelType, arguments: dict[str, Any], needed: dict[str, Any]) -> int | str:
    try:
        return _read(kind, arguments | needed).count(_length(kind)).parameters
    except ValueError as error:
        return str(error)


def _read(kind: ModelType, arguments: dict[str, Any]) -> Architecture:
    return read_architecture(kind, arguments, where="key")


def _length(kind: ModelType) -> int:
    return _PIXELS if kind.family in ("vit", "convnet") else 32


def _needed(kind: ModelType) -> dict[str, Any]:
    """What must be said for the library to build any."""
    images = {"image_size": _PIXELS} if kind.family in ("vit", "convnet") else {}
    only = {"num_local_experts": 0, "num_experts_per_tok": 0, "mamba_n_heads": 1}
    only = only if kind.name == "granitemoehybrid" else {}
    alphabet = {"vocab_size": 33, "pad_token_id": 1, "mask_token_id": 32}
    return images | only | (alphabet if kind.name == "esm" else {})


def _built(kind: ModelType, arguments: dict[str, Any], needed: dict[str, Any]) -> int | str:
    """Parameters of the library's own model, or why there is none."""
    given = arguments | needed
    tokens = max(kind.token_ids.values(), default=-1)
    if tokens >= given.get("vocab_size", kind.defaults.get("vocab_size", 0)):
        given |= dict.fromkeys(kind.token_ids, 0)
    if kind.description == "EncoderDecoder":
        given |= {"pad_token_id": 0, "decoder_start_token_id": 0}
    if kind.name == "granitemoehybrid":
        given["layer_types"] = ["full_attention"] * given.get("num_hidden_layers", 32)
    if kind.name == "gpt_neo" and "num_layers" in given:
        given["attention_types"] = [[["global"], given["num_layers"]]]
    if given.get("q_lora_rank") == 0:
        given["q_lora_rank"] = None
    try:
        config = CONFIG_MAPPING[kind.name](**given)
        with torch.device("meta"):
            model = _auto(kind, config).from_config(config)
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0][:120]}"
    return sum(int(parameter.numel()) for parameter in model.parameters())


def _auto(kind: ModelType, config: Any) -> Any:
    if kind.family in ("vit", "convnet"):
        return transformers.AutoModelForImageClassification
    if kind.description == "EncoderDecoder":
        return transformers.AutoModelForSeq2SeqLM
    if kind.family == "encoder":
        return transformers.AutoModelForMaskedLM
    return transformers.AutoModelForCausalLM


if __name__ == "__main__":
    sys.exit(main())
