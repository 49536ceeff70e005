"""What is said of a file that was merged: its new rows, and what the store knew otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.answers.checklist import of_typed_store, quoted
from advisor.costs.amounts import counted
from advisor.parse import shown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.store.merge.merging import Merged


def merged_words(merged: Merged, file: str) -> str:
    """``3 new rows``, and which rows stayed as they were although the file says otherwise."""
    words = counted(merged.added, "new row")
    if merged.replaced:
        words += f", {counted(merged.replaced, 'row')} of yours replaced"
    words += held_words(merged.held, file)
    if merged.shipped:
        words += f"; {_which(merged.shipped)} ships with the program with other content, which "
        words += "stays: give yours an id of its own"
    return words


def held_words(names: Sequence[str], file: str) -> str:
    """Of rows that stay although a file says otherwise: which, and how to have the file's."""
    if not names:
        return ""
    instead = of_typed_store(f"advisor merge --replace {quoted(file)}")
    return (
        f"; your store knows {_which(names)} with other content, which stays ({instead} puts the "
        "file's in its place)"
    )


def _which(names: Sequence[str]) -> str:
    """``the record m-1``, ``3 rows (the record m-1 and 2 more)``; the names are others' words."""
    kind, _, name = names[0].partition(" ")
    first = f"the {kind} {shown(name)}"
    return first if len(names) == 1 else f"{len(names):,} rows ({first} and {len(names) - 1} more)"
