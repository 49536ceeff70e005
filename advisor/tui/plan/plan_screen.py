"""A grant planned: what to buy, rent and run, on a calendar, with what else there is and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import ComposeResult
from textual.containers import Grid, ScrollableContainer
from textual.events import Resize
from textual.geometry import Size
from textual.message import Message
from textual.widgets import Input, Static

from advisor.files import typed_path
from advisor.tui.pages.screens import MarkdownScreen, SizedScreen
from advisor.tui.pages.title_and_key_bars import KeyBar, TitleBar
from advisor.tui.widgets.in_thread import in_thread, write_in_thread
from advisor.tui.widgets.text_input import Field

if TYPE_CHECKING:
    from advisor.planning.grant.problem_of_grant import Loaded
    from advisor.planning.planned_grant import Planned
    from advisor.planning.sensitivity.explain import Explanation
    from advisor.planning.solver.plan import Plan
    from advisor.planning.solver.search_clock import Progress
    from advisor.planning.solver_process import Search

SECONDS = 120.0
GRANT, REPORT = "grant.toml", "report.pdf"
"""What Enter takes where nothing is typed: they stand there in grey."""
ENDINGS = ".md .xlsx .csv .json"
EMPTY = (
    "No grant is planned yet.\n\n"
    "Press W to write a grant here, or X to plan the worked example. Or type the "
    "path of a grant.toml above and press Enter.\n\n"
    "The example: a lab with $120,000 over three years, two A6000s of its own, "
    "five models a year and one deadline.\n\n"
    "advisor plan --example > grant.toml   makes a copy of it to change."
)
FORMER = "The plan of the question before:"
OBJECTIVES = {
    "": "as the grant says",
    "cheapest": "cheapest",
    "most-runs": "most runs",
    "soonest": "soonest",
}


class PlanScreen(SizedScreen):
    """What to ask the funder for."""

    WHERE = "plan"
    CSS_PATH = "plan.tcss"
    AUTO_FOCUS = "#scroll"
    HELP = """\
## A plan

