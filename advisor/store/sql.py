"""The named SQL questions, read from files."""

from __future__ import annotations

from functools import cache
from pathlib import Path

QUERIES_FOLDER = Path(__file__).with_name("queries")


@cache
def query(name: str) -> str:
    """The text of ``queries/<name>.sql``."""
    return (QUERIES_FOLDER / f"{name}.sql").read_text(encoding="utf-8")
