"""What one training step of a model asks of a GPU, as numbers: the only view prediction has of it.

FLOPs and parameters come from `bench_runner.flops`. What is counted here is the rest: how many
elements the layers keep for the backward pass, how wide the logits and the attention scores are.
Prediction works on columns of these numbers, so that a hundred thousand cost what one costs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from bench_runner.flops import count_flops
from bench_runner.recipes import Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A model with its training recipe, in counts. Elements and FLOPs are of one forward pass."""

    workload_id: str
    family: str
    """``decoder``, ``encoder``, ``ssm``, ``convnet`` or ``vit``."""
    precision: str
    """``fp16`` or ``bf16`` (mixed), or ``fp32`` (TF32 with free-lunch settings)."""
    batch_size: int
    training_steps: int
    tokens: int
    """Positions a sample: tokens, patches, or the pixels of the first stage."""
    parameters: int
    layers: int
    width: int
    """Elements that one position carries from layer to layer."""
    linear_flops: float
    """Linear layers and convolutions, a sample."""
    attention_flops: float
    """Scores and weighted values over the full square, a sample."""
    layer_elements: float
    """What the layers keep for the backward pass, a sample."""
    logit_elements: float
    score_elements: float
    """Attention scores, a sample: written to memory only where attention is not fused."""
    scan_elements: float
    """What runs outside matrix units: states of a recurrence, taps of depthwise convolutions."""
    causal: bool
    fused_attention: bool
    """Whether free-lunch settings bring a fused attention kernel."""
    compiles: bool
    checkpoints: bool
    """Whether the model's code supports activation checkpointing."""

    @property
    def flops(self) -> float:
        """FLOPs of the whole training run: three times the forward pass, the full square."""
        samples = self.batch_size * self.training_steps
        return 3.0 * samples * (self.linear_flops + self.attention_flops)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    layers: int
    width: int
    tokens: int
    layer_elements: float
    logit_elements: float = 0.0
    score_elements: float = 0.0
    scan_elements: float = 0.0
    causal: bool = False


def workload_of(recipe: Recipe) -> Workload:
    """Count a recipe; ValueError (UncountedArchitectureError among them) where it cannot be."""
    count = count_flops(recipe)
    architecture, training, support = recipe.architecture, recipe.training, recipe.support
    kind = str(architecture.config_class or architecture.arguments.get("model_type"))
    length = training.sequence_length or training.image_size
    assert length is not None  # count_flops refuses a recipe without one
    arguments = dict(architecture.arguments)
    if training.classes is not None:
        arguments["num_labels"] = training.classes
    shape = SHAPES[kind](arguments, length)
    forward = count.forward_full
    return Workload(
        workload_id=recipe.recipe_id,
        family=recipe.family,
        precision=training.precision,
        batch_size=training.batch_size,
        training_steps=training.training_steps,
        tokens=shape.tokens,
        parameters=count.parameters,
        layers=shape.layers,
        width=shape.width,
        linear_flops=float(forward.matmul + forward.convolution),
        attention_flops=float(forward.attention),
        layer_elements=shape.layer_elements,
        logit_elements=shape.logit_elements,
        score_elements=shape.score_elements,
        scan_elements=shape.scan_elements,
        causal=shape.causal,
        fused_attention=support.attention != "eager",
        compiles=support.compile,
        checkpoints=support.activation_checkpointing,
    )


def sized(workload: Workload, parameters: float | None) -> Workload:
    """The same shape with so many parameters, where only a size is known; None: as it is."""
    if parameters is None:
        return workload
    ratio = parameters / workload.parameters
    return replace(
        workload,
        parameters=round(parameters),
        linear_flops=workload.linear_flops * ratio,
        attention_flops=workload.attention_flops * ratio,
        layer_elements=workload.layer_elements * ratio,
    )


def _transformer(
    *,
    hidden: int,
    layers: int,
    heads: int,
    key_heads: int | None = None,
    inner: int,
    gated: bool = False,
    tokens: int,
    vocabulary: int,
    causal: bool,
    logits_a_sample: bool = False,
) -> _Shape:
    """A layer keeps its two normalised inputs, queries, keys, values, the attention's output, two
    residual sums and the inner activations: 9 hidden and 2 inner (3 where gated) elements a token,
    less the keys and values that grouped queries share (Korthikanti et al. 2022, section 4)."""
    shared = 2 * hidden * (1 - (key_heads or heads) / heads)
    elements = 11 * hidden - shared + (3 if gated else 2) * inner
    return _Shape(
        layers=layers,
        width=hidden,
        tokens=tokens,
        layer_elements=float(tokens * layers * elements),
        logit_elements=float(vocabulary if logits_a_sample else tokens * vocabulary),
        score_elements=float(heads * tokens**2 * layers),
        causal=causal,
    )


