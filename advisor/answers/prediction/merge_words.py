"""What is said of a file that was merged: its new rows, and what the store knew otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.answers.checklist import of_typed_store, quoted
from advisor.costs.amount_words import counted
from advisor.typed_input import shown
from bench_runner.untrusted_text import printable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.store.merge.merging import Merged


def merged_words(merged: Merged, file: str) -> str:
    """``3 new rows``, which rows stayed though the file says otherwise, and which were refused."""
    words = counted(merged.added, "new row")
    if not merged.rows:
        return f"{words}: it holds none that could be merged"
    if merged.replaced:
        words += f", {counted(merged.replaced, 'row')} of yours replaced"
    if merged.held:
        instead = of_typed_store(f"advisor merge --replace {quoted(file)}")
        words += (
            f"; your store knows {_which(merged.held)} with other content, which stays ({instead} "
            "puts the file's in its place)"
        )
    if merged.shipped:
        words += f"; {_which(merged.shipped)} ships with the program with other content, which "
        words += "stays: give yours an id of its own"
    if merged.refused:
        words += f"; refused: {refused_words(merged)}"
    return words


def refused_words(merged: Merged) -> str:
    """The first of the rows that did not come in, each with why."""
    few = list(map(printable, merged.refused[:3]))
    if len(merged.refused) > len(few):
        few.append(f"and {len(merged.refused) - len(few):,} more (--check lists them)")
    return "; ".join(few)


def _which(names: Sequence[str]) -> str:
    """``the record m-1``, ``3 rows (the record m-1 and 2 more)``; the names are others' words."""
    kind, _, name = names[0].partition(" ")
    first = f"the {kind} {shown(name)}"
    return first if len(names) == 1 else f"{len(names):,} rows ({first} and {len(names) - 1} more)"
