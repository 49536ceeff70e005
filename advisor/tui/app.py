"""The terminal program: the store, the theme and the screens; the screens do the rest."""

from __future__ import annotations

import gc
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual import on, work
from textual.app import ScreenError, SystemCommand
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.screen import Screen
from textual.theme import BUILTIN_THEMES

from advisor.tui.program.actions import (
    ACTIONS,
    BENCHMARK,
    BUILD,
    EVERYWHERE,
    EVIDENCE,
    PLAN,
    PRICES,
    RANKING,
    Action,
    actions_of,
    bindings_of,
)
from advisor.tui.program.ended import end_from_outside, no_more
from advisor.tui.program.messages import StoreChanged, StoreNote
from advisor.tui.program.program import Program
from advisor.tui.program.settings import State, save_state
from advisor.tui.program.store_reader import StoreReader
from advisor.tui.program.typed_bytes import taking_any_bytes
from advisor.tui.ranking.ranking_screen import RankingScreen

if TYPE_CHECKING:
    from textual.command import Provider
    from textual.driver import Driver
    from textual.widget import Widget

    from advisor.tui.program.kept import Kept, KeptNote, KeptQuestion
    from advisor.tui.program.ranking_session import RankingSession

THEMES = {
    "textual-dark": "dark",
    "textual-light": "light",
    "ansi-dark": "the terminal's own colours, dark",
    "ansi-light": "the terminal's own colours, light",
}
DARKER = {"text-warning": "#7a4a08", "text-success": "#24603a", "text-accent": "#7a4a08"}
"""Textual's own of the light theme have a contrast of 3 to its backgrounds: text needs 4.5."""
KEPT_NAME = "kept.json"
"""Questions, plans and results, beside the settings."""
FROM_ELSEWHERE = (RANKING, EVIDENCE, BENCHMARK, PRICES, PLAN)
"""Screens whose actions the palette offers on every other. The sections of a build open from the
ranking, and a page that lies over a screen has its own."""
ONLY_THERE = (
    *("cancel", "leave_field", "back", "act", "fold", "open_record", "copy_row", "copy_plan"),
    *("next_sort", "reverse_sort", "correct", "delete", "report", "go", "undo"),
)
"""Actions about what is under the cursor or under way on their own screen: not from another."""
LOOK_EVERY_S = 2.0
"""How often the store's file is looked at for changes by other programs."""


def _whole_program() -> type[Provider]:
    """What the palette finds beside actions; loaded when somebody opens it."""
    from advisor.tui.program.palette import WholeProgram

    return WholeProgram


