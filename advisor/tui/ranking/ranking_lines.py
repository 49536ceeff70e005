"""What the lines around the ranking say, each with the key that helps (pure)."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from advisor.tui.ranking.ranking_rows import NO_SELLER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.answers.checklist import Doubt
    from advisor.tui.program.ranking_session import RankingSession

RETRY = "(tried again every 2 s)"
SENTENCE_FROM = 100
"""From this width on the answer is said in full."""
KEEP_COMMAND = re.compile(r"(?:[;:] keep| A plain) .*advisor predict .*", re.DOTALL)
NOTE_LINES = 2
DOUBT_KEYS = {
    "rate": "b",
    "yours": "o",
    "ties": "M",
    "time": "M",
    "power": "Enter u",
    "price": "Enter $",
    "rent": "Enter r",
    "unsold": "F7 a",
    "try": "F6 e",
}
"""Which keys lead to what would settle a doubt."""
COMMAND_FLAG = re.compile(r" \(--[^)]*\)")
"""What a doubt says of the command line's flags: here a key does it."""


def message_line(session: RankingSession, trouble: str | None, width: int) -> str | None:
    """The answer in one sentence, or what is wrong with the fields or the store; None while
    there is neither."""
    if session.errors:
        return f"⚠ {with_key(*next(iter(session.errors.items())))}"
    if trouble is not None:
        return f"⚠ {trouble} {RETRY}"
    if session.answer is not None:
        return session.sentence(short=width < SENTENCE_FROM) or ""
    return None


def with_key(name: str, problem: str) -> str:
    """What is wrong with a field; where a command would mend it, the key that does."""
    if name != "model":
        return problem
    said, listed, _ = KEEP_COMMAND.sub("", problem).partition("; known: ")
    if listed:  # which the picker shows
        return f"{said}. m: one of those that are here; n: a model of your own."
    if said.endswith("is a size and no model"):
        return f"{said}. \N{DOWNWARDS ARROW}: one of the list; n: a model of your own."
    return f"{said}{'' if said.endswith('?') else '.'} n: a model of your own."


def counts_line(session: RankingSession, width: int) -> str:
    """How many builds fit, what their marks say and which key has the others."""
    assert session.answer is not None
    ranking = session.answer.ranking
    # What nobody is known to sell stands last.
    all_sold = not ranking.order or ranking.candidates.offered[ranking.order[-1]]
    unsold = "" if all_sold else f" {NO_SELLER} no seller known."
    counted = session.counted()
    short = counted.partition(";")[0]
    why = (f"{counted} x says why.", f"{short}; x says why the others do not.")
    said = (words for words in why if len(words) + len(unsold) <= width)
    return next(said, f"{short} (x: the others).") + unsold


def note_line(session: RankingSession, width: int) -> str:
    """What speaks against ordering first place, with the key that would settle it."""
    if session.errors and session.answer is not None:
        return f"Below is the last good answer: {session.answered_words()}."
    return _doubts_line(session.doubts(), width)


def _doubts_line(doubts: Sequence[Doubt], width: int) -> str:
    """As many doubts as fit into two lines, each with its keys; always the first."""
    note = ""
    for doubt in doubts:
        words = COMMAND_FLAG.sub("", doubt.words)
        words, keys = f"{words[:1].upper()}{words[1:]}", DOUBT_KEYS[doubt.about]
        said = f"{words} ({keys})."
        if not note and len(wrap(said, max(width, 1))) > NOTE_LINES:
            said = f"{words.partition(';')[0]} ({keys})."  # its page has the rest
        longer = f"{note} {said}".strip()
        if note and len(wrap(longer, max(width, 1))) > NOTE_LINES:
            break
        note = longer
    return note
