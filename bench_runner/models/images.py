"""Models of images: vision transformers, Swin, ConvNeXt and residual networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from bench_runner.models.architecture import Architecture, ModelCount, linear, undivided


@dataclass(frozen=True, slots=True, kw_only=True)
class Vit(Architecture):
    """Vision transformer of Dosovitskiy et al. 2021, whose class token is read out."""

    causal: ClassVar = False
    gated: ClassVar = False
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int = 0
    mlp_ratio: int = 4
    """The inner size over the hidden one, where the former is not said."""
    patch_size: int
    num_channels: int = 3
    num_labels: int = 2
    qkv_bias: bool = True
    key_bias: bool = True
    """Whether keys have one where queries and values do."""
    extra_tokens: int = 1
    """Tokens besides the patches."""
    positions: bool = True
    """Whether each token has a learnt position."""
    use_mask_token: bool = False
    """Whether one is for masked patches, which a classifier does not need."""
    layer_scale_init_value: float = 0.0
    """Above 0: both branches of a layer are scaled."""
    relative_positions: bool = False
    """Whether each layer has a learnt bias by distance ..."""
    shared_relative_positions: bool = False
    """... or all have one together."""
    patches_read_out: bool = False
    """Whether the patches' mean is read out as well (DINOv2)."""
    use_swiglu_ffn: bool = False

    def __post_init__(self) -> None:
        self.derive("intermediate_size", self.mlp_ratio * self.hidden_size)

    @property
    def num_key_value_heads(self) -> int:
        return self.num_attention_heads

    @property
    def head_dim(self) -> int:
        return self.hidden_size // self.num_attention_heads

    def tokens(self, pixels: int) -> int:
        """Of an image of ``pixels`` a side, which takes whole patches alone."""
        return (pixels // self.patch_size) ** 2 + self.extra_tokens

    def contradiction(self) -> tuple[str, str] | None:
        return undivided("num_attention_heads", self.num_attention_heads, self.hidden_size)

    def count(self, length: int) -> ModelCount:
        hidden, layers, inner = self.hidden_size, self.num_hidden_layers, self.intermediate_size
        patches, tokens = (length // self.patch_size) ** 2, self.tokens(length)
        wide = inner
        if self.use_swiglu_ffn:
            inner = (inner * 2 // 3 + 7) // 8 * 8
            wide = 2 * inner
        distances = (2 * (length // self.patch_size) - 1) ** 2 + 3
        scales = 2 * hidden if self.layer_scale_init_value > 0 else 0
        layer = (
            3 * linear(hidden, hidden, bias=self.qkv_bias)
            - (hidden if self.qkv_bias and not self.key_bias else 0)
            + linear(hidden, hidden)
            + linear(hidden, wide)
            + linear(inner, hidden)
            + 2 * 2 * hidden
            + scales
            + (distances * self.num_attention_heads if self.relative_positions else 0)
        )
        read_out = 2 * hidden if self.patches_read_out else hidden
        square = layers * 4 * tokens**2 * hidden
        weights = layers * (4 * hidden**2 + hidden * (wide + inner))
        return ModelCount(
            parameters=(tokens if self.positions else 0) * hidden
            + (self.extra_tokens + self.use_mask_token) * hidden
            + linear(self.num_channels * self.patch_size**2, hidden)
            + layers * layer
            + 2 * hidden
            + (distances * self.num_attention_heads if self.shared_relative_positions else 0)
            + linear(read_out, self.num_labels),
            matmul=2 * tokens * weights + 2 * read_out * self.num_labels,
            attention_full=square,
            attention_lowest=square,
            convolution=2 * patches * hidden * self.num_channels * self.patch_size**2,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ConvNext(Architecture):
    """Convolutional network of Liu et al. 2022, in stages that halve the image: depthwise 7 x 7
    convolutions, then two linear layers."""

    depths: tuple[int, ...]
    hidden_sizes: tuple[int, ...]
    patch_size: int = 4
    num_channels: int = 3
    num_labels: int = 2
    layer_scale_init_value: float = 1e-6
    normed_responses: bool = False
    """Whether responses are normalised (Woo et al. 2023)."""

    def contradiction(self) -> tuple[str, str] | None:
        if len(self.depths) != len(self.hidden_sizes):
            return "depths", "has not as many stages as hidden_sizes"
        return None

    def count(self, length: int) -> ModelCount:
        widths, patch, channels = self.hidden_sizes, self.patch_size, self.num_channels
        scale = (1 if self.layer_scale_init_value > 0 else 0) + 2 * 4 * self.normed_responses
        parameters = widths[0] * (channels * patch**2 + 1) + 2 * widths[0]  # stem and its norm
        side = length // patch
        convolution = 2 * side**2 * widths[0] * channels * patch**2
        matmul, before = 0, widths[0]
        for stage, (depth, width) in enumerate(zip(self.depths, widths, strict=True)):
            if stage > 0:
                side //= 2
                parameters += 2 * before + before * width * 4 + width
                convolution += 2 * side**2 * before * width * 4
            parameters += depth * (8 * width**2 + (49 + 1 + 2 + 4 + 1 + scale) * width)
            convolution += depth * 2 * side**2 * width * 49
            matmul += depth * 2 * side**2 * 2 * 4 * width**2
            before = width
        return ModelCount(
            parameters=parameters + 2 * before + linear(before, self.num_labels),
            matmul=matmul + 2 * before * self.num_labels,
            convolution=convolution,
        )


class SwinStage(NamedTuple):
    """One stage at the image's size there."""

    depth: int
    width: int
    heads: int
    side: int
    """Pixels or patches of an image's side, without padding."""
    window: int
    padded: int
    """The side that whole windows cover."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swin(Architecture):
    """Liu et al. 2021, 2022: attention within windows, in stages that halve the image.

    The small network that makes the second version's positions is computed once for all samples of
    a pass and not counted.
    """

    embed_dim: int
    depths: tuple[int, ...]
    num_heads: tuple[int, ...]
    window_size: int
    patch_size: int
    num_channels: int = 3
    num_labels: int = 2
    mlp_ratio: float
    qkv_bias: bool = True
    use_absolute_embeddings: bool = False
    second: bool = False
    """Whether it is the second version: cosine attention, positions from a small network."""

    def contradiction(self) -> tuple[str, str] | None:
        if len(self.depths) != len(self.num_heads):
            return "depths", "has not as many stages as num_heads"
        for stage, heads in enumerate(self.num_heads):
            if (self.embed_dim * 2**stage) % heads:
                return "num_heads", f"{heads} does not divide the width {self.embed_dim * 2**stage}"
        return None

    def stages(self, pixels: int) -> Iterator[SwinStage]:
        """The stages of an image of ``pixels`` a side."""
        side = -(-pixels // self.patch_size)
        for stage, (depth, heads) in enumerate(zip(self.depths, self.num_heads, strict=True)):
            side = -(-side // 2) if stage else side
            window = min(self.window_size, side)
            padded = -(-side // window) * window
            yield SwinStage(depth, self.embed_dim * 2**stage, heads, side, window, padded)

    def count(self, length: int) -> ModelCount:
        patch, first, classes = self.patch_size, self.embed_dim, self.num_labels
        start = -(-length // patch)
        parameters = linear(self.num_channels * patch**2, first) + 2 * first
        if self.use_absolute_embeddings:
            parameters += (start**2 + self.second) * first
        matmul = attention = 0
        width = first
        for number, stage in enumerate(self.stages(length)):
            if number:  # four neighbours become one
                parameters += 8 * width**2 + (4 if self.second else 8) * width
                matmul += 2 * stage.side**2 * 8 * width**2
            width = stage.width
            inner = int(self.mlp_ratio * width)
            biases = 0 if not self.qkv_bias else 2 if self.second else 3
            positions = (2 * self.window_size - 1) ** 2 * stage.heads
            if self.second:
                positions = stage.heads + linear(2, 512) + 512 * stage.heads
            layer = 3 * width**2 + biases * width + linear(width, width) + positions
            layer += linear(width, inner) + linear(inner, width) + 4 * width
            parameters += stage.depth * layer
            seen, held = stage.padded**2, stage.side**2
            matmul += stage.depth * 2 * (seen * 4 * width**2 + held * 2 * width * inner)
            attention += stage.depth * 4 * seen * stage.window**2 * width
        return ModelCount(
            parameters=parameters + 2 * width + linear(width, classes),
            matmul=matmul + 2 * width * classes,
            attention_full=attention,
            attention_lowest=attention,
            convolution=2 * start**2 * first * self.num_channels * patch**2,
        )


class Convolution(NamedTuple):
    """One convolution of a residual network, with the norm behind it."""

    inputs: int
    outputs: int
    kernel: int
    side: int
    """Of what it writes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResNet(Architecture):
    """He et al. 2016."""

    choices: ClassVar = {"layer_type": ("bottleneck", "basic")}

    embedding_size: int
    hidden_sizes: tuple[int, ...]
    depths: tuple[int, ...]
    layer_type: str = "bottleneck"
    downsample_in_first_stage: bool = False
    downsample_in_bottleneck: bool = False
    num_channels: int = 3
    num_labels: int = 2

    def contradiction(self) -> tuple[str, str] | None:
        if len(self.depths) != len(self.hidden_sizes):
            return "depths", "has not as many stages as hidden_sizes"
        return None

    def convolutions(self, pixels: int) -> Iterator[Convolution]:
        """All of them, for an image of ``pixels`` a side."""
        side = -(-pixels // 2)
        stem = self.embedding_size
        yield Convolution(self.num_channels, stem, 7, side)
        side, inputs = -(-side // 2), stem
        for stage, (depth, outputs) in enumerate(zip(self.depths, self.hidden_sizes, strict=True)):
            halves = stage > 0 or self.downsample_in_first_stage
            for block in range(depth):
                before, stride = side, 2 if halves and block == 0 else 1
                side = -(-side // stride)
                if inputs != outputs or stride != 1:
                    yield Convolution(inputs, outputs, 1, side)
                if self.layer_type == "basic":
                    yield Convolution(inputs, outputs, 3, side)
                    yield Convolution(outputs, outputs, 3, side)
                else:
                    narrow = max(1, outputs // 4)
                    early = side if self.downsample_in_bottleneck else before
                    yield Convolution(inputs, narrow, 1, early)
                    yield Convolution(narrow, narrow, 3, side)
                    yield Convolution(narrow, outputs, 1, side)
                inputs = outputs

    def count(self, length: int) -> ModelCount:
        each = list(self.convolutions(length))
        weights = [c.inputs * c.outputs * c.kernel**2 for c in each]
        last, classes = self.hidden_sizes[-1], self.num_labels
        return ModelCount(
            parameters=sum(weights) + sum(2 * c.outputs for c in each) + linear(last, classes),
            matmul=2 * last * classes,
            convolution=sum(2 * w * c.side**2 for w, c in zip(weights, each, strict=True)),
        )
