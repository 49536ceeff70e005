"""The model that a recipe names, and what of somebody else's definition is refused."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench_runner.recipe_table import RecipeTable, shown
from bench_runner.untrusted_text import MIB, OutsideError, TooLargeError, json_outside, text_outside

LARGEST_CONFIG = 8 * MIB
"""The largest real ones name 21,841 classes in under two million bytes."""
MODEL_KEYS = ("config_class", "hf_config_json", "timm")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSource:
    """What is built, with random weights: exactly one of the three kinds."""

    config_class: str | None = None
    """A Hugging Face configuration class, e.g. ``GPTNeoXConfig``."""
    arguments: Mapping[str, Any]
    """Arguments of that class; for a config.json, its content; for timm, keywords."""
    hf_config_json: Path | None = None
    """Where the config.json lies, absolute or relative to the working directory."""
    timm: str | None = None
    """Name of a timm model."""


def read_model(table: RecipeTable, fixed: Mapping[str, int | None]) -> ModelSource:
    """What [architecture] names; ``fixed`` has what its arguments must agree with, by their names.

    Raises ValueError.
    """
    table.refuse_unknown((*MODEL_KEYS, "arguments"))
    given = [key for key in MODEL_KEYS if key in table.content]
    if len(given) != 1:
        raise ValueError(
            f"{table.path.name}, table [architecture]: has {' and '.join(given) or 'no model'}; "
            f"write exactly one of {', '.join(MODEL_KEYS)}"
        )
    arguments = table.content.get("arguments", {})
    if not isinstance(arguments, dict):
        raise table.error("arguments", f"is {shown(arguments)}, not a table of arguments")
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
            f"{shown(timm)} is no name of one of timm's own models, such as vit_base_patch16_224",
        )
    for key, wanted in fixed.items():
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


def _read_hf_config(table: RecipeTable, path: Path) -> dict[str, Any]:
    try:
        content = read_config(path)
    except ValueError as error:
        raise table.error("hf_config_json", str(error)) from None
    if not isinstance(content.get("model_type"), str):
        raise table.error(
            "hf_config_json",
            f"{path} has no model_type; use the config.json of a Hugging Face model",
        )
    return content


def read_config(path: Path) -> dict[str, Any]:
    """What a config.json holds; nothing in it is run. Raises ValueError of one line."""
    import json  # most recipes name a class

    try:
        text = text_outside(path, LARGEST_CONFIG)
        content = json_outside(text)
    except FileNotFoundError:
        raise ValueError(f"{path} is not there; give the path of a config.json") from None
    except IsADirectoryError:
        raise ValueError(f"the folder {path} holds no config.json; give one that does") from None
    except TooLargeError:
        raise ValueError(
            f"{path.name} is larger than {LARGEST_CONFIG // MIB} MiB, which no config.json is; "
            "give the model's configuration, not its weights"
        ) from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    except OutsideError as error:
        raise ValueError(f"{path.name} {error}") from None
    except json.JSONDecodeError as error:
        if not text.strip():
            raise ValueError(f"{path.name} is empty; give the model's config.json") from None
        raise ValueError(
            f"{path.name} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}; "
            "correct it, or download it again from where the model is published"
        ) from None
    except (RecursionError, MemoryError):
        raise ValueError(
            f"{path.name} is nested too deeply to be a configuration; give a config.json"
        ) from None
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} holds no object; a config.json starts with an open brace")
    return content
