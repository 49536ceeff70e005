"""A config.json as it lies on the disk: read as data, and one line for what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from advisor.wrong_file import what_it_is
from bench_runner.models.model_types import whole
from bench_runner.outside import OutsideError, TooLargeError, json_outside, text_outside

LARGEST_FILE = 8 * 2**20
"""Bytes; the largest real ones name 21,841 classes in under two million."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """A parsed config.json, which knows its own name."""

    name: str
    content: Mapping[str, Any]

    def error(self, key: str, problem: str) -> ValueError:
        return ValueError(f"{self.name}, key '{key}': {problem}")

    def first(self, keys: Iterable[str]) -> str | None:
        """Which of the spellings the file has."""
        return next((key for key in keys if self.content.get(key) is not None), None)

    def whole(self, keys: Iterable[str], most: int, default: int) -> int:
        """A number above 0 under one of the spellings."""
        key = self.first(keys)
        if key is None:
            return default
        try:
            return whole(plain_number(self.content[key]), most)
        except ValueError as problem:
            raise self.error(key, str(problem)) from None


def plain_number(value: Any) -> Any:
    """4.0, which some files say, is 4."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def read_config(path: Path) -> Mapping[str, Any]:
    """What the file holds. Raises ValueError."""
    import json

    try:
        text = text_outside(path, LARGEST_FILE)
    except FileNotFoundError:
        raise ValueError(f"{path} is not there; give the path of a config.json") from None
    except IsADirectoryError:
        raise ValueError(f"the folder {path} holds no config.json; give one that does") from None
    except TooLargeError:
        raise ValueError(
            f"{path.name} is larger than {LARGEST_FILE // 2**20} MiB, which no config.json is; "
            "give the model's configuration, not its weights"
        ) from None
    except OutsideError as error:
        raise ValueError(f"{path.name} {what_it_is(path, 'model') or error}") from None
    except OSError as error:
        raise ValueError(f"{path} cannot be read: {error.strerror}") from None
    try:
        content = json_outside(text)
    except json.JSONDecodeError as error:
        if not text.strip():
            raise ValueError(f"{path.name} is empty; give the model's config.json") from None
        if (found := what_it_is(path, "model")) is not None:
            raise ValueError(f"{path.name} {found}") from None
        raise ValueError(
            f"{path.name} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}; "
            "correct it, or take it anew from where the model is published"
        ) from None
    except (RecursionError, MemoryError):
        raise ValueError(
            f"{path.name} is nested too deeply to be a configuration; give a config.json"
        ) from None
    except OutsideError as error:
        raise ValueError(f"{path.name} {error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"{path.name} holds no object; a config.json starts with an open brace")
    return content
