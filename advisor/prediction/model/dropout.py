"""What a model drops of its hidden elements and of its attention's scores while it trains.

A compiler draws a number for each element, forward and again backward, which took a fifth of a
step of BERT base on an H100 (docs/measurements.md). Whether anything is dropped decides, not how
much of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bench_runner.architecture import Architecture, Dinov2, Vit
from bench_runner.architecture_base import Transformer
from bench_runner.architecture_decoders import Opt
from bench_runner.architecture_encoders import DistilBert
from bench_runner.architecture_images import Swin
from bench_runner.architecture_two_sides import T5, EncoderDecoder
from bench_runner.recipe_table import shown

_BERT = ("hidden_dropout_prob", "attention_probs_dropout_prob")
_BART = ("dropout", "attention_dropout")
_GPT2 = ("resid_pdrop", "attn_pdrop")
_NEOX = ("hidden_dropout", "attention_dropout")
_KEYS: Mapping[str, tuple[tuple[str | None, str], tuple[float, float]]] = {
    **dict.fromkeys(
        (
            *("BertConfig", "RobertaConfig", "ElectraConfig", "EsmConfig"),
            *("DebertaConfig", "DebertaV2Config"),
        ),
        (_BERT, (0.1, 0.1)),
    ),
    **dict.fromkeys(
        (
            *("AlbertConfig", "NomicBertConfig", "ViTConfig", "Dinov2Config"),
            *("SwinConfig", "Swinv2Config"),
        ),
        (_BERT, (0.0, 0.0)),
    ),
    "DistilBertConfig": (_BART, (0.1, 0.1)),
    **dict.fromkeys(
        (
            *("OPTConfig", "BartConfig", "MBartConfig", "PegasusConfig", "MarianConfig"),
            "BlenderbotConfig",
        ),
        (_BART, (0.1, 0.0)),
    ),
    **dict.fromkeys(("PLBartConfig", "M2M100Config"), (_BART, (0.1, 0.1))),
    **dict.fromkeys(("T5Config", "MT5Config"), (("dropout_rate", "dropout_rate"), (0.1, 0.1))),
    **dict.fromkeys(("GPT2Config", "GPTBigCodeConfig"), (_GPT2, (0.1, 0.1))),
    **dict.fromkeys(("GPTJConfig", "CodeGenConfig"), (_GPT2, (0.0, 0.0))),
    "PhiConfig": (("resid_pdrop", "attention_dropout"), (0.0, 0.0)),
    "SeedOssConfig": (("residual_dropout", "attention_dropout"), (0.1, 0.1)),
    "Starcoder2Config": (("residual_dropout", "attention_dropout"), (0.0, 0.0)),
    **dict.fromkeys(
        ("ModernBertConfig", "ModernBertDecoderConfig"),
        (("mlp_dropout", "attention_dropout"), (0.0, 0.0)),
    ),
    **dict.fromkeys(
        ("GPTNeoXConfig", "BloomConfig", "FalconConfig", "StableLmConfig"), (_NEOX, (0.0, 0.0))
    ),
}
"""By configuration class: the keys of what is dropped of hidden elements and of scores, and what
the library (transformers 5.17) takes where a file says nothing."""
_OTHERS = ((None, "attention_dropout"), (0.0, 0.0))
"""Llama and its kin, whose code drops no hidden elements whatever a file says."""
_HIDDEN = (
    *("hidden_dropout_prob", "hidden_dropout", "resid_pdrop", "resid_dropout"),
    *("residual_dropout", "dropout_rate", "dropout", "mlp_dropout"),
)
_SCORES = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop", "dropout_rate")
"""What files of all kinds call them."""


def dropout_arguments(
    config_class: str, content: Mapping[str, Any], *, where: str
) -> dict[str, float]:
    """What a config.json says of dropout, under the keys of the class that is built from it and
    only where it differs from what that class takes. Raises ValueError that begins with ``where``
    and the file's key."""
    keys, usual = _KEYS.get(config_class, _OTHERS)
    found: dict[str, float] = {}
    for key, default, spellings in zip(keys, usual, (_HIDDEN, _SCORES), strict=True):
        if key is None:
            continue
        said = next((s for s in (key, *spellings) if content.get(s) is not None), None)
        if said is not None and (share := _share(said, content[said], where)) != default:
            found[key] = share
    return found


def drops(
    config_class: str | None, arguments: Mapping[str, Any], *, where: str
) -> tuple[bool, bool]:
    """Whether hidden elements are dropped, and whether attention's scores are. Raises ValueError
    that begins with ``where`` and the key."""
    keys, usual = _KEYS.get(config_class or "", _OTHERS)
    hidden, scores = (
        default > 0
        if key is None or arguments.get(key) is None
        else _share(key, arguments[key], where) > 0
        for key, default in zip(keys, usual, strict=True)
    )
    return hidden, scores


def _share(key: str, value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ValueError(f"{where} '{key}': is {shown(value)}; write a number from 0 to below 1")
    return float(value)


def dropped_elements(model: Architecture, tokens: int) -> float:
    """Hidden elements, a sample, that pass through a dropout where there is one: behind the
    embeddings, each attention and each feed-forward layer, as the library's code has it."""
    match model:
        case EncoderDecoder():
            written, inner = model.written(tokens), 0
            if isinstance(model, T5):  # inside the feed-forward layers, too, and behind the last
                inner = model.intermediate_size
            ends = 2 if isinstance(model, T5) else 1
            read = model.num_hidden_layers * (2 * model.hidden_size + inner)
            wrote = model.num_decoder_layers * (3 * model.hidden_size + inner)
            last = ends * model.hidden_size
            return float(tokens * (read + last) + written * (wrote + last))
        case Vit() | Dinov2() | Swin():
            return 0.0
        case DistilBert():
            return float(tokens * model.hidden_size * (model.num_hidden_layers + 1))
        case Opt():
            return float(tokens * model.hidden_size * 2 * model.num_hidden_layers)
        case Transformer():
            return float(tokens * model.hidden_size * (2 * model.num_hidden_layers + 1))
    return 0.0
