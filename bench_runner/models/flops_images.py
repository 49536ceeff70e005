"""Parameters and operations of the models in `architecture_images`; `flops` says what counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench_runner.models.architecture_images import ResNet, Swin, Swinv2
from bench_runner.models.model_count import ModelCount, linear


@dataclass(frozen=True, slots=True, kw_only=True)
class SwinStage:
    """One stage at the image's size there."""

    depth: int
    width: int
    heads: int
    side: int
    """Windows' worth of padding apart."""
    window: int
    padded: int
    """The side that whole windows cover."""


def swin_stages(config: Swin, pixels: int) -> Iterator[SwinStage]:
    """The stages of an image of ``pixels`` a side."""
    side = -(-pixels // config.patch_size)
    for stage, (depth, heads) in enumerate(zip(config.depths, config.num_heads, strict=True)):
        side = -(-side // 2) if stage else side
        window = min(config.window_size, side)
        yield SwinStage(
            depth=depth,
            width=config.embed_dim * 2**stage,
            heads=heads,
            side=side,
            window=window,
            padded=-(-side // window) * window,
        )


def count_swin(config: Swin, pixels: int) -> ModelCount:
    """Liu et al. 2021, 2022. The small network that makes the second version's positions is
    computed once for all samples of a pass and not counted."""
    patch, first, classes = config.patch_size, config.embed_dim, config.num_labels
    start = -(-pixels // patch)
    parameters = linear(config.num_channels * patch**2, first) + 2 * first
    parameters += start**2 * first if config.use_absolute_embeddings else 0
    matmul = attention = 0
    second = isinstance(config, Swinv2)
    width = first
    for number, stage in enumerate(swin_stages(config, pixels)):
        if number:  # four neighbours become one
            parameters += 8 * width**2 + (4 if second else 8) * width
            matmul += 2 * stage.side**2 * 8 * width**2
        width = stage.width
        inner = int(config.mlp_ratio * width)
        biases = 0 if not config.qkv_bias else 2 if second else 3
        positions = (2 * config.window_size - 1) ** 2 * stage.heads
        if second:
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
        convolution=2 * start**2 * first * config.num_channels * patch**2,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Convolution:
    """One convolution of a residual network, with the norm behind it."""

    inputs: int
    outputs: int
    kernel: int
    side: int
    """Of what it writes."""


def resnet_convolutions(config: ResNet, pixels: int) -> Iterator[Convolution]:
    """All of them, for an image of ``pixels`` a side."""
    side = -(-pixels // 2)
    stem = config.embedding_size
    yield Convolution(inputs=config.num_channels, outputs=stem, kernel=7, side=side)
    side, inputs = -(-side // 2), stem
    for stage, (depth, outputs) in enumerate(zip(config.depths, config.hidden_sizes, strict=True)):
        halves = stage > 0 or config.downsample_in_first_stage
        for block in range(depth):
            before, stride = side, 2 if halves and block == 0 else 1
            side = -(-side // stride)
            if inputs != outputs or stride != 1:
                yield Convolution(inputs=inputs, outputs=outputs, kernel=1, side=side)
            if config.layer_type == "basic":
                yield Convolution(inputs=inputs, outputs=outputs, kernel=3, side=side)
                yield Convolution(inputs=outputs, outputs=outputs, kernel=3, side=side)
            else:
                narrow = max(1, outputs // 4)
                early = side if config.downsample_in_bottleneck else before
                yield Convolution(inputs=inputs, outputs=narrow, kernel=1, side=early)
                yield Convolution(inputs=narrow, outputs=narrow, kernel=3, side=side)
                yield Convolution(inputs=narrow, outputs=outputs, kernel=1, side=side)
            inputs = outputs


def count_resnet(config: ResNet, pixels: int) -> ModelCount:
    """He et al. 2016."""
    each = list(resnet_convolutions(config, pixels))
    weights = [c.inputs * c.outputs * c.kernel**2 for c in each]
    last, classes = config.hidden_sizes[-1], config.num_labels
    return ModelCount(
        parameters=sum(weights) + sum(2 * c.outputs for c in each) + linear(last, classes),
        matmul=2 * last * classes,
        convolution=sum(2 * w * c.side**2 for w, c in zip(weights, each, strict=True)),
    )
