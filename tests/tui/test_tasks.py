"""Every task as a new user does it, by keys alone, found from footer, help or palette.

Every key that leads somewhere counts, Tab and Enter among them. Not counted is what only the person
knows: the question, a price and who asks it, a size, a name, the path of a file. Each task takes at
most six.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, Static

from advisor.store import Store
from advisor.tui.program.state import State
from price_catalog.model import Quote
from tests.tui.program import ASKED, NARROW, message, ranking, rows, running, settled

MOST = 6
FRESH = State(welcomed=True)


class Person:
    """Presses keys, and counts them."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.presses = 0

    async def press(self, *keys: str) -> None:
        self.presses += len(keys)
        for key in keys:
            await self.pilot.press(key)
            await settled(self.pilot)

    async def say(self, text: str) -> None:
        """Type into the field with the focus what only the person knows."""
        focused = self.pilot.app.screen.focused
        assert isinstance(focused, Input), focused
        focused.clear()
        focused.post_message(Paste(text))
        await settled(self.pilot)

    async def ask(self) -> None:
        """$40,000 for Pythia-1B in 60 days."""
        for key, text in (("b", "$40,000"), ("m", "pythia-1b"), ("t", "60 days")):
            await self.pilot.press(key)
            await self.say(text)
            await self.pilot.press("enter")
            await settled(self.pilot)

    @property
    def screen(self) -> str:
        return type(self.pilot.app.screen).__name__


Task = Callable[[Person, Path], Awaitable[None]]


def quotes(store: Path) -> list[Quote]:
    with Store(store).reading() as reader:
        return list(reader.quotes())


def own_quotes(store: Path) -> dict[str, Quote]:
    """By vendor, without those that another one stands in for."""
    found = [quote for quote in quotes(store) if quote.origin == "local"]
    corrected = {quote.corrects for quote in found}
    return {quote.vendor: quote for quote in found if quote.quote_id not in corrected}


async def buy(person: Person, store: Path) -> None:
    assert message(person.pilot).startswith(("Buy ", "Nothing trains"))
    assert "60 days" in message(person.pilot)


async def by_cost_of_a_run(person: Person, store: Path) -> None:
    await person.press("o", "o")
    assert ranking(person.pilot).session.inputs.rule == "experiment-cost"
    assert " a run" in message(person.pilot)


async def own_machine(person: Person, store: Path) -> None:
    await person.press("O")
    await person.say("8 x H100")
    await person.press("enter")
    assert person.screen == "RankingScreen"
    assert message(person.pilot).startswith("Use your 8 × H100")


async def quoted_machine(person: Person, store: Path) -> None:
    await person.press("f7", "A")
    await person.say("Campus 4 x H100")
    await person.press("tab")
    await person.say("90k")
    await person.press("enter")
    assert own_quotes(store)["Campus"].price_usd == 90_000


async def add_a_quote(person: Person, store: Path) -> None:
    await person.press("a")
    assert person.screen == "QuoteForm"
    await person.say("1234")
    await person.press("tab")
    await person.say("Campus shop")
    await person.press("enter")
    assert own_quotes(store)["Campus shop"].price_usd == 1234


TASKS: dict[str, Task] = {
    "buy": buy,
    "cost-of-a-run": by_cost_of_a_run,
    "own-machine": own_machine,
    "quoted-machine": quoted_machine,
    "add-a-quote": add_a_quote,
}


@pytest.mark.parametrize("name", TASKS)
async def test_a_task_takes_at_most_six_keys(
    own_paper_store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    async with running(own_paper_store, size=NARROW, state=ASKED) as pilot:
        person = Person(pilot)
        await person.ask()
        await TASKS[name](person, own_paper_store)
        assert person.presses <= MOST


async def test_what_is_said_fits_a_small_terminal(store_path: Path) -> None:
    async with running(store_path, size=(60, 20), state=FRESH) as pilot:
        screen = ranking(pilot)
        assert screen.has_class("-narrow")
        assert screen.table.region.height >= 4
        assert screen.query_one("#message", Static).region.area
        assert screen.query_one("KeyBar").region.bottom <= 20
        names = [row[1] for row in rows(pilot)]
        assert len(names) == len(set(names)), "cut, but apart"
