"""The report of a plan: named, written, and read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.geometry import Size
from textual.widgets import Input, Static

from advisor.files import typed_path
from advisor.tui.pages.screens import MarkdownScreen, SizedScreen
from advisor.tui.widgets.in_thread import in_thread, write_in_thread
from advisor.typed_input import InputError

if TYPE_CHECKING:
    from advisor.planning.planned import Planned


REPORT = "report.pdf"
"""What Enter takes where nothing is typed: it stands there in grey."""


class PlanReport(SizedScreen):
    """What the plan's screen does with the plan once it is there."""

    def __init__(self, size: Size) -> None:
        super().__init__(size)
        self._planned: Planned | None = None
        self._planning = False
        self._report: Path | None = None
        """The report that was written last."""

    def is_planning(self) -> bool:
        """Whether the plan that stands here is of the question before."""
        return self._planning

    def _reportable(self) -> Planned | None:
        """The plan that stands here; where there is none, that is said."""
        found = None if self.is_planning() else self._planned
        if found is None or found.plan is None:
            why = "There is no plan to report on yet."
            if self.is_planning():
                why = "The plan is still being looked for: Esc keeps the best one until now."
            self.say(why, wrong=True)
            return None
        return found

    def action_report(self) -> None:
        """Go to the name of the report."""
        if self._reportable() is not None:
            self.query_one("#report", Input).focus()

    @on(Input.Changed, "#report")
    def _report_named(self, event: Input.Changed) -> None:
        from advisor.planning.report.formats.write_report import check_targets

        name = event.value.strip()
        if not name:
            self.say("")
            return
        try:
            check_targets([str(typed_path(name))], force=False)
        except InputError as error:
            self.say(_without_force(str(error)))
        except OSError as error:
            self.say(f"no file can be called so: {error.strerror}")
        else:
            self.say("Enter writes it.")

    @on(Input.Submitted, "#report")
    def _write_typed(self, event: Input.Submitted) -> None:
        planned = self._reportable()
        if planned is None:
            return
        name = event.value.strip() or REPORT
        with event.input.prevent(Input.Changed):
            event.input.value = name
        self.say("writing …")
        self.write(planned, name)

    def write(self, planned: Planned, name: str) -> None:
        """Write the report, and say how that went; nothing is overwritten."""
        from advisor.planning.report.formats.write_report import write_planned

        path = str(typed_path(name))

        def written(_: object) -> None:
            self.say(f"wrote {path}; V shows it")
            self._report = Path(path)
            self.query_one("#scroll").focus()

        write_in_thread(
            self, lambda: write_planned(planned, [path], force=False), written, self._say_wrong
        )

    def _say_wrong(self, words: str) -> None:
        self.say(_without_force(words), wrong=True)

    def action_view_report(self) -> None:
        """Make the report as Markdown, and show it."""
        planned = self._reportable()
        if planned is None:
            return
        self.say("making the report …")
        in_thread(self, "report", lambda: _markdown(planned), self._read, self._say_wrong)

    def _read(self, text: str) -> None:
        self.say("e writes the report." if self._report is None else f"wrote {self._report}")
        self.app.push_screen(MarkdownScreen("The report", text))

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Say what goes on, or what is wrong."""
        status = self.query_one("#status", Static)
        status.set_class(wrong, "-wrong")
        status.update(text)


def _markdown(planned: Planned) -> str:
    from advisor.planning.report.build_report import build_report
    from advisor.planning.report.formats.markdown_csv_json import to_markdown

    assert planned.plan is not None and planned.explanation is not None
    return to_markdown(
        build_report(planned.loaded, planned.plan, planned.explanation, pictures=False)
    )


def _without_force(words: str) -> str:
    """A flag of the command line is no way out on a screen."""
    return words.replace(", or add --force", "")
