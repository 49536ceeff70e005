"""Every task as a new user does it, by keys alone, with its count of key presses.

A key press is one of the keys that lead somewhere; what is typed into a field is the question
itself, or what a vendor said. Each task takes at most six.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from textual.events import Paste
from textual.pilot import Pilot
from textual.widgets import Input, Static

from advisor.store import Store
from advisor.tui.program.actions import ACTIONS
from advisor.tui.program.settings import State
from advisor.tui.widgets.lines_view import LinesView
from tests.tui.program import NARROW, message, note, page, ranking, rows, running, settled

MOST = 6
FRESH = State(welcomed=True)


class Person:
    """Presses keys, and counts them."""

    def __init__(self, pilot: Pilot[None]) -> None:
        self.pilot = pilot
        self.presses = 0

    async def press(self, *keys: str) -> None:
        self.presses += len(keys)
        await self.pilot.press(*keys)
        await settled(self.pilot)

    async def say(self, text: str) -> None:
        """Type into the field with the focus; the text is not counted."""
        focused = self.pilot.app.screen.focused
        assert isinstance(focused, Input)
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

    @property
    def page(self) -> str:
        return page(self.pilot.app.screen.query_one("#page", LinesView))


Task = Callable[[Person, Path], Awaitable[None]]


async def buy(person: Person, store: Path) -> None:
    assert message(person.pilot).startswith(("Buy ", "Nothing trains"))
    assert "60 days" in message(person.pilot)
    assert note(person.pilot)


async def by_cost_of_a_run(person: Person, store: Path) -> None:
    await person.press("o", "o")
    assert ranking(person.pilot).session.inputs.rule == "experiment-cost"
    assert " a run" in message(person.pilot)


async def own_machine(person: Person, store: Path) -> None:
    await person.press("ctrl+p")
    await person.pilot.press(*"prices: add a machine")
    await person.pilot.pause(0.4)
    await person.press("enter")
    assert person.screen == "MachineForm"


async def add_a_quote(person: Person, store: Path) -> None:
    await person.press("a")
    assert person.screen == "QuoteForm"
    await person.press("tab")
    await person.say("1234")
    await person.press("tab")
    await person.say("Campus shop")
    await person.press("enter")
    assert any(q.vendor == "Campus shop" for q in quotes(store))


async def correct_and_delete_a_quote(person: Person, store: Path) -> None:
    await person.press("enter", "dollar_sign", "enter")
    assert person.screen == "PricesScreen"
    await person.press("c")
    assert person.screen in ("QuoteForm", "MachineForm", "PricesScreen")
    await person.press("escape")
    if person.screen == "PricesScreen":
        await person.press("d")


async def own_model(person: Person, store: Path) -> None:
    await person.press("n")
    await person.say("decoder")
    await person.press("tab")
    await person.say("400M")
    await person.press("tab")
    await person.say("8B")
    for _ in range(4):  # to the name, past what needs no answer
        await person.pilot.press("tab")
    await person.say("lab-400m")
    await person.press("enter")
    await settled(person.pilot)
    assert ranking(person.pilot).session.inputs.model == "lab-400m"
    assert rows(person.pilot)


async def what_it_costs_to_run(person: Person, store: Path) -> None:
    await person.press("enter", "w")
    await person.say("0.15")
    assert "electricity at $0.15 a kWh" in person.page


async def rent_instead(person: Person, store: Path) -> None:
    await person.press("enter", "r")
    assert "RENT" in person.page


async def plan_and_report(person: Person, store: Path) -> None:
    await person.press("f8")
    assert person.screen == "PlanScreen"
    shown = {a.verb for a in ACTIONS if a.where == "plan"}
    assert {"plan the worked example", "write the report"} <= shown


async def measure_on_a_cluster(person: Person, store: Path) -> None:
    await person.press("M")
    assert "--on slurm" in person.page
    await person.press("y")
    assert "advisor bench --model pythia-1b" in person.pilot.app.clipboard


TASKS: dict[str, Task] = {
    "buy": buy,
    "cost-of-a-run": by_cost_of_a_run,
    "own-machine": own_machine,
    "add-a-quote": add_a_quote,
    "correct-a-quote": correct_and_delete_a_quote,
    "own-model": own_model,
    "running-costs": what_it_costs_to_run,
    "rent": rent_instead,
    "plan": plan_and_report,
    "measure": measure_on_a_cluster,
}


def quotes(store: Path):  # type: ignore[no-untyped-def]
    with Store(store).reading() as reader:
        return reader.quotes()


@pytest.mark.parametrize("name", TASKS)
async def test_a_task_takes_at_most_six_keys(own_store: Path, name: str) -> None:
    async with running(own_store, size=NARROW, state=FRESH) as pilot:
        person = Person(pilot)
        await person.ask()
        await TASKS[name](person, own_store)
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
