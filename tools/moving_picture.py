"""Draws the moving picture of the README from screenshots of the real program.

python -m tools.moving_picture docs/first-minute.svg
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
from pathlib import Path

from advisor.tui.app import AdvisorApp
from advisor.tui.program.state import State

SIZE = (100, 30)
SECONDS_A_FRAME = 3
STEPS: tuple[tuple[str, ...], ...] = (
    (),
    ("b", *"100k", "enter"),
    ("down", "enter"),
    ("f8", "X"),
)
"""The keys before each frame: the first answer, another budget, an opened row, the plan."""


async def frames(store: Path) -> list[str]:
    """One SVG for each step."""
    with tempfile.TemporaryDirectory() as folder:
        app = AdvisorApp(store, state=State(), state_path=Path(folder, "state.json"), note=None)
        async with app.run_test(size=SIZE) as pilot:
            drawn = []
            for keys in STEPS:
                await pilot.press(*keys)
                await app.workers.wait_for_complete()
                await pilot.pause(1)
                drawn.append(app.export_screenshot(title="advisor", simplify=True))
            return drawn


def moving(drawn: list[str]) -> str:
    """All frames in one SVG, each shown in its turn by a CSS animation."""
    opening = re.match(r"<svg [^>]*>", drawn[0])
    assert opening is not None
    share = 100 / len(drawn)
    parts = [
        opening[0],
        "<style>.frame { visibility: hidden; animation: turn "
        f"{len(drawn) * SECONDS_A_FRAME}s step-end infinite; }}\n@keyframes turn "
        f"{{ 0% {{ visibility: visible; }} {share:g}% {{ visibility: hidden; }} }}</style>",
    ]
    for number, frame in enumerate(drawn):
        # Rich's classes may be called alike in two frames, and it names a font to fetch.
        own = re.sub(r"terminal-\d+", f"frame{number}", frame)
        own = re.sub(r"@font-face \{.*?\}\s*", "", own, flags=re.DOTALL)
        inside = own.split(">", 1)[1].rsplit("</svg>", 1)[0]
        delay = f"animation-delay: {number * SECONDS_A_FRAME}s"
        parts.append(f'<g class="frame" style="{delay}">{inside}</g>')
    return "\n".join((*parts, "</svg>", ""))


def main() -> int:
    """Draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--store", type=Path, default=Path("results.duckdb"))
    options = parser.parse_args()
    options.out.write_text(moving(asyncio.run(frames(options.store))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
