"""The Plan screen: a grant planned, refused, relaxed, and its report written, with keys alone."""

from __future__ import annotations

import tomllib
from datetime import date
from pathlib import Path

import pytest
from textual.pilot import Pilot
from textual.widgets import Input, Static, TextArea

from advisor.tui.app import AdvisorApp
from advisor.tui.pages.screens import MarkdownScreen
from advisor.tui.plan.plan_screen import EMPTY, PlanScreen
from advisor.tui.program.state import State
from tests.planning import grant_files
from tests.tui.program import settled, until

SMALL = grant_files.SMALL.replace("[grant]\n", '[grant]\ntitle = "Small"\n').replace(
    '"pythia-410m"\n', '"pythia-410m"\nby = 2027-06-01\n'
)
SMALL = SMALL.replace("predictions = false", "predictions = true")


def app_of(store_path: Path, state_path: Path | None = None) -> AdvisorApp:
    state = State()
    return AdvisorApp(store_path, state=state, state_path=state_path, today=date(2026, 11, 21))


def text_of(app: AdvisorApp, name: str) -> str:
    return str(app.screen.query_one(name, Static).content)


async def plan(pilot: Pilot[None], path: Path) -> None:
    """Open the screen, type the path, wait for the answer."""
    await pilot.press("f8")
    await pilot.press("G")
    pilot.app.screen.query_one("#grant", Input).value = str(path)
    await pilot.press("enter")
    await pilot.app.workers.wait_for_complete()
    await pilot.pause()


