"""The forms of the prices screen: a quote, a machine that a vendor quoted, a machine you have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual import on
from textual.events import DescendantFocus

from advisor.answers.prices.own_prices import change_machine, kept_words
from advisor.answers.prices.quotes import ledger_items
from advisor.answers.wording import item_names
from advisor.costs.amount_words import usd_exact
from advisor.costs.own_machines import MACHINE_TABLE, OwnMachine, own_machine
from advisor.costs.own_quotes import OWN, QUOTE_TABLE, make_quote
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.typed_input import InputError
from price_catalog.model import Quote

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot
    from price_catalog.model import Host

_COLUMNS = {column.name: column for column in (*QUOTE_TABLE, *MACHINE_TABLE)}


def _fields(*names: str) -> Sequence[FormField]:
    return [FormField(name, _COLUMNS[name].label, _COLUMNS[name].hint) for name in names]


class PriceForm(Form):
    """What the three have in common."""

    WHERE = "quote"
    START = "What is the price, and who asks it? Enter keeps it."

    def new_cells(self) -> dict[str, str]:
        """What a new quote begins with."""
        return {"date": self.app.today.isoformat(), "kind": "reseller-quote"}

    @on(DescendantFocus, "#kind")
    def _say_kinds(self) -> None:
        """The field is filled in, so that its hint is not seen."""
        self.say(f"Kind: one of {_COLUMNS['kind'].hint}.")


class QuoteForm(PriceForm):
    """One quote, judged while it is typed."""

    AUTO_FOCUS = "#item"
    HELP = """\
## A quote

`Tab` goes from field to field, `Enter` keeps the quote. What is wrong is said below while you type.
A correction is a new quote that stands in for the old one, which is kept.
"""
    FIELDS = _fields(
        *("item", "price", "vendor", "date", "kind", "valid_until", "includes", "delivery"),
        *("warranty", "currency", "usd_per_unit", "url", "file", "note"),
    )

    def __init__(self, snapshot: Snapshot, cells: dict[str, str], corrected: str | None) -> None:
        title = "Add a quote" if corrected is None else f"Correct: {corrected}"
        super().__init__(title, self.new_cells() | cells)
        self._items = ledger_items(snapshot)
        self._names = item_names(snapshot.gpus, snapshot.hosts)

    def on_mount(self) -> None:
        """What it is for is known: the price is what is asked."""
        if self.values.get("item"):
            self.query_one("#price").focus()

    def judge(self, texts: dict[str, str]) -> Judged:
        made = make_quote({**self.values, **texts}, self._items, today=self.app.today)
        if isinstance(made, Quote):
            name = self._names.get((made.item_kind, made.item_id), made.item_id)
            said = f"{name} {usd_exact(made.price_usd)}"
            keep = self.writes(lambda store: store.add([OWN], quote=[made]), f"Kept {said}.")
            return Judged(f"{said}: Enter keeps it", keep)
        problem = min(made, key=lambda problem: problem.column != self.here)
        words = problem.said(self.labels)
        new = problem.column == "item" and texts["item"]
        words = f"{words}; a new machine: Esc, then A" if new else words
        return Judged(words, field=problem.column)


class MachineForm(PriceForm):
    """One machine with its price, kept or corrected together."""

    AUTO_FOCUS = "#machine"
    GRID = "pairs"
    HELP = """\
## A machine of your own

What a vendor quoted to you: left what the machine is, right what it costs. `Tab` goes from field
to field, `Enter` keeps it. A
machine without GPUs has no GPU but the cards that it takes. It is ranked, planned and reported like
one that ships, and marked *own quote*.
"""
    FIELDS = _fields(
        *("machine", "price", "gpu", "vendor", "count", "date", "fits", "valid_until", "watts"),
        *("includes", "rack_units", "kind", "host_memory", "delivery", "links", "warranty"),
        *("noise", "currency", "weight", "usd_per_unit", "url", "file"),
    )
    """Two a row: what is said of the machine on the left, its price on the right."""

    def __init__(self, snapshot: Snapshot, cells: dict[str, str], corrected: Host | None) -> None:
        title = "Add a machine" if corrected is None else f"Correct: {corrected.name}"
        super().__init__(title, self.new_cells() | cells)
        self._snapshot = snapshot
        self._corrected = corrected
        self.kept_name = ""
        """Of the machine that is being written."""

    def on_mount(self) -> None:
        """What it is stands there already: the price is what is typed."""
        if self._corrected is not None:
            self.query_one("#price").focus()

    def judge(self, texts: dict[str, str]) -> Judged:
        made = change_machine(
            {**self.values, **texts}, self._snapshot, self._corrected, today=self.app.today
        )
        if not isinstance(made, OwnMachine):
            problem = min(made, key=lambda problem: problem.column != self.here)
            return Judged(problem.said(self.labels), field=problem.column)
        host, quote = made
        self.kept_name = host.name
        words = "\n".join(kept_words(made, self._snapshot.gpus, "Kept"))
        if self._corrected is None:
            keep = self.writes(lambda store: store.add([OWN], host=[host], quote=[quote]), words)
        else:
            keep = self.writes(lambda store: store.replace_machine(host, quote, [OWN]), words)
        return Judged(f"{host.name} {usd_exact(quote.price_usd)}: Enter keeps it", keep)


class OwnedForm(PriceForm):
    """A machine that the lab has already: one line keeps it, the same line again forgets it."""

    AUTO_FOCUS = "#owned"
    SIZE = "page small"
    GRID = "line"
    HELP = """\
## A machine that you have

Write how many GPUs of which type are in it: `2 x A6000`. It costs nothing in every ranking, and
larger machines count its GPUs as yours. `Enter` keeps it; where you have it already, `Enter`
forgets it.
"""
    FIELDS: Sequence[FormField] = (FormField("owned", "Machine", "2 x A6000", 80),)

    def __init__(self, snapshot: Snapshot) -> None:
        super().__init__("A machine that you have")
        self._gpus = snapshot.gpus
        self._known = [host for host in snapshot.hosts if host.kind == "owned"]
        names = ", ".join(host.name.removeprefix("your ") for host in self._known)
        self.START = f"Yours already: {names}." if names else "None yet: write one like 2 x A6000."

    def judge(self, texts: dict[str, str]) -> Judged:
        try:
            made = own_machine(texts["owned"], self._gpus)
        except InputError as error:
            return Judged(str(error))
        if any(known.host_id == made.host_id for known in self._known):
            forget = self.writes(
                lambda store: store.remove("host", made.host_id), f"Forgot {made.name}."
            )
            return Judged(f"{made.name}: Enter forgets it", forget)
        words = f"Kept {made.name}: it costs nothing in a ranking."
        keep = self.writes(lambda store: store.add(host=[made]), words)
        return Judged(f"{made.name}: Enter keeps it", keep)
