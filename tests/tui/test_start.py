"""The first moments of the program: real processes, interrupted while they load."""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

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


@pytest.mark.parametrize("module", ["argparse", "_duckdb"])
def test_later_on_it_is_an_exit_code(module: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED.format(module=module, words=["data", "gpus"])],
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a terminal of this system")
def test_the_first_session_of_all_ends_without_a_word(tmp_path: Path) -> None:
    """Without a store DuckDB is loaded before the first answer: its bindings must not complain."""
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "XDG_DATA_HOME": str(tmp_path / "data"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "TERM": "xterm-256color",
        "COLUMNS": "100",
        "LINES": "30",
    }
    environment.pop("ADVISOR_STORE", None)
    ours, theirs = os.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "advisor"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=environment,
        cwd=tmp_path,
        start_new_session=True,
    ) as program:
        os.close(theirs)
        said = _until(ours, b"RTX 5090", within_s=60)  # an answer: the store is built and read
        os.write(ours, b"\x11")
        said += _until(ours, None, within_s=60)
        assert program.wait(timeout=30) == 0
    os.close(ours)
    after = said.rpartition(b"\x1b[?1049l")[2]
    words = re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]", b"", after).strip()
    assert words == b""


def _until(terminal: int, sign: bytes | None, *, within_s: float) -> bytes:
    """What a terminal is sent until a sign comes, or, without one, until it is left."""
    said, end = b"", time.monotonic() + within_s
    while time.monotonic() < end and (sign is None or sign not in said):
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            found = os.read(terminal, 65_536)
        except OSError:  # Linux says so where everybody has left the other end
            break
        if not found:
            break
        said += found
    return said


TAKEN_OVER = """
import sys
from pathlib import Path
from advisor.tui.program.state import State
from advisor.tui.program.store_reader import StoreReader, read_ahead
reader = StoreReader(Path(sys.argv[1]))
reader.preload = read_ahead(reader.path, lambda: reader.read_for_another(State()))
assert reader.first_reading(wait=True).candidates is not None
assert "_duckdb" not in sys.modules, "the first screen waits for what it does not need"
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="one process of this system reads for another")
def test_what_another_process_has_read_is_taken_over_without_the_store(store_path: Path) -> None:
    subprocess.run([sys.executable, "-c", TAKEN_OVER, store_path], check=True, timeout=60)
