"""What the palette finds beside actions: models, GPUs, orders, quotes, kept questions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual.command import Hit, Hits, Provider

from advisor.answers.wording import RULE_CHOICES, item_names
from advisor.costs.amounts import usd_exact

if TYPE_CHECKING:
    from advisor.tui.program.program import Program

MAX_QUOTES = 3_000


class Found(NamedTuple):
    """One thing that the palette may offer."""

    title: str
    text: str
    run: Callable[[], None]


class WholeProgram(Provider):
    """Searches what the store and the person have; shows nothing before somebody types."""

    async def search(self, query: str) -> Hits:
        app: Program = self.app  # type: ignore[assignment]
        matcher = self.matcher(query)
        for found in things(app):
            score = matcher.match(found.title)
            if score > 0:
                yield Hit(score, matcher.highlight(found.title), found.run, help=found.text)


def things(app: Program) -> Iterator[Found]:
    """Everything to be found, the most wanted kinds first."""
    for rule, words in RULE_CHOICES.items():
        run = partial(app.ask, rule=rule)
        yield Found(f"rank by {words}", f"The builds in another order: {words} first.", run)
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
            )
