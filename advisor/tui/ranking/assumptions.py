"""The page that asks for what a question assumes beside its fields."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from advisor.costs.cost_terms import TERMS
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.tui.program.session import RankingSession

SOFTWARE_WORDS = {
    "ours": "this program's own settings",
    "plain": "plain PyTorch, as most people write it",
    "tuned": "another program that is tuned for speed",
}
PRICE_WORDS = {"latest": "latest", "paper": "the paper's, of 2024-09-21"}
EVIDENCE_WORDS = {"sound": "sound", "published": "published, as printed"}


class AssumptionsForm(Form):
    """Closes with a word where something was changed."""

    WHERE = "your figures"
    GRID = "wide"
    FIELDS = (
        *(FormField(term.name, term.label, term.hint, 30) for term in TERMS),
        FormField("buy_in", "Bought in", "any country; such as US", 30),
        FormField("circuit", "Circuit of the room", "any; such as 208V/30A", 30),
        FormField("network", "Two machines, joined by", "one machine; such as ethernet-25", 30),
        FormField("software", "Trained with", choices=SOFTWARE_WORDS),
        FormField("prices", "Prices", choices=PRICE_WORDS),
        FormField("evidence", "Evidence", choices=EVIDENCE_WORDS),
    )
    START = "They are kept, for every build."
    HELP = """\
## What the question assumes

How long the machine serves and is used, what it costs to run, where you buy, what your room's
circuit carries, and what would join two machines for one model. What is empty is not counted. One
run costs *overall cost × training days / (years × 365)* and what it takes to run; the paper counts
with 5 years and no more. `Enter` counts with them, for every build.

*Trained with*: days of other people's software are estimates. *Prices*: of each item one counts,
one of the last year before an older one, then your own, then what a seller asks, then the newest;
the paper's section 4.1 computes with rounded prices of 2024-09-21. *Evidence*: *sound* never ranks
a time that no hardware could reach; *published* takes every printed time at face value.
"""

    def __init__(self, session: RankingSession, first: str) -> None:
        names = [field.name for field in self.FIELDS]
        super().__init__(
            "What the question assumes", {name: getattr(session.inputs, name) for name in names}
        )
        self._first = first

    def on_mount(self) -> None:
        """What the person came for is asked first."""
        self.query_one(f"#{self._first}").focus()

    def judge(self, texts: dict[str, str]) -> Judged:
        session = self.app.session
        changes: dict[str, Any] = dict(texts)
        errors = session.errors_of(replace(session.inputs, **changes))
        wrong = {name: words for name, words in errors.items() if name in texts}
        if wrong:
            field = self.here if self.here in wrong else next(iter(wrong))
            return Judged(wrong[field or ""], field=field)
        return Judged("Enter counts with them.", partial(self._count, texts))

    def _count(self, texts: dict[str, str]) -> None:
        self.app.session.pause()
        self.app.session.change(**texts)
        self.dismiss("counted")
