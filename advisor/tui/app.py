"""The terminal program: the store, the theme and the screens; the screens do the rest."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import threading
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import ClassVar

from textual import on, work
from textual.app import SystemCommand
from textual.binding import BindingType
from textual.screen import Screen

from advisor.tui.program.actions import ACTIONS, EVERYWHERE, bindings_of
from advisor.tui.program.messages import StoreChanged, StoreNote
from advisor.tui.program.program import Program
from advisor.tui.program.settings import State, save_state
from advisor.tui.program.store_reader import StoreReader
from advisor.tui.ranking.ranking_screen import RankingScreen

THEMES = {
    "textual-dark": "dark",
    "textual-light": "light",
    "ansi-dark": "the terminal's own colours, dark",
    "ansi-light": "the terminal's own colours, light",
}
ENDED_BY = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What ends the program from outside: a request, and the terminal when it is closed."""
END_WITHIN_S = 4.0
LOOK_EVERY_S = 2.0
"""How often the store's file is looked at for changes by other programs."""


class AdvisorApp(Program):
    """Which GPU machine to buy."""

    TITLE = "GPU advisor"
    CSS_PATH = "ranking/ranking.tcss"  # of the default screen, whose own Textual does not load
    BINDINGS: ClassVar[list[BindingType]] = [*bindings_of(EVERYWHERE)]
    ENABLE_COMMAND_PALETTE = True

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
        self.theme = self.kept.theme if self.kept.theme in THEMES else "textual-dark"
        self.today = today or date.today()
        self._state_path = state_path
        self._start_note = note
        self._warned_of_bench = False

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
        for number in ENDED_BY:
            with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
                asyncio.get_running_loop().add_signal_handler(number, self._end, 128 + number)

    def _end(self, code: int) -> None:
        """End as by the key: the terminal is put back, and a benchmark of ours ends."""
        # Where the terminal is gone for good, even putting it back may wait.
        patience = threading.Timer(END_WITHIN_S, os._exit, [code])
        patience.daemon = True
        patience.start()
        self.exit(return_code=code)

    @property
    def inputs(self) -> State:
        """What stands in the fields of the main screen."""
        return self._ranking.session.inputs

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

    def on_unmount(self) -> None:
        for number in ENDED_BY:
            with suppress(NotImplementedError, RuntimeError, ValueError):
                asyncio.get_running_loop().remove_signal_handler(number)
        self.keep_state()

    # Actions

    def ask_sample(self, budget: str, model: str) -> None:
        """Put a question into the main screen."""
        self._ranking.ask(budget=budget, model=model)

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
            from advisor.tui.plan.plan_screen import PlanScreen

            self.push_screen(PlanScreen(self.size))

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
        """Every action of the screen and of the program, named ``area: verb``."""
        where = getattr(screen, "WHERE", EVERYWHERE)
        for action in ACTIONS:
            if action.where in (where, EVERYWHERE):
                node = self if action.where == EVERYWHERE else screen
                yield SystemCommand(
                    action.title,
                    f"{action.text} ({action.key})",
                    lambda action=action, node=node: self.call_later(
                        self.run_action, action.action, node
                    ),
                )
        for name, words in THEMES.items():
            yield SystemCommand(
                f"theme: {words}", f"Change the theme to {name}.", lambda name=name: self._set(name)
            )

    def _set(self, theme: str) -> None:
        self.theme = theme
