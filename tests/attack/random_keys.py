"""Random keys, clicks and sizes on every screen of the terminal program."""

from __future__ import annotations

import asyncio
import random
import shutil
from pathlib import Path

from tests.tui.program import running

KEYS = [
    "up", "down", "left", "right", "enter", "escape", "tab", "shift+tab", "space", "backspace",
    "delete", "home", "end", "pageup", "pagedown", "f1", "f2", "f3", "f4", "f7", "ctrl+p",
    "ctrl+a", "ctrl+k", "slash", "question_mark", "a", "b", "c", "d", "e", "f", "g", "h", "i",
    "j", "k", "l", "m", "n", "o", "p", "r", "s", "t", "u", "v", "w", "x", "y", "z", "0", "1",
    "2", "9", ".", "-", "$", "comma",
]  # fmt: skip
SCREENS = ("f2", "f3", "f7")
SIZES = ((120, 40), (80, 24), (40, 10), (20, 5), (200, 60))


def keys(store: Path, folder: Path, count: int, seed: int) -> list[str]:
    """So many keys on each screen; the program must still be there and answer."""
    own = Path(shutil.copy(store, folder / "keys.duckdb"))
    return [fault for screen in SCREENS for fault in asyncio.run(_press(own, screen, count, seed))]


async def _press(store: Path, screen: str, count: int, seed: int) -> list[str]:
    dice = random.Random(f"keys {seed} {screen}")
    pressed: list[str] = []
    try:
        async with running(store) as pilot:
            await pilot.press(screen)
            for number in range(count):
                if number % 500 == 499:
                    await pilot.resize_terminal(*dice.choice(SIZES))
                # Back on the screen now and then, wherever the keys have led.
                key = screen if number % 97 == 96 else dice.choice(KEYS)
                pressed.append(key)
                await pilot.press(key)
                if not pilot.app.is_running:
                    return [f"{screen}: ended after {number} keys: {pressed[-12:]}"]
    except Exception as error:
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return [f"{screen}: {words} after {len(pressed)} keys: {pressed[-12:]}"]
    return []
