"""The palette: what can be done from any screen, models, GPUs, orders, quotes, questions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import work
from textual.app import ComposeResult, SystemCommand
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.css.query import NoMatches
from textual.screen import Screen

from advisor.answers.wording import RULE_WORDS, item_names
from advisor.costs.amount_words import usd_exact
from advisor.tui.pages.model_picker import SteadyList
from advisor.tui.pages.screens import Steady
from advisor.tui.program.keys import (
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
from advisor.tui.program.program import THEMES

if TYPE_CHECKING:
    from textual.app import App

    from advisor.tui.program.program import Program


MAX_QUOTES = 3_000
QUOTE_WEIGHT = 0.25
LOW = 12
"""Rows of a terminal below which the palette has no air around its line."""


class Found(NamedTuple):
    """One thing that the palette may offer."""

    title: str
    text: str
    run: Callable[[], Any]
    weight: float = 1.0
    """Of its match: what comes in hundreds is listed below what the program can do."""


_GATHER: Any = inspect.unwrap(CommandPalette._gather_commands)


class FoundList(SteadyList, CommandList, can_focus=False):
    """What the palette found."""


class Palette(Steady, CommandPalette):
    """Textual's, with a list that lives through quick hands, and a line to type into that is seen
    in a terminal of a few rows."""

    DEFAULT_CSS = """
    Palette.-low {
        Vertical { margin-top: 0; }
        #--input { border: none; height: 1; }
        SearchIcon { margin: 0 0 0 1; }
        CommandInput, CommandInput:focus { border: none; }
        CommandList { border: none; max-height: 100vh; }
    }
    """

    def on_resize(self) -> None:
        self.set_class(self.app.size.height < LOW, "-low")

    def compose(self) -> ComposeResult:
        for widget in super().compose():
            yield FoundList() if isinstance(widget, CommandList) else widget

    # Keys and results may come before there is a list, and after it is gone.

    def _watch__list_visible(self) -> None:
        with suppress(NoMatches):
            super()._watch__list_visible()

    async def _watch__show_busy(self) -> None:
        with suppress(NoMatches):
            await super()._watch__show_busy()

    def _action_command_list(self, action: str) -> None:
        with suppress(NoMatches):
            super()._action_command_list(action)

    def _action_cursor_down(self) -> None:
        with suppress(NoMatches):
            super()._action_cursor_down()

    @work(exclusive=True, group=CommandPalette._GATHER_COMMANDS_GROUP)
    async def _gather_commands(self, search_value: str) -> None:
        with suppress(NoMatches):
            await _GATHER(self, search_value)


class WholeProgram(Provider):
    """Searches what can be done, then what the store and the person have; shows what can be done
    before somebody types."""

    async def discover(self) -> Hits:
        for found in doings(self.app, self.screen):
            yield DiscoveryHit(found.title, found.run, help=found.text)

    async def search(self, query: str) -> Hits:
        app: Program = self.app  # type: ignore[assignment]
        matcher = self.matcher(query)
        words = query.lower().split()
        for found in (*doings(app, self.screen), *things(app)):
            score = found.weight * likeness(words, found, matcher.match(found.title))
            if score > 0:
                yield Hit(score, matcher.highlight(found.title), found.run, help=found.text)


def likeness(words: Sequence[str], found: Found, letters: float) -> float:
    """How well something fits: best with all words in its title, then with all in its title and
    what it does; last with the same letters in order, which have the score ``letters``."""
    title = found.title.lower()
    said = f"{title} {found.text.lower()}"
    whole = 2 if all(word in title for word in words) else all(word in said for word in words)
    return whole + letters / (1 + letters)


def doings(app: App[Any], screen: Screen[Any]) -> Iterator[Found]:
    """What can be done from here, as the program lists it."""
    for command in app.get_system_commands(screen):
        yield Found(command.title, command.help, command.callback)


def things(app: Program) -> Iterator[Found]:
    """Everything to be found, the most wanted kinds first."""
    for rule, words in RULE_WORDS.items():
        run = partial(app.ask, rule=rule)
        named = words.removesuffix(" first")
        yield Found(f"rank by {named}", f"The builds in another order: {words}.", run)
    for question in app.kept_things.questions:
        if question.name:
            run = partial(app.ask, **question.fields)
            yield Found(f"question: {question.name}", question.answer, run)
    snapshot = app.session.snapshot
    if snapshot is None:
        return
    for model in snapshot.models:
        run = partial(app.ask, model=model.recipe_id)
        yield Found(f"model: {model.name}", f"Ask about {model.recipe_id}.", run)
    for gpu in snapshot.gpus:
        run = partial(app.ask, gpus=gpu.name)
        yield Found(f"GPU: {gpu.name}", "Rank the machines with these GPUs only.", run)
    names = item_names(snapshot.gpus, snapshot.hosts)
    for quote in snapshot.quotes[:MAX_QUOTES]:
        item = names.get((quote.item_kind, quote.item_id))
        if item is not None:
            said = f"{usd_exact(quote.price_usd)} of {quote.quoted_on}, {quote.label}"
            yield Found(
                f"quote: {item}, {said}",
                "Its line on the prices screen.",
                partial(app.go_filtered, "prices", item),
                QUOTE_WEIGHT,
            )


FROM_ELSEWHERE = (RANKING, EVIDENCE, BENCHMARK, PRICES, PLAN)
"""Screens whose actions the palette offers on every other. The sections of a build open from the
ranking, and a page that lies over a screen has its own."""
ONLY_THERE = (
    *("cancel", "leave_field", "back", "act", "fold", "open_record", "copy_row", "copy_plan"),
    *("next_sort", "reverse_sort", "correct", "delete", "report", "go", "undo", "forget"),
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