class AdvisorApp(Program):
    """Which GPU machine to buy."""

    TITLE = "GPU advisor"
    CSS_PATH = "ranking/ranking.tcss"  # of the default screen, whose own Textual does not load
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(EVERYWHERE)]
    ENABLE_COMMAND_PALETTE = True
    COMMANDS = {_whole_program}  # noqa: RUF012 - so has Textual

    def __init__(
        self,
        store_path: Path,
        *,
        state: State | None = None,
        state_path: Path | None = None,
        note: str | None = None,
        store_reader: StoreReader | None = None,
        today: date | None = None,
    ) -> None:
        """``state_path`` is where to keep the state, None for nowhere; ``note`` is shown first."""
        super().__init__()
        self.kept = state or State()
        self.store_reader = store_reader or StoreReader(store_path)
        self.store_reader.note = self._store_note
        light = BUILTIN_THEMES["textual-light"]
        self.register_theme(replace(light, variables=light.variables | DARKER))
        self.theme = self.kept.theme if self.kept.theme in THEMES else "textual-dark"
        self.today = today or date.today()
        self._state_path = state_path
        self._kept_path = None if state_path is None else state_path.with_name(KEPT_NAME)
        self._start_note = note
        self._kept_things: Kept | None = None
        self._kept_changed = False
        self._warned_of_bench = False

    def get_driver_class(self) -> type[Driver]:
        """What draws and hands on keys, whatever bytes the terminal sends."""
        return taking_any_bytes(super().get_driver_class())

    def get_default_screen(self) -> Screen[None]:
        """The main screen is the one that is always there."""
        self._ranking = RankingScreen(self.kept, self.size)
        return self._ranking

    def on_mount(self) -> None:
        if not self.kept.welcomed:
            self.action_go("welcome")
        if self._start_note:
            self.notify(self._start_note, severity="warning", timeout=10)
        self.set_interval(LOOK_EVERY_S, self.look_at_store)
        end_from_outside(self)

    def action_command_palette(self) -> None:
        """Everything that can be done, to be searched."""
        from advisor.tui.program.palette import Palette

        if not isinstance(self.screen, Palette):
            self.push_screen(Palette())

    @property
    def inputs(self) -> State:
        """What stands in the fields of the main screen."""
        return self._ranking.session.inputs

    @property
    def session(self) -> RankingSession:
        """The question, its answer and the selected build."""
        return self._ranking.session

    def first_answer_shown(self) -> None:
        """Go on as usual after the hurried start."""
        # What was loaded so far stays: looking through it for garbage would hold up the first
        # picture, and later keys.
        gc.freeze()
        gc.enable()

    # The store, in threads

    @work(thread=True, exclusive=True, group="look", exit_on_error=False)
    def look_at_store(self) -> None:
        """Say so where the store changed; the state is kept on the same occasion."""
        if self.store_reader.changed():
            for screen in self.screen_stack:
                screen.post_message(StoreChanged())
        self.keep_state()

    def _store_note(self, text: str) -> None:
        self.post_message(StoreNote(text))

    @on(StoreNote)
    def _show_note(self, event: StoreNote) -> None:
        self.notify(event.text, markup=False)

    # The state

    def keep_state(self) -> None:
        """Write the state where it changed."""
        state = replace(self.inputs, theme=self.theme, welcomed=True)
        if self._state_path is not None and state != self.kept:
            self.kept = state
            problem = save_state(self._state_path, state)
            if problem:
                self._state_path = None  # said once, not every two seconds
                self._store_note(problem)

    def _handle_exception(self, error: Exception) -> None:
        """Once the program is being left, screens lie half made or half taken down: what they miss
        of one another is no trouble of the person's, who would read a traceback."""
        if not (self._exit and isinstance(error, ScreenError | NoScreen | NoMatches)):
            super()._handle_exception(error)

    def on_unmount(self) -> None:
        no_more()
        self.keep_state()
        if self._kept_path is not None:
            self.remember_question()
            self._write_kept()

    # What took time is kept

    @property
    def kept_things(self) -> Kept:
        """Questions, plans and results of earlier runs; read when first asked for."""
        if self._kept_things is None:
            from advisor.tui.program.kept import Kept, load_kept

            self._kept_things, note = (
                (Kept(), None) if self._kept_path is None else load_kept(self._kept_path)
            )
            if note:
                self._store_note(note)
        return self._kept_things

    def remember_question(self) -> None:
        """Put the answered question among the last ones."""
        sentence = self.session.sentence(short=False)
        if sentence is not None and not self.session.is_old:
            changed = self.kept_things.remember(self.inputs, sentence, self.today)
            self._kept_changed = changed or self._kept_changed

    def name_question(self, name: str) -> None:
        """Keep the present question under a name."""
        sentence = self.session.sentence(short=False) or ""
        self.kept_things.name_it(self.inputs, sentence, self.today, name)
        self._kept_changed = True
        self._write_kept()

    def forget_question(self, question: KeptQuestion) -> None:
        """Drop one of those that were kept."""
        self.kept_things.forget(question)
        self._kept_changed = True
        self._write_kept()

    def keep_note(
        self,
        screen: str,
        title: str,
        text: str,
        layouts: dict[int, str] | None = None,
        **asked: str,
    ) -> None:
        """Keep what a screen shows, such as a plan, for when it is opened again; ``layouts`` are
        the same text for other widths."""
        from advisor.tui.program.kept import KeptNote

        made_on = self.today.isoformat()
        self.kept_things.note(
            screen,
            KeptNote(title=title, made_on=made_on, text=text, asked=asked, layouts=layouts or {}),
        )
        self._kept_changed = True
        self._write_kept()

    def kept_note(self, screen: str) -> KeptNote | None:
        """What a screen last showed, in this run or one before."""
        return self.kept_things.notes.get(screen)

    def _write_kept(self) -> None:
        if self._kept_path is not None and self._kept_changed and self._kept_things is not None:
            from advisor.tui.program.kept import save_kept

            self._kept_changed = False
            problem = save_kept(self._kept_path, self._kept_things)
            if problem:
                self._kept_path = None  # said once
                self._store_note(problem)

    # Actions

    def ask_sample(self, budget: str, model: str) -> None:
        """Put a question into the main screen, with all else as it was shipped: what the sample
        says is then what stands there."""
        shipped = State().question() | {"budget": budget, "model": model}
        self._ranking.ask(**shipped)

    def question_changed(self) -> None:
        """Answer the inputs anew."""
        self._ranking.show_answer()

    def open_build(self, section: str) -> None:
        """Show everything about the selected build, or one section of it."""
        from advisor.tui.selected.build_screen import BuildScreen

        self.push_screen(BuildScreen(self.size, section))

    def compare(self) -> None:
        """Mark the selected build; with another one marked, show both side by side."""
        words = self.session.mark()
        if words is not None:
            self.notify(words, markup=False)
            return
        from advisor.tui.selected.compare_screen import CompareScreen

        self.push_screen(CompareScreen(self.size))

    def add_quote(self) -> None:
        """A quote for the selected build, its fields filled in as far as they are known."""
        from advisor.answers.wording import item_names
        from advisor.tui.prices.quote_dialogs import QuoteForm

        snapshot, build = self.session.snapshot, self.session.selected_build
        if snapshot is None:
            self.notify("The store is still being read.")
            return
        cells = {"date": self.today.isoformat(), "kind": "reseller-quote"}
        if build is not None:
            names = item_names(snapshot.gpus, snapshot.hosts)
            whole = build.host.gpu_id is not None
            item = ("server", build.host.host_id) if whole else ("gpu", build.gpu.gpu_id)
            cells["item"] = names.get(item, build.gpu.name)
        self.push_screen(QuoteForm(snapshot, cells, None), self._quote_kept)

    def add_owned(self) -> None:
        """A machine that the lab has already."""
        from advisor.tui.prices.owned_dialog import OwnedForm

        if self.session.snapshot is None:
            self.notify("The store is still being read.")
        else:
            self.push_screen(OwnedForm(self.session.snapshot), self._quote_kept)

    def _quote_kept(self, note: str | None) -> None:
        if note:
            self.notify(note, markup=False)
            self._ranking.read_store()

    def go_filtered(self, name: str, words: str) -> None:
        """Show one of the screens with lists, with this filter."""
        from advisor.tui.pages.list_page import ListScreen

        self.action_go(name)
        if isinstance(self.screen, ListScreen):
            self.screen.filter_by(words)

    def go_about(self, name: str) -> None:
        """Show one of the screens, about the selected build."""
        self.session.choose_selected()
        self.action_go("prices" if name == "rent" else name)
        if name == "rent":
            self.call_after_refresh(self.run_action, "show_tab('rent')", self.screen)

    def action_go(self, name: str) -> None:
        """Show one of the screens."""
        while len(self.screen_stack) > 1:
            self.pop_screen()
        if name == "evidence":
            from advisor.tui.evidence.evidence_screen import EvidenceScreen

            self.push_screen(EvidenceScreen(self.size))
        elif name == "welcome":
            from advisor.tui.pages.welcome import WelcomeScreen

            self.push_screen(WelcomeScreen(self.size))
        elif name == "benchmark":
            self.push_screen(self._benchmark())
        elif name == "prices":
            from advisor.tui.prices.prices_screen import PricesScreen

            self.push_screen(PricesScreen(self.size))
        elif name == "plan":
            self.push_screen(self._plan())

    def _plan(self) -> Screen[None]:
        """The one plan screen: what took it time stays while another screen is shown."""
        if not self.is_screen_installed("plan"):
            from advisor.tui.plan.plan_screen import PlanScreen

            self.install_screen(PlanScreen(self.size), "plan")
        return self.get_screen("plan")

    def _benchmark(self) -> Screen[None]:
        """The one benchmark screen: what it runs goes on while another screen is shown."""
        if not self.is_screen_installed("benchmark"):
            from advisor.tui.benchmark.benchmark_screen import BenchmarkScreen

            self.install_screen(BenchmarkScreen(self.size), "benchmark")
        return self.get_screen("benchmark")

    async def action_quit(self) -> None:
        """Leave; where a benchmark runs, only when asked twice."""
        if self.is_screen_installed("benchmark"):
            from advisor.tui.benchmark.benchmark_screen import BenchmarkScreen

            bench = self.get_screen("benchmark", BenchmarkScreen)
            if bench.is_busy and not self._warned_of_bench:
                self._warned_of_bench = True
                self.notify(
                    "A benchmark is running: q again ends it, keeps what it has, and quits."
                )
                return
        self.exit()

    def action_help(self) -> None:
        """Explain what has the focus, and list the keys."""
        from advisor.tui.pages.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def action_jump(self) -> None:
        """Show a letter on each field and list; the next key goes there."""
        from advisor.tui.pages.jump import JumpScreen, places_on

        def go(widget: Widget | None) -> None:
            if widget is not None:
                widget.focus()

        if not isinstance(self.screen, JumpScreen):
            self.push_screen(JumpScreen(places_on(self.screen)), go)

    def action_next_theme(self) -> None:
        """Dark, light, and the terminal's own colours in turn."""
        names = list(THEMES)
        at = names.index(self.theme) if self.theme in names else -1
        self.theme = names[(at + 1) % len(names)]
        self.notify(f"Theme: {THEMES[self.theme]}.", timeout=2)

    def action_reread(self) -> None:
        """Read the store now."""
        self._ranking.read_store()

    def get_system_commands(self, screen: Screen[object]) -> Iterable[SystemCommand]:
        """Every action of the screen and of the program first, then what other screens do, named
        ``area: verb``."""
        where = getattr(screen, "WHERE", EVERYWHERE)
        here = [action for action in ACTIONS if action.where in (where, EVERYWHERE)]
        there = [a for a in ACTIONS if a.where in FROM_ELSEWHERE and a not in here]
        there = [a for a in there if a.action.removeprefix("app.").split("(")[0] not in ONLY_THERE]
        for action in (*here, *there):
            elsewhere = action.where not in (where, EVERYWHERE)
            title = f"{action.where}: {action.verb}" if elsewhere else action.title
            text = f"{action.text} ({action.key})"
            if elsewhere:
                text = f"{action.text} (on the screen of the {action.where})"
            yield SystemCommand(title, text, partial(self._run, action))
        for action in actions_of(BUILD) if where != BUILD else ():
            name, _, section = action.action.rstrip("')").partition("('")
            if name == "section" and section not in ("overview", "measure"):
                text = f"{action.text} (Enter {action.key})"
                run = partial(self._open_section, section)
                yield SystemCommand(f"build: {action.verb}", text, run)
        for name, words in THEMES.items():
            yield SystemCommand(
                f"theme: {words}", f"Change the theme to {name}.", lambda name=name: self._set(name)
            )

    def _open_section(self, section: str) -> None:
        """Show a section of the selected build's page, from any screen."""
        if self.session.selected is None:
            self.notify("No build is selected yet.")
            return
        self.action_go("ranking")
        self.open_build(section)

    def _run(self, action: Action) -> None:
        """Run an action of any screen: go there first."""
        here = getattr(self.screen, "WHERE", EVERYWHERE)
        if action.where in (here, EVERYWHERE):
            node = self if action.where == EVERYWHERE else self.screen
            self.call_after_refresh(self.run_action, action.action, node)
        else:
            self.action_go(action.where)
            # Once it is mounted, it has begun to read.
            self.screen.call_after_refresh(self._start_there, action)

    def _start_there(self, action: Action) -> None:
        self.run_worker(self._run_there(action), group="elsewhere", exit_on_error=False)

    async def _run_there(self, action: Action) -> None:
        """Run an action of the screen that was just opened, once it has read what it needs."""
        screen = self.screen
        reading = [worker for worker in self.workers if worker.node is screen]
        if reading:
            await self.workers.wait_for_complete(reading)
        screen.call_after_refresh(self.run_action, action.action, screen)

    def ask(self, **values: str) -> None:
        """Put something into the question and show the answer."""
        self.action_go("ranking")
        self._ranking.ask(**values)

    def _set(self, theme: str) -> None:
        self.theme = theme
