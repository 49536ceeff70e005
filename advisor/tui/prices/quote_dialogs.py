"""A quote typed in or corrected, and a file of quotes looked at before it is read in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Grid, Vertical
from textual.events import DescendantFocus
from textual.message import Message
from textual.widgets import Input, Static

from advisor.answers.prices.quotes import ledger_items
from advisor.answers.wording import item_names
from advisor.costs.amounts import counted, usd_exact
from advisor.costs.own_quotes import OWN, make_quote
from advisor.costs.own_quotes_csv import Preview, read_quotes
from advisor.files import is_file, typed_path
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.screens import Dialog
from advisor.tui.program.actions import IMPORT, QUOTE, bindings_of
from advisor.tui.widgets.lines import FAINT, PLAIN, STRONG, WARNING, Line, LinesView, wrapped
from advisor.tui.widgets.text_input import Field
from price_catalog.model import Quote

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from advisor.ranking.snapshot import Snapshot
    from advisor.store import Store

LOOKED_AT_ONCE = 1_000_000
"""A file of so many bytes is looked at while it is named; a larger one when Enter asks for it."""
SHOWN = 200
"""Quotes of a file that are listed before it is imported."""
KINDS = "reseller-quote, education, list, street, used, secondary"
FIELDS = (
    ("item", "Item", "RTX 3090, or a machine's name"),
    ("price", "Price", "of one piece: 900"),
    ("vendor", "Vendor", "who asks it"),
    ("date", "Date", "2026-11-01"),
    ("kind", "Kind", KINDS),
    ("valid_until", "Valid until", "2026-12-31, or empty"),
    ("includes", "Includes", "tax; shipping; education discount"),
    ("delivery", "Delivery", "6 weeks"),
    ("warranty", "Warranty", "3 years"),
    ("currency", "Currency", "USD"),
    ("usd_per_unit", "USD per unit", "for other currencies: 1.08"),
    ("url", "Page", "https://…"),
    ("file", "File", "where you keep the quote"),
    ("note", "Note", ""),
)


class Keeping(Dialog["str | None"]):
    """A dialog that ends with something being kept."""

    CSS_PATH = "prices.tcss"
    WHERE = QUOTE
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(QUOTE)]

    @dataclass
    class Failed(Message):
        """Nothing was kept; the text says why."""

        text: str

    @dataclass
    class Kept(Message):
        """The quotes are in the store."""

        text: str

    def keep(self, quotes: Sequence[Quote], words: str) -> None:
        """Write quotes in a thread, all or none."""
        kept = tuple(quotes)
        self.write(lambda store: store.add_quotes(kept, [OWN]), words)

    @work(thread=True, exclusive=True, group="write", exit_on_error=False)
    def write(self, change: Callable[[Store], object], words: str) -> None:
        """Change the store in a thread, then close and say so."""
        from advisor.store import StoreError

        try:
            change(self.app.store_reader.patient_store())
        except StoreError as error:
            self.post_message(self.Failed(str(error)))
        else:
            self.post_message(self.Kept(words))

    @on(Kept)
    def _kept(self, event: Kept) -> None:
        self.dismiss(event.text)

    @on(Failed)
    def _failed(self, event: Failed) -> None:
        self.say(event.text)

    def say(self, text: str, *, wrong: bool = True) -> None:
        """Say what is wrong, or what goes on."""
        line = self.query_one("#said", Static)
        line.set_class(wrong, "-error")
        line.update(f"⚠ {text}" if wrong and text else text)

    def say_while_typed(self, text: str, first: dict[str, str]) -> None:
        """What is wrong, once somebody typed: a form that has just opened is not wrong yet."""
        if all(field.value == first.get(field.id or "", "") for field in self.query(Input)):
            self.say("What is asked, and by whom? Enter keeps it.", wrong=False)
        else:
            self.say(text)

    @on(DescendantFocus, "#kind")
    def _say_kinds(self) -> None:
        """The field is filled in, so that its hint is not seen."""
        self.say(f"Kind: one of {KINDS}.", wrong=False)

    def action_cancel(self) -> None:
        """Close, keep nothing."""
        self.dismiss(None)


class QuoteForm(Keeping):
    """One quote, judged while it is typed."""

    AUTO_FOCUS = "#item"
    HELP = """\
## A quote

