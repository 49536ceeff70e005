"""Parameters and floating-point operations of a model, from its architecture alone (no torch).

A multiply-add is two operations. Only matrix products, convolutions, attention and the state-space
scan count: no element-wise work, no normalisation, no look-up of embeddings, no optimiser.

Two counts. `full` is what torch's FlopCounterMode counts in a forward pass, the whole square of
attention scores among it. `lowest` is the lowest count that can be defended, for an audit that must
never accuse wrongly: a decoder's attention looks back only, which is half of the square.

Beside the paper's Figure 9a, whose code runs FlopCounterMode over forward and backward passes:
Pythia, RoBERTa and ViT agree with `full` (966 MFLOP a token for Pythia 160M). ConvNeXt is three
times `full`, because the counter takes the backward pass of a depthwise convolution for a dense
one. Mamba is a sixth of `full`, for a reason that the paper does not give.
"""

from __future__ import annotations

from bench_runner.models.architecture import (
    Architecture,
    ConvNext,
    ConvNextV2,
    Dinov2,
    Gpt2,
    GptNeoX,
    Mamba,
    Vit,
)
from bench_runner.models.architecture_decoders import PlainDecoder
from bench_runner.models.architecture_encoders import Bert, Esm, NomicBert
from bench_runner.models.architecture_experts import Experts
from bench_runner.models.architecture_images import ResNet, Swin
from bench_runner.models.architecture_text import Deberta, Llama, ModernBert, Starcoder2
from bench_runner.models.architecture_two_sides import T5, Bart
from bench_runner.models.flops_encoders import count_bert, count_esm, count_nomic_bert
from bench_runner.models.flops_images import count_resnet, count_swin
from bench_runner.models.flops_text import (
    count_bart,
    count_deberta,
    count_experts,
    count_llama,
    count_modernbert,
    count_plain_decoder,
    count_starcoder2,
    count_t5,
)
from bench_runner.models.model_count import ModelCount, causal_half, linear
from bench_runner.models.timm_models import TimmModel


def count_model(architecture: Architecture, length: int) -> ModelCount:
    """``length``: tokens of a sample, or pixels a side."""
    match architecture:
        case GptNeoX():
            return _gpt_neox(architecture, length)
        case Gpt2():
            return _gpt2(architecture, length)
        case Experts():
            return count_experts(architecture, length)
        case Starcoder2():
            return count_starcoder2(architecture, length)
        case PlainDecoder():
            return count_plain_decoder(architecture, length)
        case Llama():
            return count_llama(architecture, length)
        case T5():
            return count_t5(architecture, length)
        case Bart():
            return count_bart(architecture, length)
        case ModernBert():
            return count_modernbert(architecture, length)
        case Deberta():
            return count_deberta(architecture, length)
        case TimmModel():
            counted = architecture.at(length)
            return ModelCount(
                parameters=architecture.parameters,
                matmul=counted.matmul,
                attention_full=counted.attention,
                attention_lowest=counted.attention,
                convolution=counted.convolution,
            )
        case Swin():
            return count_swin(architecture, length)
        case ResNet():
            return count_resnet(architecture, length)
        case Esm():
            return count_esm(architecture, length)
        case Bert():
            return count_bert(architecture, length)
        case NomicBert():
            return count_nomic_bert(architecture, length)
        case Mamba():
            return _mamba(architecture, length)
        case ConvNext():
            return _convnext(architecture, length)
        case Vit():
            return _vit(architecture, length)
    raise TypeError(f"{type(architecture).__name__} is not counted")


def _gpt_neox(config: GptNeoX, tokens: int) -> ModelCount:
    """Decoder of Black et al. 2022: 4h² + 2hf weights a layer; input and output tables differ."""
    hidden = config.hidden_size
    layers = config.num_hidden_layers
    inner = config.intermediate_size
    vocabulary = config.vocab_size
    bias = config.attention_bias
    tables = 1 if config.tie_word_embeddings else 2
    layer = (
        linear(hidden, 3 * hidden, bias=bias)
        + linear(hidden, hidden, bias=bias)
        + linear(hidden, inner)
        + linear(inner, hidden)
        + 2 * 2 * hidden  # two layer norms
    )
    square = layers * 4 * tokens**2 * hidden
    return ModelCount(
        parameters=tables * vocabulary * hidden + layers * layer + 2 * hidden,
        matmul=2 * tokens * (layers * (4 * hidden**2 + 2 * hidden * inner) + hidden * vocabulary),
        attention_full=square,
        attention_lowest=causal_half(square),
    )


