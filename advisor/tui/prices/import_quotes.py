"""A CSV file of quotes: what would be read and what is wrong, row by row; then all or nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from advisor.answers.prices.quotes import ledger_items
from advisor.answers.wording import item_names
from advisor.costs.amount_words import counted, usd_exact
from advisor.costs.own_quotes import OWN
from advisor.costs.own_quotes_csv import Preview, read_quotes
from advisor.files import is_file, typed_path
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.tui.widgets.lines import FAINT, PLAIN, STRONG, WARNING, Line, wrapped

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot

SHOWN = 200
"""Quotes of a file that are listed before it is imported."""


class ImportScreen(Form):
    """Closes with what was read in, in words."""

    WHERE = "import"
    AUTO_FOCUS = "#path"
    SIZE = "page tall"
    GRID = "line"
    STUDIES = True
    START = "Name a file: it is looked at first."
    FIELDS: Sequence[FormField] = (
        FormField("path", "File", "a CSV file, such as quotes.csv", 1000),
    )
    HELP = """\
## Importing quotes

Type the path of a CSV file with the columns item, price, vendor, date and kind. What would be read
and what is wrong is shown row by row. `Enter` then reads it in: all of it or nothing. A machine of
your own has columns of its own, as `advisor prices export` writes.
"""

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__("Import quotes")
        self._items = ledger_items(snapshot)
        self._names = item_names(snapshot.gpus, snapshot.hosts)

    def judge(self, texts: dict[str, str]) -> Judged:
        path = typed_path(texts["path"])
        if not path.name:
            return Judged("no file is named: write one such as quotes.csv")
        if not is_file(path):
            return Judged("no such file yet")
        preview = read_quotes(path, self._items, today=self.app.today)
        page = partial(self._page, preview)
        quotes, hosts = preview.quotes, preview.hosts
        if preview.problems:
            least = "at least " if preview.stopped else ""
            problems = counted(len(preview.problems), "problem")
            return Judged(f"{least}{problems}: nothing will be read", page=page)
        words = f"Imported {counted(len(quotes), 'quote')} of {path.name}."
        keep = self.writes(lambda store: store.add([OWN], quote=quotes, host=hosts), words)
        it = "it" if len(quotes) == 1 else "them"
        return Judged(f"{counted(len(quotes), 'quote')}: Enter reads {it} in", keep, page=page)

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
