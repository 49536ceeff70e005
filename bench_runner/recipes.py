"""Training recipes: what "train this model" means, as TOML files.

A recipe is one file, `recipes/pythia-160m.toml` for example. A user's own has the same keys:

    id = "my-model"                  # lower case, digits, points and hyphens
    name = "My model"                # what people read
    family = "decoder"               # decoder, encoder, ssm, convnet or vit
    source = "our lab, 2026"         # who says that this is how the model is trained
    note = "..."                     # optional: what is inferred, what is doubtful

    [architecture]                   # one of these three
    config_class = "GPTNeoXConfig"   # a Hugging Face configuration class,
    arguments = { hidden_size = 768 }  #   with the arguments that differ from its defaults
    hf_config_json = "config.json"   # or a Hugging Face config.json, relative to this file
    timm = "vit_base_patch16_224"    # or the name of a timm model

    [training]
    batch_size = 1024                # samples an optimiser step, over all GPUs and passes
    training_steps = 143000          # optimiser steps of the whole run
    sequence_length = 2049           # tokens a sample (decoder, encoder, ssm) ...
    image_size = 224                 # ... or pixels a side (convnet, vit)
    classes = 21841                  # convnet and vit
    precision = "fp16"               # fp16 or bf16 (mixed), fp32 (TF32 with free-lunch settings)
    optimizer = "adamw"              # adam, adamw or sgd
    learning_rate = 6e-4
    beta1 = 0.9                      # these and the rest are optional
    beta2 = 0.95
    epsilon = 1e-8
    weight_decay = 0.01
    max_grad_norm = 1.0              # 0: no clipping
    scheduler = "cosine"             # constant, linear or cosine
    warmup_steps = 1430
    min_lr = 1e-5                    # where a cosine ends; or min_lr_rate, as a share of the peak
    adapter_rank = 16                # LoRA at all linear layers; left out: every weight is trained
    weight_bits = 4                  # of the frozen weights beside adapters; left out: 16

    [support]                        # optional: what the model's code can do
    activation_checkpointing = true
    compile = true
    attention = "sdpa"               # sdpa, flash_attention_2 or eager; left out: the default
    fsdp_wrap = ["GPTNeoXLayer"]     # the layer classes that FSDP wraps one by one
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from bench_runner.models.architecture import Architecture
from bench_runner.models.model_source import ModelSource, read_model
from bench_runner.models.model_types import model_type, read_architecture
from bench_runner.models.timm_models import CLASSES, timm_architecture
from bench_runner.recipe_table import RecipeTable, shown
from bench_runner.untrusted_text import MIB, OutsideError, check_toml, text_outside

LARGEST_RECIPE = MIB
RECIPES_FOLDER = Path(__file__).parent / "recipes"

TEXT_FAMILIES = ("decoder", "encoder", "ssm")
IMAGE_FAMILIES = ("convnet", "vit")
FAMILIES = TEXT_FAMILIES + IMAGE_FAMILIES
MASKED_SHARE = 0.15
"""Of a masked encoder's tokens, those that it has to predict."""
Precision = Literal["fp16", "bf16", "fp32"]
"""``fp16`` or ``bf16`` (mixed), or ``fp32`` (TF32 with free-lunch settings)."""
PRECISIONS: tuple[Precision, ...] = get_args(Precision)
PEAK_KINDS = ("fp16", "bf16", "tf32", "fp32")
"""What a GPU's dense peak is given for."""
OPTIMIZERS = ("adam", "adamw", "sgd")
SCHEDULERS = ("constant", "linear", "cosine")
ATTENTIONS = ("sdpa", "flash_attention_2", "eager")
_CHOICES = {"precision": PRECISIONS, "optimizer": OPTIMIZERS, "scheduler": SCHEDULERS}
_SHARES = ("beta1", "beta2", "min_lr_rate")


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """The hyper-parameters; None where the recipe leaves the library's default."""

    batch_size: int
    """Samples an optimiser step, over all GPUs and gradient accumulation."""
    training_steps: int
    """Optimiser steps of the whole run."""
    sequence_length: int | None = None
    """Tokens a sample, for text."""
    image_size: int | None = None
    """Pixels a side, for images."""
    classes: int | None = None
    precision: Precision
    optimizer: str
    learning_rate: float | None = None
    beta1: float | None = None
    beta2: float | None = None
    epsilon: float | None = None
    weight_decay: float | None = None
    max_grad_norm: float | None = None
    """0 leaves clipping out."""
    scheduler: str | None = None
    warmup_steps: int | None = None
    min_lr: float | None = None
    min_lr_rate: float | None = None
    adapter_rank: int | None = None
    """Of adapters at all linear layers, which alone are trained; None: every weight is."""
    weight_bits: int | None = None
    """4 where the weights that stay are quantised; None: 16."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Support:
    """What the model's code can do."""

    activation_checkpointing: bool = True
    compile: bool = True
    attention: str | None = None
    """Hugging Face's ``attn_implementation``; None: the default, or a model without attention."""
    fsdp_wrap: tuple[str, ...] = ()
    """Names of the layer classes that FSDP wraps one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How one model is trained."""

    recipe_id: str
    name: str
    family: str
    """``decoder``, ``encoder``, ``ssm``, ``convnet`` or ``vit``."""
    model: ModelSource
    training: Training
    support: Support
    source: str
    """Id of a published source, or in words."""
    note: str | None = None
    architecture: Architecture | None = field(init=False, repr=False, compare=False)
    """What ``model`` is made of; None where only building it would tell."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "architecture", self._architecture())

    def _architecture(self) -> Architecture | None:
        arguments = self.model.arguments
        if self.model.timm is not None:
            if arguments:  # keywords could build anything
                return None
            found = timm_architecture(self.model.timm, self.training.classes or CLASSES)
            return found[0] if found else None
        kind = model_type(str(self.model.config_class or arguments.get("model_type")))
        if kind is None:
            return None
        if self.training.classes is not None:
            arguments = {**arguments, "num_labels": self.training.classes}
        where = f"recipe '{self.recipe_id}', architecture key"
        return read_architecture(kind, arguments, where=where)


@cache
def load_recipes() -> tuple[Recipe, ...]:
    """Every recipe that ships, smallest id first; each file is called by its id."""
    found = map(load_recipe, RECIPES_FOLDER.glob("*.toml"))
    return tuple(sorted(found, key=lambda recipe: recipe.recipe_id))


def load_recipe(path: Path) -> Recipe:
    """Read one recipe file; a ValueError names the file, the key and how to mend it."""
    import tomllib

    path = Path(path)
    try:
        text = text_outside(path, LARGEST_RECIPE)
        check_toml(text)
        content = tomllib.loads(text)
    except FileNotFoundError:
        raise ValueError(f"{path} is not there; name a recipe file (*.toml)") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except OutsideError as error:
        raise ValueError(f"{path.name} {error}") from None
    except RecursionError:
        raise ValueError(f"{path.name} is nested too deeply to be a recipe") from None
    except ValueError as error:  # also a number of more digits than Python converts
        raise ValueError(f"{path.name} is not valid TOML: {error}") from None
    return recipe_from(content, path)


def recipe_from(content: Mapping[str, Any], path: Path) -> Recipe:
    """A recipe from what its file holds; messages name ``path``, a config.json lies beside it."""
    return _recipe(RecipeTable(path, "", content))


def _recipe(root: RecipeTable) -> Recipe:
    root.refuse_unknown(
        ("id", "name", "family", "source", "note", "architecture", "training", "support")
    )
    recipe_id = root.text("id")
    if not all(c.isascii() and (c.islower() or c.isdigit() or c in ".-") for c in recipe_id):
        raise root.error(
            "id", f"'{recipe_id}' may hold lower-case letters, digits, points and hyphens only"
        )
    family = root.choice("family", FAMILIES)
    training = _training(root.table("training"), family)
    return Recipe(
        recipe_id=recipe_id,
        name=root.text("name"),
        family=family,
        model=read_model(
            root.table("architecture"),
            {"num_labels": training.classes, "image_size": training.image_size},
        ),
        training=training,
        support=_support(root.table("support")),
        source=root.text("source"),
        note=root.optional_text("note"),
    )


def _training(table: RecipeTable, family: str) -> Training:
    table.refuse_unknown(tuple(Training.__dataclass_fields__))
    wanted, unwanted = (
        (("sequence_length",), ("image_size", "classes"))
        if family in TEXT_FAMILIES
        else (("image_size", "classes"), ("sequence_length",))
    )
    for key in wanted:
        if key not in table.content:
            raise table.error(key, f"is missing; a {family} needs {key} = a whole number")
    for key in unwanted:
        if key in table.content:
            raise table.error(key, f"does not go with the family '{family}'; remove it")
    if "min_lr" in table.content and "min_lr_rate" in table.content:
        raise table.error("min_lr", "does not go with min_lr_rate; keep one of them")
    values: dict[str, Any] = {}
    for each in fields(Training):
        name = each.name
        needed = each.default is MISSING
        if name in _CHOICES:
            if needed or name in table.content:
                values[name] = table.choice(name, _CHOICES[name])
        elif "float" in str(each.type):
            below = 1.0 if name in _SHARES else None
            values[name] = table.optional_number(name, below=below)
        else:
            least = 0 if name == "warmup_steps" else 1
            values[name] = table.whole(name, needed=needed, at_least=least)
    return Training(**values)


def _support(table: RecipeTable) -> Support:
    table.refuse_unknown(tuple(Support.__dataclass_fields__))
    fsdp_wrap = table.content.get("fsdp_wrap", [])
    if not isinstance(fsdp_wrap, list) or not all(
        isinstance(name, str) and name.isidentifier() for name in fsdp_wrap
    ):
        raise table.error("fsdp_wrap", f'is {shown(fsdp_wrap)}; write a list like ["GPTNeoXLayer"]')
    return Support(
        activation_checkpointing=table.flag("activation_checkpointing", default=True),
        compile=table.flag("compile", default=True),
        attention=table.choice("attention", ATTENTIONS) if "attention" in table.content else None,
        fsdp_wrap=tuple(fsdp_wrap),
    )


def recipe_hash(recipe: Recipe) -> str:
    """Twelve hex digits over what changes a training time: architecture, training and support.

    Names, sources, notes and the place of a config.json do not count; neither do the learning
    rate and its schedule, which change the result of a training but not its duration.
    """
    import hashlib
    import json

    training = recipe.training
    timed = {
        "family": recipe.family,
        "config_class": recipe.model.config_class,
        "arguments": {
            name: value
            for name, value in recipe.model.arguments.items()
            if not name.startswith("_") and name != "transformers_version"
        },
        "timm": recipe.model.timm,
        "batch_size": training.batch_size,
        "training_steps": training.training_steps,
        "sequence_length": training.sequence_length,
        "image_size": training.image_size,
        "classes": training.classes,
        "precision": training.precision,
        "optimizer": training.optimizer,
        "clips_gradients": training.max_grad_norm != 0,
        "activation_checkpointing": recipe.support.activation_checkpointing,
        "compile": recipe.support.compile,
        "attention": recipe.support.attention,
        "fsdp_wrap": recipe.support.fsdp_wrap,
    }
    if training.adapter_rank is not None:
        timed |= {"adapter_rank": training.adapter_rank, "weight_bits": training.weight_bits}
    text = json.dumps(timed, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
