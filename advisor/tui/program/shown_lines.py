"""A ranking's answer where a screen has a line for it, and where it has no rows (pure)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.answers.build_words import gpus_words, short_gpus_words

if TYPE_CHECKING:
    from advisor.answers.ranking.verdict import Verdict
    from advisor.ranking.question import CandidatesKey
    from advisor.ranking.rank import Ranking
    from price_catalog.model import Rental

INTERVAL = re.compile(r" \([\d.,]+–[\d.,]+\)")
"""Of a sentence that is too long for its line."""
WAY_KEYS = {
    "budget": "Press b",
    "days": "Press t",
    "price": "Press F7, a",
    "evidence": "Press v",
    "gpus": "Press g",
    "model": "Press n",
    "precision": "Press n",
}
"""Where no build answers: which key helps."""


def why_empty(ranking: Ranking, key: CandidatesKey, rentals: Sequence[Rental]) -> str:
    """Why the table has no rows, and which key changes that."""
    candidates = ranking.candidates
    if not candidates.builds:
        return "No machine has these GPUs: press g and change the filter."
    from advisor.answers.ranking.suggestions import (  # late: most questions have an answer
        TITLE,
        ways_out,
    )

    helps = ways_out(ranking, rentals, key)
    if helps:
        keyed = (f"{WAY_KEYS.get(each.about, 'Or')}: {each.words}" for each in helps)
        return "\n".join((f"{TITLE}:", *keyed))
    name = candidates.model.name
    return f"Nobody has measured {name} on these machines. Press x for the reasons."


def lines_of(found: Verdict, width: int) -> str:
    """The answer in one line of so many cells, the doubt in the next; as a terminal with room
    for nothing else shows them."""
    said = found.short
    if len(said) <= width:
        return said
    head, mark, doubt = said.partition("; " if found.row is not None else ": ")
    head = head.rstrip(".")
    if found.row is not None and len(head) >= width:
        head = head.replace(gpus_words(found.row.build), short_gpus_words(found.row.build))
    if len(head) >= width:
        head = INTERVAL.sub("", head)
    return f"{head}.\n{doubt[:1].upper()}{doubt[1:]}" if mark else f"{head}."
