"""A machine that a vendor quoted: entered or corrected on one form, judged while it is typed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Grid, Vertical
from textual.widgets import Input, Static

from advisor.answers.prices.own_prices import MachineChange, change_machine, kept_words
from advisor.costs.amounts import usd_exact
from advisor.costs.own_quotes import OWN
from advisor.costs.owned import own_machine
from advisor.parse import InputError
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.prices.quote_dialogs import Keeping
from advisor.tui.program.actions import QUOTE
from advisor.tui.widgets.text_input import Field

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot
    from price_catalog.model import Host

MACHINE_FIELDS = (
    ("machine", "Name", "Exxact 8 x H200"),
    ("price", "Price", "of all of it: 285000"),
    ("gpu", "GPU", "H200; empty: without"),
    ("vendor", "Vendor", "who asks it"),
    ("count", "How many", "8, or cards it takes"),
    ("date", "Date", "2026-11-01"),
    ("fits", "Takes cards", "without GPU: A6000, L40S"),
    ("valid_until", "Valid until", "2026-12-31, or empty"),
    ("watts", "Watts", "at the wall: 10200"),
    ("includes", "Includes", "tax; shipping"),
    ("rack_units", "Rack units", "8; 0: on the floor"),
    ("kind", "Kind", "reseller-quote"),
    ("host_memory", "Memory", "1TiB"),
    ("delivery", "Delivery", "6 weeks"),
    ("links", "Links", "NVLink"),
    ("warranty", "Warranty", "3 years"),
    ("noise", "Noise dB(A)", "50"),
    ("currency", "Currency", "USD"),
    ("weight", "Weight kg", "45"),
    ("usd_per_unit", "USD per unit", "other currency: 1.08"),
    ("url", "Page", "https://…"),
    ("file", "File", "where you keep it"),
)
"""Two a row: what is said of the machine on the left, its price on the right."""


class MachineForm(Keeping):
    """One machine with its price, kept or corrected together."""

    AUTO_FOCUS = "#machine"
    HELP = """\
## A machine of your own

What a vendor quoted to you: left what the machine is, right what it costs. `Tab` goes from field
to field, `Enter` keeps it. A name such as `Exxact 8 x H200` fills in vendor, number and GPU. A
machine without GPUs has no GPU but the cards that it takes. It is ranked, planned and reported like
one that ships, and marked *own quote*.
"""

    def __init__(self, snapshot: Snapshot, cells: dict[str, str], corrected: Host | None) -> None:
        super().__init__()
        self._snapshot = snapshot
        self._cells = cells
        self._corrected = corrected
        self._from_name: dict[str, str] = {}
        """What the name said of other fields."""
        self.kept_name = ""
        """Of the machine that is being written."""

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = (
                "Add a machine" if self._corrected is None else f"Correct: {self._corrected.name}"
            )
            with Grid(id="pairs"):
                for n, (name, word, hint) in enumerate(MACHINE_FIELDS):
                    yield Static(word, classes="label second" if n % 2 else "label")
                    yield Field(
                        self._cells.get(name, ""), placeholder=hint, id=name, max_length=500
                    )
            yield Static("", id="said", markup=False)
            yield DialogKeys(QUOTE)

    def _made(self) -> MachineChange | str:
        """The machine as it stands, or what is wrong: first with the field that somebody is in."""
        cells = {name: self.query_one(f"#{name}", Input).value for name, _, _ in MACHINE_FIELDS}
        made = change_machine(
            {**self._cells, **cells}, self._snapshot, self._corrected, today=self.app.today
        )
        if isinstance(made, MachineChange):
            return made
        here = None if self.focused is None else self.focused.id
        problem = min(made, key=lambda problem: problem.column != here)
        return problem.said({name: label for name, label, _ in MACHINE_FIELDS})

    def _read_name(self) -> None:
        """Fill in what a name such as ``Exxact 8 x H200`` says, where nobody wrote another."""
        text = self.query_one("#machine", Input).value
        found = re.fullmatch(r"(.*?)(\d{1,2}\s*[x×]\s*\S.*)", text)
        said: dict[str, str] = {"gpu": "", "count": "", "vendor": ""}
        if found is not None and self._corrected is None:
            try:
                host = own_machine(found[2], self._snapshot.gpus)
            except InputError:
                return
            gpu = next(gpu for gpu in self._snapshot.gpus if gpu.gpu_id == host.gpu_id)
            said = {"gpu": gpu.name, "count": str(host.max_gpus), "vendor": found[1].strip(" ,:")}
        for name, value in said.items():
            field = self.query_one(f"#{name}", Input)
            if field.value == self._from_name.get(name, ""):
                with field.prevent(Input.Changed):
                    field.value = value
                self._from_name[name] = value

    @on(Input.Changed)
    def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.input.id == "machine":
            self._read_name()
        made = self._made()
        if isinstance(made, str):
            self.say_while_typed(made, self._cells)
        else:
            price = usd_exact(made.machine.quote.price_usd)
            self.say(f"{made.machine.host.name} {price}: Enter keeps it", wrong=False)

    @on(Input.Submitted)
    def action_keep(self) -> None:
        """Keep it where nothing is wrong."""
        made = self._made()
        if isinstance(made, str):
            self.say(made)
            return
        (host, quote), price_changed = made
        self.kept_name = host.name
        words = kept_words(made.machine, self._snapshot.gpus, "Kept")
        if self._corrected is None:
            self.write(lambda store: store.add_quoted_machine(host, quote, [OWN]), "\n".join(words))
        else:
            kept = quote if price_changed else None
            self.write(lambda store: store.replace_machine(host, kept, [OWN]), "\n".join(words))
