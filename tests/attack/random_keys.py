"""Random keys, clicks and sizes on every screen of the terminal program."""

from __future__ import annotations

import asyncio
import random
import shutil
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from textual.events import Click, Event, Key, MouseDown, MouseUp
from textual.pilot import Pilot

from advisor.tui.app import AdvisorApp
from tests.tui.program import running, settled

KEYS = [
    "up", "down", "left", "right", "enter", "escape", "tab", "shift+tab", "space", "backspace",
    "delete", "home", "end", "pageup", "pagedown", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8",
    "ctrl+p", "ctrl+a", "ctrl+k", "slash", "question_mark", "a", "b", "c", "d", "e", "f", "g", "h",
    "i", "j", "k", "l", "m", "n", "o", "p", "r", "s", "t", "u", "v", "w", "x", "y", "z", "0", "1",
    "A", "B", "C", "D", "E", "G", "J", "M", "N", "O", "P", "Q", "R", "S", "T", "U", "V", "W", "X",
    "Y", "2", "9", "full_stop", "minus", "dollar_sign", "comma", "ctrl+u", "ctrl+z", "shift+down",
]  # fmt: skip
SIGNS = {
    "space": " ", "slash": "/", "question_mark": "?", "full_stop": ".", "minus": "-",
    "dollar_sign": "$", "comma": ",",
}  # fmt: skip
SCREENS = ("f2", "f3", "f6", "f7", "f8")
BURST = 8
"""Keys at once, as somebody types, or holds one down."""
SIZES = ((120, 40), (80, 24), (40, 10), (20, 5), (200, 60), (1, 1), (500, 3))


def keys(
    store: Path, folder: Path, count: int, seed: int, screens: Sequence[str] = SCREENS
) -> list[str]:
    """So many keys on each screen; the program must still be there and answer."""
    from advisor.tui.benchmark import benchmark_screen
    from advisor.typed_input import InputError

    def lacking() -> None:
        raise InputError("no torch here")  # keys must not start hours of training

    benchmark_screen.check_packages = lacking
    own = Path(shutil.copy(store, folder / "keys.duckdb"))
    return [fault for screen in screens for fault in asyncio.run(_press(own, screen, count, seed))]


async def _press(store: Path, screen: str, count: int, seed: int) -> list[str]:
    dice = random.Random(f"keys {seed} {screen}")
    pressed: list[str] = []
    try:
        async with running(store) as pilot:
            pilot.app.animation_level = "none"
            app = cast(AdvisorApp, pilot.app)
            app.action_quit = stay  # type: ignore[method-assign]
            await pilot.press(screen)
            while len(pressed) < count:
                if len(pressed) % 64 == 0:
                    await pilot.resize_terminal(*dice.choice(SIZES))
                # Back on the screen now and then, wherever the keys have led.
                burst = [
                    screen if n == 7 and dice.random() < 0.1 else dice.choice(KEYS)
                    for n in range(BURST)
                ]
                pressed += burst
                send(pilot, burst)
                if dice.random() < 0.1:
                    width, height = pilot.app.screen.size
                    at = (dice.randrange(width or 1), dice.randrange(height or 1))
                    pressed.append(f"click {at}")
                    if dice.random() < 0.3:  # on its way while the terminal becomes another size
                        await pilot.resize_terminal(*dice.choice(SIZES))
                    for kind in (MouseDown, MouseUp):
                        _post(pilot, kind(None, *at, 0, 0, 1, False, False, False, *at))
                    page = pilot.app.screen
                    page.post_message(Click(page, *at, 0, 0, 1, False, False, False, *at))
                await pilot.pause(0)
                if not pilot.app.is_running:
                    return [f"{screen}: ended after {len(pressed)} keys: {pressed[-24:]}"]
            await settled(pilot)
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        frames = traceback.extract_tb(error.__traceback__)[-4:]
        words += " at " + " < ".join(f"{Path(f.filename).name}:{f.lineno}" for f in frames[::-1])
        return [f"{screen}: {words} after {len(pressed)} keys: {pressed[-24:]}"]
    return []


async def stay() -> None:
    """Some click or choice is always the one that quits."""


def send(pilot: Pilot[None], keys: list[str]) -> None:
    """All of them at once, as a terminal does; a pilot would wait for quiet after each."""
    for name in keys:
        _post(pilot, Key(name, SIGNS.get(name, name if len(name) == 1 else None)))


def _post(pilot: Pilot[None], event: Event) -> None:
    driver = pilot.app._driver
    assert driver is not None
    event.set_sender(pilot.app)
    driver.send_message(event)
