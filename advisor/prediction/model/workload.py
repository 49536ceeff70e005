"""What one training step of a model asks of a GPU, as numbers: the only view prediction has of it.

FLOPs and parameters come from `bench_runner.flops`. What is counted here is the rest: how many
elements the layers keep for the backward pass, how wide the logits and the attention scores are.
Prediction works on columns of these numbers, so that a hundred thousand cost what one costs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from advisor.prediction.model.unfilled import unfilled_flops
from bench_runner.architecture import (
    Architecture,
    ConvNext,
    Mamba,
    TextTransformer,
    Transformer,
    Vit,
)
from bench_runner.architecture_encoders import Bert
from bench_runner.architecture_experts import DeepseekV2, Experts
from bench_runner.architecture_images import ResNet, Swin
from bench_runner.architecture_text import Deberta
from bench_runner.architecture_two_sides import T5, EncoderDecoder
from bench_runner.flops import count_flops, counted_architecture
from bench_runner.flops_images import resnet_convolutions, swin_stages
from bench_runner.kernels import fuses_loss, most_promising
from bench_runner.recipes import IMAGE_FAMILIES, Precision, Recipe
from bench_runner.timm_models import TimmModel

MASKED_SHARE = 0.15
"""Of a masked language model's tokens, those with a label (bench_runner/worker/models.py)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """A model with its training recipe, in counts. Elements and FLOPs are of one forward pass."""

    workload_id: str
    family: str
    """``decoder``, ``encoder``, ``ssm``, ``convnet`` or ``vit``."""
    precision: Precision
    batch_size: int
    training_steps: int
    tokens: int
    """Positions a sample: tokens, patches, or the pixels of the first stage."""
    parameters: int
    layers: int
    width: int
    """Elements that one position carries from layer to layer."""
    logit_width: int = field(repr=False)
    """... and those that the output layer reads. Evidence has none that reads fewer, and keeps its
    fingerprint."""
    linear_flops: float
    """Linear layers and convolutions, a sample."""
    convolution_flops: float
    """Those of them of convolutions that share their weights among channels: cuDNN's kernels, which
    take TF32 unless they are told not to."""
    expert_flops: float
    """Those of the experts that a router chose for the tokens, a sample."""
    expert_products: float
    """How many products a pass makes of them, one an expert: forward and backward."""
    unfilled_flops: float
    """What the multiprocessors that a weight's gradient leaves idle could have done, a sample."""
    attention_flops: float
    """Scores and weighted values over the full square, a sample."""
    layer_elements: float
    """What the layers keep for the backward pass, a sample."""
    logit_elements: float
    score_elements: float
    """Attention scores, a sample: written to memory only where attention is not fused."""
    expert_elements: float
    """Those of `layer_elements` that go to experts and come back."""
    scan_elements: float
    """What runs outside matrix units: states of a recurrence, taps of depthwise convolutions."""
    normed_pixels: float
    """Of batch norms: the positions, a sample, of which each channel's statistics are taken."""
    causal: bool
    fused_attention: bool
    """Whether free-lunch settings bring a fused attention kernel."""
    always_fused: bool
    """Whether naive settings have it too: timm's models take it unasked."""
    opens: bool
    """Whether compiling the model as a whole opens that kernel into products and a softmax."""
    layered: bool
    """Whether the program's own settings compile it layer by layer, which opens none."""
    compiles: bool
    checkpoints: bool
    """Whether the model's code supports activation checkpointing."""
    fusible: bool = False
    """Whether the recipe names unfused attention where the library has a fused kernel for it."""
    labelled: float = 1.0
    """Share of the positions that have a label: for the others a fused loss computes no logits."""
    fuses_loss: bool = True
    """Of a text model: whether its loss can be fused with its last linear layer."""
    unlike: str = ""
    """What sets its layers apart from those of its family, in a word; "": nothing."""

    @property
    def flops(self) -> float:
        """FLOPs of the whole training run: three times the forward pass, the full square."""
        samples = self.batch_size * self.training_steps
        return 3.0 * samples * (self.linear_flops + self.attention_flops)

    @property
    def unlabelled_flops(self) -> float:
        """Those of them for logits of positions without a label, which a fused loss leaves out."""
        samples = self.batch_size * self.training_steps
        return 3.0 * samples * 2.0 * self.logit_width * (1.0 - self.labelled) * self.logit_elements


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shape:
    layers: int
    width: int
    tokens: int
    layer_elements: float
    logit_elements: float = 0.0
    score_elements: float = 0.0
    scan_elements: float = 0.0
    normed_pixels: float = 0.0
    expert_elements: float = 0.0
    expert_flops: float = 0.0
    expert_products: float = 0.0
    causal: bool = False
    masked: bool = True
    """Of an encoder: whether some of its own tokens are what it predicts."""


