"""Questions asked before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import Vertical

from advisor.answers.wording import RULE_WORDS
from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.list_page import ListActions
from advisor.tui.pages.screens import Dialog
from advisor.tui.program.keys import QUESTIONS
from advisor.tui.widgets.filter_table import FilterTable, Rows
from advisor.tui.widgets.lines import PLAIN, STRONG, Line, wrapped
from advisor.tui.widgets.table_layout import Column

if TYPE_CHECKING:
    from advisor.tui.program.state import KeptQuestion


class QuestionsScreen(ListActions, Dialog["KeptQuestion | None"]):
    """The last ten questions; Enter asks one again."""

    WHERE = QUESTIONS
    AUTO_FOCUS = "RankTable"
    HELP = """\
## Questions asked before

The last ten. `Enter` asks one again; `^z` on the main screen brings the question back that stood
there.
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


def question_rows(questions: Sequence[KeptQuestion]) -> Rows:
    """The questions as rows."""

    def asked(question: KeptQuestion) -> str:
        return asked_words(question.fields)

    def lines(question: KeptQuestion, width: int) -> list[Line]:
        return wrapped([(asked(question), STRONG), (question.answer, PLAIN)], width)

    return Rows(
        (
            Column(key="asked", title="question", width=56, sort_key="asked"),
            Column(key="day", title="asked", width=10, sort_key="day"),
        ),
        questions,
        cells=lambda question: (asked(question), question.asked_on),
        text=lambda question: f"{asked(question)} {question.answer}",
        keys={
            "asked": asked,
            "day": lambda question: question.asked_on,
        },
        lines=lines,
        remark=lambda question: question.answer,
    )
