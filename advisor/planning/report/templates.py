"""The prose of reports that stands in templates, filled in by Jinja2."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).with_name("templates")
GRANT = Path(__file__).parent.parent / "grant"


@cache
def _environment() -> Environment:
    return Environment(
        loader=FileSystemLoader(FOLDER),
        undefined=StrictUndefined,
        autoescape=False,  # Markdown and plain text
        keep_trailing_newline=True,
    )


def filled(name: str, **values: Any) -> str:
    """A template of the folder with these values in it."""
    return _environment().get_template(name).render(**values)


def filled_lines(name: str, **values: Any) -> list[str]:
    """The same as a list: of each line that is not empty an item."""
    return [line for line in filled(name, **values).split("\n") if line.strip()]


@cache
def rows_of(name: str) -> list[Mapping[str, str]]:
    """A table of the folder of grants, such as ``bid_thresholds.csv``."""
    with (GRANT / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