def workload_of(recipe: Recipe) -> Workload:
    """Count a recipe; ValueError (UncountedArchitectureError among them) where it cannot be."""
    count = count_flops(recipe)
    training, support = recipe.training, recipe.support
    length = training.sequence_length or training.image_size
    assert length is not None  # count_flops refuses a recipe without one
    architecture = counted_architecture(recipe)
    shape = _shape(architecture, length)
    if shape.expert_products and training.precision == "fp16":
        raise ValueError(
            "experts in FP16 are not predicted: torch has a grouped product of BF16 alone, and with "
            "a loop in its place an H100 took 1.8 to 6 times as long; train them in BF16"
        )
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
        logit_width=architecture.output_size
        if isinstance(architecture, TextTransformer)
        else shape.width,
        linear_flops=float(forward.matmul + forward.convolution),
        convolution_flops=float(forward.convolution - 2.0 * shape.scan_elements)
        if recipe.family in IMAGE_FAMILIES
        else 0.0,
        expert_flops=shape.expert_flops,
        expert_products=shape.expert_products,
        unfilled_flops=unfilled_flops(architecture, length),
        attention_flops=float(forward.attention),
        layer_elements=shape.layer_elements,
        logit_elements=shape.logit_elements,
        score_elements=shape.score_elements,
        expert_elements=shape.expert_elements,
        scan_elements=shape.scan_elements,
        normed_pixels=shape.normed_pixels,
        causal=shape.causal,
        # No fused kernel adds a bias that is learnt, as T5's of its positions are.
        fused_attention=support.attention != "eager" and not isinstance(architecture, T5),
        always_fused=recipe.model.timm is not None,
        opens=_opens(architecture) and recipe.model.timm is None,
        layered=most_promising(recipe).compilation == "regional",
        compiles=support.compile,
        checkpoints=support.activation_checkpointing,
        fusible=support.attention == "eager"
        and support.compile
        and architecture.attention == "sdpa",
        labelled=MASKED_SHARE if recipe.family == "encoder" and shape.masked else 1.0,
        fuses_loss=fuses_loss(recipe),
        unlike=_unlike(architecture),
    )


def _opens(architecture: Architecture) -> bool:
    """BERT's and ViT's kin: profiles of both have no fused kernel where they are compiled whole. A
    decoder keeps its own, and so does ModernBERT by its times."""
    return isinstance(architecture, Bert | Vit)


def labelled_alone(workload: Workload) -> Workload:
    """The same by code that gathers the positions with a label before it computes logits."""
    without = (1.0 - workload.labelled) * workload.logit_elements
    return replace(
        workload,
        linear_flops=workload.linear_flops - 2.0 * workload.logit_width * without,
        logit_elements=workload.logit_elements - without,
        labelled=1.0,
    )


def _unlike(architecture: Architecture) -> str:
    match architecture:
        case Experts():
            return "experts"
        case EncoderDecoder():
            return "encoder-decoder"
        case Deberta():
            return "disentangled"
        case Swin():
            return "windows"
    return ""


