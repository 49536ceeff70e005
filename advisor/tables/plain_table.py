"""A table as rows or as columns of plain values, and what can be asked of either."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

Row = Mapping[str, Any]
Columns = Mapping[str, Sequence[Any]]
"""A table by its columns, all as long: of 100,000 rows much lighter than the rows."""
ALIKE_IF_EQUAL = {str, date, type(None)}
"""What is written alike where it is equal; 1, 1.0 and True are not."""
PIECE = 5_000
"""So many rows at once: what is made of them on the way stays small."""


def is_flat(columns: Columns) -> bool:
    """Whether no value holds others."""
    kinds = {kind for values in columns.values() for kind in set(map(type, values))}
    return not any(issubclass(kind, (dict, list, tuple)) for kind in kinds)


def all_have(names: list[str], rows: Sequence[Row]) -> bool:
    """Whether each row has these keys, in this order, and no others."""
    return all(list(row) == names for row in rows)
