"""What is said of a file that was merged: its new rows, and what the store knew otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.costs.amount_words import counted
from bench_runner.untrusted_text import printable

if TYPE_CHECKING:
    from advisor.store.merge.merging import Merged


def merged_words(merged: Merged) -> str:
    """``3 new rows``, which rows stayed though the file says otherwise, and which were refused."""
    words = counted(merged.added, "new row")
    if not merged.rows:
        return f"{words}: it holds none that could be merged"
    if merged.held:
        first, *more = merged.held
        which = f"{len(more) + 1:,} rows ({first} and {len(more)} more)" if more else first
        words += f"; your store knows {which} with other content, which stays"
    if merged.refused:
        words += f"; refused: {refused_words(merged)}"
    return words


def refused_words(merged: Merged) -> str:
    """The first of the rows that did not come in, each with why."""
    few = list(map(printable, merged.refused[:3]))
    if len(merged.refused) > len(few):
        few.append(f"and {len(merged.refused) - len(few):,} more (--check lists them)")
    return "; ".join(few)
