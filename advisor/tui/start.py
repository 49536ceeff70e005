"""Opens the terminal program; light to import, so that the store is read while Textual loads."""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

from advisor.interrupt import quiet_interrupt
from advisor.tui.program.state import load_state, state_file
from advisor.tui.program.store_reader import StoreReader, read_ahead


def run(store_path: Path, *, state_path: Path | None = None) -> int:
    """Open the program on a store; returns the exit code."""
    # Looking for garbage in what is just being loaded would only delay the first screen; the
    # program turns this on again with its first answer.
    gc.disable()
    with quiet_interrupt():
        _usual_size_where_unknown()
        path = state_path or state_file()
        state, note = load_state(path)
        store_reader = StoreReader(store_path)
        # Before Textual is loaded, so that the other process has all the time that this takes.
        store_reader.preload = read_ahead(store_path, lambda: store_reader.read_for_another(state))
        from advisor.tui.app import AdvisorApp

    app = AdvisorApp(store_path, state=state, state_path=path, note=note, store_reader=store_reader)
    app.run()
    # Frozen, DuckDB's objects would never be collected: its bindings print each as leaked.
    gc.unfreeze()
    return app.return_code or 0


def _usual_size_where_unknown() -> None:
    """Rich and Textual take a terminal of no size for two different ones, and would draw for ever
    to make them one."""
    with suppress(OSError, ValueError, AttributeError):
        if sys.__stdout__ is not None and 0 in os.get_terminal_size(sys.__stdout__.fileno()):
            os.environ.setdefault("COLUMNS", "80")
            os.environ.setdefault("LINES", "24")


if __name__ == "__main__":
    from bench_runner.launch.processes import end_hard, when_parent_ends

    when_parent_ends(end_hard)
    # How the browser's server starts it: without a terminal, which the command line asks for.
    sys.exit(run(Path(sys.argv[1])))