A grant says who trains what by when, with which money. The plan is what to buy, what to rent and
when each run starts, so that nothing is better by the goal that you chose; below it stand what to
ask before you submit and what else would do.
"""

    @dataclass
    class At(Message):
        """How far a search has come."""

        number: int
        loaded: Loaded
        at: Progress

    def __init__(self, size: Size) -> None:
        super().__init__(size)
        self._planned: Planned | None = None
        self._planning = False
        """Whether the plan that stands here is of the question before."""
        self._path: Path | None = None
        self._objective = ""
        self._number = 0
        self._search: Search[Planned] | None = None
        self._lay_out: Callable[[int], str] | None = None
        """Writes what stands here for so many cells; None where nothing was planned yet."""
        self._best: tuple[Loaded, Plan, Explanation | None] | None = None
        """The best plan of the search that runs."""

    def compose(self) -> ComposeResult:
        yield TitleBar("plan")
        with Grid(id="files"):
            yield Static("Grant", classes="label")
            yield Field(placeholder=GRANT, id="grant", max_length=500, select_on_focus=False)
            yield Static("Report", classes="label")
            yield Field(
                placeholder=f"{REPORT}, or {ENDINGS}",
                id="report",
                max_length=500,
                select_on_focus=False,
            )
        yield Static("", id="status", markup=False)
        with ScrollableContainer(id="scroll"):
            yield Static(FORMER, id="former", markup=False)
            yield Static(EMPTY, id="answer", classes="-prose", markup=False)
        yield KeyBar("plan")

    @property
    def grant(self) -> Field:
        return self.query_one("#grant", Field)

    # Planning

    @on(Input.Submitted, "#grant")
    def _plan_typed(self, event: Input.Submitted) -> None:
        """Plan the file that is named, or the one that stands there in grey."""
        event.input.value = event.value.strip() or GRANT
        self._plan(typed_path(event.input.value))

    def action_write_grant(self) -> None:
        from advisor.tui.plan.grant_form import GrantForm

        name = self.grant.value.strip()
        path = typed_path(name) if name else None
        self.app.push_screen(GrantForm(path, self.app.session), self._written_grant)

    def _written_grant(self, path: str | None) -> None:
        if path is not None:
            self.grant.value = path
            self._plan(Path(path))

    def action_example(self) -> None:
        from advisor.planning.plan_grant import EXAMPLE

        self._plan(EXAMPLE)

    def action_next_objective(self) -> None:
        names = list(OBJECTIVES)
        self._objective = names[(names.index(self._objective) + 1) % len(names)]
        if self._path is None:
            self.say(f"Objective: {OBJECTIVES[self._objective]}.")
        else:
            self._plan(self._path)

    def _plan(self, path: Path) -> None:
        self._stop()
        self._path = path
        self._number += 1
        self._best = None
        self._at("reading")
        self._planning = True
        stands = str(self.query_one("#answer", Static).content) != EMPTY
        self.query_one("#scroll").set_class(stands, "-former")
        self.query_one("#scroll").focus()
        number, objective = self._number, self._objective
        in_thread(
            self,
            "plan",
            lambda: self._solve(number, path, objective),
            lambda planned: self._made(number, planned),
            lambda why: self._made(number, None, why),
        )

    def _stop(self) -> bool:
        search, self._search = self._search, None
        if search is not None:
            search.cancel()
        planned, self._planning = self._planning, False
        return planned

    def _at(self, words: str) -> None:
        from advisor.planning.plan_grant import EXAMPLE

        assert self._path is not None
        name = "the worked example" if self._path == EXAMPLE else self._path.name
        self.say(f"planning {name} ({OBJECTIVES[self._objective]}): {words} … Esc stops.")

    def action_back(self) -> None:
        if self._stop():
            self._number += 1
            kept = self._keep_best()
            self.say(f"stopped{kept}. Enter in the field above plans again.")
        elif isinstance(self.focused, Input):
            self.action_leave_field()
        else:
            self.app.action_go("ranking")

    def _keep_best(self) -> str:
        """Keep the best plan of a search that was stopped; words for the status."""
        from advisor.planning.plan_grant import stopped

        if self._best is None:
            return ""
        self._planned = stopped(*self._best)
        self.query_one("#scroll").remove_class("-former")
        self._show()
        return ": the best plan until now is kept, e writes its report"

    def on_unmount(self) -> None:
        """Leave no process behind."""
        self._stop()

    def _solve(self, number: int, path: Path, objective: str) -> Planned | None:
        """Read the grant and the store, plan in a process of its own; None where it was ended."""
        from advisor.costs.cost_of_owning import PAPER_TERMS
        from advisor.planning.plan_grant import plan_with, search_for
        from advisor.planning.solver_process import Cancelled

        asked = self.app.session.asked
        terms = PAPER_TERMS if asked is None else asked.question.terms
        with self.app.store_reader.visit() as reader:
            loaded = plan_with(
                reader, path, objective=objective or None, terms=terms, today=self.app.today
            )
        search = search_for(loaded, SECONDS)
        if number != self._number:
            return None
        self._search = search
        try:
            return search.run(lambda at: self._post_at(number, loaded, at))
        except Cancelled:
            return None

    def _post_at(self, number: int, loaded: Loaded, at: Progress) -> None:
        self.post_message(self.At(number, loaded, at))

    @on(At)
    def _came(self, event: At) -> None:
        if event.number != self._number:
            return
        from advisor.answers.plan.plan_text import decided_text, progress_text
        from advisor.planning.plan_grant import explained_so_far

        self._at(progress_text(event.at, event.loaded.grant.currency))
        if event.at.plan is None:
            return
        first = self._best is None or self._best[1] != event.at.plan
        loaded = event.loaded
        self._best = loaded, event.at.plan, explained_so_far(event.at)
        if event.at.settled and first:
            plan = event.at.plan
            self._answer(lambda width: decided_text(loaded, plan, width))

    def _made(self, number: int, planned: Planned | None, problem: str | None = None) -> None:
        if number != self._number or (planned is None and problem is None):
            return
        self._search, self._planning = None, False
        if problem is not None:
            self.say(_by_hand(problem), wrong=True)
            if self.grant.value.strip():
                # What is typed next mends the path.
                self.grant.focus()
            return
        self._planned = planned
        self.query_one("#scroll").remove_class("-former")
        self.say("e writes the report. o: another objective.")
        self._show()
        self.query_one("#scroll").scroll_home(animate=False)

    def _answer(self, lay_out: Callable[[int], str]) -> None:
        """Show what this lays out for a width, in cells."""
        self._lay_out = lay_out
        self.query_one("#answer", Static).remove_class("-prose")
        self.query_one("#scroll").remove_class("-former")
        self._fit_answer()

    @on(Resize)
    def _fit_answer(self) -> None:
        """Lay out for the width what stands here, whatever it is."""
        if self._lay_out is not None:
            width = max(self.app.size.width - 4, 40)
            self.query_one("#answer", Static).update(self._lay_out(width))

    def _show(self) -> None:
        from advisor.answers.plan.plan_text import no_plan_text, plan_text

        found = self._planned
        if found is not None and found.plan is None:
            self._answer(lambda width: no_plan_text(found))
        elif found is not None:
            self._answer(lambda width: plan_text(found, width))

    # The report

    def _reportable(self) -> Planned | None:
        """The plan that stands here; where there is none, that is said."""
        found = None if self._planning else self._planned
        if found is None or found.plan is None:
            why = "There is no plan to report on yet."
            if self._planning:
                why = "The plan is still being looked for: Esc keeps the best one until now."
            self.say(why, wrong=True)
            return None
        return found

    def action_report(self) -> None:
        if self._reportable() is not None:
            self.query_one("#report", Input).focus()

    @on(Input.Submitted, "#report")
    def _write_typed(self, event: Input.Submitted) -> None:
        """Write the report, and say how that went; nothing is overwritten."""
        planned = self._reportable()
        if planned is None:
            return
        from advisor.planning.report.formats.write_report import write_planned

        event.input.value = event.value.strip() or REPORT
        path = str(typed_path(event.input.value))
        self.say("writing …")

        def written(_: object) -> None:
            self.say(f"wrote {path}; V shows it")
            self.query_one("#scroll").focus()

        write_in_thread(
            self, lambda: write_planned(planned, [path], force=False), written, self._say_wrong
        )

    def _say_wrong(self, words: str) -> None:
        self.say(_without_force(words), wrong=True)

    def action_view_report(self) -> None:
        planned = self._reportable()
        if planned is None:
            return
        self.say("making the report …")
        in_thread(self, "report", lambda: _markdown(planned), self._read, self._say_wrong)

    def _read(self, text: str) -> None:
        self.say("e writes the report.")
        self.app.push_screen(MarkdownScreen("The report", text))

    def say(self, text: str, *, wrong: bool = False) -> None:
        status = self.query_one("#status", Static)
        status.set_class(wrong, "-wrong")
        status.update(text)

    # Fields

    def action_focus_grant(self) -> None:
        self.grant.focus()

    def action_leave_field(self) -> None:
        self.query_one("#scroll").focus()

    def action_copy_plan(self) -> None:
        from advisor.answers.plan.plan_text import decided_text, plan_text

        found = self._planned
        text = "" if found is None or found.plan is None else plan_text(found)
        if self._planning:
            text = "" if self._best is None else decided_text(self._best[0], self._best[1])
        self.app.copy_text(text, "the plan")


def _by_hand(words: str) -> str:
    """A screen has no flags."""
    return words.replace("give it more with --seconds", "advisor plan --seconds 600 takes longer")


def _markdown(planned: Planned) -> str:
    from advisor.planning.report.build_report import build_report
    from advisor.planning.report.formats.markdown_csv_json import to_markdown

    assert planned.plan is not None and planned.explanation is not None
    report = build_report(planned.loaded, planned.plan, planned.explanation, pictures=False)
    return "\n".join(map(to_markdown, report.parts()))


def _without_force(words: str) -> str:
    """A flag of the command line is no way out on a screen."""
    return words.replace(", or add --force", "")
