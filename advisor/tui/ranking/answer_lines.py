"""The lines around the ranking as widgets: the answer, what to settle, how many builds fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from advisor.tui.ranking.ranking_lines import counts_line, message_line, note_line
from advisor.tui.widgets.lines import PLAIN, wrapped

if TYPE_CHECKING:
    from advisor.tui.program.ranking_session import RankingSession


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
    old = str(line.content)
    if text != old:
        line.update(text, layout=_height(text, line.size.width) != _height(old, line.size.width))


def _height(text: str, width: int) -> int:
    return sum(max(1, -(-len(each) // max(1, width))) for each in text.split("\n"))


def _in_lines(text: str, width: int) -> str:
    """Broken where a count of GPUs stays with their name, which the widget does not look for."""
    return "\n".join(line for line, _ in wrapped([(text, PLAIN)], width)) if text else ""
