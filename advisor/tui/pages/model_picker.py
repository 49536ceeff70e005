"""The model's field: type to search, choose from the list below with keys or mouse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.events import Click, DescendantBlur
from textual.message import Message
from textual.widgets import Input, OptionList
from textual.widgets.option_list import Option

from advisor.tui.widgets.text_input import Field
from advisor.typed_input import size_named
from bench_runner.typed_numbers import plain

if TYPE_CHECKING:
    from advisor.ranking.times import Model
    from advisor.tui.program.program import Program


MAX_SHOWN = 60
"""A longer list is narrowed by typing, not by scrolling."""


class ModelPicker(Vertical):
    """A text field with a list of what fits; its text is the answer.

    The arrow keys move through the list, which never takes the focus.
    """

    HELP = """\
## The model

Type any part of a name or id, such as `pythia 1b` or `vit`: the best match is taken at once and
is first in the list below. `↓` and `↑` take another, `Enter` or a click completes the name. A
size alone, such as `1b`, lists what has it and takes none.
"""
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "move(1)", "next model", show=False),
        Binding("up", "move(-1)", "model before", show=False),
    ]
    DEFAULT_CSS = """
    ModelPicker { height: 1; width: 1fr; }
    ModelPicker OptionList {
        display: none; overlay: screen; constrain: inside inflect; width: 52; height: auto;
        max-height: 12; border: round $accent; padding: 0; background: $surface;
        scrollbar-size-vertical: 1;
    }
    """

    app: Program

    @dataclass
    class Changed(Message):
        """The text is another, by typing, by the arrow keys or by a click."""

        text: str

    def __init__(self, text: str, *, id: str) -> None:  # noqa: A002
        """``id`` is the field's."""
        super().__init__()
        self._text = text
        self._input_id = id
        self._list: SteadyOptions | None = None

    def compose(self) -> ComposeResult:
        yield Field(self._text, id=self._input_id, max_length=100, select_on_focus=True)

    @property
    def field(self) -> Field:
        return self.query_one(Field)

    @property
    def text(self) -> str:
        return self.field.value

    def write(self, text: str) -> None:
        """Put a text into the field without asking anything."""
        field = self.field
        self._text = text
        field.value = text
        field.cursor_position = len(text)

    def complete(self) -> None:
        """Close the list and write the whole name of what the text means."""
        self.close()
        if self.text.strip() and size_named(self.text) is None:
            found = self.app.session.models(self.text)
            if found:
                self.write(found[0].recipe_id)

    def close(self) -> None:
        if self._list is not None:
            self._list.display = False

    @property
    def is_open(self) -> bool:
        return self._list is not None and bool(self._list.display)

    async def _open(self, models: Sequence[Model]) -> None:
        if self._list is None:
            # Made when first needed: most starts go without.
            self._list = SteadyOptions(markup=False)
            await self.mount(self._list)
        self._list.clear_options()
        self._list.add_options([self._option(model) for model in models[:MAX_SHOWN]])
        self._list.display = bool(models)
        self._list.highlighted = 0 if models and size_named(self.text) is None else None

    @on(Input.Changed)
    async def _typed(self, event: Input.Changed) -> None:
        event.stop()
        if event.value != self._text:  # a new Input also says what it starts with
            self._text = event.value
            await self._open(self.app.session.models(event.value))
            self.post_message(self.Changed(event.value))

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        self.complete()  # bubbles on: the screen moves the focus

    async def action_move(self, by: int) -> None:
        if not self.is_open:
            await self._open(self.app.session.models(""))
            assert self._list is not None
            ids = [option.id for option in self._list.options]
            text = self.text.strip().lower()
            self._list.highlighted = ids.index(text) if text in ids else 0
        assert self._list is not None
        count = self._list.option_count
        if count:
            begin = -1 if by > 0 else 0
            at = self._list.highlighted
            at = ((begin if at is None else at) + by) % count
            self._list.highlighted = at
            self._take(self._list.get_option_at_index(at))

    @on(OptionList.OptionSelected)
    def _clicked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self._take(event.option)
        self.close()

    def _take(self, option: Option) -> None:
        self.write(option.id or "")
        self.post_message(self.Changed(option.id or ""))

    @on(DescendantBlur)
    def _left(self) -> None:
        self.complete()

    def _option(self, model: Model) -> Option:
        large = model.parameters >= 1e9
        size = f"{plain(model.parameters / (1e9 if large else 1e6))} {'B' if large else 'M'}"
        times = self.app.session.measured.get(model.recipe_id)
        remark = f"{times:,} times" if times else "not measured"
        line = f"{model.recipe_id:<26} {size:>6}  {remark}"
        return Option(Content(line), id=model.recipe_id)


class SteadyOptions(OptionList, can_focus=False):
    """A list whose options change while somebody types."""

    def on_click(self, event: Click) -> None:
        """Pass over what was clicked and has gone meanwhile."""
        if event.style.meta.get("option", 0) >= self.option_count:
            event.prevent_default()
