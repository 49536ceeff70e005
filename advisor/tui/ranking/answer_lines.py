"""The lines above the ranking: the answer, or what is wrong with the question."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual.widgets import Static

from advisor.tui.widgets.lines import PLAIN, wrapped

if TYPE_CHECKING:
    from advisor.tui.program.session import RankingSession


class AnswerLines:
    """Says the session's answer, or what is wrong."""

    def __init__(self, session: RankingSession) -> None:
        self._session = session
        self.trouble: str | None = None
        """What is wrong with the store."""
        self.message = Static("reading the store …", id="message", markup=False)
        self.note = Static("", id="note", markup=False)
        self.said_for = 0
        """How wide the terminal was for which they were written."""

    def show(self, width: int) -> None:
        """Write both."""
        self.said_for = width
        session = self._session
        note = ""
        if session.errors and session.answer is not None:
            note = f"Below is the last good answer: {session.answered_words()}."
        self.note.set_class(bool(note), "-said")
        _write(self.note, note, width - 2)
        self.message.set_class(bool(session.errors or self.trouble), "-error")
        text = message_line(session, self.trouble)
        if text is not None:
            _write(self.message, text, width - 2)


def _write(line: Static, text: str, width: int) -> None:
    """Show another text, broken where a count of GPUs stays with their name, which the widget does
    not look for; the screen is laid out anew only where it takes other lines."""
    old, new = str(line.content), "\n".join(each for each, _ in wrapped([(text, PLAIN)], width))
    if new != old:
        least = line.styles.min_height
        room = 1 if least is None else int(least.value)
        rows = [max(room, each.count("\n") + 1) for each in (old, new)]
        line.update(new, layout=rows[0] != rows[1])


RETRY = "(tried again every 2 s)"
KEEP_COMMAND = re.compile(r"(?:[;:] keep| A plain) .*advisor predict .*", re.DOTALL)


def message_line(session: RankingSession, trouble: str | None) -> str | None:
    """The answer in one sentence, or what is wrong with the fields or the store; None while
    there is neither."""
    if session.errors:
        return f"⚠ {with_key(*next(iter(session.errors.items())))}"
    if trouble is not None:
        return f"⚠ {trouble} {RETRY}"
    if session.answer is not None:
        return session.sentence()
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
