"""Questions asked before, and a name for the present one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Input

from advisor.answers.wording import RULE_WORDS
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.form import Form, FormField, Judged
from advisor.tui.pages.list_page import ListActions
from advisor.tui.pages.screens import Dialog
from advisor.tui.program.keys import NAME, QUESTIONS
from advisor.tui.program.state import MAX_NAME, Change
from advisor.tui.widgets.filter_table import FilterTable, MemoryRows
from advisor.tui.widgets.lines import PLAIN, STRONG, Line, wrapped
from advisor.tui.widgets.table_layout import Column

if TYPE_CHECKING:
    from advisor.tui.program.state import KeptQuestion


class QuestionsScreen(ListActions, Dialog["KeptQuestion | None"]):
    """The last ten questions and those with a name; Enter asks one again."""

    WHERE = QUESTIONS
    AUTO_FOCUS = "RankTable"
    HELP = """\
## Questions asked before

The last ten, and those that you gave a name with `k`. `Enter` asks one again, `d` forgets it; `^z`
on the main screen brings the question back that stood there.
"""

    def __init__(self, questions: Sequence[KeptQuestion]) -> None:
        super().__init__()
        self._questions = list(questions)

    def compose(self) -> ComposeResult:
        with Vertical(classes="page") as box:
            box.border_title = "Questions asked before"
            yield FilterTable(
                question_rows(self._questions), empty="None yet: every answered one is kept here."
            )
            yield DialogKeys(QUESTIONS)

    def open_page(self, event: FilterTable.RecordWanted) -> None:
        """Enter, as a click, asks it again."""
        self.action_take()

    def action_take(self) -> None:
        """Close with the highlighted one."""
        if self.record is not None:
            self.dismiss(self.record)

    def action_forget(self) -> None:
        """Drop the highlighted one."""
        gone: KeptQuestion | None = self.record
        if gone is not None:
            kept = self.app.kept_things
            kept.forget(gone)
            words = f"forgot {asked_words(gone.fields)}"
            back, again = lambda _: kept.bring_back(gone), lambda _: kept.forget(gone)
            self.app.session.did(Change(words, back, again))
            self._questions = [question for question in self._questions if question is not gone]
            self.list.show(question_rows(self._questions))


def asked_words(fields: Mapping[str, str]) -> str:
    """A question as a person would say it: ``pythia-1b for $40,000, within 60 days``."""
    budget = fields["budget"].strip()
    amount = f"${budget}" if budget[:1].isdigit() else budget or "any budget"
    if budget.isdecimal():
        amount = f"${int(budget):,}"
    words = [f"{fields['model']} for {amount}"]
    limit = fields["max_days"].strip()
    words += [f"within {limit}{' days' if limit[-1].isdigit() else ''}"] if limit else []
    words += [fields["gpus"]] if fields["gpus"] else []
    words += [] if fields["rule"] == "days" else [RULE_WORDS[fields["rule"]]]
    return ", ".join(words)


def question_rows(questions: Sequence[KeptQuestion]) -> MemoryRows:
    """The questions as rows."""

    def asked(question: KeptQuestion) -> str:
        return asked_words(question.fields)

    def lines(question: KeptQuestion, width: int) -> list[Line]:
        return wrapped([(asked(question), STRONG), (question.answer, PLAIN)], width)

    return MemoryRows(
        (
            Column(key="name", title="name", width=18, sort_key="name"),
            Column(key="asked", title="question", width=36, sort_key="asked"),
            Column(key="day", title="asked", width=10, sort_key="day"),
        ),
        questions,
        cells=lambda question: (question.name or "–", asked(question), question.asked_on),
        text=lambda question: f"{question.name} {asked(question)} {question.answer}",
        keys={
            "name": lambda question: question.name or None,
            "asked": asked,
            "day": lambda question: question.asked_on,
        },
        lines=lines,
        remark=lambda question: question.answer,
    )


class NameForm(Form):
    """Asks for a name."""

    WHERE = NAME
    AUTO_FOCUS = "Input"
    SIZE = "page small"
    GRID = "line"
    FIELDS: Sequence[FormField] = (FormField("name", "Name", longest=MAX_NAME),)
    HELP = """\
## A name for this question

`Enter` keeps the question under it; `h` lists what you kept.
"""

    def on_mount(self) -> None:
        """The suggested name is replaced by what is typed."""
        self.query_one(Input).select_all()

    def judge(self, texts: dict[str, str]) -> Judged:
        name = " ".join(texts["name"].split())
        if not name:
            return Judged("it has no name yet")
        return Judged("Enter keeps it.", partial(self.dismiss, name))