def _gpt2(config: Gpt2, tokens: int) -> ModelCount:
    """Decoder of Radford et al. 2019; positions are learnt, input and output tables shared."""
    hidden = config.hidden_size
    layers = config.num_hidden_layers
    inner = config.intermediate_size
    vocabulary = config.vocab_size
    tables = 1 if config.tie_word_embeddings else 2
    queried = hidden + 2 * config.shared_size
    layer = (
        linear(hidden, queried)
        + linear(hidden, hidden)
        + linear(hidden, inner)
        + linear(inner, hidden)
        + 2 * 2 * hidden
    )
    square = layers * 4 * tokens**2 * hidden
    return ModelCount(
        parameters=(tables * vocabulary + config.positions) * hidden + layers * layer + 2 * hidden,
        matmul=2
        * tokens
        * (layers * hidden * (queried + hidden + 2 * inner) + hidden * vocabulary),
        attention_full=square,
        attention_lowest=causal_half(square),
    )


def _mamba(config: Mamba, tokens: int) -> ModelCount:
    """State-space model of Gu and Dao 2023, section 3.

    Scan, for each of the inner channels and states: decay (exponent's product), input (product),
    h = decay x h + input (product, sum), y += C h (product, sum): 6 operations, exponentials
    not among them. torch's counter sees none of it in the fused kernel.
    """
    hidden = config.hidden_size
    layers = config.num_hidden_layers
    states = config.state_size
    kernel = config.conv_kernel
    vocabulary = config.vocab_size
    inner = config.expand * hidden
    rank = config.time_step_rank
    bias = config.use_bias
    tables = 1 if config.tie_word_embeddings else 2
    layer = (
        hidden  # norm
        + linear(hidden, 2 * inner, bias=bias)
        + inner * kernel
        + (inner if config.use_conv_bias else 0)
        + linear(inner, rank + 2 * states, bias=False)
        + linear(rank, inner)
        + inner * states  # A
        + inner  # D
        + linear(inner, hidden, bias=bias)
    )
    weights = 3 * hidden * inner + inner * (rank + 2 * states) + rank * inner
    return ModelCount(
        parameters=tables * vocabulary * hidden + layers * layer + hidden,
        matmul=2 * tokens * (layers * weights + hidden * vocabulary),
        convolution=layers * 2 * tokens * inner * kernel,
        scan=layers * 6 * tokens * inner * states,
    )


def _convnext(config: ConvNext, pixels: int) -> ModelCount:
    """Convolutional network of Liu et al. 2022: depthwise 7 x 7, then two linear layers."""
    depths = config.depths
    widths = config.hidden_sizes
    patch = config.patch_size
    channels = config.num_channels
    classes = config.num_labels
    scale = 1 if config.layer_scale_init_value > 0 else 0
    scale += 2 * 4 if isinstance(config, ConvNextV2) else 0  # of the normalised responses
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
    return ModelCount(
        parameters=parameters + 2 * before + linear(before, classes),
        matmul=matmul + 2 * before * classes,
        convolution=convolution,
    )


def _vit(config: Vit, pixels: int) -> ModelCount:
    """Vision transformer of Dosovitskiy et al. 2021; one class token is read out."""
    hidden = config.hidden_size
    layers = config.num_hidden_layers
    inner = config.intermediate_size
    patch = config.patch_size
    channels = config.num_channels
    classes = config.num_labels
    qkv_bias = config.qkv_bias
    patches = (pixels // patch) ** 2
    tokens = patches + 1
    wide = inner
    if config.gated_inner:
        wide, inner = 2 * config.gated_inner, config.gated_inner
    layer = (
        3 * linear(hidden, hidden, bias=qkv_bias)
        + linear(hidden, hidden)
        + linear(hidden, wide)
        + linear(inner, hidden)
        + 2 * 2 * hidden
    )
    read_out, further = hidden, 0
    if isinstance(config, Dinov2):
        read_out, layer = 2 * hidden, layer + 2 * hidden  # the scales of both branches
        further = hidden if config.use_mask_token else 0
    square = layers * 4 * tokens**2 * hidden
    weights = layers * (4 * hidden**2 + hidden * (wide + inner))
    return ModelCount(
        parameters=(tokens + 1) * hidden  # positions and class token
        + linear(channels * patch**2, hidden)
        + layers * layer
        + 2 * hidden
        + further
        + linear(read_out, classes),
        matmul=2 * tokens * weights + 2 * read_out * classes,
        attention_full=square,
        attention_lowest=square,
        convolution=2 * patches * hidden * channels * patch**2,
    )
