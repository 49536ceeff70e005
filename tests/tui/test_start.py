"""The first moments of the program: real processes, interrupted while they load."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import suppress

import pytest

INTERRUPTED = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class CtrlC(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.modules.pop({module!r}, None)
sys.meta_path.insert(0, CtrlC())
sys.argv = ["advisor", *{words!r}]
from advisor.__main__ import run
run()
"""


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("advisor.cli.main", ["paths"]),
        ("argparse", ["paths"]),
        ("advisor.parse", ["paths"]),
        ("textual.app", []),
        ("advisor.tui.ranking.ranking_screen", []),
    ],
)
def test_ctrl_c_while_loading_ends_it_without_a_word(module: str, words: list[str]) -> None:
    ours, theirs = os.openpty()  # without a terminal the program would not open
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(module=module, words=words)],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(theirs)
    with suppress(OSError):  # nothing was written, and nobody is left to write
        assert os.read(ours, 1000) == b""
    os.close(ours)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, b"")


def test_later_on_it_is_an_exit_code() -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(module="duckdb", words=["data", "gpus"])],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")
