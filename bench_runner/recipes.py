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

    [support]                        # optional: what the model's code can do
    activation_checkpointing = true
    compile = true
    attention = "sdpa"               # sdpa, flash_attention_2 or eager; left out: the default
    fsdp_wrap = ["GPTNeoXLayer"]     # the layer classes that FSDP wraps one by one
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from bench_runner.architecture import Architecture, kind_of, read_architecture
from bench_runner.outside import MIB, OutsideError, check_toml, json_outside, text_outside
from bench_runner.timm_models import CLASSES, timm_architecture

LARGEST_NUMBER = 2**63 - 1
"""Of samples, steps, tokens or pixels: what a column of whole numbers holds at most."""
_LONGEST_TEXT = 4_000
_TIMM_NAME = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_]+)?")
_FETCHES = {"auto_map", "cache_dir", "checkpoint_path", "custom_pipelines", "pretrained"}
_FETCHES |= {"pretrained_cfg", "pretrained_cfg_overlay", "trust_remote_code", "custom_code"}
_FETCHES |= {"backbone", "use_pretrained_backbone", "kernel_config"}
"""What would have a library read a file, fetch something or run somebody's code, at any depth; and
an attention (``attn_implementation``) that is no word such as sdpa is a kernel of a hub's."""
_SOMEWHERE_ELSE = re.compile(r"(hf[-_]hub|local-dir)\s*:", re.IGNORECASE)
"""Begins a name that timm looks for on a hub or in a folder."""
_WRAPS_TIMM = ("Timm", "timm_")
"""Begins what transformers calls a model of timm's, whose name may be a hub's or a folder's."""
LARGEST_RECIPE = MIB
LARGEST_CONFIG = 16 * MIB
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
_Choice = TypeVar("_Choice", bound=str)
MODEL_KEYS = ("config_class", "hf_config_json", "timm")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """What is built, with random weights: exactly one of the three kinds."""

    config_class: str | None = None
    """A Hugging Face configuration class, e.g. ``GPTNeoXConfig``."""
    arguments: Mapping[str, Any]
    """Arguments of that class; for a config.json, what stands in it; for timm, keywords."""
    hf_config_json: Path | None = None
    """Where the config.json lies, absolute or relative to the working directory."""
    timm: str | None = None
    """Name of a timm model."""


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
        kind = kind_of(str(self.model.config_class or arguments.get("model_type")))
        if kind is None:
            return None
        if self.training.classes is not None:
            arguments = {**arguments, "num_labels": self.training.classes}
        where = f"recipe '{self.recipe_id}', architecture key"
        return read_architecture(kind, arguments, where=where)


def load_recipes(folder: Path | None = None) -> tuple[Recipe, ...]:
    """Every recipe in ``folder`` (the shipped ones unless given), smallest id first."""
    folder = RECIPES_FOLDER if folder is None else Path(folder)
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; name one that holds recipe files (*.toml)")
    recipes: dict[str, Recipe] = {}
    for path in sorted(folder.glob("*.toml")):
        recipe = load_recipe(path)
        if recipe.recipe_id in recipes:
            raise ValueError(
                f"{path.name}, key 'id': '{recipe.recipe_id}' is the id of another recipe in this "
                "folder; give one of them another id"
            )
        recipes[recipe.recipe_id] = recipe
    return tuple(recipes[recipe_id] for recipe_id in sorted(recipes))


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
    return _recipe(_Table(path, "", content))


