"""What all screens and all pages over them have in common, and the pages of text."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from textual import on
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.errors import NoWidget
from textual.events import Click, Resize, ScreenResume
from textual.geometry import Region, Size
from textual.screen import ModalScreen, Screen, ScreenResultType
from textual.widget import Widget
from textual.widgets import Static

from advisor.tui.pages.title_and_key_bars import DialogKeys
from advisor.tui.program.keys import bindings_of
from advisor.tui.widgets.lines import PLAIN, Line, LinesView, Page, wrapped

if TYPE_CHECKING:
    from advisor.tui.program.program import Program


class Steady:
    """Put before a screen's class: it lives through quick hands and sizes that change.

    Keys may come faster than a page closes: the second closing one would find it gone, and Textual
    would close whatever lies on top, or the last screen of all.
    """

    BINDINGS: ClassVar[list[BindingType]]

    def __init_subclass__(cls, **more: Any) -> None:
        """The keys of a page are those that the registry has for its place."""
        if "WHERE" in vars(cls):
            cls.BINDINGS = [*bindings_of(vars(cls)["WHERE"])]
        super().__init_subclass__(**more)

    def dismiss(self, result: Any = None) -> AwaitComplete:
        """Close with a result, where this page is still the one on top."""
        if self.app.screen_stack[-1:] != [self]:  # type: ignore[attr-defined]
            return AwaitComplete()
        closed: AwaitComplete = super().dismiss(result)  # type: ignore[misc]
        return closed

    def get_widget_at(self, x: int, y: int) -> tuple[Widget, Region]:
        """The widget there; the page itself where the terminal has shrunk since it was clicked."""
        try:
            found: tuple[Widget, Region] = super().get_widget_at(x, y)  # type: ignore[misc]
        except NoWidget:
            page: Any = self
            return page, page.region
        return found


class Dialog(Steady, ModalScreen[ScreenResultType]):
    """A page over the screen that it came from; a click beside it closes it without a result."""

    CSS_PATH = str(Path(__file__).with_name("dialogs.tcss"))
    WHERE: ClassVar[str]
    SIZE = "page"
    """Classes of its box."""
    key_words: Mapping[str, str] = {}
    """By action: another word for its key than the registry's."""
    app: Program

    def __init__(self, title: str) -> None:
        super().__init__()
        self._title = title

    def compose(self) -> ComposeResult:
        with Vertical(classes=self.SIZE) as box:
            box.border_title = self._title
            yield from self.body()
            yield DialogKeys(self.WHERE, self.key_words)

    @abstractmethod
    def body(self) -> Iterable[Widget]:
        """What stands between the title and the keys."""

    def on_click(self, event: Click) -> None:
        if event.widget is self:
            self.dismiss()


MIN_WIDTH, MIN_HEIGHT = 60, 16
ENLARGE = f"q quits. From {MIN_WIDTH} x {MIN_HEIGHT} on there is a table."
SLIM = 72
"""Below, a line has room for two fields and not for three."""
WIDE, TALL = 110, 32
"""From here on table, picture and detail are side by side; below, one at a time."""


def size_class(size: Size) -> str:
    """``-tiny`` (nothing fits), ``-narrow`` (one panel at a time) or ``-wide`` (all at once)."""
    if size.width < MIN_WIDTH or size.height < MIN_HEIGHT:
        return "-tiny"
    return "-wide" if size.width >= WIDE and size.height >= TALL else "-narrow"


class SizedScreen(Steady, Screen[None]):
    """A screen that knows from its start how much fits."""

    app: Program

    def __init__(self, size: Size) -> None:
        super().__init__(classes=size_class(size))
        self._fit_width(size)
        self._shown_before = False

    @on(ScreenResume)
    def _keep_styles(self, event: ScreenResume) -> None:
        """Every widget was styled when it was made: not all once more before the first picture."""
        if not self._shown_before:
            self._shown_before = True
            event.refresh_styles = False

    def action_focus_field(self, name: str) -> None:
        self.query_one(f"#{name}").focus()

    @on(Resize)
    @on(ScreenResume)
    def fit(self) -> None:
        """Set the class for the present size."""
        wanted = size_class(self.app.size)
        if wanted == "-tiny" and not self.query(TooSmall):
            self.mount(TooSmall())  # made when first needed: most terminals are large enough
        for name in ("-tiny", "-narrow", "-wide"):
            self.set_class(name == wanted, name)
        self._fit_width(self.app.size)

    def _fit_width(self, size: Size) -> None:
        self.set_class(size.width < SLIM, "-slim")
        self.set_class(size.width >= WIDE, "-broad")


class TooSmall(Static):
    """Stands in for a screen that would not fit: the answer itself."""

    DEFAULT_CSS = "TooSmall { width: 100%; height: 1fr; display: none; }"
    app: Program

    def __init__(self) -> None:
        super().__init__(markup=False)

    def render(self) -> Content:
        """The answer, and below it what would show more."""
        said = self.app.session.sentence() or "Reading the store …"
        return Content.assemble(f"{said}\n\n", (ENLARGE, "dim"))


class RecordScreen(Dialog[None]):
    """A page of text over the screen that it came from."""

    WHERE = "record"

    def __init__(self, title: str, page: Page) -> None:
        super().__init__(title)
        self._page = page

    def body(self) -> Iterable[Widget]:
        yield LinesView(self._page)

    def action_copy(self) -> None:
        self.app.copy_text("\n".join(text for text, _ in self._page(10_000)), "the page")


class MarkdownScreen(RecordScreen):
    """A page of Markdown as it will look."""

    AUTO_FOCUS = "VerticalScroll"

    def __init__(self, title: str, text: str) -> None:
        super().__init__(title, lambda width: [(line, PLAIN) for line in text.splitlines()])
        self._text = text

    def body(self) -> Iterable[Widget]:
        from textual.widgets import Markdown  # late: not for the first screen

        with VerticalScroll():
            yield Markdown(self._text, open_links=False)


class ConfirmScreen(Dialog[bool]):
    """Answers True only where the person said so."""

    WHERE = "confirm"

    def __init__(self, title: str, lines: Sequence[Line], yes: str) -> None:
        super().__init__(title)
        self._lines = lines
        self.key_words = {"answer(True)": yes}

    def body(self) -> Iterable[Widget]:
        yield LinesView(lambda width: wrapped(self._lines, width))

    def action_answer(self, yes: bool) -> None:
        self.dismiss(yes)
