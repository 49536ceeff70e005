"""A CSV file of quotes: what would be read and what is wrong, row by row; then all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from advisor.answers.prices.quotes import ledger_items
from advisor.answers.wording import item_names
from advisor.costs.amounts import counted, usd_exact
from advisor.costs.own_quotes import OWN
from advisor.costs.own_quotes_csv import Preview, read_quotes
from advisor.files import is_file, typed_path
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.tui.program.actions import IMPORT, bindings_of
from advisor.tui.widgets.lines import FAINT, PLAIN, STRONG, WARNING, Line, LinesView, wrapped

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot

SHOWN = 200
"""Quotes of a file that are listed before it is imported."""
LOOKED_AT_ONCE = 1_000_000
"""A file of so many bytes is looked at while it is named; a larger one when Enter asks for it."""


class ImportScreen(Form):
    """Closes with what was read in, in words."""

    WHERE = IMPORT
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(IMPORT)]
    AUTO_FOCUS = "#path"
    SIZE = "page tall"
    GRID = "line"
    START = "Name a file: it is looked at first."
    FIELDS: ClassVar[Sequence[FormField]] = (
        FormField("path", "File", "a CSV file, such as quotes.csv", 1000),
    )
    HELP = """\
## Importing quotes

Type the path of a CSV file with the columns item, price, vendor, date and kind. What would be read
and what is wrong is shown row by row; a large file waits for `Enter`. `Enter` then reads it in: all
of it or nothing. A machine of your own has columns of its own, as `advisor prices export` writes.
"""

    @dataclass
    class Read(Message):
        """The file was looked at."""

        path: Path
        preview: Preview

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__("Import quotes")
        self._items = ledger_items(snapshot)
        self._names = item_names(snapshot.gpus, snapshot.hosts)
        self._ready: Preview | None = None

    def more(self) -> Iterable[Widget]:
        """What would be read."""
        return (LinesView(id="preview"),)

    def _named(self) -> Path:
        return typed_path(self.query_one("#path", Input).value.strip())

    def typed(self) -> None:
        """Look at the file that is being named."""
        self._ready = None
        path = self._named()
        self.query_one("#preview", LinesView).show(lambda width: [], from_top=True)
        if not path.name:
            self.say(self.START)
        elif not is_file(path):
            self.say("no such file yet", wrong=True)
        elif path.stat().st_size > LOOKED_AT_ONCE:
            self.say("Enter shows what would be read.")
        else:
            self.say("reading …")
            self._look(path)

    def judge(self, texts: dict[str, str]) -> Judged:
        """Enter looks at the file; once that was good, it reads it in."""
        path, ready = self._named(), self._ready
        if not path.name:
            return Judged("no file is named: write one such as quotes.csv")
        if ready is None:
            self.say("reading …")
            return Judged("", partial(self._look, path))
        quotes, hosts = ready.quotes, ready.hosts
        words = f"Imported {counted(len(quotes), 'quote')} of {path.name}."
        keep = self.writes(lambda store: store.add_quotes(quotes, [OWN], hosts), words)
        return Judged(words, keep)

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _look(self, path: Path) -> None:
        preview = read_quotes(path, self._items, today=self.app.today)
        self.post_message(self.Read(path, preview))

    @on(Read)
    def _read(self, event: Read) -> None:
        preview = event.preview
        self._ready = None
        if event.path != self._named():
            self.say("Enter shows what would be read.")
            return
        self.query_one("#preview", LinesView).show(
            lambda width: self._page(preview, width), from_top=True
        )
        if preview.problems:
            least = "at least " if preview.stopped else ""
            problems = counted(len(preview.problems), "problem")
            self.say(f"{least}{problems}: nothing will be read", wrong=True)
        else:
            self._ready = preview
            it = "it" if len(preview.quotes) == 1 else "them"
            self.say(f"{counted(len(preview.quotes), 'quote')}: Enter reads {it} in")

    def _page(self, preview: Preview, width: int) -> list[Line]:
        lines: list[Line] = [(str(problem), WARNING) for problem in preview.problems]
        names = self._names | item_names((), preview.hosts)
        known_ids = self._items.quote_ids or ()
        for quote in preview.quotes[:SHOWN]:
            item = names.get((quote.item_kind, quote.item_id), quote.item_id)
            known = quote.quote_id in known_ids
            said = f"{item}  {usd_exact(quote.price_usd)}{' (there already)' if known else ''}"
            lines.append((said, FAINT if known else STRONG))
            lines.append((f"  {quote.kind}, {quote.vendor}, {quote.quoted_on}", PLAIN))
        if (more := len(preview.quotes) - SHOWN) > 0:
            lines.append((f"and {more:,} more", PLAIN))
        return wrapped(lines, width)
