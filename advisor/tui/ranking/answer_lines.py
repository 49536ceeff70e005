"""The lines around the ranking: the answer, what to settle, how many builds fit."""

from __future__ import annotations

import re
from textwrap import wrap
from typing import TYPE_CHECKING

from textual.widgets import Static

from advisor.tui.ranking.ranking_rows import NO_SELLER
from advisor.tui.widgets.lines import PLAIN, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from advisor.answers.checklist import Doubt
    from advisor.tui.program.session import RankingSession


class AnswerLines:
    """Says the session's answer, or what is wrong, in as many words as the terminal is wide for."""

    def __init__(self, session: RankingSession) -> None:
        self._session = session
        self.trouble: str | None = None
        """What is wrong with the store."""
        self.message = Static("reading the store …", id="message", markup=False)
        self.note = Static("", id="note", markup=False)
        self.counts = Static("", id="counts", markup=False)
        self.said_for = 0
        """How wide the terminal was for which they were written."""

    def show(self, width: int) -> None:
        """Write all three."""
        self.said_for = width
        session = self._session
        note = note_line(session, width - 2)
        self.note.set_class(bool(note), "-said")
        _write(self.note, _in_lines(note, width - 2))
        self.message.set_class(bool(session.errors or self.trouble), "-error")
        text = message_line(session, self.trouble, width)
        if text is not None:
            _write(self.message, _in_lines(text, width - 2))
            if session.answer is not None:
                _write(self.counts, counts_line(session, width - 2))


def _write(line: Static, text: str) -> None:
    """Show another text; the screen is laid out anew only where it takes other lines."""
    old, height = str(line.content), line.styles.height
    if text != old:
        least = line.styles.min_height
        room = int(least.value) if least is not None else 1
        lines = [max(room, _height(each, line.size.width)) for each in (old, text)]
        line.update(text, layout=height is None or (height.is_auto and lines[0] != lines[1]))


def _height(text: str, width: int) -> int:
    return sum(max(1, -(-len(each) // max(1, width))) for each in text.split("\n"))


def _in_lines(text: str, width: int) -> str:
    """Broken where a count of GPUs stays with their name, which the widget does not look for."""
    return "\n".join(line for line, _ in wrapped([(text, PLAIN)], width)) if text else ""


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
    "price": "Enter P",
    "rent": "Enter r",
    "unsold": "F7 a",
    "try": "F6 J",
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
        return f"{said}. m: one of those that are here; U: a model of your own."
    if said.endswith("is a size and no model"):
        return f"{said}. \N{DOWNWARDS ARROW}: one of the list; U: a model of your own."
    return f"{said}{'' if said.endswith('?') else '.'} U: a model of your own."


def counts_line(session: RankingSession, width: int) -> str:
    """How many builds fit, what their marks say and which key has the others."""
    assert session.answer is not None
    ranking = session.answer.ranking
    # What nobody is known to sell stands last.
    all_sold = not ranking.order or ranking.candidates.offered[ranking.order[-1]]
    unsold = "" if all_sold else f" {NO_SELLER} no seller known."
    counted = f"{session.counted()} x says why."
    if len(counted) + len(unsold) > width:
        counted = f"{counted.partition(';')[0]}. x: why others do not."
    return counted + unsold


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
