"""What one training step of a model asks of a GPU, as numbers: the only view prediction has of it.

FLOPs and parameters come from `bench_runner.recipe_flops`, the rest from `shapes`: how many
elements the layers keep for the backward pass, how wide the logits and the attention scores are.
Prediction works on columns of these numbers, so that a hundred thousand cost what one costs.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from advisor.prediction.model.shapes import shape_of, unfilled_flops
from advisor.prediction.model.timed_keys import drops, masked_share, rectified
from bench_runner.models.architecture import Architecture
from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.models.images import Swin
from bench_runner.models.timm_models import TimmModel
from bench_runner.models.transformer import Deberta, Transformer
from bench_runner.recipe_flops import count_flops, counted_architecture
from bench_runner.recipes import IMAGE_FAMILIES, Precision, Recipe
from bench_runner.settings.exact_settings import fuses_loss, most_promising

MASKED_SHARE = 0.15
"""Of a masked language model's tokens, those with a label (bench_runner/worker/models.py)."""


Alike = tuple[str, int, bool, bool]
"""A family, parameters, whether timm's code it is, and whether in half precision."""


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
    logit_width: int
    """... and those that the output layer reads."""
    linear_flops: float
    """Linear layers and convolutions, a sample."""
    convolution_flops: float
    """Those of them of convolutions that share their weights among channels: cuDNN's kernels, which
    take TF32 unless they are told not to."""
    expert_flops: float = 0.0
    """Those of the experts that a router chose for the tokens, a sample."""
    expert_products: float = 0.0
    """How many products a pass makes of them, one an expert: forward and backward."""
    unfilled_flops: float
    """What the multiprocessors that a weight's gradient leaves idle could have done, a sample."""
    attention_flops: float
    """Scores and weighted values over the full square, a sample."""
    layer_elements: float
    """What the layers keep for the backward pass, a sample."""
    logit_elements: float
    score_elements: float = 0.0
    """Attention scores, a sample: written to memory only where attention is not fused."""
    expert_elements: float = 0.0
    """Those of `layer_elements` that go to experts and come back."""
    scan_elements: float = 0.0
    """What runs outside matrix units: states of a recurrence, taps of depthwise convolutions."""
    normed_pixels: float = 0.0
    """Of batch norms: the positions, a sample, of which each channel's statistics are taken."""
    grouped_elements: float = 0.0
    """What convolutions in groups of channels write, a sample."""
    copied_elements: float = 0.0
    """Those of `layer_elements` that are kept because an activation overwrites them: where a
    compiler writes the kernel, it computes them again."""
    dropped_elements: float
    """Hidden elements, a sample, of which some are dropped."""
    dropped_scores: float
    """Attention scores, a sample, of which some are dropped, over the full square."""
    masked_share: float
    """Of the layers, those whose attention has a mask written out."""
    causal: bool = False
    fused_attention: bool
    """Whether free-lunch settings bring a fused attention kernel."""
    always_fused: bool
    """Whether naive settings have it too: timm's models take it unasked, if they take it at all."""
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
    wide_scores: bool = field(default=False, repr=False)
    """Whether queries and keys are cast to FP32 before their scores. Of memory alone: no time that
    is fitted rests on it, so that the fit's fingerprint leaves it out."""
    frozen: float = field(default=0.0, repr=False)
    """Parameters that are not trained: they have neither gradients nor optimiser states. No time of
    such a training is fitted."""
    frozen_bytes: float = field(default=2.0, repr=False)
    """Of each of them in memory; below 2 they are unpacked in every pass."""
    adapter_elements: float = field(default=0.0, repr=False)
    """What adapters read and write, a sample."""
    unlike: str = ""
    """What sets its layers apart from those of its family, in a word; "": nothing."""

    @property
    def alike(self) -> Alike:
        """What models share that are one under two names: a batch or a length apart, but neither
        another library's code nor single precision for half."""
        timm = self.always_fused  # of its models alone
        return (self.family, self.parameters, timm, self.precision != "fp32")

    @property
    def flops(self) -> float:
        """FLOPs of the whole training run: three times the forward pass, the full square."""
        samples = self.batch_size * self.training_steps
        return samples * (self.passes * self.linear_flops + 3.0 * self.attention_flops)

    @property
    def passes(self) -> float:
        """How often linear layers compute: forward, gradients of inputs, and of trained weights."""
        return 3.0 - self.frozen / self.parameters

    @property
    def unlabelled_flops(self) -> float:
        """Those of them for logits of positions without a label, which a fused loss leaves out."""
        samples = self.batch_size * self.training_steps
        return 3.0 * samples * 2.0 * self.logit_width * (1.0 - self.labelled) * self.logit_elements


