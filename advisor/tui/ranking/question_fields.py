"""Where the question of the main screen is typed and chosen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Grid
from textual.content import Content
from textual.widgets import Input, Static

from advisor.answers.wording import RULE_CHOICES
from advisor.tui.pages.model_picker import ModelPicker
from advisor.tui.program.keys import actions_of
from advisor.tui.program.state import State
from advisor.tui.widgets.choice import Choice, OpensPage
from advisor.tui.widgets.text_input import Field

FIELDS = (
    ("budget", "Budget $", ""),
    ("model", "Model", ""),
    ("max_days", "Time limit", "none"),
    ("gpus", "GPUs", "all"),
)
"""Each with its label, and what stands in it while it is empty."""


IN_LINE = {
    "buy_in": "bought in {}",
    "pue": "PUE {}",
    "hosting": "hosting ${}",
    "staff": "staff ${}",
    "resale": "resale {} %",
    "financing": "loan at {} %",
    "circuit": "circuit {}",
    "network": "two machines by {}",
}
"""What is said of a value that was typed."""


class QuestionFields(Grid):
    """One field for each input; a choice tells the screen by its own message."""

    def __init__(self, state: State, typed: Callable[[str, str], None]) -> None:
        """``typed`` gets a field's name and text at once, within the key press."""
        super().__init__(id="question")
        self._state = state
        self._typed = typed

    def compose(self) -> ComposeResult:
        state = self._state
        for name, label, hint in FIELDS:
            yield _label(label, name)
            if name == "model":
                yield ModelPicker(state.model, id="model")
            else:
                text = getattr(state, name)
                yield Field(text, placeholder=hint, id=name, max_length=100)
        yield _label("Order by", "rule")
        yield Choice(RULE_CHOICES, state.rule, id="rule")
        yield Static("Assuming", classes="label")
        yield OpensPage(", ".join(assumed(state)), id="assumed")

    def on_mount(self) -> None:
        for name, *_ in FIELDS:
            if name != "model":
                # Watched, not heard by message: the answer is then drawn together with the key.
                field = self.query_one(f"#{name}", Input)
                self.watch(field, "value", partial(self._typed, name), init=False)

    @on(ModelPicker.Changed)
    def _model_typed(self, event: ModelPicker.Changed) -> None:
        event.stop()
        self._typed("model", event.text)

    @property
    def picker(self) -> ModelPicker:
        return self.query_one(ModelPicker)

    def write(self, state: State) -> None:
        """Show these inputs without asking anything."""
        self.picker.write(state.model)
        for name, *_ in FIELDS:
            if name != "model":
                field = self.query_one(f"#{name}", Input)
                with field.prevent(Input.Changed):
                    field.value = getattr(state, name)
        self.query_one("#rule", Choice).value = state.rule
        self.query_one(OpensPage).words = ", ".join(assumed(state))

    def mark(self, errors: Mapping[str, str]) -> None:
        for name, *_ in FIELDS:
            self.query_one(f"#{name}").set_class(name in errors, "-broken")


def _label(text: str, field: str) -> Static:
    """The field's name with the letter of its key underlined."""
    return Static(with_key(text, field_key(field)), classes="label")


def field_key(field: str) -> str:
    """The key that goes to a field, or steps through its values."""
    return next(a.key for a in actions_of("ranking") if f"('{field}')" in a.action)


def with_key(text: str, key: str) -> Content:
    """A text whose first such letter is underlined."""
    at = text.lower().find(key)
    if at < 0:
        return Content(text)
    return Content.assemble(text[:at], (text[at], "underline bold"), text[at + 1 :])


def assumed(state: State) -> Iterator[str]:
    """What is assumed: life, use and power always, the rest where it is not the usual."""
    life = state.lifetime.strip()
    yield f"life {life} years" if life.isdecimal() else f"life {life}"
    yield f"use {(state.utilisation or '100').strip(' %')} %"
    power = state.electricity.strip(" $")
    yield f"power ${power} a kWh" if power else "power not counted"
    for name, words in IN_LINE.items():
        if text := getattr(state, name).strip(" %$"):
            yield words.format(text)
    for name, usual in (("software", "ours"), ("prices", "latest"), ("evidence", "sound")):
        if (chosen := getattr(state, name)) != usual:
            yield {"software": f"{chosen} software", "prices": "the paper's prices"}.get(
                name, "times as printed"
            )
