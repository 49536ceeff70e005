"""Parameters and floating-point operations of a recipe, from its architecture alone (no torch).

A multiply-add is two operations. Only matrix products, convolutions, attention and the state-space
scan count: no element-wise work, no normalisation, no look-up of embeddings, no optimiser. A
training pass is three forward passes (Kaplan et al. 2020, section 2.1: the backward pass forms two
products for each one of the forward pass), and what activation checkpointing computes again never
counts, as in the model FLOPs utilisation of Chowdhery et al. 2022, appendix B.

Two counts. `full` is what torch's FlopCounterMode counts in a forward pass, the whole square of
attention scores among it. `lowest` is the lowest count that can be defended, for an audit that must
never accuse wrongly: a decoder's attention looks back only, which is half of the square.

Beside the paper's Figure 9a, whose code runs FlopCounterMode over forward and backward passes:
Pythia, RoBERTa and ViT agree with `full` (966 MFLOP a token for Pythia 160M). ConvNeXt is three
times `full`, because the counter takes the backward pass of a depthwise convolution for a dense
one. Mamba is a sixth of `full`, for a reason that the paper does not give.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bench_runner.recipes import Recipe

TRAIN_OVER_FORWARD = 3


class UncountedArchitectureError(ValueError):
    """The model may be fine, but its operations cannot be counted without building it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardFlops:
    """Operations of one sample's forward pass, by kind."""

    matmul: int
    """Linear layers, the output layer among them."""
    attention: int
    """Scores and the weighted sum of values."""
    convolution: int
    scan: int
    """The recurrence of a state-space model."""

    @property
    def total(self) -> int:
        return self.matmul + self.attention + self.convolution + self.scan


@dataclass(frozen=True, slots=True, kw_only=True)
class FlopCount:
    """What one recipe's model holds and costs."""

    parameters: int
    """Trained parameters; tied weights once."""
    forward_full: ForwardFlops
    forward_lowest: ForwardFlops
    samples: int
    """Samples of the whole run: batch size times steps."""

    @property
    def train_sample_full(self) -> int:
        """Operations to train on one sample, as torch's counter would have it."""
        return TRAIN_OVER_FORWARD * self.forward_full.total

    @property
    def train_sample_lowest(self) -> int:
        """Operations to train on one sample, the lowest defensible count."""
        return TRAIN_OVER_FORWARD * self.forward_lowest.total

    @property
    def flops_full(self) -> int:
        """Operations of the whole training run, as torch's counter would have it."""
        return self.samples * self.train_sample_full

    @property
    def flops_lowest(self) -> int:
        """Operations of the whole training run, the lowest defensible count."""
        return self.samples * self.train_sample_lowest


