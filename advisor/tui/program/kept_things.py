"""What the program keeps of a person's: read when first asked for, written where it changed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from advisor.tui.program.kept import Kept, KeptNote, KeptQuestion
    from advisor.tui.program.settings import State


class KeptThings:
    """Questions, plans and results of this run and of earlier ones."""

    def __init__(self, path: Path | None, today: date, say: Callable[[str], None]) -> None:
        """``path`` is where the file is, None for nowhere; ``say`` shows one line of what is wrong
        with it."""
        self._path = path
        self._today = today
        self._say = say
        self._kept: Kept | None = None
        self._changed = False

    @property
    def has_file(self) -> bool:
        """Whether anything outlives this run."""
        return self._path is not None

    def _things(self) -> Kept:
        if self._kept is None:
            from advisor.tui.program.kept import Kept, load_kept  # late: not for the first screen

            self._kept, note = (Kept(), None) if self._path is None else load_kept(self._path)
            if note:
                self._say(note)
        return self._kept

    @property
    def questions(self) -> Sequence[KeptQuestion]:
        """The newest first."""
        return self._things().questions

    def remember(self, asked: State, answer: str) -> None:
        """Put a question among the last ones; written when the program is left."""
        changed = self._things().remember(asked, answer, self._today)
        self._changed = changed or self._changed

    def name_it(self, asked: State, answer: str, name: str) -> None:
        """Keep a question under a name."""
        self._things().name_it(asked, answer, self._today, name)
        self._write_change()

    def forget(self, question: KeptQuestion) -> None:
        """Drop one of those that were kept."""
        self._things().forget(question)
        self._write_change()

    def note(self, screen: str) -> KeptNote | None:
        """What a screen last showed, in this run or one before."""
        return self._things().notes.get(screen)

    def keep_note(
        self,
        screen: str,
        title: str,
        text: str,
        layouts: dict[int, str] | None = None,
        **asked: str,
    ) -> None:
        """Keep what a screen shows, such as a plan, for when it is opened again; ``layouts`` are
        the same text for other widths."""
        from advisor.tui.program.kept import KeptNote

        made_on = self._today.isoformat()
        self._things().note(
            screen,
            KeptNote(title=title, made_on=made_on, text=text, asked=asked, layouts=layouts or {}),
        )
        self._write_change()

    def _write_change(self) -> None:
        self._changed = True
        self.write()

    def write(self) -> None:
        """Write the file where anything changed."""
        if self._path is not None and self._changed and self._kept is not None:
            from advisor.tui.program.kept import save_kept

            self._changed = False
            problem = save_kept(self._path, self._kept)
            if problem:
                self._path = None  # said once
                self._say(problem)