@pytest.mark.parametrize("size", [(80, 24), (120, 40)])
async def test_a_grant_is_planned_and_its_report_written(
    store_path: Path, tmp_path: Path, size: tuple[int, int]
) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(SMALL)
    app = app_of(store_path)
    async with app.run_test(size=size) as pilot:
        await plan(pilot, path)
        assert isinstance(app.screen, PlanScreen)
        answer = text_of(app, "#answer")
        assert ": the one run for $" in " ".join(answer.split())
        assert "░" in answer or "idle" in answer
        report = tmp_path / "report.md"
        await pilot.press("e")
        app.screen.query_one("#report", Input).value = str(report)
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert text_of(app, "#status") == f"wrote {report}; V shows it"
        assert report.read_text().startswith("# Small")
        await pilot.press("e", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert text_of(app, "#status").endswith("is there already: name another")
        app.screen.query_one("#report", Input).value = "report.doc"
        await pilot.press("enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "has no known ending" in text_of(app, "#status")
        await pilot.press("escape", "V")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert isinstance(app.screen, MarkdownScreen)
        headings = [str(each._content) for each in app.screen.query("MarkdownH1")]
        assert headings == ["Small", "Small: annex"], "what the funder reads comes first"


async def test_what_is_wrong_is_said_and_what_to_relax(store_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(SMALL.replace("total", "totl"))
    app = app_of(store_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await plan(pilot, path)
        status = text_of(app, "#status")
        assert status.startswith("grant.toml, budget.totl")
        assert "did you mean 'total'" in status
        assert text_of(app, "#answer") == EMPTY
        await pilot.press("escape", "e")  # out of the path first
        assert "no plan to report on" in text_of(app, "#status")
        path.write_text(SMALL.replace("$30,000", "$400"))
        await plan(pilot, path)
        assert "raise the budget by $" in text_of(app, "#answer")
        await pilot.press("escape")
        assert not isinstance(app.screen, PlanScreen)


async def test_a_refused_path_keeps_the_focus_and_enter_takes_the_grey_name(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = app_of(store_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f8", "G", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        grant = app.screen.query_one("#grant", Input)
        assert "grant.toml" in text_of(app, "#status")
        assert app.focused is grant
        await pilot.press("x")  # a letter of the path, not the worked example
        assert grant.value == "grant.tomlx"
        (tmp_path / "grant.toml").write_text(SMALL)
        await pilot.press("backspace", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert "the one run" in " ".join(text_of(app, "#answer").split())
        report = app.screen.query_one("#report", Input)
        report.value = "nowhere/report.md"
        await pilot.press("e", "enter")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert app.focused is report


async def test_a_search_is_stopped_with_escape_and_leaves_the_screen_as_it_was(
    store_path: Path,
) -> None:
    app = app_of(store_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f8", "X")

        def searches() -> bool:
            status = text_of(app, "#status")
            return "Esc stops" in status and "reading" not in status

        await until(pilot, searches, "no search")
        assert not app.screen.query_one("#former").display, "nothing stood there before"
        assert "planning the worked example (as the grant says): " in text_of(app, "#status")
        await pilot.press("escape")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert text_of(app, "#status").startswith("stopped")
        assert text_of(app, "#answer") == EMPTY
        assert isinstance(app.screen, PlanScreen)
        await pilot.press("escape")
        assert not isinstance(app.screen, PlanScreen)


async def test_a_plan_of_the_question_before_says_so_until_the_next_is_there(
    store_path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(SMALL)
    app = app_of(store_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("f8")
        await plan(pilot, path)
        former, answer = app.screen.query_one("#former"), text_of(app, "#answer")
        assert not former.display
        with monkeypatch.context() as patch:
            patch.setattr("advisor.tui.plan.plan_screen.in_thread", lambda *_: None)  # it goes on
            await pilot.press("o")
            assert former.display
            assert text_of(app, "#answer") == answer
            await pilot.press("e")
            assert "Esc keeps the best one" in text_of(app, "#status")
            await pilot.press("y")
            assert app.clipboard == ""
            await pilot.press("escape")
            assert former.display, "it is still not the answer to what is asked"
        await pilot.press("o")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert not former.display
        assert "the most runs" in " ".join(text_of(app, "#answer").split())


async def test_a_grant_is_written_in_the_program(store_path: Path, tmp_path: Path) -> None:
    app = app_of(store_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await pilot.press("f8", "W")
        await pilot.pause()
        text, wrong = app.screen.query_one(TextArea), "#said"
        assert text_of(app, wrong) == "Nothing is wrong: ^s saves it and plans."
        text.text = SMALL.replace("years = 1", "years = 0").replace("total", "totl")
        await pilot.pause()
        assert "grant.years: must be a whole number from 1 to 15" in text_of(app, wrong)
        assert "budget.totl: this key is not known" in text_of(app, wrong)
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert list(tmp_path.iterdir()) == []
        owned = '[[owned]]\ngpu = "H10O"\ngpu_count = 1\n'
        text.text = SMALL.replace("pythia-410m", "pythia-1x") + owned
        await pilot.pause()
        assert "experiments[1].model: no model is called 'pythia-1x'" in text_of(app, wrong)
        assert "owned[1].gpu: " in text_of(app, wrong)
        path = tmp_path / "mine.toml"
        app.screen.query_one("#file", Input).value = str(path)
        text.text = SMALL
        await pilot.pause()
        await pilot.press("ctrl+s")
        await app.workers.wait_for_complete()
        await pilot.pause()
        assert path.read_text() == SMALL
        assert ": the one run for $" in " ".join(text_of(app, "#answer").split())


async def test_a_new_grant_begins_with_the_question(store_path: Path) -> None:
    app = app_of(store_path)
    async with app.run_test(size=(80, 24)) as pilot:
        await app.workers.wait_for_complete()  # the question is answered
        app.session.change(max_days="60")
        assert not app.session.ask()
        await pilot.press("f8", "W")
        await pilot.pause()
        made = tomllib.loads(app.screen.query_one(TextArea).text)
        assert made["budget"]["total"] == "$40,000"
        assert made["experiments"] == [{"model": "pythia-1b", "runs": 2}]
        assert made["running"] == {"longest_run_days": 60, "utilisation": 0.8}
        assert text_of(app, "#said") == "Nothing is wrong: ^s saves it and plans."


async def test_a_plan_is_laid_out_for_the_width(store_path: Path, tmp_path: Path) -> None:
    path = tmp_path / "grant.toml"
    path.write_text(SMALL)
    app = app_of(store_path)
    async with app.run_test(size=(120, 40)) as pilot:
        await plan(pilot, path)
        wide = text_of(app, "#answer")
        assert max(map(len, wide.splitlines())) > 76
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert max(map(len, text_of(app, "#answer").splitlines())) <= 76
        await pilot.resize_terminal(120, 40)
        await settled(pilot)
        assert text_of(app, "#answer") == wide