class _Table:
    """One table of a recipe file: hands out checked values and knows where they stand."""

    def __init__(self, path: Path, name: str, content: Mapping[str, Any]) -> None:
        self.path = path
        self.name = name
        self.content = content

    def error(self, key: str, problem: str) -> ValueError:
        place = f"{self.name}.{key}" if self.name else key
        shown = _shown(place)[1:-1]
        return ValueError(f"{_shown(self.path.name)[1:-1]}, key '{shown}': {problem}")

    def refuse_unknown(self, known: Collection[str]) -> None:
        for key in self.content:
            if key not in known:
                raise self.error(key, f"is not a key of a recipe; {nearest(key, known)}")

    def table(self, key: str) -> _Table:
        value = self.content.get(key, {})
        if not isinstance(value, dict):
            raise self.error(key, f"is {_shown(value)}, not a table; write [{key}] on its own line")
        return _Table(self.path, key, value)

    def text(self, key: str) -> str:
        value = self.optional_text(key)
        if value is None:
            raise self.error(key, f'is missing; write {key} = "..."')
        return value

    def optional_text(self, key: str) -> str | None:
        value = self.content.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value.strip():
            raise self.error(key, f'is {_shown(value)}, not text; write {key} = "..."')
        value = value.strip()
        if not value.isprintable() or len(value) > _LONGEST_TEXT:
            raise self.error(
                key,
                f"is {_shown(value)}, which holds control or direction characters or more than "
                f"{_LONGEST_TEXT:,} letters; write one plain line",
            )
        return value

    def choice(self, key: str, known: Collection[_Choice]) -> _Choice:
        value = self.text(key)
        for each in known:
            if each == value:
                return each
        raise self.error(key, f"'{value}' is not known; {nearest(value, known)}")

    def optional_choice(self, key: str, known: Collection[str]) -> str | None:
        return self.choice(key, known) if key in self.content else None

    def whole(self, key: str, *, at_least: int = 1) -> int:
        value = self.optional_whole(key, at_least=at_least)
        if value is None:
            raise self.error(key, f"is missing; write {key} = a whole number")
        return value

    def optional_whole(self, key: str, *, at_least: int = 1) -> int | None:
        value = self.content.get(key)
        if value is None:
            return None
        if not isinstance(value, int) or isinstance(value, bool) or value < at_least:
            raise self.error(key, f"is {_shown(value)}; write a whole number of {at_least} or more")
        if value > LARGEST_NUMBER:
            raise self.error(key, f"is {_shown(value)}; write at most {LARGEST_NUMBER:,}")
        return value

    def optional_number(self, key: str, *, below: float | None = None) -> float | None:
        value = self.content.get(key)
        if value is None:
            return None
        number = isinstance(value, int | float) and not isinstance(value, bool)
        limit = float("inf") if below is None else below
        if not number or not 0 <= value < limit:
            bounds = "of 0 or more" if below is None else f"from 0 to less than {below:g}"
            raise self.error(key, f"is {_shown(value)}; write a number {bounds}")
        return float(value)  # finite, as it is below infinity

    def flag(self, key: str, *, default: bool) -> bool:
        value = self.content.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"is {_shown(value)}; write true or false")
        return value


