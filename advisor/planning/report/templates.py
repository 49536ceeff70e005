"""The prose of reports that stands in templates, filled in by Jinja2."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

FOLDER = Path(__file__).with_name("templates")


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
