"""Questions asked before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from advisor.answers.wording import RULE_WORDS
from advisor.tui.pages.list_page import TakingPage
from advisor.tui.widgets.filter_table import Rows
from advisor.tui.widgets.lines import PLAIN, STRONG, Line, wrapped
from advisor.tui.widgets.table_layout import Column

if TYPE_CHECKING:
    from advisor.tui.program.state import KeptQuestion


class QuestionsScreen(TakingPage):
    """The last ten questions; Enter asks one again."""

    WHERE = "questions"

    def __init__(self, questions: Sequence[KeptQuestion]) -> None:
        empty = "None yet: every answered one is kept here."
        super().__init__("Questions asked before", question_rows(questions), empty=empty)


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

    def asked(question: KeptQuestion) -> str:
        return asked_words(question.fields)

    def lines(question: KeptQuestion, width: int) -> list[Line]:
        return wrapped([(asked(question), STRONG), (question.answer, PLAIN)], width)

    return Rows(
        columns=(
            Column("asked", "question", 56, "left", asked, asked),
            Column("day", "asked", 10, "left", lambda q: q.asked_on, lambda q: q.asked_on),
        ),
        records=questions,
        text=lambda question: f"{asked(question)} {question.answer}",
        lines=lines,
        remark=lambda question: question.answer,
    )