`Tab` goes from field to field, `Enter` keeps the quote. What is wrong is said below while you type.
A correction is a new quote that stands in for the old one, which is kept.
"""

    def __init__(self, snapshot: Snapshot, cells: dict[str, str], corrected: str | None) -> None:
        super().__init__()
        self._items = ledger_items(snapshot)
        self._names = item_names(snapshot.gpus, snapshot.hosts)
        self._cells = cells
        self._corrected = corrected

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = (
                "Add a quote" if self._corrected is None else f"Correct: {self._corrected}"
            )
            with Grid(id="form"):
                for name, word, hint in FIELDS:
                    yield Static(word, classes="label")
                    yield Field(
                        self._cells.get(name, ""), placeholder=hint, id=name, max_length=500
                    )
            yield Static("", id="said", markup=False)
            yield DialogKeys(QUOTE)

    def on_mount(self) -> None:
        """What it is for is known: the price is what is asked."""
        if self._cells.get("item"):
            self.query_one("#price").focus()

    def _made(self) -> Quote | str:
        """The quote as it stands, or what is wrong: first with the field that somebody is in."""
        cells = {name: self.query_one(f"#{name}", Input).value for name, _, _ in FIELDS}
        if self._corrected is not None:
            cells["corrects"] = self._cells["corrects"]
        made = make_quote(cells, self._items, today=self.app.today)
        if isinstance(made, Quote):
            return made
        here = None if self.focused is None else self.focused.id
        problem = min(made, key=lambda problem: problem.column != here)
        new = problem.column == "item" and cells["item"].strip()
        words = problem.said({name: label for name, label, _ in FIELDS})
        return f"{words}; a new machine: Esc, then m" if new else words

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        made = self._made()
        if isinstance(made, str):
            self.say_while_typed(made, self._cells)
        else:
            name = self._names.get((made.item_kind, made.item_id), made.item_id)
            self.say(f"{name} {usd_exact(made.price_usd)}: Enter keeps it", wrong=False)

    @on(Input.Submitted)
    def action_keep(self) -> None:
        """Keep it where nothing is wrong."""
        made = self._made()
        if isinstance(made, str):
            self.say(made)
        else:
            name = self._names.get((made.item_kind, made.item_id), made.item_id)
            self.keep([made], f"Kept {name} {usd_exact(made.price_usd)}.")


class ImportScreen(Keeping, inherit_bindings=False):
    """A CSV file: what would be read and what is wrong, row by row; then all or nothing."""

    WHERE = IMPORT
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(IMPORT)]
    AUTO_FOCUS = "#path"
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
        super().__init__()
        self._items = ledger_items(snapshot)
        self._names = item_names(snapshot.gpus, snapshot.hosts)
        self._ready: ImportScreen.Read | None = None

    def compose(self) -> ComposeResult:
        with Vertical(classes="page tall") as box:
            box.border_title = "Import quotes"
            yield Field(placeholder="a CSV file, such as quotes.csv", id="path", max_length=1000)
            yield Static("Name a file: it is looked at first.", id="said", markup=False)
            yield LinesView(id="preview")
            yield DialogKeys(IMPORT)

    def _named(self) -> Path:
        return typed_path(self.query_one("#path", Input).value.strip())

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        self._ready = None
        path = self._named()
        self.query_one("#preview", LinesView).show(lambda width: [], from_top=True)
        if not path.name:
            self.say("Name a file: it is looked at first.", wrong=False)
        elif not is_file(path):
            self.say("no such file yet")
        elif path.stat().st_size > LOOKED_AT_ONCE:
            self.say("Enter shows what would be read.", wrong=False)
        else:
            self.say("reading …", wrong=False)
            self._look(path)

    @on(Input.Submitted)
    def action_go_on(self) -> None:
        """Look at the file; once that was good, read it in."""
        path = self._named()
        ready = self._ready
        if ready is not None:
            self.write(
                lambda store: store.add_quotes(ready.preview.quotes, [OWN], ready.preview.hosts),
                f"Imported {counted(len(ready.preview.quotes), 'quote')} of {path.name}.",
            )
        elif not path.name:
            self.say("no file is named: write one such as quotes.csv")
        else:
            self.say("reading …", wrong=False)
            self._look(path)

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def _look(self, path: Path) -> None:
        preview = read_quotes(path, self._items, today=self.app.today)
        self.post_message(self.Read(path, preview))

    @on(Read)
    def _read(self, event: Read) -> None:
        preview = event.preview
        self._ready = None
        if event.path != self._named():
            self.say("Enter shows what would be read.", wrong=False)
            return
        self.query_one("#preview", LinesView).show(
            lambda width: self._page(preview, width), from_top=True
        )
        if preview.problems:
            least = "at least " if preview.stopped else ""
            several = "" if len(preview.problems) == 1 else "s"
            self.say(f"{least}{len(preview.problems)} problem{several}: nothing will be read")
        else:
            self._ready = event
            them = "1 quote: Enter reads it in"
            if len(preview.quotes) != 1:
                them = f"{len(preview.quotes):,} quotes: Enter reads them in"
            self.say(them, wrong=False)

    def _page(self, preview: Preview, width: int) -> list[Line]:
        lines: list[Line] = [(str(problem), WARNING) for problem in preview.problems]
        names = self._names | item_names((), preview.hosts)
        known_ids = self._items.quote_ids or ()
        for quote in preview.quotes[:SHOWN]:
            item = names.get((quote.item_kind, quote.item_id), quote.item_id)
            known = " (there already)" if quote.quote_id in known_ids else ""
            lines.append(
                (f"{item}  {usd_exact(quote.price_usd)}{known}", STRONG if not known else FAINT)
            )
            lines.append((f"  {quote.kind}, {quote.vendor}, {quote.quoted_on}", PLAIN))
        if (more := len(preview.quotes) - SHOWN) > 0:
            lines.append((f"and {more:,} more", PLAIN))
        return wrapped(lines, width)
