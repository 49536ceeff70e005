"""What somebody may ask about: a recipe, a config.json, a timm name, or a family and a size."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from advisor.prediction.model.workload import Workload, sized, workload_of
from advisor.ranking.fine_tuning import FineTuning
from advisor.typed_input import shown
from bench_runner.models.architecture import ModelType
from bench_runner.models.images import Vit
from bench_runner.models.model_source import ModelSource
from bench_runner.models.model_types import arguments_of, model_types
from bench_runner.models.timm_models import (
    CLASSES,
    TimmModel,
    likely_family,
    plain_name,
    timm_architecture,
    timm_model,
    timm_names,
)
from bench_runner.recipes import (
    PRECISIONS,
    TEXT_FAMILIES,
    Precision,
    Recipe,
    Support,
    Training,
)
from bench_runner.settings.batch_and_sharding import even_batch
from bench_runner.typed_numbers import count_words
from price_catalog.csv_table import nearest

DEFAULT_TEXT_LENGTH = 2048
DEFAULT_IMAGE_SIZE = 224
LARGEST = 10**15
"""More samples, tokens or parameters than anybody trains on: a slip of the pen."""


USUAL_BATCH = {True: 512, False: 1024}
"""Sequences or images an optimiser step where none is given: time hardly depends on it."""
TUNING_BATCH = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Ask:
    """How somebody wants to train a model, and how long. What is None is assumed and said so."""

    tokens: float | None = None
    """Tokens of the whole run, for text ..."""
    images: float | None = None
    """... or images, an epoch's as often as it is seen."""
    batch_size: int | None = None
    """Samples (sequences or images) an optimiser step, over all GPUs."""
    sequence_length: int | None = None
    image_size: int | None = None
    precision: Precision | None = None
    tuning: FineTuning | None = None
    """None: from nothing, on the ``tokens`` or ``images``."""

    def __post_init__(self) -> None:
        if str(self.precision) == "fp8":
            raise ValueError(
                "fp8 changes what is learnt, and no time with it is among the evidence: give bf16"
            )
        if self.precision not in (None, *PRECISIONS):
            raise ValueError(f"precision '{self.precision}' is not one of {', '.join(PRECISIONS)}")
        for name in ("tokens", "images", "batch_size", "sequence_length", "image_size"):
            value = getattr(self, name)
            if value is not None and not 1 <= value <= LARGEST:
                option = "batch" if name == "batch_size" else name
                raise ValueError(
                    f"--{option.replace('_', '-')} is {count_words(value)}; give a number from 1 "
                    f"to {count_words(LARGEST)}"
                )

    @property
    def length(self) -> int | None:
        """Tokens of a sample, where somebody says."""
        return self.sequence_length or (self.tuning.length if self.tuning else None)

    def seen(self, *, text: bool) -> float | None:
        """Tokens or images of the whole run; None where none is given. ValueError for others than a
        training can have."""
        if self.tuning is None:
            return self.tokens if text else self.images
        seen = self.tuning.seen(text=text)
        if not 1 <= seen <= LARGEST:
            raise ValueError(
                f"--data is {count_words(seen)} {'tokens' if text else 'images'} in all; give 1 to "
                f"{count_words(LARGEST)}"
            )
        return seen


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A workload to predict, and what had to be assumed about it."""

    workload: Workload
    assumptions: tuple[str, ...] = ()
    recipe: Recipe | None = None
    """What is trained and how; None where only a workload was given."""
    parameters: int | None = None
    """Where only the size is known; the recipe then has the usual shape of about that size."""


FEW_TOKENS = 1e6
"""Of data: fewer may be meant as examples."""
AS_ITS_OWN = 0.005
"""Who types as much data as a recipe has, rounded like this, means the recipe's: 300B are 299.9B.
Of a recipe's 2,049 tokens a sample the last one is a label alone: who types 2048 means them."""