def count_flops(recipe: Recipe) -> FlopCount:
    """Count one recipe; UncountedArchitectureError where the architecture is not known here."""
    architecture, training = recipe.architecture, recipe.training
    kind = str(architecture.config_class or architecture.arguments.get("model_type"))
    if architecture.timm is not None or kind not in _COUNTERS:
        raise UncountedArchitectureError(
            f"recipe '{recipe.recipe_id}': the operations of {architecture.timm or kind} are not "
            "counted without torch; measure it, or give a Hugging Face configuration of one of "
            + ", ".join(name for name in _COUNTERS if name.endswith("Config"))
        )
    length = training.sequence_length or training.image_size
    if length is None:
        raise ValueError(f"recipe '{recipe.recipe_id}': has no sequence_length or image_size")
    arguments = dict(architecture.arguments)
    if training.classes is not None:
        arguments["num_labels"] = training.classes
    model = _COUNTERS[kind](_Config(recipe.recipe_id, arguments), length)
    return FlopCount(
        parameters=model.parameters,
        forward_full=model.forward(model.attention_full),
        forward_lowest=model.forward(model.attention_lowest),
        samples=training.batch_size * training.training_steps,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Model:
    parameters: int
    matmul: int
    attention_full: int = 0
    attention_lowest: int = 0
    convolution: int = 0
    scan: int = 0

    def forward(self, attention: int) -> ForwardFlops:
        return ForwardFlops(
            matmul=self.matmul, attention=attention, convolution=self.convolution, scan=self.scan
        )


class _Config:
    """A Hugging Face configuration: what the recipe gives, else the class's own default."""

    def __init__(self, recipe_id: str, arguments: Mapping[str, Any]) -> None:
        self.recipe_id = recipe_id
        self.arguments = arguments

    def whole(self, key: str, default: int) -> int:
        value = self.arguments.get(key)
        if value is None:
            return default
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(
                f"recipe '{self.recipe_id}', architecture key '{key}': is {value!r}; "
                "write a whole number above 0"
            )
        return value

    def wholes(self, key: str, default: tuple[int, ...]) -> tuple[int, ...]:
        value = self.arguments.get(key, default)
        if not isinstance(value, list | tuple) or not all(
            isinstance(item, int) and item > 0 for item in value
        ):
            raise ValueError(
                f"recipe '{self.recipe_id}', architecture key '{key}': is {value!r}; "
                "write a list of whole numbers above 0"
            )
        return tuple(value)

    def flag(self, key: str, *, default: bool) -> bool:
        return bool(self.arguments.get(key, default))


def _causal(square: int) -> int:
    """Half of the square of scores, as FlashAttention counts a causal mask (Dao 2023, sec. 4.1)."""
    return square // 2


def _linear(inputs: int, outputs: int, *, bias: bool = True) -> int:
    return inputs * outputs + (outputs if bias else 0)


def _gpt_neox(config: _Config, tokens: int) -> _Model:
    """Decoder of Black et al. 2022: 4h² + 2hf weights a layer; input and output tables differ."""
    hidden = config.whole("hidden_size", 6144)
    layers = config.whole("num_hidden_layers", 44)
    inner = config.whole("intermediate_size", 24576)
    vocabulary = config.whole("vocab_size", 50432)
    bias = config.flag("attention_bias", default=True)
    tables = 1 if config.flag("tie_word_embeddings", default=False) else 2
    layer = (
        _linear(hidden, 3 * hidden, bias=bias)
        + _linear(hidden, hidden, bias=bias)
        + _linear(hidden, inner)
        + _linear(inner, hidden)
        + 2 * 2 * hidden  # two layer norms
    )
    square = layers * 4 * tokens**2 * hidden
    return _Model(
        parameters=tables * vocabulary * hidden + layers * layer + 2 * hidden,
        matmul=2 * tokens * (layers * (4 * hidden**2 + 2 * hidden * inner) + hidden * vocabulary),
        attention_full=square,
        attention_lowest=_causal(square),
    )


def _gpt2(config: _Config, tokens: int) -> _Model:
    """Decoder of Radford et al. 2019; positions are learnt, input and output tables shared."""
    hidden = config.whole("n_embd", 768)
    layers = config.whole("n_layer", 12)
    inner = config.whole("n_inner", 4 * hidden)
    vocabulary = config.whole("vocab_size", 50257)
    tables = 1 if config.flag("tie_word_embeddings", default=True) else 2
    layer = (
        _linear(hidden, 3 * hidden)
        + _linear(hidden, hidden)
        + _linear(hidden, inner)
        + _linear(inner, hidden)
        + 2 * 2 * hidden
    )
    square = layers * 4 * tokens**2 * hidden
    return _Model(
        parameters=(tables * vocabulary + config.whole("n_positions", 1024)) * hidden
        + layers * layer
        + 2 * hidden,
        matmul=2 * tokens * (layers * (4 * hidden**2 + 2 * hidden * inner) + hidden * vocabulary),
        attention_full=square,
        attention_lowest=_causal(square),
    )


def _llama(config: _Config, tokens: int) -> _Model:
    """Decoder of Touvron et al. 2023: gated feed-forward layer, grouped keys and values."""
    hidden = config.whole("hidden_size", 4096)
    layers = config.whole("num_hidden_layers", 32)
    inner = config.whole("intermediate_size", 11008)
    heads = config.whole("num_attention_heads", 32)
    groups = config.whole("num_key_value_heads", heads)
    head_size = config.whole("head_dim", hidden // heads)
    vocabulary = config.whole("vocab_size", 32000)
    bias = config.flag("attention_bias", default=False)
    mlp_bias = config.flag("mlp_bias", default=False)
    tables = 1 if config.flag("tie_word_embeddings", default=False) else 2
    layer = (
        _linear(hidden, heads * head_size, bias=bias)
        + 2 * _linear(hidden, groups * head_size, bias=bias)
        + _linear(heads * head_size, hidden, bias=bias)
        + 2 * _linear(hidden, inner, bias=mlp_bias)
        + _linear(inner, hidden, bias=mlp_bias)
        + 2 * hidden  # two root-mean-square norms
    )
    weights = hidden * head_size * (2 * heads + 2 * groups) + 3 * hidden * inner
    square = layers * 4 * tokens**2 * heads * head_size
    return _Model(
        parameters=tables * vocabulary * hidden + layers * layer + hidden,
        matmul=2 * tokens * (layers * weights + hidden * vocabulary),
        attention_full=square,
        attention_lowest=_causal(square),
    )


def _bert(config: _Config, tokens: int) -> _Model:
    """Encoder of Devlin et al. 2019 with its masked-language head at every position.

    The head could do with the masked positions alone, but the code that is timed does not.
    """
    hidden = config.whole("hidden_size", 768)
    layers = config.whole("num_hidden_layers", 12)
    inner = config.whole("intermediate_size", 3072)
    vocabulary = config.whole("vocab_size", 30522)
    layer = (
        4 * _linear(hidden, hidden)
        + _linear(hidden, inner)
        + _linear(inner, hidden)
        + 2 * 2 * hidden
    )
    rows = (
        vocabulary
        + config.whole("max_position_embeddings", 512)
        + config.whole("type_vocab_size", 2)
    )
    head = _linear(hidden, hidden) + 2 * hidden + vocabulary  # output table tied, its bias not
    weights = layers * (4 * hidden**2 + 2 * hidden * inner) + hidden**2 + hidden * vocabulary
    square = layers * 4 * tokens**2 * hidden
    return _Model(
        parameters=rows * hidden + 2 * hidden + layers * layer + head,
        matmul=2 * tokens * weights,
        attention_full=square,
        attention_lowest=square,
    )


def _roberta(config: _Config, tokens: int) -> _Model:
    """Encoder of Liu et al. 2019: BERT's, with another vocabulary."""
    arguments = {"vocab_size": 50265, **config.arguments}
    return _bert(_Config(config.recipe_id, arguments), tokens)


def _mamba(config: _Config, tokens: int) -> _Model:
    """State-space model of Gu and Dao 2023, section 3.

    Scan, for each of the inner channels and states: decay (exponent's product), input (product),
    h = decay x h + input (product, sum), y += C h (product, sum): 6 operations, exponentials
    not among them. torch's counter sees none of it in the fused kernel.
    """
    hidden = config.whole("hidden_size", 768)
    layers = config.whole("num_hidden_layers", 32)
    states = config.whole("state_size", 16)
    kernel = config.whole("conv_kernel", 4)
    vocabulary = config.whole("vocab_size", 50280)
    inner = config.whole("expand", 2) * hidden
    rank = -(-hidden // 16)
    if config.arguments.get("time_step_rank", "auto") != "auto":
        rank = config.whole("time_step_rank", rank)
    bias = config.flag("use_bias", default=False)
    tables = 1 if config.flag("tie_word_embeddings", default=True) else 2
    layer = (
        hidden  # norm
        + _linear(hidden, 2 * inner, bias=bias)
        + inner * kernel
        + (inner if config.flag("use_conv_bias", default=True) else 0)
        + _linear(inner, rank + 2 * states, bias=False)
        + _linear(rank, inner)
        + inner * states  # A
        + inner  # D
        + _linear(inner, hidden, bias=bias)
    )
    weights = 3 * hidden * inner + inner * (rank + 2 * states) + rank * inner
    return _Model(
        parameters=tables * vocabulary * hidden + layers * layer + hidden,
        matmul=2 * tokens * (layers * weights + hidden * vocabulary),
        convolution=layers * 2 * tokens * inner * kernel,
        scan=layers * 6 * tokens * inner * states,
    )


def _convnext(config: _Config, pixels: int) -> _Model:
    """Convolutional network of Liu et al. 2022: depthwise 7 x 7, then two linear layers."""
    depths = config.wholes("depths", (3, 3, 9, 3))
    widths = config.wholes("hidden_sizes", (96, 192, 384, 768))
    patch = config.whole("patch_size", 4)
    channels = config.whole("num_channels", 3)
    classes = config.whole("num_labels", 2)
    scale = 1 if config.arguments.get("layer_scale_init_value", 1e-6) > 0 else 0
    parameters = widths[0] * (channels * patch**2 + 1) + 2 * widths[0]  # stem and its norm
    side = pixels // patch
    convolution = 2 * side**2 * widths[0] * channels * patch**2
    matmul = 0
    before = widths[0]
    for stage, (depth, width) in enumerate(zip(depths, widths, strict=True)):
        if stage > 0:
            side //= 2
            parameters += 2 * before + before * width * 4 + width
            convolution += 2 * side**2 * before * width * 4
        block = (
            width * 49 + width + 2 * width + 2 * 4 * width**2 + 4 * width + width + scale * width
        )
        parameters += depth * block
        convolution += depth * 2 * side**2 * width * 49
        matmul += depth * 2 * side**2 * 2 * 4 * width**2
        before = width
    return _Model(
        parameters=parameters + 2 * before + _linear(before, classes),
        matmul=matmul + 2 * before * classes,
        convolution=convolution,
    )


def _vit(config: _Config, pixels: int) -> _Model:
    """Vision transformer of Dosovitskiy et al. 2021; one class token is read out."""
    hidden = config.whole("hidden_size", 768)
    layers = config.whole("num_hidden_layers", 12)
    inner = config.whole("intermediate_size", 3072)
    patch = config.whole("patch_size", 16)
    channels = config.whole("num_channels", 3)
    classes = config.whole("num_labels", 2)
    qkv_bias = config.flag("qkv_bias", default=True)
    patches = (pixels // patch) ** 2
    tokens = patches + 1
    layer = (
        3 * _linear(hidden, hidden, bias=qkv_bias)
        + _linear(hidden, hidden)
        + _linear(hidden, inner)
        + _linear(inner, hidden)
        + 2 * 2 * hidden
    )
    square = layers * 4 * tokens**2 * hidden
    return _Model(
        parameters=(tokens + 1) * hidden  # positions and class token
        + _linear(channels * patch**2, hidden)
        + layers * layer
        + 2 * hidden
        + _linear(hidden, classes),
        matmul=2 * tokens * layers * (4 * hidden**2 + 2 * hidden * inner) + 2 * hidden * classes,
        attention_full=square,
        attention_lowest=square,
        convolution=2 * patches * hidden * channels * patch**2,
    )


_COUNTERS: Mapping[str, Callable[[_Config, int], _Model]] = {
    "GPTNeoXConfig": _gpt_neox,
    "gpt_neox": _gpt_neox,
    "GPT2Config": _gpt2,
    "gpt2": _gpt2,
    "LlamaConfig": _llama,
    "llama": _llama,
    "BertConfig": _bert,
    "bert": _bert,
    "RobertaConfig": _roberta,
    "roberta": _roberta,
    "MambaConfig": _mamba,
    "mamba": _mamba,
    "ConvNextConfig": _convnext,
    "convnext": _convnext,
    "ViTConfig": _vit,
    "vit": _vit,
}
"""By the class that a recipe names and by the model_type of a config.json."""
