"""What the palette offers to be done, from any screen: actions, a build's sections, themes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from textual.app import SystemCommand
from textual.screen import Screen

from advisor.tui.program.actions import (
    ACTIONS,
    BENCHMARK,
    BUILD,
    EVERYWHERE,
    EVIDENCE,
    PLAN,
    PRICES,
    RANKING,
    Action,
    actions_of,
)
from advisor.tui.program.themes import THEMES

if TYPE_CHECKING:
    from advisor.tui.program.program import Program

FROM_ELSEWHERE = (RANKING, EVIDENCE, BENCHMARK, PRICES, PLAN)
"""Screens whose actions the palette offers on every other. The sections of a build open from the
ranking, and a page that lies over a screen has its own."""
ONLY_THERE = (
    *("cancel", "leave_field", "back", "act", "fold", "open_record", "copy_row", "copy_plan"),
    *("next_sort", "reverse_sort", "correct", "delete", "report", "go", "undo"),
)
"""Actions about what is under the cursor or under way on their own screen: not from another."""


def commands_on(app: Program, screen: Screen[object]) -> Iterator[SystemCommand]:
    """Every action of the screen and of the program first, then what other screens do, named
    ``area: verb``."""
    where = getattr(screen, "WHERE", EVERYWHERE)
    here = [action for action in ACTIONS if action.where in (where, EVERYWHERE)]
    there = [a for a in ACTIONS if a.where in FROM_ELSEWHERE and a not in here]
    there = [a for a in there if a.action.removeprefix("app.").split("(")[0] not in ONLY_THERE]
    for action in (*here, *there):
        elsewhere = action.where not in (where, EVERYWHERE)
        title = f"{action.where}: {action.verb}" if elsewhere else action.title
        text = f"{action.text} ({action.key})"
        if elsewhere:
            text = f"{action.text} (on the screen of the {action.where})"
        yield SystemCommand(title, text, partial(_run, app, action))
    for action in actions_of(BUILD) if where != BUILD else ():
        name, _, section = action.action.rstrip("')").partition("('")
        if name == "section" and section not in ("overview", "measure"):
            text = f"{action.text} (Enter {action.key})"
            run = partial(_open_section, app, section)
            yield SystemCommand(f"build: {action.verb}", text, run)
    for name, words in THEMES.items():
        change = partial(setattr, app, "theme", name)
        yield SystemCommand(f"theme: {words}", f"Change the theme to {name}.", change)


def _open_section(app: Program, section: str) -> None:
    """Show a section of the selected build's page, from any screen."""
    if app.session.selected is None:
        app.notify("No build is selected yet.")
        return
    app.action_go("ranking")
    app.open_build(section)


def _run(app: Program, action: Action) -> None:
    """Run an action of any screen: go there first."""
    here = getattr(app.screen, "WHERE", EVERYWHERE)
    if action.where in (here, EVERYWHERE):
        node = app if action.where == EVERYWHERE else app.screen
        app.call_after_refresh(app.run_action, action.action, node)
    else:
        app.action_go(action.where)
        # Once it is mounted, it has begun to read.
        app.screen.call_after_refresh(_start_there, app, action)


def _start_there(app: Program, action: Action) -> None:
    app.run_worker(_run_there(app, action), group="elsewhere", exit_on_error=False)


async def _run_there(app: Program, action: Action) -> None:
    """Run an action of the screen that was just opened, once it has read what it needs."""
    screen = app.screen
    reading = [worker for worker in app.workers if worker.node is screen]
    if reading:
        await app.workers.wait_for_complete(reading)
    screen.call_after_refresh(app.run_action, action.action, screen)