def sized(workload: Workload, parameters: float | None) -> Workload:
    """The same shape with so many parameters, where only a size is known; None: as it is."""
    if parameters is None:
        return workload
    ratio = parameters / workload.parameters
    return replace(
        workload,
        parameters=round(parameters),
        linear_flops=workload.linear_flops * ratio,
        convolution_flops=workload.convolution_flops * ratio,
        expert_flops=workload.expert_flops * ratio,
        unfilled_flops=workload.unfilled_flops * ratio,
        attention_flops=workload.attention_flops * ratio,
        layer_elements=workload.layer_elements * ratio,
        expert_elements=workload.expert_elements * ratio,
    )


def _shape(architecture: Architecture, length: int) -> _Shape:
    """``length``: tokens of a sample, or pixels a side."""
    match architecture:
        case Experts():
            return _experts(architecture, length)
        case EncoderDecoder():
            return _encoder_decoder(architecture, length)
        case Deberta():
            # Of either kind of position, too, there are scores, which are gathered.
            plain = _transformer(architecture, length, length * architecture.vocab_size)
            more = 1 + 2 * architecture.kinds_of_position
            return replace(plain, score_elements=plain.score_elements * more)
        case TextTransformer():
            return _transformer(architecture, length, length * architecture.vocab_size)
        case Vit():
            tokens = (length // architecture.patch_size) ** 2 + 1
            return _transformer(architecture, tokens, architecture.num_labels)
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


def _transformer(model: Transformer, tokens: int, logits: int) -> _Shape:
    """A layer keeps 11 hidden and 2 inner (3 where gated) elements a token: normalised inputs,
    queries, keys, values, the attention's output, residual sums and the inner activations, less
    the keys and values that grouped queries share (Korthikanti et al. 2022, section 4)."""
    hidden, layers, heads = model.hidden_size, model.num_hidden_layers, model.num_attention_heads
    shared = 2 * hidden * (1 - model.key_value_heads / heads)
    elements = 11 * hidden - shared + (3 if model.gated else 2) * model.intermediate_size
    return _Shape(
        layers=layers,
        width=hidden,
        tokens=tokens,
        layer_elements=float(tokens * layers * elements),
        logit_elements=float(logits),
        score_elements=float(heads * tokens**2 * layers),
        causal=model.causal,
    )


def _mamba(model: Mamba, tokens: int) -> _Shape:
    """A layer keeps 2 hidden and 6 inner elements a token; its scan walks inner x states."""
    hidden, layers = model.hidden_size, model.num_hidden_layers
    inner = model.expand * hidden
    return _Shape(
        layers=layers,
        width=hidden,
        tokens=tokens,
        layer_elements=float(tokens * layers * (2 * hidden + 6 * inner)),
        logit_elements=float(tokens * model.vocab_size),
        scan_elements=float(tokens * layers * inner * model.state_size),
        causal=True,
    )


def _convnext(model: ConvNext, pixels: int) -> _Shape:
    """A block keeps 4 elements a channel and pixel around its 7 x 7 convolution and 8 inside its
    inverted bottleneck."""
    side = pixels // model.patch_size
    first = side**2
    elements = taps = 0
    for depth, width in zip(model.depths, model.hidden_sizes, strict=True):
        elements += depth * side**2 * 12 * width
        taps += depth * side**2 * 49 * width
        side //= 2
    return _Shape(
        layers=sum(model.depths),
        width=model.hidden_sizes[0],
        tokens=first,
        layer_elements=float(elements),
        logit_elements=float(model.num_labels),
        scan_elements=float(taps),
    )


def _experts(model: Experts, tokens: int) -> _Shape:
    """A decoder whose tokens keep what the experts chosen for them make of them: three inner
    elements, and the token as it goes there and comes back."""
    hidden, layers, heads = model.hidden_size, model.num_hidden_layers, model.num_attention_heads
    if isinstance(model, DeepseekV2):
        attention = 7 * hidden + 2 * heads * (model.query_size + model.v_head_dim)
    else:
        inner = heads * model.head_dim
        attention = 7 * hidden + 2 * inner + 2 * model.num_key_value_heads * model.head_dim
    dense, chosen = model.dense_layers, model.num_experts_per_tok
    routed = (layers - dense) * chosen * (3 * model.expert_size + 2 * hidden)
    elements = layers * attention + dense * 3 * model.intermediate_size + routed
    elements += (layers - dense) * 3 * model.shared_size
    return _Shape(
        layers=layers,
        width=hidden,
        tokens=tokens,
        layer_elements=float(tokens * elements),
        logit_elements=float(tokens * model.vocab_size),
        score_elements=float(heads * tokens**2 * layers),
        expert_elements=float(tokens * routed),
        # Two weights an expert, whose inputs' and own gradients are products, too.
        expert_products=float(6 * (layers - dense) * model.experts),
        expert_flops=float(2 * tokens * (layers - dense) * chosen * 3 * hidden * model.expert_size),
        causal=True,
    )


def _encoder_decoder(model: EncoderDecoder, tokens: int) -> _Shape:
    """As any transformer's layers, on both sides; the decoder's attend a second time."""
    hidden, heads, written = model.hidden_size, model.num_attention_heads, model.written(tokens)
    inner = heads * model.head_size
    attention = 7 * hidden + 4 * inner
    encoders, decoders = model.num_hidden_layers, model.num_decoder_layers
    elements = tokens * encoders * (attention + model.products * model.intermediate_size)
    layer = attention + model.products * model.decoder_inner
    elements += decoders * (written * (layer + 2 * hidden + 2 * inner) + tokens * 2 * inner)
    scores = heads * encoders * tokens**2
    scores += model.decoder_heads * decoders * written * (written + tokens)
    return _Shape(
        layers=encoders + decoders,
        width=hidden,
        tokens=tokens,
        layer_elements=float(elements),
        logit_elements=float(written * model.vocab_size),
        score_elements=float(scores),
        masked=False,
    )


def _swin(model: Swin, pixels: int) -> _Shape:
    """A transformer's layers at each stage's size; every token's scores are those of its window."""
    elements = scores = 0
    stages = list(swin_stages(model, pixels))
    for stage in stages:
        inner = int(model.mlp_ratio * stage.width)
        seen, held = stage.padded**2, stage.side**2
        elements += stage.depth * (seen * 5 * stage.width + held * (6 * stage.width + 2 * inner))
        scores += stage.depth * stage.heads * seen * stage.window**2
    return _Shape(
        layers=sum(model.depths),
        width=model.embed_dim,
        tokens=stages[0].side ** 2,
        layer_elements=float(elements),
        logit_elements=float(model.num_labels),
        score_elements=float(scores),
    )


def _resnet(model: ResNet, pixels: int) -> _Shape:
    """Every convolution's output is kept twice: before and after its norm."""
    convolutions = list(resnet_convolutions(model, pixels))
    written = [c.outputs * c.side**2 for c in convolutions]
    first = -(-pixels // 4)
    return _Shape(
        layers=sum(model.depths),
        width=model.hidden_sizes[0],
        tokens=first**2,
        layer_elements=float(2 * sum(written)),
        logit_elements=float(model.num_labels),
        normed_pixels=float(sum(c.side**2 for c in convolutions)),
    )


def _timm(model: TimmModel, pixels: int) -> _Shape:
    """As counted by building it."""
    counted = model.at(pixels)
    return _Shape(
        layers=counted.layers,
        width=counted.width,
        tokens=counted.tokens,
        layer_elements=float(counted.elements),
        logit_elements=float(model.classes),
        score_elements=float(counted.scores),
        scan_elements=float(counted.taps),
        normed_pixels=float(counted.normed_pixels),
    )
