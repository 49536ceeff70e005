"""What the layers of each kind of model keep, move and look at, a sample: `Workload`'s elements.

FLOPs and parameters are `bench_runner.recipe_flops`'s.
"""

from __future__ import annotations

import math
from typing import Any

from bench_runner.models.architecture import Architecture
from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.models.images import ConvNext, ResNet, Swin, Vit
from bench_runner.models.state_space import Mamba
from bench_runner.models.timm_models import TimmModel
from bench_runner.models.transformer import Deberta, Transformer

Shape = dict[str, Any]
"""Fields of a `Workload`: those that the layers decide."""


def shape_of(architecture: Architecture, length: int, *, rectified: bool = False) -> Shape:
    """``length``: tokens of a sample, or pixels a side. ``rectified``: of a transformer, whether
    its feed-forward layers keep what is above zero."""
    match architecture:
        case EncoderDecoder():
            return _encoder_decoder(architecture, length, rectified=rectified)
        case Deberta():
            # Of either kind of position, too, there are scores, which are gathered.
            plain = _transformer(architecture, length, length * architecture.vocab_size)
            more = 1 + 2 * architecture.kinds_of_position
            return plain | {"score_elements": plain["score_elements"] * more}
        case Transformer(num_experts=0):
            logits = length * architecture.vocab_size
            return _transformer(architecture, length, logits, rectified=rectified)
        case Transformer():
            return _experts(architecture, length)
        case Vit():
            return _transformer(architecture, architecture.tokens(length), architecture.num_labels)
        case Mamba():
            return _mamba(architecture, length)
        case ConvNext():
            return _convnext(architecture, length)
        case Swin():
            return _swin(architecture, length)
        case ResNet():
            return _resnet(architecture, length)
        case TimmModel():
            return _timm(architecture, length)
    raise TypeError(f"{type(architecture).__name__} has no workload")


def _transformer(
    model: Transformer | Vit, tokens: int, logits: int, *, rectified: bool = False
) -> Shape:
    """A layer keeps 11 hidden and 2 inner (3 where gated) elements a token: normalised inputs,
    queries, keys, values, the attention's output, residual sums and the inner activations, less
    the keys and values that grouped queries share (Korthikanti et al. 2022, section 4). Behind a
    ReLU what it gave says what it was given."""
    hidden, layers, heads = model.hidden_size, model.num_hidden_layers, model.num_attention_heads
    shared = 2 * hidden * (1 - model.num_key_value_heads / heads)
    inner = 3 if model.gated else 1 if rectified else 2
    elements = 11 * hidden - shared + inner * model.intermediate_size
    return dict(
        layers=layers,
        width=hidden,
        tokens=tokens,
        layer_elements=float(tokens * layers * elements),
        logit_elements=float(logits),
        score_elements=float(heads * tokens**2 * layers),
        causal=model.causal,
    )


def _mamba(model: Mamba, tokens: int) -> Shape:
    """A layer keeps 2 hidden and 6 inner elements a token; its scan walks inner x states."""
    hidden, layers, inner = model.hidden_size, model.num_hidden_layers, model.intermediate_size
    return dict(
        layers=layers,
        width=hidden,
        tokens=tokens,
        layer_elements=float(tokens * layers * (2 * hidden + 6 * inner)),
        logit_elements=float(tokens * model.vocab_size),
        scan_elements=float(tokens * layers * inner * model.state_size),
        causal=True,
    )


def _convnext(model: ConvNext, pixels: int) -> Shape:
    """A block keeps 4 elements a channel and pixel around its 7 x 7 convolution and 8 inside its
    inverted bottleneck."""
    side = pixels // model.patch_size
    first = side**2
    elements = taps = 0
    for depth, width in zip(model.depths, model.hidden_sizes, strict=True):
        elements += depth * side**2 * 12 * width
        taps += depth * side**2 * 49 * width
        side //= 2
    return dict(
        layers=sum(model.depths),
        width=model.hidden_sizes[0],
        tokens=first,
        layer_elements=float(elements),
        logit_elements=float(model.num_labels),
        scan_elements=float(taps),
    )


def _experts(model: Transformer, tokens: int) -> Shape:
    """A decoder whose tokens keep what the experts chosen for them make of them: three inner
    elements, and the token as it goes there and comes back."""
    hidden, layers, heads = model.hidden_size, model.num_hidden_layers, model.num_attention_heads
    if model.kv_lora_rank:
        attention = 7 * hidden + 2 * heads * (model.query_size + model.v_head_dim)
    else:
        inner = heads * model.head_dim
        attention = 7 * hidden + 2 * inner + 2 * model.num_key_value_heads * model.head_dim
    dense, chosen, expert = model.dense, model.num_experts_per_tok, model.moe_intermediate_size
    routed = (layers - dense) * chosen * (3 * expert + 2 * hidden)
    elements = layers * attention + dense * 3 * model.intermediate_size + routed
    elements += (layers - dense) * 3 * model.shared_size
    return dict(
        layers=layers,
        width=hidden,
        tokens=tokens,
        layer_elements=float(tokens * elements),
        logit_elements=float(tokens * model.vocab_size),
        score_elements=float(heads * tokens**2 * layers),
        expert_elements=float(tokens * routed),
        # Two weights an expert, whose inputs' and own gradients are products, too.
        expert_products=float(6 * (layers - dense) * model.num_experts),
        expert_flops=float(2 * tokens * (layers - dense) * chosen * 3 * hidden * expert),
        causal=True,
    )


