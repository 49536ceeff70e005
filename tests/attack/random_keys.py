"""Random keys, clicks and sizes on every screen of the terminal program."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path

from tests.tui.program import running

KEYS = [
    "up", "down", "left", "right", "enter", "escape", "tab", "shift+tab", "space", "backspace",
    "delete", "home", "end", "pageup", "pagedown", "f1", "f2", "f3", "f4", "f5", "f6", "f7", "f8",
    "ctrl+p", "ctrl+a", "ctrl+k", "slash", "question_mark", "a", "b", "c", "d", "e", "f", "g", "h",
    "i", "j", "k", "l", "m", "n", "o", "p", "r", "s", "t", "u", "v", "w", "x", "y", "z", "0", "1",
    "2", "9", ".", "-", "$", "comma",
]  # fmt: skip
SCREENS = ("f2", "f3", "f6", "f7", "f8")
BURST = 8
"""Keys at once, as somebody types, or holds one down."""
SIZES = ((120, 40), (80, 24), (40, 10), (20, 5), (200, 60))


def keys(store: Path, folder: Path, count: int, seed: int) -> list[str]:
    """So many keys on each screen; the program must still be there and answer."""
    from advisor.parse import InputError
    from advisor.tui.benchmark import benchmark_screen

    def lacking() -> None:
        raise InputError("no torch here")  # keys must not start hours of training

    benchmark_screen.check_packages = lacking
    own = Path(shutil.copy(store, folder / "keys.duckdb"))
    return [fault for screen in SCREENS for fault in asyncio.run(_press(own, screen, count, seed))]


async def _press(store: Path, screen: str, count: int, seed: int) -> list[str]:
    dice = random.Random(f"keys {seed} {screen}")
    pressed: list[str] = []
    try:
        async with running(store) as pilot:
            await pilot.press(screen)
            while len(pressed) < count:
                if len(pressed) % 512 == 0:
                    await pilot.resize_terminal(*dice.choice(SIZES))
                # Back on the screen now and then, wherever the keys have led.
                burst = [
                    screen if n == 7 and dice.random() < 0.1 else dice.choice(KEYS)
                    for n in range(BURST)
                ]
                pressed += burst
                await pilot.press(*burst)
                if not pilot.app.is_running:
                    return [f"{screen}: ended after {len(pressed)} keys: {pressed[-24:]}"]
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return [f"{screen}: {words} after {len(pressed)} keys: {pressed[-12:]}"]
    return []
