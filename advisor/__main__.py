"""Where the program starts, as `advisor` and as `python -m advisor`."""

from __future__ import annotations

import os
import sys
from typing import NoReturn


def _leave_out_where_one_stands(by_name: bool) -> None:
    """Take the folder one stands in off the path of modules, where it is none that somebody named.

    ``PYTHONPATH=$PYTHONPATH:/x`` puts it there, as ``python -m advisor`` does (``by_name``): what
    lies in it, a ``random.py`` of somebody's, is no code of ours.
    """
    said = os.environ.get("PYTHONPATH", "")
    named = said.split(os.pathsep)
    if not by_name and (not said or all(named)):
        return
    try:
        here = os.getcwd()
    except OSError:
        return  # a folder that is gone holds nothing
    if here not in (*named, os.path.dirname(os.path.dirname(os.path.abspath(__file__)))):
        sys.path[:] = [entry for entry in sys.path if entry not in ("", here)]


_leave_out_where_one_stands(by_name=__name__ == "__main__")

from advisor.interrupt import quiet_interrupt  # noqa: E402 - after what may be loaded is known


def run() -> NoReturn:
    """Load the command line and hand over to it."""
    with quiet_interrupt():
        from advisor.cli.main import entry
    entry()


if __name__ == "__main__":
    run()
