"""Where the program starts, as `advisor` and as `python -m advisor`."""

from __future__ import annotations

from typing import NoReturn

from advisor.interrupt import quiet_interrupt


def run() -> NoReturn:
    """Load the command line and hand over to it."""
    with quiet_interrupt():
        from advisor.cli.main import entry
    entry()


if __name__ == "__main__":
    run()
