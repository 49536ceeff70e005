"""The table of model types: what each one's file calls its numbers, and the library's defaults.

A row is a table of one of the TOML files beside this module, called after its ``model_type``:

    [mistral]
    like = "llama"                      # the row that all the rest is taken from
    class = "MistralConfig"             # the configuration class of Hugging Face's transformers
    intermediate_size = 14336           # the library's own defaults (transformers 5.17), by field
    reads = "vocab_size head_dim"       # fields that a file says under the field's own name
    keys = { positions = "n_positions max_seq_len" }   # and under others: what the class calls
                                        # them first, then what other files do
    fixed = "qkv_bias mlp_bias"         # fields that a file cannot say, though in ``like`` it can
    window = { tokens = 4096 }          # and the other columns of `ModelType`

Fields are those of the row's ``description``; one that no file can say is always as the row or the
description has it. `read_architecture` is the only way from a recipe or a config.json to an
architecture. Imports nothing heavy.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from bench_runner.models.architecture import Architecture, ModelType, Refusal
from bench_runner.models.encoder_decoder import EncoderDecoder
from bench_runner.models.images import ConvNext, ResNet, Swin, Vit
from bench_runner.models.state_space import Mamba
from bench_runner.models.transformer import Deberta, Transformer

TABLES = ("decoders", "mixtures", "encoders", "encoder_decoders", "images")
_DESCRIPTIONS: Mapping[str, type[Architecture]] = {
    each.__name__: each
    for each in (Transformer, Deberta, EncoderDecoder, Mamba, Vit, ConvNext, Swin, ResNet)
}
_LARGEST_SIZE = 1_000_000
_LARGEST: Mapping[str, int] = {
    "num_hidden_layers": 10_000,
    "num_attention_heads": 10_000,
    "num_key_value_heads": 10_000,
    "mlp_only_layers": 10_000,
    "expand": 10_000,
    "vocab_size": 100_000_000,
    "num_labels": 100_000_000,
    "positions": 100_000_000,
    "patch_size": 100_000,
}
"""More than any model has, by field; sizes that are not named here end at a million."""
_MOST_STAGES = 8
_SHOWN = 40
"""Characters of a wrong value that an error repeats."""


@cache
def model_types() -> Mapping[str, ModelType]:
    """Every row by its ``model_type``, in the tables' order."""
    import tomllib

    rows: dict[str, Any] = {}
    for name in TABLES:
        text = (Path(__file__).parent / f"{name}.toml").read_text(encoding="utf-8")
        rows |= tomllib.loads(text)
    whole: dict[str, dict[str, Any]] = {}
    for name, row in rows.items():
        parent = whole[row["like"]] if "like" in row else {}
        own = {field: field for field in row.pop("reads", "").split()} | row.pop("keys", {})
        fixed = row.pop("fixed", "").split()
        keys = {k: v for k, v in (parent.get("keys", {}) | own).items() if k not in fixed}
        plain = {k: v for k, v in parent.items() if k not in ("class", "own_class", *fixed)}
        whole[name] = {**plain, **row, "keys": keys}
    return {name: _model_type(name, row) for name, row in whole.items() if "class" in row}


def _model_type(name: str, row: Mapping[str, Any]) -> ModelType:
    """One row, whose defaults are in the description's fields and the rest in its own."""
    numbers = {each.name: each for each in fields(_DESCRIPTIONS[row["description"]])}
    columns = {each.name for each in fields(ModelType)}
    given: dict[str, Any] = {}
    defaults: dict[str, Any] = {}
    for key, value in row.items():
        if key in numbers:
            defaults[key] = tuple(value) if isinstance(value, list) else value
        elif key in columns and key not in ("keys", "refuses"):
            words = key in ("longest", "idle", "required")
            given[key] = tuple(value.split()) if words else value
            if key in ("blocks", "activation"):
                given[key] = tuple(value)
        elif key not in ("like", "class", "keys", "refuses"):
            raise ValueError(f"model type {name}: '{key}' is neither a field nor a column")
    refuses = tuple(
        Refusal(**{**each, "allowed": tuple(each.get("allowed", ()))})
        for each in row.get("refuses", ())
    )
    return ModelType(
        name=name,
        config_class=row["class"],
        keys={field: tuple(words.split()) for field, words in row["keys"].items()},
        defaults={
            **{
                each.name: each.default
                for each in numbers.values()
                if each.name in row["keys"] and each.name not in defaults
            },
            **defaults,
        },
        refuses=refuses,
        **{**given, "attention": given.get("attention", "sdpa") or None},
    )


