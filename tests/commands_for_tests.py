"""The command line, in this process and in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from advisor.cli.main import main


def run(*argv: str, shell: str = "", **environment: str) -> subprocess.CompletedProcess[str]:
    """`advisor` in a process of its own; ``shell`` is what a shell would do with its streams."""
    command = [sys.executable, "-m", "advisor", *argv]
    return subprocess.run(
        ["sh", "-c", f'"$@" {shell}', "sh", *command] if shell else command,
        capture_output=True,
        timeout=60,
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
        errors="replace",
    )


def refused(capsys: pytest.CaptureFixture[str], *argv: str, most: int = 800) -> str:
    """The one line with which a command refuses its input; it may name every model at most."""
    assert main(list(argv)) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("advisor: ")
    assert printed.err.count("\n") == 1
    assert len(printed.err) < most
    return printed.err
