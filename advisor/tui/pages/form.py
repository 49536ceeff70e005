"""A page that asks for values: described by its fields, judged while they are typed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from textual import on, work
from textual.app import ComposeResult
from textual.containers import Grid, Vertical
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from advisor.tui.pages.bars import DialogKeys
from advisor.tui.pages.screens import Dialog
from advisor.tui.widgets.text_input import Field

if TYPE_CHECKING:
    from advisor.store import Store


class FormField(NamedTuple):
    """One value that is asked for."""

    name: str
    label: str
    hint: str = ""
    """Stands in grey where nothing is typed."""
    longest: int = 500


def labelled(
    fields: Iterable[FormField], values: Mapping[str, str], *, pairs: bool = False
) -> Iterable[Widget]:
    """A label and a text field for each; two in a row are told apart by their labels' classes."""
    for n, (name, label, hint, longest) in enumerate(fields):
        yield Static(label, classes="label second" if pairs and n % 2 else "label")
        yield Field(values.get(name, ""), placeholder=hint, id=name, max_length=longest)


class Judged(NamedTuple):
    """What a form says of its values as they stand."""

    words: str
    keep: Callable[[], object] | None = None
    """What Enter does; None where something is wrong."""


class Form(Dialog["str | None"]):
    """Closes with what was kept, in words; with nothing where it was left."""

    FIELDS: ClassVar[Sequence[FormField]] = ()
    WHERE: ClassVar[str]
    SIZE = "page"
    GRID = "form"
    """``pairs`` has two fields a row."""
    START = ""
    """Said while nothing was typed yet: a form that has just opened is not wrong."""

    @dataclass
    class Done(Message):
        """What was asked for is in the store, or why not."""

        words: str
        problem: bool

    def __init__(self, title: str, values: Mapping[str, str] | None = None) -> None:
        super().__init__()
        self._title = title
        self.values = dict(values or {})
        """What the fields begin with."""

    def compose(self) -> ComposeResult:
        with Vertical(classes=self.SIZE) as box:
            box.border_title = self._title
            with Grid(id=self.GRID):
                yield from labelled(self.FIELDS, self.values, pairs=self.GRID == "pairs")
            yield Static(self.START, id="said", markup=False)
            yield from self.more()
            yield DialogKeys(self.WHERE)

    def more(self) -> Iterable[Widget]:
        """What stands below the fields."""
        return ()

    @abstractmethod
    def judge(self, texts: dict[str, str]) -> Judged:
        """What the texts mean, or what is wrong: first with the field that somebody is in."""

    @property
    def texts(self) -> dict[str, str]:
        """What is typed, by field."""
        return {f.name: self.query_one(f"#{f.name}", Input).value.strip() for f in self.FIELDS}

    @property
    def here(self) -> str | None:
        """The field that somebody is in."""
        return None if self.focused is None else self.focused.id

    @on(Input.Changed)
    def _changed(self, event: Input.Changed) -> None:
        event.stop()
        self.typed()

    def typed(self) -> None:
        """Judge what is typed."""
        texts = self.texts
        if all(text == self.values.get(name, "") for name, text in texts.items()):
            self.say(self.START)
        else:
            judged = self.judge(texts)
            self.say(judged.words, wrong=judged.keep is None)

    @on(Input.Submitted)
    def action_keep(self) -> None:
        """Keep it where nothing is wrong."""
        judged = self.judge(self.texts)
        if judged.keep is None:
            self.say(judged.words, wrong=True)
        else:
            judged.keep()

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Say what is wrong, or what goes on."""
        line = self.query_one("#said", Static)
        line.set_class(wrong, "-error")
        line.update(f"⚠ {text}" if wrong and text else text)

    def writes(self, change: Callable[[Store], object], words: str) -> Callable[[], object]:
        """Something that changes the store in a thread, then closes the page and says so."""
        return partial(self.write, change, words)

    @work(thread=True, exclusive=True, group="write", exit_on_error=False)
    def write(self, change: Callable[[Store], object], words: str) -> None:
        """Change the store in a thread, and post how that went."""
        from advisor.store import StoreError

        try:
            change(self.app.store_reader.patient_store())
        except StoreError as error:
            self.post_message(self.Done(str(error), True))
        else:
            self.post_message(self.Done(words, False))

    @on(Done)
    def _done(self, event: Done) -> None:
        if event.problem:
            self.say(event.words, wrong=True)
        else:
            self.dismiss(event.words)