def train(
    model: Recipe,
    ask: Ask,
    *,
    own: bool = True,
    longest: int | None = None,
    precision: Precision | None = None,
    assumptions: tuple[str, ...] = (),
    said: Callable[[int], list[str]] = lambda _: [],
) -> Target:
    """A model trained as ``ask`` says. ``own``: its recipe says the rest; else what is not said is
    assumed, ``longest`` (tokens, or pixels a side) and ``precision`` are what its file says of
    them, and ``said`` further assumptions, which a sample's length decides. Raises ValueError of
    one line."""
    training, tuning, text = model.training, ask.tuning, model.family in TEXT_FAMILIES
    _refuse_the_other(text, ask)
    assumed = list(assumptions)
    length, size, batch = ask.length, ask.image_size, ask.batch_size
    ends = None if model.architecture is None else model.architecture.longest
    if text:
        longest = training.sequence_length or longest
        if own and tuning is None and longest and length in (None, longest - 1):
            length = longest
        if length is None:
            length = min(longest or DEFAULT_TEXT_LENGTH, DEFAULT_TEXT_LENGTH)
            assumed.append(f"sequences of {length:,} tokens")
        elif ask.length and ends and length > ends:
            raise ValueError(
                f"sequences of {length:,} tokens are longer than the model's {ends:,} positions, "
                f"each of which has weights; give --sequence-length {ends} or less"
            )
        elif not own and longest is not None and length > longest:
            assumed.append(
                f"sequences longer than the {longest:,} tokens that the model's file names"
            )
    else:
        length, longest = None, training.image_size or longest
        size = size or longest
        if size is None:
            size = DEFAULT_IMAGE_SIZE
            assumed.append(f"images of {size} x {size} pixels")
    what = "sequences" if text else "images"
    if batch is None:
        batch = training.batch_size if own else USUAL_BATCH[text]
        batch = min(batch, TUNING_BATCH) if tuning else batch
        if tuning or not own:
            assumed.append(f"batches of {batch:,} {what}")
    elif length is not None:
        _refuse_a_batch_in_tokens(batch, length)
    elif batch > MOST_IMAGES:
        raise ValueError(
            f"--batch is {batch:,} images, more than anybody trains with a step; give "
            f"{MOST_IMAGES} or less"
        )
    assumed += said(length or 0)
    precision = ask.precision or (training.precision if own else precision)
    if precision is None:
        precision = "bf16"
        assumed.append("bf16 mixed precision")
    seen, each = ask.seen(text=text), length or 1
    if own:
        its_own = training.batch_size * training.training_steps * (training.sequence_length or 1)
        if seen is None or (tuning is None and abs(seen / its_own - 1) < AS_ITS_OWN):
            seen = its_own
    if seen is None:
        such_as = "--tokens, as 300B" if text else "--images, as 1.28B"
        raise ValueError(f"how long to train is missing; give {such_as}")
    training = replace(
        training,
        batch_size=batch,
        training_steps=max(1, math.ceil(seen / each / batch)),
        sequence_length=length,
        image_size=size,
        precision=precision,
    )
    name = model.name
    if tuning is not None:
        bits = 4 if tuning.train == "qlora" else None
        training = replace(training, adapter_rank=tuning.adapter_rank, weight_bits=bits)
        name += f", {tuning.words(text=text)}"
        assumed += _assumed_of(tuning, text=text)
    recipe = replace(model, name=name, training=training)
    assumed += _of_patches(recipe, asked=ask.image_size not in (None, longest))
    return Target(workload=workload_of(recipe), assumptions=tuple(assumed), recipe=recipe)


def _assumed_of(tuning: FineTuning, *, text: bool) -> list[str]:
    """What is assumed of the data and the adapters."""
    assumed = []
    if tuning.data is None:
        seen = count_words(tuning.seen(text=text) / tuning.epochs)
        assumed.append(f"{seen} {'tokens' if text else 'images'} of data")
    elif text and tuning.length is None and tuning.data < FEW_TOKENS:
        few = f"{tuning.data:,.0f}"
        assumed.append(f"{few} is tokens: {few} examples of 512 are --data {tuning.data:.0f}x512")
    if tuning.adapters and tuning.rank is None:
        assumed.append(f"adapters of rank {tuning.adapter_rank} at every linear layer")
    return assumed


