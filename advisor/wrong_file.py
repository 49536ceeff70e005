"""What a file is that was handed to the wrong command, and which command reads it."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from bench_runner.untrusted_text import (
    OutsideError,
    check_toml,
    is_plain_file,
    json_outside,
    read_outside,
)

_LARGEST = 8 * 2**20
"""Bytes; what is larger is none of the files that people write."""
_SPREADSHEETS = (".xlsx", ".ods", ".xlsm")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_HEADER = 10_000
"""Characters in which the first row of a table is looked for."""
_OF_QUOTES = {"item", "price", "vendor"}
_OF_MODELS = {"model_type", "hidden_size", "num_hidden_layers", "n_embd", "d_model"}


Kind = Literal["records", "model", "recipe", "grant", "quotes"]
_KINDS: Mapping[Kind, tuple[Callable[[Mapping[str, Any]], bool], str]] = {
    "records": (
        lambda said: "measurement_id" in said or isinstance(said.get("table"), str),
        "holds records; they come in with: advisor merge {}",
    ),
    "model": (
        lambda said: not _OF_MODELS.isdisjoint(said),
        "is a model's configuration; ask about it with: "
        "advisor predict --model {} --tokens 10B --gpu H100",
    ),
    "recipe": (
        lambda said: {"architecture", "training"} <= said.keys(),
        "is a recipe of a model; ask about it with: advisor predict --model {} --gpu H100",
    ),
    "grant": (
        lambda said: "experiments" in said and bool({"grant", "budget"} & said.keys()),
        "is a grant; plan it with: advisor plan {}",
    ),
}
"""What each says at its top, and which command reads it."""


def what_it_is(path: Path, wanted: Kind) -> str | None:
    """In words that follow the file's name; None where it is nothing that another command reads.
    ``wanted`` is what was asked for, which it is not said to be.

    Never raises for what the file holds. A pipe, which could be read once only, is not touched.
    """
    name = shlex.quote(str(path))
    try:
        # Some files of /proc, which say that they are empty, keep their reader waiting for ever.
        if not is_plain_file(path) or not path.stat().st_size:
            return None
        with path.open("rb") as file:
            head = file.read(16)
        if path.suffix.lower() in _SPREADSHEETS:
            return "is a spreadsheet: save it as CSV"
        if head[8:12] == b"DUCK":
            return f"is a store; its own rows come in with: advisor merge {name}"
        wide = head.startswith(_UTF_16)
        # Letters that are no UTF-8 are told by the command that reads the file.
        text = read_outside(path, _LARGEST).decode("utf-16" if wide else "utf-8-sig", "replace")
    except (OSError, OutsideError):
        return None
    if _is_quotes(text):
        words = f"holds quotes; they come in with: advisor prices import {name}"
        return None if wanted == "quotes" else words
    if wide and wanted != "quotes":  # which alone are read from it
        return "is stored as UTF-16: save it as UTF-8"
    said = _parsed(text)
    kind = next((kind for kind, (holds, _) in _KINDS.items() if holds(said)), None)
    return None if kind is None or kind == wanted else _KINDS[kind][1].format(name)


def _parsed(text: str) -> Mapping[str, Any]:
    """What JSON, its first line or TOML says by name; nothing of other text."""
    first, _, _ = text.partition("\n")
    for read, part in ((json_outside, text), (json_outside, first), (_toml, text)):
        with suppress(ValueError, RecursionError):
            if isinstance(said := read(part), dict):
                return said
    return {}


def _toml(text: str) -> Any:
    check_toml(text)
    return tomllib.loads(text)


def _is_quotes(text: str) -> bool:
    lines = text[:_HEADER].lower().replace("price_usd", "price").splitlines()
    # Some spreadsheets write first how they part the cells.
    header = next((line for line in lines if not line.startswith(("sep=", '"sep='))), "")
    return {cell.strip(' "').replace(" ", "_") for cell in re.split("[,;\t]", header)} >= _OF_QUOTES