def _encoder_decoder(model: EncoderDecoder, tokens: int, *, rectified: bool) -> Shape:
    """As any transformer's layers, on both sides; the decoder's attend a second time."""
    hidden, heads, written = model.hidden_size, model.num_attention_heads, model.written(tokens)
    inner = heads * model.head_dim
    attention = 7 * hidden + 4 * inner
    kept = 1 if rectified and model.products == 2 else model.products
    encoders, decoders = model.num_hidden_layers, model.num_decoder_layers
    elements = tokens * encoders * (attention + kept * model.intermediate_size)
    layer = attention + kept * model.decoder_inner
    elements += decoders * (written * (layer + 2 * hidden + 2 * inner) + tokens * 2 * inner)
    scores = heads * encoders * tokens**2
    scores += model.decoder_heads * decoders * written * (written + tokens)
    return dict(
        layers=encoders + decoders,
        width=hidden,
        tokens=tokens,
        layer_elements=float(elements),
        logit_elements=float(written * model.vocab_size),
        score_elements=float(scores),
    )


def _swin(model: Swin, pixels: int) -> Shape:
    """A transformer's layers at each stage's size; every token's scores are those of its window."""
    elements = scores = 0
    stages = list(model.stages(pixels))
    for stage in stages:
        inner = int(model.mlp_ratio * stage.width)
        seen, held = stage.padded**2, stage.side**2
        elements += stage.depth * (seen * 5 * stage.width + held * (6 * stage.width + 2 * inner))
        scores += stage.depth * stage.heads * seen * stage.window**2
    return dict(
        layers=sum(model.depths),
        width=model.embed_dim,
        tokens=stages[0].side ** 2,
        layer_elements=float(elements),
        logit_elements=float(model.num_labels),
        score_elements=float(scores),
    )


def _resnet(model: ResNet, pixels: int) -> Shape:
    """Every convolution's output is kept twice: before and after its norm."""
    convolutions = list(model.convolutions(pixels))
    written = [c.outputs * c.side**2 for c in convolutions]
    first = -(-pixels // 4)
    return dict(
        layers=sum(model.depths),
        width=model.hidden_sizes[0],
        tokens=first**2,
        layer_elements=float(2 * sum(written)),
        logit_elements=float(model.num_labels),
        normed_pixels=float(sum(c.side**2 for c in convolutions)),
    )


def _timm(model: TimmModel, pixels: int) -> Shape:
    """As counted by building it."""
    counted = model.at(pixels)
    return dict(
        layers=counted.layers,
        width=counted.width,
        tokens=counted.tokens,
        layer_elements=float(counted.elements),
        logit_elements=float(model.classes),
        score_elements=float(counted.scores),
        scan_elements=float(counted.taps),
        normed_pixels=float(counted.normed_pixels),
        grouped_elements=float(counted.grouped),
        copied_elements=float(counted.copied),
    )


MULTIPROCESSORS = 132
"""Of an H100 and an H200 (SXM)."""
TILE = (256, 128)
"""Elements of a weight's gradient that one multiprocessor computes at a time."""


def unfilled_flops(architecture: Architecture, length: int) -> float:
    """What a weight's gradient in TF32 leaves idle of a Hopper GPU, as FLOPs of a sample: the
    multiprocessors without a tile. 0 where the shapes of the weights are not known.

    A gradient has as many tiles as its weight, however many samples a pass has. cuBLAS gives each
    multiprocessor one at a time; where there are fewer than half as many as multiprocessors, it
    parts the sum over the samples instead, and all have work. So it was in profiles of ViT-B/16
    (72 tiles of a feed-forward weight: 29 % of the peak), ViT (128: 50 %) and ConvNeXt on an H100
    (docs/measurements.md). In half precision it parts the sum wherever that helps.
    """
    match architecture:
        case Transformer() | EncoderDecoder() | Vit():
            model = architecture
            tokens = model.tokens(length) if isinstance(model, Vit) else length
            inner = _unfilled(tokens, model.hidden_size, model.intermediate_size)
            square = _unfilled(tokens, model.hidden_size, model.hidden_size)
            return model.num_hidden_layers * ((3 if model.gated else 2) * inner + 4 * square)
        case ConvNext():
            side, total = length // architecture.patch_size, 0.0
            for depth, width in zip(architecture.depths, architecture.hidden_sizes, strict=True):
                total += depth * 2 * _unfilled(side**2, width, 4 * width)
                side //= 2
            return total
    return 0.0


def _unfilled(tokens: int, inputs: int, outputs: int) -> float:
    tiles = math.ceil(max(inputs, outputs) / TILE[0]) * math.ceil(min(inputs, outputs) / TILE[1])
    if tiles < MULTIPROCESSORS / 2:
        return 0.0
    idle = math.ceil(tiles / MULTIPROCESSORS) * MULTIPROCESSORS / tiles - 1.0
    return 2.0 * tokens * inputs * outputs * idle
