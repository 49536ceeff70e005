"""The ledger of prices: browse, filter, add, correct, import; and owning against renting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from textual.app import ComposeResult
from textual.geometry import Size
from textual.widgets import Static

from advisor.answers.build_words import gpus_words
from advisor.costs.amount_words import usd_exact
from advisor.costs.cost_terms import TERMS, read_terms
from advisor.costs.price_book import RULE_WORDS
from advisor.tui.pages.list_page import ListScreen
from advisor.tui.pages.title_and_key_bars import KeyBar, Tabs, TitleBar
from advisor.tui.prices.prices_rows import Entry, quote_table
from advisor.tui.program.answer import build_key
from advisor.tui.program.state import change_prices
from advisor.tui.widgets.filter_table import FilterTable
from advisor.tui.widgets.in_thread import in_thread, write_in_thread
from advisor.tui.widgets.lines import FAINT, PLAIN, STRONG, Line, LinesView, wrapped

if TYPE_CHECKING:
    from advisor.answers.prices.owning_and_renting import BuildCosts
    from advisor.ranking.snapshot import Snapshot
    from advisor.store import Store
    from advisor.tui.program.state import Change
    from price_catalog.builds import Build
    from price_catalog.model import Host, Quote

ABOUT = {
    "latest": "★ counts: a price of the last year before an older one, then your own, then what a "
    "seller asks, then the newest.",
    "paper": "★ counts: the figures of 2024-09-21 that the paper computes with, and no other. l on "
    "the ranking changes that.",
}
"""Which price counts, by the rule of the question; on a day, the same as latest."""
NO_RENTAL = "No rental of a ranked build is known: advisor prices refresh."
TABS = {"quotes": "Quotes", "rent": "Own or rent"}


class PricesScreen(ListScreen):
    """Quotes with their age and marks, and the break-even of renting."""

    WHERE = "prices"
    CSS_PATH = "prices.tcss"
    RECORD = "Quote"
    HELP = f"""\
## Prices

{RULE_WORDS}

Marks: `~` *stale* is a year old or older, `x` *expired* no longer valid, `?` *unsourced* without a
page or file to check it by, `!` *outlying* far from the other quotes of its item, `<` *corrected*
replaced by another, `+` *sum* added up from parts or options: nobody quoted the total.

