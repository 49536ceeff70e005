"""The terminal program: the store, the theme and the screens; the screens do the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from textual._context import active_message_pump
from textual.app import ScreenError
from textual.binding import BindingType
from textual.css.query import NoMatches
from textual.dom import NoScreen
from textual.screen import Screen
from textual.widget import Widget

from advisor.tui.pages.screens import SizedScreen
from advisor.tui.program.keys import EVERYWHERE, Action, bindings_of
from advisor.tui.program.program import (
    THEMES,
    AnswerChanged,
    Program,
    StoreChanged,
    light_theme,
    theme_after,
)
from advisor.tui.program.session import RankingSession
from advisor.tui.program.state import Change, State, save_state
from advisor.tui.program.store_reader import StoreReader
from advisor.tui.program.terminal import end_from_outside, no_more, taking_any_bytes
from advisor.tui.ranking.ranking_screen import RankingScreen
from advisor.tui.widgets.in_thread import in_thread, write_in_thread

if TYPE_CHECKING:
    from textual.driver import Driver

    from advisor.store import Store
    from advisor.tui.program.state import KeptQuestion

LOOK_EVERY_S = 2.0
"""How often the store's file is looked at for changes by other programs."""


def _screen_class(name: str) -> type[SizedScreen]:
    """Loaded when somebody goes there."""
    match name:
        case "evidence":
            from advisor.tui.evidence.evidence_screen import EvidenceScreen

            return EvidenceScreen
        case "benchmark":
            from advisor.tui.benchmark.benchmark_screen import BenchmarkScreen

            return BenchmarkScreen
        case "prices":
            from advisor.tui.prices.prices_screen import PricesScreen

            return PricesScreen
        case _:
            from advisor.tui.plan.plan_screen import PlanScreen

            return PlanScreen