def _refuse_the_other(text: bool, ask: Ask) -> None:
    """ValueError where what is said is of images and the model is of text, or the reverse."""
    what, right, wrong = ("text", "tokens", "images") if text else ("images", "images", "tokens")
    size = "image_size" if text else "sequence_length"
    if getattr(ask, wrong) is not None:
        raise ValueError(f"the model is trained on {what}: give --{right}, not --{wrong}")
    if getattr(ask, size) is not None:
        flag = size.replace("_", "-")
        raise ValueError(f"the model is trained on {what}: leave --{flag} out")


MOST_SEQUENCES = 2**18
MOST_TOKENS_A_STEP = 2**28
"""Of an optimiser step of text; twice and four times what anybody says of a training. Beyond it
the batch is typed in tokens, as papers state it."""


def _refuse_a_batch_in_tokens(batch: int, length: int) -> None:
    """ValueError where a number of sequences can only be meant as tokens."""
    most = min(MOST_SEQUENCES, MOST_TOKENS_A_STEP // length)
    if batch <= most:
        return
    meant = max(1, round(batch / length))
    power = 2 ** round(math.log2(meant))  # which 0.5M and 4M tokens stand for
    near = power if abs(power - meant) <= 0.05 * meant else even_batch(meant, min(meant, 8))
    mend = f"for a batch of {count_words(batch)} tokens give --batch {near}"
    if near > most:
        mend = f"give --batch {most} or less"
    raise ValueError(
        f"--batch counts sequences, and {batch:,} of {length:,} tokens are more than anybody "
        f"trains with a step; {mend}"
    )


MOST_IMAGES = 2**20
"""Of an optimiser step: eight times what anybody says of a training."""


def untrained(
    *,
    name: str,
    kind: ModelType,
    arguments: Mapping[str, Any],
    timm: str | None = None,
    family: str | None = None,
    compiles: bool = True,
) -> Recipe:
    """A model of a known class whose training is not described. ``timm`` is the name by
    which timm builds it; ``compiles`` whether torch is known to compile it."""
    source = ModelSource(config_class=kind.config_class, arguments=dict(arguments))
    classes = None if kind.family in TEXT_FAMILIES else arguments.get("num_labels", 2)
    if timm is not None:
        source, classes = ModelSource(timm=timm, arguments={}), CLASSES
    return Recipe(
        recipe_id=name,
        name=name,
        family=family or kind.family,
        model=source,
        training=Training(
            batch_size=1, training_steps=1, classes=classes, precision="bf16", optimizer="adamw"
        ),
        support=Support(
            attention=kind.attention if timm is None else None,
            compile=compiles and kind.family != "ssm",
            fsdp_wrap=() if timm is not None else kind.blocks,
        ),
        source="a model of your own",
    )


def target_of_timm(name: str, ask: Ask, recipes: Sequence[Recipe] = ()) -> Target:
    """A timm model by its name: of the table that ships, or of a family whose sizes it gives. What
    one of ``recipes`` says of the same architecture, such as that it does not compile, is known."""
    found = timm_architecture(name, CLASSES)
    if found is None:
        hint = nearest(plain_name(name), timm_names())
        raise ValueError(f"timm name {shown(name)}: timm has no such model; {hint}")
    architecture, size = found
    if plain_name(name).startswith("crossvit_") and ask.image_size not in (None, size):
        raise ValueError(
            f"{plain_name(name)} scales every image to {size} pixels a side; leave --image-size out"
        )
    known = next((each for each in recipes if each.model.timm == plain_name(name)), None)
    scaled: tuple[str, ...] = ()
    if isinstance(architecture, TimmModel) and ask.image_size not in (None, size):
        scaled = (
            f"the work at {ask.image_size} pixels by the area, from what timm builds at {size}",
        )
        if not architecture.patch_size and likely_family(architecture) == "vit":
            scaled += ("that timm builds it at this size, which it does not of every model",)
    built = timm_model(name) is not None
    model = untrained(
        name=plain_name(name),
        kind=architecture.kind,
        arguments={} if built else {**arguments_of(architecture), "num_labels": CLASSES},
        timm=plain_name(name) if built else None,
        family=likely_family(architecture) if known is None else known.family,
        compiles=known is None or known.support.compile,
    )
    _, point, tag = name.rpartition("/")[2].partition(".")
    words = f"trained as a classifier: the tag {shown(tag)} names weights, not this training"
    assumed = (f"{CLASSES} classes", *([words] if point else []), *scaled)
    return train(model, ask, own=False, longest=size, assumptions=assumed)


VOCABULARY = 50_304
_USUAL: Mapping[str, str] = {"decoder": "gpt_neox", "encoder": "bert", "vit": "vit"}
"""The model type taken for each family of which only the size is known."""
SIZED_FAMILIES = frozenset(_USUAL)
"""What may be named with a size in place of a model."""


def target_of_size(name: str, family: str, parameters: float, ask: Ask) -> Target:
    """A model of which only family and size are known: the usual shape of that size is taken."""
    if not 1e5 <= parameters <= 1e13:
        raise ValueError(
            f"{count_words(parameters)} parameters is no model that can be predicted; give 100K to "
            "10T"
        )
    if (kind := _USUAL.get(family)) is None:
        why = (
            f"family '{family}' cannot be predicted from its size alone; give a config.json, or one"
        )
        if "/" in family or "." in family:
            why = f"'{family}' says how large the model is: leave --parameters out, or write one"
        raise ValueError(f"{why} of decoder, encoder, vit")
    vocabulary = VOCABULARY if family != "vit" else 0
    tables = 2 if family == "decoder" else 1

    def count(hidden: int) -> float:
        return 12.0 * _layers(hidden) * hidden**2 + tables * vocabulary * hidden

    hidden = 64
    while count(hidden + 64) <= parameters:
        hidden += 64
    layers = _layers(hidden)
    shape = {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": max(1, hidden // 64),
        "intermediate_size": 4 * hidden,
    }
    extra = {"num_labels": CLASSES} if family == "vit" else {"vocab_size": vocabulary}
    if family == "encoder":
        extra["max_position_embeddings"] = ask.length or DEFAULT_TEXT_LENGTH
    model = untrained(name=name, kind=model_types()[kind], arguments={**shape, **extra})
    assumed = (f"{layers} layers of width {hidden:,}, the usual shape of this size",)
    target = train(model, ask, own=False, assumptions=assumed)
    size = round(parameters)
    return replace(target, workload=sized(target.workload, size), parameters=size)


def _layers(hidden: int) -> int:
    """Decoders and encoders of a width have about this many layers (GPT-3's and Pythia's sizes)."""
    return max(2, min(96, round(hidden / 80)))


def _of_patches(recipe: Recipe, *, asked: bool) -> list[str]:
    """What is assumed where images of the model's own size cannot be cut into whole patches;
    ValueError where a size is ``asked`` that cannot, or images are smaller than one."""
    architecture, pixels = recipe.architecture, recipe.training.image_size
    if pixels is None:
        return []
    if pixels < (least := getattr(architecture, "patch_size", 0)):
        raise ValueError(
            f"images of {pixels} pixels a side are smaller than the model's patches of {least}; "
            f"give --image-size {least} or more"
        )
    if not isinstance(architecture, Vit | TimmModel) or not (patch := architecture.patch_size):
        return []
    if not (over := pixels % patch):
        return []
    if asked:
        fewer, more = pixels - over, pixels - over + patch
        raise ValueError(
            f"images of {pixels} pixels a side cannot be cut into whole patches of {patch}: the "
            f"model would not see the last {over}, or not be built; give --image-size {fewer} or "
            f"{more}"
        )
    return [
        f"the last {over} of {pixels} pixels a side unseen: they fill no whole patch of {patch}"
    ]
