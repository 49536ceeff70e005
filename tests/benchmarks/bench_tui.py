"""How fast the terminal program is, from the outside: a real process in a real pseudo-terminal.

    python tests/benchmarks/bench_tui.py [--store results.duckdb] [--runs 7]

Prints two things, each beside its floor in the same run:

- The first useful screen (the ranked table is filled, the picture drawn) against a bare Textual
  program with an input and a table: from the start of the process to the bytes on the terminal.
  Goal: at most 1.5 x.
- From a key press in the budget field to the last byte of the updated table and picture, at the
  median. Goal: 50 ms.
  Floors: the same key in the bare program (the bare render), and the store's own query.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import pty
import re
import select
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

ROWS, COLUMNS = 40, 120
QUIET_S = 0.08
"""A burst of output is over when nothing came for so long."""
FRAME_GAP_S = 0.004
BARE = """
from textual.app import App
from textual.widgets import DataTable, Input

class Bare(App):
    def compose(self):
        yield Input("40000", select_on_focus=False)
        yield DataTable()
    def on_mount(self):
        table = self.query_one(DataTable)
        table.add_columns("build", "cost", "days")
        self.fill("40000")
    def fill(self, text):
        table = self.query_one(DataTable)
        table.clear()
        for row in range(8):
            table.add_row(f"build {row}", text, str(row))
    def on_input_changed(self, event):
        self.fill(event.value)

Bare().run()
"""
BARE_READY = re.compile(rb"build 7")
OUR_READY = re.compile(rb"\d offers")
OUR_FIRST_SCREEN = re.compile(rb"\A(?=.*\d d)(?=.*\d offers)", re.DOTALL)
"""The days axis of the picture and the offers of a row, in any order."""


_ENVIRONMENT = {
    **{name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "TERM": "xterm-256color",
    "COLORTERM": "truecolor",
}
"""Compiled modules are kept, as those of an installed program are."""


class Terminal:
    """A child process whose terminal we hold."""

    def __init__(self, command: list[str], environment: dict[str, str]) -> None:
        self.started = time.perf_counter()
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self.process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            env={**_ENVIRONMENT, **environment},
        )
        os.close(slave)
        self.master = master
        self.seen = b""

    def read(self, timeout_s: float) -> bool:
        """Take what the child wrote; whether there was anything."""
        if not select.select([self.master], [], [], timeout_s)[0]:
            return False
        try:
            self.seen += os.read(self.master, 1 << 16)
        except OSError:
            return False
        return True

    def wait_for(self, pattern: re.Pattern[bytes], limit_s: float = 60.0) -> float:
        """Seconds from the start until the pattern was written."""
        while not pattern.search(self.seen):
            left = self.started + limit_s - time.perf_counter()
            if left <= 0 or (not self.read(left) and self.process.poll() is not None):
                tail = self.seen[-2000:].decode(errors="replace")
                raise SystemExit(f"the program never showed {pattern.pattern!r}:\n{tail}")
        return time.perf_counter() - self.started

    def settle(self, quiet_s: float = 0.5) -> None:
        """Wait until nothing more comes."""
        while self.read(quiet_s):
            pass
        self.seen = b""

    def press(self, key: bytes, shown: re.Pattern[bytes] | None = None) -> tuple[float, float]:
        """Seconds from a key to what it changed: the frame that shows it, and the last byte.

        A frame is over when nothing came for some milliseconds. Textual often draws a second one
        with the same content.
        """
        self.seen = b""
        pressed = last = time.perf_counter()
        frame: float | None = None
        before_gap = False
        os.write(self.master, key)
        while self.read(QUIET_S if self.seen else 5.0):
            now = time.perf_counter()
            if frame is None and now - last > FRAME_GAP_S and before_gap:
                frame = last - pressed
            last = now
            before_gap = shown is None or shown.search(self.seen) is not None
        return (last - pressed if frame is None else frame), last - pressed

    def close(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        os.close(self.master)


def bare() -> Terminal:
    return Terminal([sys.executable, "-c", BARE], {})


def ours(store: Path, folder: Path) -> Terminal:
    state = folder / "state.json"
    state.write_text("{}", encoding="utf-8")
    command = [sys.executable, "-m", "advisor"]  # as people call it: without a flag
    return Terminal(command, {"ADVISOR_STATE": str(state), "ADVISOR_STORE": str(store.resolve())})


def first_screen(store: Path, folder: Path, runs: int) -> None:
    """Alternate the two programs, so that both meet the same machine."""
    theirs: list[float] = []
    mine: list[float] = []
    warm = ours(store, folder)
    warm.wait_for(OUR_FIRST_SCREEN)
    warm.close()
    for _ in range(runs):
        for make, ready, times in (
            (bare, BARE_READY, theirs),
            (lambda: ours(store, folder), OUR_FIRST_SCREEN, mine),
        ):
            terminal = make()
            times.append(terminal.wait_for(ready))
            terminal.close()
    floor, figure = statistics.median(theirs), statistics.median(mine)
    print(f"first useful screen ({store.name}): {figure * 1e3:.0f} ms")
    print(f"  bare Textual program:             {floor * 1e3:.0f} ms")
    print(f"  ratio:                            {figure / floor:.2f} (goal: at most 1.5)")


def key_presses(store: Path, folder: Path, presses: int) -> None:
    """Type and delete a digit at the end of the budget, again and again."""
    terminal = bare()
    terminal.wait_for(BARE_READY)
    terminal.settle()
    terminal.press(b"\x1b[F")
    floors = [terminal.press(key) for _ in range(presses) for key in (b"9", b"\x7f")]
    terminal.close()
    terminal = ours(store, folder)
    terminal.wait_for(OUR_READY)
    terminal.settle(2.0)
    terminal.press(b"b")
    terminal.press(b"\x1b[F")
    times = [terminal.press(key, OUR_READY) for _ in range(presses) for key in (b"9", b"\x7f")]
    terminal.press(b"\x1b")
    arrows = [terminal.press(key) for _ in range(presses) for key in (b"\x1b[B", b"\x1b[A")]
    orders = [terminal.press(b"o") for _ in range(presses)]
    terminal.close()
    print(f"key press to updated table and picture ({store.name}), medians:")
    print("  goal for the budget:              at most 50 ms")
    for name, measured in (
        ("budget", times),
        ("next row", arrows),
        ("another order", orders),
        ("floor, the bare program's key", floors),
    ):
        frame, last = (statistics.median(column) * 1e3 for column in zip(*measured, strict=True))
        print(f"  {name + ':':<33} {frame:.1f} ms shown, {last:.1f} ms to the last byte")
    slowest = max(last for _, last in times) * 1e3
    print(f"  budget, slowest of {len(times)}:            {slowest:.1f} ms to the last byte")


def bare_query(store: Path, runs: int) -> None:
    """What the store alone takes, in a warm process."""
    from advisor.store import Store

    opened = Store(store)
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        with opened.reading() as reader:
            reader.best_times("pythia-1b", "sound")
        times.append(time.perf_counter() - begun)
    print(f"  bare query (open, best times):    {statistics.median(times) * 1e3:.1f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--store", type=Path, default=Path("results.duckdb"))
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--presses", type=int, default=15)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        first_screen(options.store, folder, options.runs)
        bare_query(options.store, options.runs)
        key_presses(options.store, folder, options.presses)


if __name__ == "__main__":
    main()
