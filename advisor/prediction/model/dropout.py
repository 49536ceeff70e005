"""What a model drops of its hidden elements and of its attention's scores while it trains.

A compiler draws a number for each element, forward and again backward, which took a fifth of a
step of BERT base on an H100 (docs/measurements.md). Whether anything is dropped decides, not how
much of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench_runner.models.architecture import Architecture, Dinov2, Vit
from bench_runner.models.architecture_base import Transformer
from bench_runner.models.architecture_decoders import Opt
from bench_runner.models.architecture_encoders import DistilBert
from bench_runner.models.architecture_images import Swin
from bench_runner.models.architecture_text import ModernBert, ModernBertDecoder
from bench_runner.models.architecture_two_sides import T5, EncoderDecoder
from bench_runner.recipe_table import shown


@dataclass(frozen=True, slots=True)
class _Keys:
    """What a configuration class calls the shares that are dropped, and what the library
    (transformers 5.17) takes where a file says nothing: ``usual`` of hidden elements and of
    scores."""

    hidden: str | None
    """Behind each attention and each feed-forward layer; None: its code drops none."""
    scores: str
    usual: tuple[float, float] = (0.0, 0.0)
    embeddings: str = ""
    """Behind the embeddings; "": as ``hidden``."""
    inner: str = ""
    """Inside the feed-forward layers; "": none."""

    def named(self) -> tuple[tuple[str, float, tuple[str, ...]], ...]:
        """Each key, what is usual, and how files of other kinds call it."""
        hidden, scores = self.usual
        found: list[tuple[str, float, tuple[str, ...]]] = [(self.scores, scores, _SCORES)]
        if self.hidden is not None and self.hidden != self.scores:
            found.append((self.hidden, hidden, _HIDDEN))
        if self.embeddings:
            found.append((self.embeddings, hidden, _EMBEDDINGS))
        if self.inner and self.inner != self.hidden:
            found.append((self.inner, 0.0, ()))
        return tuple(found)


_BERT = _Keys("hidden_dropout_prob", "attention_probs_dropout_prob")
_BART = _Keys("dropout", "attention_dropout", inner="activation_dropout")
_GPT2 = _Keys("resid_pdrop", "attn_pdrop", embeddings="embd_pdrop")
_STARCODER = _Keys("residual_dropout", "attention_dropout", embeddings="embedding_dropout")
_MODERNBERT = _Keys(
    "attention_dropout", "attention_dropout", embeddings="embedding_dropout", inner="mlp_dropout"
)
_NEOX = _Keys("hidden_dropout", "attention_dropout")
_KEYS: Mapping[str, _Keys] = {
    **dict.fromkeys(
        (
            *("BertConfig", "RobertaConfig", "ElectraConfig", "EsmConfig"),
            *("DebertaConfig", "DebertaV2Config"),
        ),
        replace(_BERT, usual=(0.1, 0.1)),
    ),
    **dict.fromkeys(
        (
            *("AlbertConfig", "NomicBertConfig", "ViTConfig", "Dinov2Config"),
            *("SwinConfig", "Swinv2Config"),
        ),
        _BERT,
    ),
    "DistilBertConfig": replace(_BART, usual=(0.1, 0.1), inner=""),
    "OPTConfig": replace(_BART, usual=(0.1, 0.0), inner=""),
    **dict.fromkeys(
        ("BartConfig", "MBartConfig", "PegasusConfig", "MarianConfig", "BlenderbotConfig"),
        replace(_BART, usual=(0.1, 0.0)),
    ),
    **dict.fromkeys(("PLBartConfig", "M2M100Config"), replace(_BART, usual=(0.1, 0.1))),
    **dict.fromkeys(
        ("T5Config", "MT5Config"),
        _Keys("dropout_rate", "dropout_rate", (0.1, 0.1), inner="dropout_rate"),
    ),
    **dict.fromkeys(("GPT2Config", "GPTBigCodeConfig"), replace(_GPT2, usual=(0.1, 0.1))),
    **dict.fromkeys(("GPTJConfig", "CodeGenConfig"), _GPT2),
    "PhiConfig": replace(_GPT2, scores="attention_dropout"),
    "SeedOssConfig": replace(_STARCODER, usual=(0.1, 0.1), embeddings=""),
    "Starcoder2Config": _STARCODER,
    **dict.fromkeys(("ModernBertConfig", "ModernBertDecoderConfig"), _MODERNBERT),
    **dict.fromkeys(("GPTNeoXConfig", "BloomConfig", "FalconConfig", "StableLmConfig"), _NEOX),
}
_OTHERS = _Keys(None, "attention_dropout")
"""Llama and its kin, whose code drops no hidden elements whatever a file says."""
_HIDDEN = (
    *("hidden_dropout_prob", "hidden_dropout", "resid_pdrop", "resid_dropout"),
    *("residual_dropout", "dropout_rate", "dropout", "mlp_dropout"),
)
_SCORES = ("attention_probs_dropout_prob", "attention_dropout", "attn_pdrop", "dropout_rate")
_EMBEDDINGS = (
    *("embd_pdrop", "embed_dropout", "embedding_dropout"),
    *("hidden_dropout_prob", "dropout"),  # of those that drop as much behind their embeddings
)
"""What files of all kinds call them."""
_LAYERS = ("layerdrop", "encoder_layerdrop", "decoder_layerdrop")
_LEAVES_OUT = {"M2M100Config": dict.fromkeys(_LAYERS[1:], 0.05)}
"""By configuration class: the share of whole layers that the library leaves out where a file says
nothing."""
_BUILT_WITHOUT = ("xglm", "biogpt")
"""Drop elements inside their feed-forward layers, and are built as what does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """Of what some elements are dropped."""

    hidden: bool
    scores: bool
    embeddings: bool
    inner: bool


