"""The first page: what there is to do, a worked sample, and what the evidence is worth."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult

from advisor.answers.ranking.verdict import verdict
from advisor.answers.wording import experiment_line
from advisor.costs.amount_words import usd_whole
from advisor.ranking.question import Question
from advisor.ranking.rank import rank
from advisor.tui.pages.bars import KeyBar, TitleBar
from advisor.tui.pages.screens import SizedScreen
from advisor.tui.program.keys import WELCOME
from advisor.tui.program.program import StoreChanged
from advisor.tui.program.state import State
from advisor.tui.widgets.in_thread import in_thread
from advisor.tui.widgets.lines import (
    FAINT,
    HEADING,
    PLAIN,
    STRONG,
    WARNING,
    Line,
    LinesView,
    wrapped,
)

if TYPE_CHECKING:
    from advisor.ranking.snapshot import Snapshot
    from advisor.tui.program.store_reader import Reading

SAMPLE_BUDGET = "40000"
SAMPLE_MODEL = "pythia-1b"


class WelcomeScreen(SizedScreen):
    """What this program does."""

    WHERE = WELCOME
    CSS_PATH = "welcome.tcss"

    def compose(self) -> ComposeResult:
        yield TitleBar("welcome")
        yield LinesView(lambda width: wrapped(INTRODUCTION, width), id="welcome")
        yield KeyBar(WELCOME)

    def on_mount(self) -> None:
        self.read_store()

    def read_store(self) -> None:
        """Read what ships, work the sample out, and show both."""
        in_thread(self, "read", self._worked_out, self._show, self._store_trouble)

    def _worked_out(self) -> list[Line]:
        """The sample and the evidence, in words."""
        store_reader = self.app.store_reader
        reading = store_reader.read(replace(State(), budget=SAMPLE_BUDGET, model=SAMPLE_MODEL))
        with store_reader.visit() as reader:
            times = reader.count_times()
            refused = reader.count_times(verdict="implausible")
        evidence = evidence_lines(reading.snapshot, times, refused, self.app.today)
        return [*sample_lines(reading), *evidence]

    def _store_trouble(self, text: str) -> None:
        self._show([("THE STORE CANNOT BE READ", HEADING), (text, WARNING)])

    @on(StoreChanged)
    def _store_changed(self) -> None:
        self.read_store()

    def _show(self, lines: list[Line]) -> None:
        page = [*INTRODUCTION, *lines]
        self.query_one(LinesView).show(lambda width: wrapped(page, width), from_top=False)

    def action_try_sample(self) -> None:
        """Open the main screen on the sample."""
        asked = State().question() | {"budget": SAMPLE_BUDGET, "model": SAMPLE_MODEL}
        self.app.ask(**asked)  # with the defaults for all else, as the sample has


INTRODUCTION: tuple[Line, ...] = (
    ("Which machine should you buy for the model that you want to train?", STRONG),
    ("", PLAIN),
    ("WHAT YOU CAN DO", HEADING),
    ("1  Ask what to buy (F2)", STRONG),
    ("   Type what you can spend, and a model. Enter opens a machine: price, rent, power.", PLAIN),
    ("2  See what that rests on (F3, F7)", STRONG),
    ("   Every measured time and every price, with its source. Add your own quotes.", PLAIN),
    ("3  Measure (F6), and plan a grant (F8)", STRONG),
    ("   Here or on a cluster. Several runs and one budget become a plan and its report.", PLAIN),
    ("4  Take it with you (e and y)", STRONG),
    ("   Save the table and the picture, or copy them.", PLAIN),
    ("", PLAIN),
)


def sample_lines(reading: Reading) -> list[Line]:
    """A budget worked out."""
    model = reading.snapshot.model(SAMPLE_MODEL)
    lines: list[Line] = [(f"A SAMPLE: {usd_whole(int(SAMPLE_BUDGET))} for {model.name}", HEADING)]
    question = Question(budget_usd=Decimal(SAMPLE_BUDGET))
    ranking = None if reading.candidates is None else rank(reading.candidates, question)
    if ranking is None or not len(ranking):
        return [*lines, ("No build in this store answers it.", PLAIN), ("", PLAIN)]
    return [
        *lines,
        (verdict(ranking).sentence, PLAIN),
        (f"A run on it: {experiment_line(ranking.row(0), question.terms)}", PLAIN),
        ("Press Enter to open it.", STRONG),
        ("", PLAIN),
    ]


def evidence_lines(snapshot: Snapshot, times: int, refused: int, today: date) -> list[Line]:
    """What ships, from when, and what it does not say."""
    days = sorted(quote.quoted_on for quote in snapshot.quotes)
    prices = ""
    if days:
        age = (today - days[-1]).days
        prices = f"{len(days):,} prices; the newest is {age:,} days old today. "
    return [
        ("WHAT THE EVIDENCE IS WORTH", HEADING),
        (f"{times:,} measured settings and {prices}Each has its source.", PLAIN),
        (f"{refused:,} times claim more than the hardware can do: they are not ranked.", PLAIN),
        ("Limits: prices leave out tax and people. Printed times may be too low.", FAINT),
    ]
