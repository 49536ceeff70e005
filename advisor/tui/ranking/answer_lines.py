"""The lines around the ranking as widgets: the answer, what to settle, how many builds fit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.widgets import Static

from advisor.tui.ranking.ranking_lines import counts_line, message_line, note_line

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
        _write(self.note, note)
        self.message.set_class(bool(session.errors or self.trouble), "-error")
        text = message_line(session, self.trouble, width)
        if text is not None:
            _write(self.message, text)
            if session.answer is not None:
                _write(self.counts, counts_line(session, width - 2))


def _write(line: Static, text: str) -> None:
    """Show another text; the screen is laid out anew only where it takes other lines."""
    old, width = str(line.content), max(1, line.size.width)
    if text != old:
        line.update(text, layout=-(-len(text) // width) != -(-len(old) // width))
