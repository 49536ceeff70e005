"""Tables as files: CSV, Markdown or JSON, written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from advisor.render import Row, to_csv, to_json

TABLE_FORMATS = {".csv": "csv", ".md": "markdown", ".json": "json"}
"""The format that a file's ending asks for."""
_MARKUP = str.maketrans({mark: f"\\{mark}" for mark in "\\|`*_[]<>#~"})


def to_markdown(rows: Sequence[Row], columns: Sequence[str]) -> str:
    """A Markdown table with a header, also where there are no rows; None shows as "no data"."""
    lines = [[_markdown_cell(column) for column in columns], ["---"] * len(columns)]
    lines += [[_markdown_cell(row.get(column)) for column in columns] for row in rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _markdown_cell(value: Any) -> str:
    """A cell is data: what would be markup is escaped, what would break the line is not kept."""
    if value is None or value == "":
        return "no data"
    if isinstance(value, bool):
        return "yes" if value else "no"
    text = to_json(value) if isinstance(value, (dict, list, tuple)) else str(value)
    return "".join(ch if ch.isprintable() else " " for ch in text).translate(_MARKUP)


def table_text(rows: Sequence[Row], columns: Sequence[str], form: str) -> str:
    """Rows in ``csv``, ``markdown`` or ``json``, ending in a line feed."""
    if form == "csv":
        return to_csv(rows, columns) + "\n"
    if form == "markdown":
        return to_markdown(rows, columns)
    if form == "json":
        return to_json([{column: row.get(column) for column in columns} for row in rows]) + "\n"
    raise ValueError(f"format '{form}' is not known: write csv, markdown or json")


def write_whole(path: Path, content: str | bytes, *, overwrite: bool) -> None:
    """Write a file so that it is there in full or not at all. Raises OSError, which names it.

    Without ``overwrite`` a file that is already there is left alone, also one that another
    program made a moment ago (FileExistsError).
    """
    if not path.name:
        raise FileNotFoundError(errno.ENOENT, "No file is named", str(path))
    draft = path.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            draft.replace(path)
        else:
            _place(draft, path)
    except OSError as error:
        if error.filename is not None:  # the draft, of which nobody knows
            error.filename, error.filename2 = str(path), None
        raise
    finally:
        draft.unlink(missing_ok=True)


def _place(draft: Path, path: Path) -> None:
    """Give the finished draft its name unless that is taken."""
    try:
        path.hardlink_to(draft)
    except FileExistsError:
        raise
    except OSError:
        # A file system without hard links (FAT, some network shares): the check and the rename
        # are then two steps, and a file made between them would be replaced.
        if path.exists():
            raise FileExistsError(f"{path} is already there") from None
        draft.replace(path)