def dropout_arguments(
    config_class: str, content: Mapping[str, Any], *, where: str
) -> dict[str, float]:
    """What a config.json says of dropout, under the keys of the class that is built from it and
    only where it differs from what that class takes. Raises ValueError that begins with ``where``
    and the file's key."""
    _refuse_left_out_layers(config_class, content, where)
    inner = content.get("activation_dropout") or 0.0
    if content.get("model_type") in _BUILT_WITHOUT and _share("activation_dropout", inner, where):
        raise ValueError(
            f"{where} 'activation_dropout': drops elements inside the feed-forward layers, which "
            "is not counted in this model_type; write 0 to ask for one without"
        )
    found: dict[str, float] = {}
    for key, usual, spellings in _KEYS.get(config_class, _OTHERS).named():
        said = next((s for s in (key, *spellings) if content.get(s) is not None), None)
        if said is not None and (share := _share(said, content[said], where)) != usual:
            found[key] = share
    # Whole layers are left out in none that is counted; some classes would otherwise.
    return found | dict.fromkeys(_LEAVES_OUT.get(config_class, ()), 0.0)


def drops(config_class: str | None, arguments: Mapping[str, Any], *, where: str) -> Dropped:
    """Of what some is dropped. Raises ValueError that begins with ``where`` and the key."""
    _refuse_left_out_layers(config_class or "", arguments, where)
    keys = _KEYS.get(config_class or "", _OTHERS)
    said = {
        key: (usual if arguments.get(key) is None else _share(key, arguments[key], where)) > 0
        for key, usual, _ in keys.named()
    }
    hidden = keys.hidden is not None and said[keys.hidden]
    return Dropped(
        hidden=hidden,
        scores=said[keys.scores],
        embeddings=said[keys.embeddings] if keys.embeddings else hidden,
        inner=bool(keys.inner) and said[keys.inner],
    )


def _refuse_left_out_layers(config_class: str, said: Mapping[str, Any], where: str) -> None:
    """ValueError where whole layers are left out at random, which no compiled step does."""
    usual = _LEAVES_OUT.get(config_class, {})
    for key in _LAYERS:
        value = said.get(key)
        if value is None and key in usual:
            how = f"is missing, and the library leaves out {usual[key]:.0%} of the layers"
        elif value is not None and (share := _share(key, value, where)):
            how = f"leaves out {share:.3g} of the layers"
        else:
            continue
        raise ValueError(
            f"{where} '{key}': {how} at random while it trains, which is not counted; write 0 to "
            "ask for a training of all of them"
        )


def _share(key: str, value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ValueError(f"{where} '{key}': is {shown(value)}; write a number from 0 to below 1")
    return float(value)


def dropped_elements(model: Architecture, tokens: int, dropped: Dropped) -> float:
    """Elements, a sample, that pass through a dropout in all: behind the embeddings, each attention
    and each feed-forward layer and inside these, as the library's code has it."""
    ends, layers, inner = _passed(model, tokens)
    return float(ends * dropped.embeddings + layers * dropped.hidden + inner * dropped.inner)


def _passed(model: Architecture, tokens: int) -> tuple[float, float, float]:
    """Elements behind the embeddings, behind the parts of the layers, and inside them."""
    if isinstance(model, EncoderDecoder):
        written, hidden = model.written(tokens), model.hidden_size
        read_layers, written_layers = model.num_hidden_layers, model.num_decoder_layers
        ends = (tokens + written) * hidden * (2 if isinstance(model, T5) else 1)  # and the last
        layers = (2 * tokens * read_layers + 3 * written * written_layers) * hidden
        inner = tokens * read_layers * model.intermediate_size
        return ends, layers, inner + written * written_layers * model.decoder_inner
    if not isinstance(model, Transformer) or isinstance(model, Vit | Dinov2 | Swin):
        return 0.0, 0.0, 0.0  # of images the fit tells by their family what a step takes
    ends = tokens * model.hidden_size
    once = isinstance(model, DistilBert | ModernBert | ModernBertDecoder)
    inner = tokens * model.num_hidden_layers * model.intermediate_size
    layers = ends * model.num_hidden_layers * (1 if once else 2)
    return 0.0 if isinstance(model, Opt) else ends, layers, inner
