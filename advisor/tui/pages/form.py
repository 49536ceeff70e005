"""A page that asks for values: described by its fields, judged while they are typed."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from textual import on
from textual.containers import Grid
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input, Static

from advisor.tui.pages.screens import Dialog
from advisor.tui.program.state import change_prices
from advisor.tui.widgets.choice import Choice, FormChoice
from advisor.tui.widgets.in_thread import in_thread, write_in_thread
from advisor.tui.widgets.lines import LinesView, Page
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
    choices: Mapping[str, str] | None = None
    """What is chosen among: the words of each value; None for a text."""


def in_fields(fields: Sequence[FormField], words: str) -> str:
    """What is wrong, with the names of a form's fields for those of flags of the command line."""
    for field in fields:
        words = words.replace(f"--{field.name.replace('_', '-')}", field.label)
    return words


class Judged(NamedTuple):
    """What a form says of its values."""

    words: str
    keep: Callable[[], object] | None = None
    """What Enter does; None where something is wrong."""
    field: str | None = None
    """Which field is wrong: Enter goes there."""
    page: Page | None = None
    """What is shown below the fields."""


class Form(Dialog["str | None"]):
    """Closes with what was kept, in words; with nothing where it was left."""

    FIELDS: Sequence[FormField] = ()
    GRID = "form"
    """``pairs`` has two fields a row."""
    START = ""
    """Said while nothing was typed yet: a form that has just opened is not wrong."""
    STUDIES = False
    """Whether judging takes so long that a thread does it."""

    def __init__(self, title: str, values: Mapping[str, str] | None = None) -> None:
        super().__init__(title)
        self.values = dict(values or {})
        """What the fields begin with."""
        self.studied: Judged | None = None
        """How the values were judged, where that takes a thread; None meanwhile."""
        self.result: str | None = None
        """What the form closes with; None for the words of what was done."""

    def body(self) -> Iterable[Widget]:
        with Grid(id=self.GRID):
            for n, field in enumerate(self.FIELDS):
                second = self.GRID == "pairs" and n % 2
                classes = "label second" if second else "label"
                yield Static(field.label, classes=classes, id=f"label_{field.name}")
                yield self._field(field)
        yield Static(self.START, id="said", markup=False)
        yield from self.more()

    def _field(self, field: FormField) -> Widget:
        value = self.values.get(field.name, "")
        if field.choices is not None:
            return FormChoice(field.choices, value, id=field.name)
        return Field(value, placeholder=field.hint, id=field.name, max_length=field.longest)

    def more(self) -> Iterable[Widget]:
        """What is shown below the fields."""
        return (LinesView(id="below"),) if self.STUDIES else ()

    @abstractmethod
    def judge(self, texts: dict[str, str]) -> Judged:
        """What the texts mean, or what is wrong: first with the field that somebody is in."""

    @property
    def texts(self) -> dict[str, str]:
        fields = (self.query_one(f"#{field.name}", Widget) for field in self.FIELDS)
        return {each.id or "": getattr(each, "value", "").strip() for each in fields}

    @property
    def here(self) -> str | None:
        return None if self.focused is None else self.focused.id

    @property
    def labels(self) -> dict[str, str]:
        return {field.name: field.label for field in self.FIELDS}

    @on(Input.Changed)
    @on(Choice.Changed)
    def _changed(self, event: Message) -> None:
        event.stop()
        self.typed()

    def typed(self) -> None:
        texts = self.texts
        self.studied = None
        if all(text == self.values.get(name, "") for name, text in texts.items()):
            self.show(Judged(self.START, lambda: None))
        else:
            self.look(texts)

    def look(self, texts: dict[str, str]) -> None:
        """Judge these values and show how, in a thread where that takes long."""
        if not self.STUDIES:
            self.show(self.judge(texts))
            return

        def studied(judged: Judged) -> None:
            if texts == self.texts:
                self.studied = judged
                self.show(judged)

        in_thread(self, "look", lambda: self.judge(texts), studied, self.say_wrong)

    def show(self, judged: Judged) -> None:
        self.say(judged.words, wrong=judged.keep is None)
        for below in self.query("#below").results(LinesView):
            below.show(judged.page or (lambda width: []), from_top=True)

    @on(Input.Submitted)
    def action_keep(self) -> None:
        judged = self.studied if self.STUDIES else self.judge(self.texts)
        if judged is None:
            self.say("reading …")
            self.look(self.texts)
        elif judged.keep is not None:
            judged.keep()
        else:
            self.show(judged)
            if judged.field and judged.field != self.here:
                self.query_one(f"#{judged.field}").focus()
            if self.STUDIES:
                self.look(self.texts)  # a file may be mended by now

    def say(self, text: str, *, wrong: bool = False) -> None:
        """Say what is wrong, or what goes on."""
        line = self.query_one("#said", Static)
        line.set_class(wrong, "-error")
        line.update(f"⚠ {text}" if wrong and text else text)

    def does(self, work: Callable[[], str]) -> Callable[[], object]:
        """Something that takes a thread, then closes the page and says so in its words."""
        return partial(write_in_thread, self, work, self.done, self.say_wrong)

    def writes(self, change: Callable[[Store], object], words: str) -> Callable[[], object]:
        """Something that changes the user's own prices in a thread, then closes the page and says
        so; it can be undone."""

        def write() -> str:
            done = change_prices(self.app.store_reader.patient_store(), change, words)
            self.app.call_from_thread(self.app.session.did, done)
            return words

        return self.does(write)

    def done(self, words: str) -> None:
        self.app.notify(words, markup=False)
        self.dismiss(words if self.result is None else self.result)

    def say_wrong(self, text: str) -> None:
        self.say(text, wrong=True)
