"""Where the question of the main screen is typed and chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Grid
from textual.widgets import Input, Static

from advisor.answers.wording import RULE_CHOICES
from advisor.tui.pages.model_picker import ModelPicker, Search
from advisor.tui.program.settings import TEXT_FIELDS, State
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.text_input import Field

CHOICES = {
    "rule": ("Rank by", RULE_CHOICES),
    "prices": ("Prices", {"latest": "latest", "paper": "paper"}),
    "evidence": ("Evidence", {"sound": "sound", "published": "published"}),
}


class QuestionFields(Grid):
    """One field for each input; a choice tells the screen by its own message."""

    def __init__(
        self,
        state: State,
        *,
        models: Search,
        times: Callable[[str], int],
        typed: Callable[[str, str], None],
    ) -> None:
        """``typed`` is told a field's name and text at once, within the key press.

        ``models`` and ``times`` are what the list of models asks.
        """
        super().__init__(id="question")
        self._state = state
        self._models = models
        self._times = times
        self._typed = typed

    def compose(self) -> ComposeResult:
        state = self._state
        yield Static("Budget $", classes="label")
        yield Field(state.budget, id="budget", max_length=30)
        yield Static("Model", classes="label")
        yield ModelPicker(state.model, self._models, self._times, id="model")
        yield Static("Max days", classes="label")
        yield Field(state.max_days, placeholder="no limit", id="max_days", max_length=30)
        yield Static("Life, years", classes="label")
        yield Field(state.lifetime, id="lifetime", max_length=30)
        yield Static("GPUs", classes="label")
        yield Field(state.gpus, placeholder="all", id="gpus", max_length=100)
        for name, (label, words) in CHOICES.items():
            yield Static(label, classes="label")
            yield Choice(words, getattr(state, name), id=name)

    def on_mount(self) -> None:
        for name in TEXT_FIELDS:
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
        """The model's field with its list."""
        return self.query_one(ModelPicker)

    def write(self, state: State) -> None:
        """Show these inputs without asking anything."""
        for name in TEXT_FIELDS:
            if name == "model":
                self.picker.write(state.model)
                continue
            field = self.query_one(f"#{name}", Input)
            with field.prevent(Input.Changed):
                field.value = getattr(state, name)
        for name in CHOICES:
            self.query_one(f"#{name}", Choice).value = getattr(state, name)

    def mark(self, errors: Mapping[str, str]) -> None:
        """Show which of the texts are wrong."""
        for name in TEXT_FIELDS:
            self.query_one(f"#{name}").set_class(name in errors, "-broken")
