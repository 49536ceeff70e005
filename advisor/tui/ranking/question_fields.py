"""Where the question of the main screen is typed and chosen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from textual import on
from textual.app import ComposeResult
from textual.containers import Grid
from textual.content import Content
from textual.widgets import Input, Static

from advisor.answers.wording import RULE_CHOICES
from advisor.tui.pages.model_picker import ModelPicker, Search
from advisor.tui.program.keys import RANKING, actions_of
from advisor.tui.program.state import TEXT_FIELDS, State
from advisor.tui.widgets.choice import Choice
from advisor.tui.widgets.text_input import Field

FIELDS = (
    ("budget", "Budget $", ""),
    ("model", "Model", ""),
    ("max_days", "Time limit", "none"),
    ("gpus", "GPUs", "all"),
    ("buy_in", "Buy in", "anywhere"),
    ("lifetime", "Life, years", ""),
    ("utilisation", "Use %", "100"),
    ("electricity", "Power $/kWh", "not counted"),
)
"""Each with its label, and what stands in it while it is empty."""
CHOICES = {
    "rule": ("Order by", RULE_CHOICES),
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
        for name, label, hint in FIELDS:
            yield _label(label, name)
            if name == "model":
                yield ModelPicker(state.model, self._models, self._times, id="model")
            else:
                text = getattr(state, name)
                yield Field(text, placeholder=hint, id=name, max_length=100)
        for name, (label, words) in CHOICES.items():
            yield _label(label, name)
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


def _label(text: str, field: str) -> Static:
    """The field's name with the letter of its key underlined."""
    return Static(with_key(text, field_key(field)), classes="label")


def field_key(field: str) -> str:
    """The key that goes to a field, or steps through its values."""
    return next(a.key for a in actions_of(RANKING) if f"('{field}')" in a.action)


def with_key(text: str, key: str) -> Content:
    """A text whose first such letter is underlined."""
    at = text.lower().find(key)
    if at < 0:
        return Content(text)
    return Content.assemble(text[:at], (text[at], "underline bold"), text[at + 1 :])
