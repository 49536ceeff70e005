"""What a file is that was handed to the wrong command, and which command reads it."""

from __future__ import annotations

import re
import shlex
import tomllib
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
_PACKED = {
    b"\x1f\x8b": "gunzip -k",
    b"\x28\xb5\x2f\xfd": "unzstd",
    b"\xfd7zXZ": "unxz -k",
    b"BZh": "bunzip2 -k",
    b"PK\x03\x04": "unzip",
}
"""How files begin that are compressed, and what unpacks them."""
_SPREADSHEETS = (".xlsx", ".ods", ".xlsm")
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_HEADER = 10_000
"""Characters in which the first row of a table is looked for."""
_OF_QUOTES = {"item", "price", "vendor"}
_OF_MODELS = ("model_type", "hidden_size", "num_hidden_layers", "n_embd", "d_model")


Kind = Literal["records", "model", "recipe", "grant", "quotes"]


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
        for begin, command in _PACKED.items():
            if head.startswith(begin):
                return f"is compressed; unpack it first: {command} {name}"
        if head[8:12] == b"DUCK":
            return f"is a store; its own rows come in with: advisor merge {name}"
        wide = head.startswith(_UTF_16)
        # Letters that are no UTF-8 are told by the command that reads the file.
        text = read_outside(path, _LARGEST).decode("utf-16" if wide else "utf-8-sig", "replace")
    except (OSError, OutsideError):
        return None
    found = _of_csv(text, name)
    if wide and found is None and wanted != "quotes":  # which alone are read from it
        return "is stored as UTF-16: save it as UTF-8"
    found = found or _of_json(text, name) or _of_toml(text, name)
    return None if found is None or found[0] == wanted else found[1]


_Found = tuple[Kind | None, str]


def _of_json(text: str, name: str) -> _Found | None:
    for part in (text, text.partition("\n")[0]):
        try:
            found = json_outside(part)
        except (ValueError, RecursionError):
            continue
        return _of_object(found, name)
    return None


def _of_object(found: Any, name: str) -> _Found | None:
    answer = "which nothing reads back; advisor export writes records"
    if isinstance(found, list) and found and isinstance(found[0], dict):
        return None, f"holds rows of an answer, {answer}"
    if not isinstance(found, dict):
        return None
    if "measurement_id" in found or isinstance(found.get("table"), str):
        return "records", f"holds records; they come in with: advisor merge {name}"
    if "ranked" in found or "training_days" in found:
        return None, f"is an answer, {answer}"
    if any(key in found for key in _OF_MODELS):
        ask = f"advisor predict --model {name} --tokens 10B --gpu H100"
        return "model", f"is a model's configuration; ask about it with: {ask}"
    return None


def _of_toml(text: str, name: str) -> _Found | None:
    try:
        check_toml(text)
        found = tomllib.loads(text)
    except (ValueError, RecursionError):
        return None
    if "architecture" in found and "training" in found:
        ask = f"advisor predict --model {name} --gpu H100"
        return "recipe", f"is a recipe of a model; ask about it with: {ask}"
    if "experiments" in found and ("grant" in found or "budget" in found):
        return "grant", f"is a grant; plan it with: advisor plan {name}"
    return None


def _of_csv(text: str, name: str) -> _Found | None:
    lines = text[:_HEADER].lower().replace("price_usd", "price").splitlines()
    # Some spreadsheets write first how they part the cells.
    header = next((line for line in lines if not line.startswith(("sep=", '"sep='))), "")
    if {cell.strip(' "').replace(" ", "_") for cell in re.split("[,;\t]", header)} >= _OF_QUOTES:
        return "quotes", f"holds quotes; they come in with: advisor prices import {name}"
    return None