def workload_of(recipe: Recipe) -> Workload:
    """Count a recipe; ValueError (UncountedArchitectureError among them) where it cannot be."""
    count = count_flops(recipe)
    training, support = recipe.training, recipe.support
    length = training.sequence_length or training.image_size
    assert length is not None  # count_flops refuses a recipe without one
    architecture = counted_architecture(recipe)
    kind, arguments = architecture.kind, recipe.model.arguments
    where = f"recipe '{recipe.recipe_id}', architecture key"
    relu = rectified(architecture, arguments, where=where)
    shape = shape_of(architecture, length, rectified=relu)
    if shape.get("expert_products") and training.precision == "fp16":
        raise ValueError(
            "experts in FP16 are not predicted: torch has a grouped product of BF16 alone, and "
            "with a loop in its place an H100 took 1.8 to 6 times as long; ask with --precision "
            "bf16"
        )
    forward = count.model
    tokens, scores = shape["tokens"], shape.get("score_elements", 0.0)
    dropped, dropped_scores = drops(architecture, arguments, tokens, scores, where=where)
    held, adapters, parameters = 0.0, 0.0, count.parameters
    if training.adapter_rank is not None:
        held = float(parameters)
        added, adapters = adapters_of(architecture, tokens, training.adapter_rank)
        parameters += added
    return Workload(
        **shape,
        frozen=held,
        frozen_bytes=QUANTISED_BYTES if training.weight_bits == 4 else 2.0,
        adapter_elements=adapters,
        workload_id=recipe.recipe_id.partition("+")[0],  # fine-tuned, it is the same model
        family=recipe.family,
        precision=training.precision,
        batch_size=training.batch_size,
        training_steps=training.training_steps,
        parameters=parameters,
        logit_width=architecture.embedding_size
        if isinstance(architecture, Transformer | EncoderDecoder)
        else shape["width"],
        linear_flops=float(forward.matmul + forward.convolution),
        convolution_flops=float(forward.convolution - 2.0 * shape.get("scan_elements", 0.0))
        if recipe.family in IMAGE_FAMILIES
        else 0.0,
        unfilled_flops=unfilled_flops(architecture, length),
        attention_flops=float(forward.attention_full),
        dropped_elements=dropped,
        dropped_scores=dropped_scores,
        masked_share=masked_share(architecture, arguments, length, where=where),
        # No fused kernel adds a bias that is learnt, as T5's of its positions are.
        fused_attention=support.attention != "eager"
        and not (isinstance(architecture, EncoderDecoder) and architecture.relative_positions)
        and not _computes_scores(architecture),
        always_fused=recipe.model.timm is not None,
        opens=kind.opens_attention and recipe.model.timm is None,
        layered=most_promising(recipe).compilation == "regional",
        compiles=support.compile,
        checkpoints=support.activation_checkpointing,
        fusible=support.attention == "eager" and support.compile and kind.attention == "sdpa",
        labelled=MASKED_SHARE
        if recipe.family == "encoder" and not isinstance(architecture, EncoderDecoder)
        else 1.0,
        fuses_loss=fuses_loss(recipe),
        wide_scores=isinstance(architecture, Transformer) and architecture.wide_scores,
        unlike=_unlike(architecture),
    )


def _computes_scores(architecture: Architecture) -> bool:
    """Whether a model of timm's computes its scores by code of its own, most of them, as Swin
    does."""
    if not isinstance(architecture, TimmModel):
        return False
    return 2 * architecture.counted.plain_scores > architecture.counted.scores


QUANTISED_BYTES = 0.52
"""A weight of four bits with its share of a scale of eight bits for each 64 (Dettmers et al.
2023)."""


def adapters_of(architecture: Architecture, tokens: int, rank: int) -> tuple[int, float]:
    """Parameters of adapters of a rank at all linear layers, and the elements that they read and
    write for a sample. ValueError where the model has no such layers, or none so wide."""
    dense = isinstance(architecture, Transformer) and not architecture.num_experts
    if not isinstance(architecture, Transformer) or not dense or architecture.kv_lora_rank:
        raise ValueError(
            "adapters are predicted of transformers of text without experts: ask with --train "
            "full, or time it: advisor bench --name my-run -- COMMAND"
        )
    hidden, inner = architecture.hidden_size, architecture.intermediate_size
    heads = architecture.num_attention_heads * architecture.head_dim
    shared = architecture.num_key_value_heads * architecture.head_dim
    narrowest = min(hidden, shared, inner)
    if not 1 <= rank <= narrowest:
        raise ValueError(
            f"--rank {rank:,} is more than the {narrowest:,} elements of the model's narrowest "
            "layer; give 8 to 64"
        )
    ends = 2 * (hidden + heads) + 2 * (hidden + shared)
    ends += (3 if architecture.gated else 2) * (hidden + inner)
    layers = architecture.num_hidden_layers
    return rank * ends * layers, float(tokens * layers * ends)


def _unlike(architecture: Architecture) -> str:
    match architecture:
        case EncoderDecoder():
            return "encoder-decoder"
        case Deberta():
            return "disentangled"
        case Transformer() if architecture.num_experts:
            return "experts"
        case Swin():
            return "windows"
    return ""


def sized(workload: Workload, parameters: float | None) -> Workload:
    """The same shape with this number of parameters, where only a size is known; None: as it is."""
    if parameters is None:
        return workload
    ratio = parameters / workload.parameters
    scaled: dict[str, Any] = {name: getattr(workload, name) * ratio for name in _BY_SIZE}
    return replace(workload, parameters=round(parameters), **scaled)


_BY_SIZE = (
    *("frozen", "adapter_elements", "linear_flops", "convolution_flops", "expert_flops"),
    *("unfilled_flops", "attention_flops", "layer_elements", "expert_elements"),
)