`a` adds a quote, `A` a machine that a vendor quoted to you. `R` replaces the highlighted one (a
quote is kept, a machine of yours is changed), `d` deletes what is yours, `i` imports a CSV file.
`2` shows where owning a machine and renting the same GPUs break even.
"""

    def __init__(self, size: Size) -> None:
        super().__init__(size)
        self._snapshot: Snapshot | None = None
        self._even: BuildCosts | None = None
        """Of the selected build; else of the fastest whose GPUs are rented."""
        self._why_none = ""

    def compose(self) -> ComposeResult:
        yield TitleBar("prices")
        yield Tabs(TABS, "show_tab")
        rule = self.app.inputs.prices
        about = ABOUT.get(rule) or f"As known on {rule}. {ABOUT['latest']}"
        yield Static(about, id="about", markup=False)
        yield FilterTable(empty="The store holds no quotes: press a to add one.")
        yield LinesView(self._rent_page, id="rent")
        yield KeyBar("prices")

    def read_store(self) -> None:
        store_reader, inputs, today = self.app.store_reader, self.app.inputs, self.app.today
        rule, selected = inputs.prices, self.app.session.selected_key

        def ledger() -> tuple[Snapshot, list[Entry]]:
            from advisor.answers.prices.quotes import ledger_rows
            from advisor.ranking.snapshot import take_snapshot

            with store_reader.visit() as reader:
                snapshot = take_snapshot(reader)
            return snapshot, ledger_rows(snapshot, rule, today=today)

        def renting() -> BuildCosts | None:
            from advisor.answers.prices.owning_and_renting import own_or_rent

            typed = {term.name: getattr(inputs, term.name) for term in TERMS}
            terms, _ = read_terms(typed, in_form=True)
            with store_reader.visit() as reader:
                return own_or_rent(reader, inputs.model, rule, inputs.evidence, terms, selected)

        def then(read: tuple[Snapshot, list[Entry]]) -> None:
            self._ledger_read(*read)
            in_thread(
                self, "rent", renting, self._rent_read, lambda why: self._rent_read(None, why)
            )

        in_thread(self, "ledger", ledger, then, self.list.say_trouble)

    def _ledger_read(self, snapshot: Snapshot, entries: list[Entry]) -> None:
        self._snapshot = snapshot
        # The person's own first: they are what is corrected and deleted.
        entries = sorted(entries, key=lambda entry: entry[0].origin != "local")
        self.list.show(quote_table(entries, snapshot.sources))

    def _rent_read(self, even: BuildCosts | None, problem: str | None = None) -> None:
        selected, self._even = self.app.session.selected_key, even
        known = selected is None or (even is not None and build_key(even.build) == selected)
        self._why_none = problem or ("" if known else self._why_not())
        self._show_rent()

    def words_for(self, build: Build) -> str:
        """A machine that comes with its GPUs by its name; else the GPU that is put into one."""
        return build.gpu.name if build.host.gpu_id is None else build.host.label

    # Owning against renting

    def _show_rent(self) -> None:
        self.query_one("#rent", LinesView).show(self._rent_page, from_top=True)

    def _rent_page(self, width: int) -> list[Line]:
        """The picture of one build and what it says, for a width."""
        from advisor.answers.prices.owning_and_renting_text import even_words, offer_words
        from advisor.tui.prices.prices_rows import break_even_text

        why = wrapped([(self._why_none, STRONG)], width) if self._why_none else []
        if self._even is None:
            return why or wrapped([(NO_RENTAL, PLAIN)], width)
        asked = self._even
        height = max(self.size.height - 14, 8)
        lines: list[Line] = [*why, *wrapped([(asked.heading, STRONG)], width)]
        lines.append(("", PLAIN))
        lines += [(text, PLAIN) for text in break_even_text(asked, width, height)]
        lines.append(("", PLAIN))
        pays = even_words(asked, asked.evens)
        lines += wrapped([(words, PLAIN) for words in pays], width)
        typed = any(getattr(self.app.inputs, term.name).strip() for term in TERMS[1:])
        about = "Owning counts the machine's price alone: w on its page adds running costs."
        if typed:
            about = "Owning counts your running costs; w on the build's page changes them."
        lines += wrapped([(about, FAINT)], width)
        return lines + wrapped([(offer_words(even.offer), FAINT) for even in asked.evens], width)

    def _why_not(self) -> str:
        """Why the selected build has no break-even."""
        build, answer = self.app.session.selected_build, self.app.session.answer
        assert build is not None and answer is not None
        name, times = gpus_words(build), answer.view.candidates.times
        if times[self.app.session.selected or 0] is None:
            return f"{name}: its training time is not known, so that renting cannot be compared."
        return f"{name}: no rental of these GPUs is known, so that renting cannot be compared."

    # Quotes

    def action_add(self) -> None:
        entry: Entry | None = self.record
        self._fill_in({"item": "" if entry is None else entry[1]["item"]}, None)

    def action_correct(self) -> None:
        entry: Entry | None = self.record
        if entry is not None:
            from advisor.costs.own_quotes import KINDS, quote_cells
            from advisor.costs.parts import PREFIX

            quote, row = entry
            own = self._own_machine(quote)
            if own is not None:
                self._fill_in_machine(own)
                return
            if quote.quote_id.startswith(PREFIX):
                self.app.notify("This price is added up from parts: correct the quote of a part.")
                return
            names = {(quote.item_kind, quote.item_id): row["item"]}
            cells = quote_cells(quote, names) | {"corrects": quote.quote_id}
            if quote.kind not in KINDS:  # a sum or a rounded figure is nobody's own quote
                cells["kind"] = ""
            self._fill_in(cells, row["item"])

    def _fill_in(self, cells: dict[str, str], corrected: str | None) -> None:
        from advisor.tui.prices.price_forms import QuoteForm

        if self._snapshot is not None:
            self.app.push_screen(QuoteForm(self._snapshot, cells, corrected), self._kept)

    def _own_machine(self, quote: Quote) -> Host | None:
        """The machine of the user's that a quote is for."""
        hosts = () if self._snapshot is None else self._snapshot.hosts
        return next((h for h in hosts if h.is_own_quote and h.host_id == quote.item_id), None)

    def action_machine(self) -> None:
        self._fill_in_machine(None)

    def _fill_in_machine(self, host: Host | None) -> None:
        from advisor.answers.prices.own_prices import cells_of
        from advisor.tui.prices.price_forms import MachineForm

        if self._snapshot is not None:
            cells = {} if host is None else cells_of(host, self._snapshot)
            form = MachineForm(self._snapshot, cells, host)

            def kept(words: str | None) -> None:
                self._kept(words)
                if words:
                    self.filter_by(form.kept_name)  # else the filter may hide what was just kept

            self.app.push_screen(form, kept)

    def action_delete(self) -> None:
        from advisor.tui.pages.screens import ConfirmScreen

        entry: Entry | None = self.record
        if entry is None:
            return
        quote, row = entry
        if quote.origin != "local" or not quote.quote_id.startswith("own:"):
            self.app.notify("This price ships with the program: correct it with one of your own.")
            return
        own = self._own_machine(quote)
        name = f"{row['item']}, {usd_exact(quote.price_usd)}"
        words: list[Line] = [(f"The quote {name} of {quote.vendor} is deleted.", PLAIN)]
        if own is not None:
            words = [(f"The machine {own.name} and all its prices are deleted.", PLAIN)]

        def answered(yes: bool | None) -> None:
            if yes:
                self._remove(None if own is None else own.host_id, quote.quote_id, name)

        self.app.push_screen(ConfirmScreen("Delete", words, "delete"), answered)

    def _remove(self, host_id: str | None, quote_id: str, name: str) -> None:
        def remove(store: Store) -> object:
            gone = host_id is not None and store.remove("host", host_id)
            return gone or store.remove("quote", quote_id)

        def removed(done: Change) -> None:
            self.app.session.did(done)
            self.app.notify(f"{done.words} ^z brings it back.", markup=False)
            self.read_store()

        store = self.app.store_reader.patient_store
        words = f"{name}: deleted."
        write_in_thread(
            self, lambda: change_prices(store(), remove, words), removed, self.list.say_trouble
        )

    def action_import(self) -> None:
        from advisor.tui.prices.import_quotes import ImportScreen

        if self._snapshot is not None:
            self.app.push_screen(ImportScreen(self._snapshot), self._kept)

    def _kept(self, note: str | None) -> None:
        if note:
            self.read_store()

    # The same keys as on the other lists

    def action_show_tab(self, tab: str) -> None:
        self.query_one(Tabs).here = tab
        self.set_class(tab == "rent", "-rent")
        if tab == "rent":
            self.query_one("#rent").focus()
        else:
            self.list.table.focus()

    def action_focus_filter(self) -> None:
        self.action_show_tab("quotes")
        super().action_focus_filter()

    def action_export(self) -> None:
        from advisor.answers.prices.owning_and_renting_text import rent_rows
        from advisor.tui.pages.export_page import Exportable, ExportScreen

        renting = self.tab == "rent"
        records: list[dict[str, Any]] = []
        if renting:
            records = [] if self._even is None else rent_rows(self._even)
        elif self.list.listed is not None:
            records = [row for _, row in self.list.listed.records]
        if not records:
            self.app.notify("There is nothing to save yet.")
            return
        what = Exportable(
            name="own-or-rent" if renting else "quotes",
            rows=lambda: records,
            seen=None if renting else self.list.table,
        )
        self.app.push_screen(ExportScreen(what))

    def action_copy_row(self) -> None:
        text = self.record_text()
        if self.tab == "rent":
            text = "\n".join(line for line, _ in self._rent_page(100))
        self.app.copy_text(text, "it")