def _shown(value: object) -> str:
    """What stands in the file, printable and not endless."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # a number of thousands of digits, tables in tables
        return f"a huge {type(value).__name__}"
    clean = "".join(ch if ch.isprintable() else "?" for ch in text)
    return clean if len(clean) <= 80 else clean[:79] + "…"


def nearest(word: str, known: Collection[str]) -> str:
    """What is known instead of ``word``: the nearest spelling, or all of them."""
    from difflib import get_close_matches  # only a broken file pays for it

    close = get_close_matches(word.casefold(), sorted(known), n=1, cutoff=0.5)
    return f"did you mean '{close[0]}'?" if close else f"known: {', '.join(known)}"


def _recipe(root: _Table) -> Recipe:
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
        model=_model(root.table("architecture"), training),
        training=training,
        support=_support(root.table("support")),
        source=root.text("source"),
        note=root.optional_text("note"),
    )


def _model(table: _Table, training: Training) -> ModelSource:
    table.refuse_unknown((*MODEL_KEYS, "arguments"))
    given = [key for key in MODEL_KEYS if key in table.content]
    if len(given) != 1:
        raise ValueError(
            f"{table.path.name}, table [architecture]: has {' and '.join(given) or 'no model'}; "
            f"write exactly one of {', '.join(MODEL_KEYS)}"
        )
    arguments = table.content.get("arguments", {})
    if not isinstance(arguments, dict):
        raise table.error("arguments", f"is {_shown(arguments)}, not a table of arguments")
    config_class = table.optional_text("config_class")
    if config_class is not None and not (
        config_class.isidentifier() and config_class.endswith("Config")
    ):
        raise table.error(
            "config_class",
            f"'{config_class}' is not the name of a configuration class, such as GPTNeoXConfig",
        )
    json_name = table.optional_text("hf_config_json")
    hf_config_json = None
    if json_name is not None:
        if arguments:
            raise table.error("arguments", "does not go with hf_config_json; edit that file")
        hf_config_json = table.path.parent / json_name
        arguments = _read_hf_config(table, hf_config_json)
    if (found := _fetching(arguments)) is not None:
        # A definition from somebody else must fetch, read or run nothing.
        raise table.error(f"arguments.{found}", "names weights or code to load; remove it")
    if str(config_class or arguments.get("model_type")).startswith(_WRAPS_TIMM):
        key = "config_class" if config_class else "hf_config_json"
        raise table.error(key, 'is a model of timm\'s; write timm = "its name" instead')
    timm = table.optional_text("timm")
    if timm is not None and not _TIMM_NAME.fullmatch(timm):
        raise table.error(
            "timm",
            f"{_shown(timm)} is no name of one of timm's own models, such as vit_base_patch16_224",
        )
    for key, wanted in (("num_labels", training.classes), ("image_size", training.image_size)):
        if wanted is not None and arguments.get(key, wanted) != wanted:
            raise table.error(
                f"arguments.{key}",
                f"is {arguments[key]!r} where [training] says {wanted}; make them the same",
            )
    return ModelSource(
        config_class=config_class,
        arguments=arguments,
        hf_config_json=hf_config_json,
        timm=timm,
    )


def _fetching(arguments: Mapping[str, Any]) -> str | None:
    """Where in arguments something is named that a library would load; None where nowhere."""
    waiting: list[tuple[str, str, object]] = [("", "", arguments)]
    while waiting:  # however deep it is
        place, name, value = waiting.pop()
        if name in _FETCHES and value:
            return place
        if isinstance(value, str) and (
            _SOMEWHERE_ELSE.match(value)
            or (name.endswith("_implementation") and not value.isidentifier())
        ):
            return place
        if isinstance(value, list):
            waiting += [(place, name, part) for part in value]
        elif isinstance(value, Mapping):
            # Attention may be said for each part of a model, by the part's name.
            kept = name if name.endswith("_implementation") else ""
            waiting += [
                (f"{place}.{key}".lstrip("."), kept or str(key), part)
                for key, part in value.items()
            ]
    return None


def _read_hf_config(table: _Table, path: Path) -> dict[str, Any]:
    try:
        content = json_outside(text_outside(path, LARGEST_CONFIG))
    except FileNotFoundError:
        raise table.error(
            "hf_config_json", f"{path} is not there; give its path relative to the recipe file"
        ) from None
    except OSError as error:
        raise table.error("hf_config_json", f"{path} cannot be read: {error.strerror}") from None
    except OutsideError as error:
        raise table.error("hf_config_json", f"{path} {error}") from None
    except RecursionError:
        raise table.error("hf_config_json", f"{path} is nested too deeply") from None
    except ValueError as error:
        raise table.error("hf_config_json", f"{path} is not valid JSON: {error}") from None
    if not isinstance(content, dict) or not isinstance(content.get("model_type"), str):
        raise table.error(
            "hf_config_json",
            f"{path} has no model_type; use the config.json of a Hugging Face model",
        )
    return content


def _training(table: _Table, family: str) -> Training:
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
    return Training(
        batch_size=table.whole("batch_size"),
        training_steps=table.whole("training_steps"),
        sequence_length=table.optional_whole("sequence_length"),
        image_size=table.optional_whole("image_size"),
        classes=table.optional_whole("classes"),
        precision=table.choice("precision", PRECISIONS),
        optimizer=table.choice("optimizer", OPTIMIZERS),
        learning_rate=table.optional_number("learning_rate"),
        beta1=table.optional_number("beta1", below=1.0),
        beta2=table.optional_number("beta2", below=1.0),
        epsilon=table.optional_number("epsilon"),
        weight_decay=table.optional_number("weight_decay"),
        max_grad_norm=table.optional_number("max_grad_norm"),
        scheduler=table.optional_choice("scheduler", SCHEDULERS),
        warmup_steps=table.optional_whole("warmup_steps", at_least=0),
        min_lr=table.optional_number("min_lr"),
        min_lr_rate=table.optional_number("min_lr_rate", below=1.0),
    )


def _support(table: _Table) -> Support:
    table.refuse_unknown(tuple(Support.__dataclass_fields__))
    fsdp_wrap = table.content.get("fsdp_wrap", [])
    if not isinstance(fsdp_wrap, list) or not all(
        isinstance(name, str) and name.isidentifier() for name in fsdp_wrap
    ):
        raise table.error(
            "fsdp_wrap", f'is {_shown(fsdp_wrap)}; write a list like ["GPTNeoXLayer"]'
        )
    return Support(
        activation_checkpointing=table.flag("activation_checkpointing", default=True),
        compile=table.flag("compile", default=True),
        attention=table.optional_choice("attention", ATTENTIONS),
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
    text = json.dumps(timed, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:12]
