"""What the palette finds beside actions: models, GPUs, orders, quotes, kept questions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from textual import work
from textual.app import ComposeResult
from textual.command import CommandList, CommandPalette, DiscoveryHit, Hit, Hits, Provider
from textual.css.query import NoMatches

from advisor.answers.wording import RULE_WORDS, item_names
from advisor.costs.amounts import usd_exact
from advisor.tui.widgets.closed_once import ClosedOnce
from advisor.tui.widgets.steady_options import Steady

if TYPE_CHECKING:
    from textual.app import App
    from textual.screen import Screen

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
    """Of its match: what there are hundreds of stands below what the program can do."""


_GATHER: Any = inspect.unwrap(CommandPalette._gather_commands)


class FoundList(Steady, CommandList, can_focus=False):
    """What the palette found."""


class Palette(ClosedOnce, CommandPalette):
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

    # Keys may come before there is a list, and after it is gone.

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