def model_type(name: str) -> ModelType | None:
    """The row of a configuration class or a ``model_type``; None where there is none."""
    of_class = (e for e in model_types().values() if e.own_class and e.config_class == name)
    return model_types().get(name) or next(of_class, None)


def description_of(kind: ModelType) -> type[Architecture]:
    """The class that describes models of a type."""
    return _DESCRIPTIONS[kind.description]


def build(name: str, **numbers: Any) -> Architecture:
    """An architecture of a type with these numbers, by field, and the library's own others."""
    kind = model_types()[name]
    return _DESCRIPTIONS[kind.description](kind=kind, **{**kind.defaults, **numbers})


def read_architecture(kind: ModelType, arguments: Mapping[str, Any], *, where: str) -> Architecture:
    """An architecture from a configuration's arguments; keys that it does not know are passed over.

    Raises ValueError, one line that begins with ``where`` and the key as it is spelt there, for a
    value that is none.
    """
    for refusal in kind.refuses:
        top = refusal.key.partition(".")[0]
        if arguments.get(top) is not None and refusal.refuses(arguments):
            raise ValueError(f"{where} '{top}': {refusal.words}")
    described = _DESCRIPTIONS[kind.description]
    given: dict[str, Any] = {}
    spelt: dict[str, str] = {}
    for field, keys in kind.keys.items():
        key = next((each for each in keys if arguments.get(each) is not None), None)
        spelt[field] = key or keys[0]
        if key is None:
            if field in described.nullable and any(each in arguments for each in keys):
                given[field] = 0  # null, which says that there is none, or that it follows
            continue
        _refuse_two_values(keys, arguments, where)
        try:
            given[field] = _checked(described, field, kind.defaults[field], arguments[key])
        except ValueError as problem:
            raise ValueError(f"{where} '{key}': {problem}") from None
    found = described(kind=kind, **{**kind.defaults, **given})
    if (wrong := found.contradiction()) is not None:
        raise ValueError(f"{where} '{spelt.get(wrong[0], wrong[0])}': {wrong[1]}")
    return found


def arguments_of(found: Architecture) -> dict[str, Any]:
    """The numbers of an architecture under the configuration class's own keys, without those that
    say only what the class derives from the others."""
    kind = found.kind
    values: dict[str, Any] = {}
    for field, keys in kind.keys.items():
        value = getattr(found, field)
        values[keys[0]] = list(value) if isinstance(value, tuple) else value
    return values


def _refuse_two_values(keys: tuple[str, ...], arguments: Mapping[str, Any], where: str) -> None:
    """ValueError where a number is said twice, and is not the same."""
    said = [(key, arguments[key]) for key in keys if type(arguments.get(key)) is int]
    for key, value in said[1:]:
        if value != said[0][1]:
            raise ValueError(
                f"{where} '{key}': is {value}, but {said[0][0]}, which says the same, is "
                f"{said[0][1]}"
            )


def _checked(described: type[Architecture], name: str, default: Any, value: Any) -> Any:
    if name in described.choices:
        choices = described.choices[name]
        if name == "pos_att_type" and isinstance(value, list):
            value = "|".join(map(str, value))  # as the library writes it
        if value not in choices:
            raise ValueError(f"is {_shown(value)}; write one of {', '.join(map(repr, choices))}")
        return value
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise ValueError(f"is {_shown(value)}; write true or false")
        return value
    if isinstance(default, float):
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not 0 <= value < math.inf:
            raise ValueError(f"is {_shown(value)}; write a number of 0 or more")
        return float(value)
    most = _LARGEST.get(name, _LARGEST_SIZE)
    if isinstance(default, tuple):  # of stages, or of layers, of which there may be none
        least, longest = (1, _MOST_STAGES) if default else (0, most)
        if not isinstance(value, list | tuple) or not least <= len(value) <= longest:
            raise ValueError(
                f"is {_shown(value)}; write a list of {least} to {longest:,} whole numbers"
            )
        return tuple(whole(item, most, least) for item in value)
    if name == "time_step_rank" and value == "auto":
        return 0
    return whole(value, most, described.least.get(name, 1))


def whole(value: object, most: int, least: int = 1) -> int:
    """A whole number from ``least`` to ``most``; ValueError says what it is instead."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"is {_shown(value)}; write a whole number from {least} to {most:,}")
    return value


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."
