"""Pages of text over a screen: a record in full, and a question before something starts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Markdown

from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.screens import Dialog
from advisor.tui.program.actions import CONFIRM, RECORD, bindings_of
from advisor.tui.widgets.lines import PLAIN, Line, LinesView, Page, wrapped


class RecordScreen(Dialog[None]):
    """A page of text over the screen that it came from."""

    WHERE = RECORD
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(RECORD)]

    def __init__(self, title: str, page: Page) -> None:
        super().__init__()
        self._title = title
        self._page = page

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = self._title
            yield LinesView(self._page)
            yield DialogKeys(RECORD)

    def action_copy(self) -> None:
        """Copy the whole page, unwrapped."""
        self.app.copy_text("\n".join(text for text, _ in self._page(10_000)), "the page")


class MarkdownScreen(RecordScreen):
    """A page of Markdown as it will look."""

    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, title: str, text: str) -> None:
        super().__init__(title, lambda width: [(line, PLAIN) for line in text.splitlines()])
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = self._title
            with VerticalScroll():
                yield Markdown(self._text, open_links=False)
            yield DialogKeys(self.WHERE)


class ConfirmScreen(Dialog[bool]):
    """Answers True only where the person said so."""

    WHERE = CONFIRM
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(CONFIRM)]
    HELP = """\
## Before it starts

`Enter` goes on, `Esc` goes back and changes nothing.
"""

    def __init__(self, title: str, lines: Sequence[Line], yes: str) -> None:
        super().__init__()
        self._title = title
        self._lines = lines
        self._yes = yes

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = self._title
            yield LinesView(lambda width: wrapped(self._lines, width))
            yield DialogKeys(CONFIRM, **{"answer(True)": self._yes})

    def action_answer(self, yes: bool) -> None:
        """Close with the answer."""
        self.dismiss(yes)