_Reader = Callable[[Mapping[str, Any], int], _Shape]


def _text(
    *,
    hidden: tuple[str, int],
    layers: tuple[str, int],
    heads: tuple[str, int],
    inner: tuple[str, int],
    vocabulary: int,
    causal: bool,
    gated: bool = False,
) -> _Reader:
    """Reads a transformer of tokens from the keys that its configuration uses, each with the
    class's own default (an inner size of 0: four times the hidden one)."""

    def read(arguments: Mapping[str, Any], tokens: int) -> _Shape:
        width, depth, count, wide = (
            arguments.get(key) or default for key, default in (hidden, layers, heads, inner)
        )
        return _transformer(
            hidden=width,
            layers=depth,
            heads=count,
            key_heads=arguments.get("num_key_value_heads"),
            inner=wide or 4 * width,
            gated=gated,
            tokens=tokens,
            vocabulary=arguments.get("vocab_size") or vocabulary,
            causal=causal,
        )

    return read


def _hf(hidden: int, layers: int, heads: int, inner: int, **other: Any) -> _Reader:
    """Under the keys that most configurations share."""
    return _text(
        hidden=("hidden_size", hidden),
        layers=("num_hidden_layers", layers),
        heads=("num_attention_heads", heads),
        inner=("intermediate_size", inner),
        **other,
    )


def _vit(arguments: Mapping[str, Any], pixels: int) -> _Shape:
    return _transformer(
        hidden=arguments.get("hidden_size", 768),
        layers=arguments.get("num_hidden_layers", 12),
        heads=arguments.get("num_attention_heads", 12),
        inner=arguments.get("intermediate_size", 3072),
        tokens=(pixels // arguments.get("patch_size", 16)) ** 2 + 1,
        vocabulary=arguments.get("num_labels", 2),
        causal=False,
        logits_a_sample=True,
    )


def _mamba(arguments: Mapping[str, Any], tokens: int) -> _Shape:
    """A layer keeps 2 hidden and 6 inner elements a token; its scan walks inner x states."""
    hidden = arguments.get("hidden_size", 768)
    layers = arguments.get("num_hidden_layers", 32)
    inner = arguments.get("expand", 2) * hidden
    return _Shape(
        layers=layers,
        width=hidden,
        tokens=tokens,
        layer_elements=float(tokens * layers * (2 * hidden + 6 * inner)),
        logit_elements=float(tokens * arguments.get("vocab_size", 50280)),
        scan_elements=float(tokens * layers * inner * arguments.get("state_size", 16)),
        causal=True,
    )


def _convnext(arguments: Mapping[str, Any], pixels: int) -> _Shape:
    """A block keeps 4 elements a channel and pixel around its 7 x 7 convolution and 8 inside its
    inverted bottleneck."""
    depths = arguments.get("depths", (3, 3, 9, 3))
    widths = arguments.get("hidden_sizes", (96, 192, 384, 768))
    side = pixels // arguments.get("patch_size", 4)
    first = side**2
    elements = taps = 0
    for depth, width in zip(depths, widths, strict=True):
        elements += depth * side**2 * 12 * width
        taps += depth * side**2 * 49 * width
        side //= 2
    return _Shape(
        layers=sum(depths),
        width=widths[0],
        tokens=first,
        layer_elements=float(elements),
        logit_elements=float(arguments.get("num_labels", 2)),
        scan_elements=float(taps),
    )


_GPT2 = _text(
    hidden=("n_embd", 768),
    layers=("n_layer", 12),
    heads=("n_head", 12),
    inner=("n_inner", 0),
    vocabulary=50257,
    causal=True,
)
SHAPES: Mapping[str, _Reader] = {
    name: reader
    for names, reader in {
        ("GPTNeoXConfig", "gpt_neox"): _hf(6144, 44, 64, 24576, vocabulary=50432, causal=True),
        ("GPT2Config", "gpt2"): _GPT2,
        ("LlamaConfig", "llama"): _hf(
            4096, 32, 32, 11008, vocabulary=32000, causal=True, gated=True
        ),
        ("BertConfig", "bert"): _hf(768, 12, 12, 3072, vocabulary=30522, causal=False),
        ("RobertaConfig", "roberta"): _hf(768, 12, 12, 3072, vocabulary=50265, causal=False),
        ("MambaConfig", "mamba"): _mamba,
        ("ConvNextConfig", "convnext"): _convnext,
        ("ViTConfig", "vit"): _vit,
    }.items()
    for name in names
}
"""By the class or model_type that `bench_runner.flops` counts, too."""