class AdvisorApp(Program):
    """Which GPU machine to buy."""

    TITLE = "GPU advisor"
    CSS_PATH = "ranking/ranking.tcss"  # of the default screen, whose own Textual does not load
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(EVERYWHERE)]

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
        self.session = RankingSession(self.kept)
        self.store_reader = store_reader or StoreReader(store_path)
        self.store_reader.note = self._store_note
        self.register_theme(light_theme())
        self.theme = self.kept.theme if self.kept.theme in THEMES else "textual-dark"
        self.today = today or date.today()
        self._state_path = state_path
        self._start_note = note
        self._warned_of_bench = False

    def get_driver_class(self) -> type[Driver]:
        """What draws and hands on keys, whatever bytes the terminal sends."""
        return taking_any_bytes(super().get_driver_class())

    def get_default_screen(self) -> Screen[None]:
        """The main screen is the one that is always there."""
        self._ranking = RankingScreen(self.session, self.size)
        return self._ranking

    def on_mount(self) -> None:
        if self._start_note:
            self.notify(self._start_note, severity="warning", timeout=10)
        self.set_interval(LOOK_EVERY_S, self.look_at_store)
        end_from_outside(self)

    def action_command_palette(self) -> None:
        from advisor.tui.pages.help import Palette

        screen = self.screen

        def taken(action: Action | None) -> None:
            if action is not None:
                node = self if action.where == EVERYWHERE else screen
                self.call_after_refresh(self.run_action, action.action, node)

        if not isinstance(screen, Palette):
            self.push_screen(Palette(screen), taken)

    # The store, in threads

    def look_at_store(self) -> None:
        """Say so where the store changed; the state is kept on the same occasion."""
        in_thread(self, "look", self.store_reader.changed, self._looked)

    def _looked(self, changed: bool) -> None:
        if changed:
            for screen in self.screen_stack:
                screen.post_message(StoreChanged())
        self.keep_state()

    def _store_note(self, text: str) -> None:
        self.notify(text, markup=False)

    # The state

    def keep_state(self) -> None:
        state = replace(self.inputs, theme=self.theme)
        if self._state_path is not None and state != self.kept:
            self.kept = state
            problem = save_state(self._state_path, state)
            if problem:
                self._state_path = None  # said once, not every two seconds
                self._store_note(problem)

    def _handle_exception(self, error: Exception) -> None:
        """A page that is closed while it is being made lies half made, as all do once the program
        is being left: what it misses of itself is no trouble of the person's, who would read a
        traceback."""
        node = active_message_pump.get(None)
        around = node.ancestors_with_self if isinstance(node, Widget) else ()
        leaving = self._exit or not self._screen_stack or any(each._pruning for each in around)
        if not (leaving and isinstance(error, ScreenError | NoScreen | NoMatches)):
            super()._handle_exception(error)

    def on_unmount(self) -> None:
        no_more()
        self.remember_question()
        self.keep_state()

    # Actions

    def action_undo(self) -> None:
        self._step(self.session.undo(), "Nothing to undo.", "Taken back: ")

    def action_redo(self) -> None:
        self._step(self.session.redo(), "Nothing to do again.", "Done again: ")

    def _step(self, step: Change | bool, nothing: str, words: str) -> None:
        if isinstance(step, Change):
            back = words.startswith("Taken")
            self._change_store(step.back if back else step.again, words + step.words)
        elif step:
            self._show_question()
        else:
            self.notify(nothing)

    def _change_store(self, change: Callable[[Store], object], words: str) -> None:
        def said(text: str) -> None:
            self._store_note(text)
            self.look_at_store()

        store = self.store_reader.patient_store
        write_in_thread(self, lambda: change(store()), lambda _: said(words), said)

    def _show_question(self) -> None:
        self._ranking.show_question()
        for screen in self.screen_stack[1:]:
            screen.post_message(AnswerChanged())

    def action_assume(self, first: str) -> None:
        from advisor.tui.ranking.assumptions import AssumptionsForm

        def kept(words: str | None) -> None:
            if words is not None:
                self._show_question()

        self.push_screen(AssumptionsForm(self.session, first), kept)

    def open_build(self, section: str) -> None:
        from advisor.tui.selected.build_screen import BuildScreen

        self.push_screen(BuildScreen(self.size, section))

    def action_compare(self) -> None:
        words = self.session.mark()
        if words is not None:
            self.notify(words, markup=False)
            return
        from advisor.tui.selected.compare_screen import CompareScreen

        self.push_screen(CompareScreen(self.size))

    def action_add_quote(self) -> None:
        from advisor.answers.wording import item_names
        from advisor.tui.prices.price_forms import QuoteForm

        snapshot, build = self.session.snapshot, self.session.selected_build
        if snapshot is None:
            self.notify("The store is still being read.")
            return
        cells: dict[str, str] = {}
        if build is not None:
            names = item_names(snapshot.gpus, snapshot.hosts)
            whole = build.host.gpu_id is not None
            item = ("server", build.host.host_id) if whole else ("gpu", build.gpu.gpu_id)
            cells["item"] = names.get(item, build.gpu.name)
        self.push_screen(QuoteForm(snapshot, cells, None), self._quote_kept)

    def action_add_owned(self) -> None:
        from advisor.tui.prices.price_forms import OwnedForm

        if self.session.snapshot is None:
            self.notify("The store is still being read.")
        else:
            self.push_screen(OwnedForm(self.session.snapshot), self._quote_kept)

    def _quote_kept(self, note: str | None) -> None:
        if note:
            self._looked(changed=True)

    def action_history(self) -> None:
        from advisor.tui.pages.earlier_questions import QuestionsScreen

        def chosen(question: KeptQuestion | None) -> None:
            if question is not None:
                self._ranking.ask(**question.fields)

        self.remember_question()
        self.push_screen(QuestionsScreen(self.inputs.questions), chosen)

    def action_bring_records(self) -> None:
        from advisor.tui.selected.merge_form import MergeForm

        self.push_screen(MergeForm("Records from elsewhere"), lambda _: self.look_at_store())

    def action_own_model(self) -> None:
        from advisor.tui.pages.model_form import ModelForm

        self.push_screen(ModelForm(), self._ask_about)

    def _ask_about(self, model: str | None) -> None:
        """Ask about a model that a form named, which may be new in the store."""
        if model:
            self._ranking.read_store()
            self._ranking.ask(model=model)

    def action_fine_tune(self) -> None:
        from advisor.tui.pages.training_forms import TuningForm

        self.push_screen(TuningForm(self._model_id()), self._ask_about)

    def _model_id(self) -> str:
        """What the question is about: as it was understood, else as it is typed."""
        answer = self.session.answer
        return self.inputs.model if answer is None else answer.view.candidates.model.recipe_id

    def action_reach(self) -> None:
        from advisor.ranking.fine_tuning import parted
        from advisor.tui.pages.training_forms import ReachForm

        build = self.session.selected_build
        gpu, count = ("A6000", 1) if build is None else (build.gpu.short_name, build.gpu_count)
        tuning = parted(self._model_id())[1] if self.session.answer is not None else None
        self.push_screen(ReachForm(gpu, count, self.inputs.max_days, tuning))

    def go_about(self, name: str) -> None:
        """Show one of the screens, about the selected build."""
        self.session.choose_selected()
        self.action_go("prices" if name == "rent" else name)
        if name == "rent":
            self.call_after_refresh(self.run_action, "show_tab('rent')", self.screen)

    def action_go(self, name: str) -> None:
        while len(self.screen_stack) > 1:
            self.pop_screen()
        if name != "ranking":
            self.push_screen(self._screen(name))

    def _screen(self, name: str) -> Screen[None]:
        """A new screen, or the one that keeps its plan or its benchmark."""
        if self.is_screen_installed(name):
            return self.get_screen(name)
        screen = _screen_class(name)(self.size)
        if name in ("plan", "benchmark"):
            self.install_screen(screen, name)
        return screen

    async def action_quit(self) -> None:
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
        from advisor.tui.pages.help import HelpScreen

        if not isinstance(self.screen, HelpScreen):
            self.push_screen(HelpScreen(self.screen))

    def action_next_theme(self) -> None:
        self.theme = theme_after(self.theme)
        self.notify(f"Theme: {THEMES[self.theme]}.", timeout=2)
