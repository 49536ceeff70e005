"""Whatever way a program dies, what it started is gone within five seconds: real processes."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_runner.launch import leftovers
from bench_runner.launch.processes import marked

if sys.platform != "linux":
    pytest.skip("processes are found through /proc", allow_module_level=True)

TINY = Path(__file__).parents[1] / "bench_runner" / "tiny.toml"
WITHIN_S = 5.0
TAG = "TESTS_STARTED_THIS"
# In torch's place: deaf to SIGTERM, with a rank in a session of its own, and nothing to say.
FAKE_TORCHRUN = """
import os, signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if len(sys.argv) > 1:
    subprocess.Popen([sys.executable, __file__], start_new_session=True)
open(os.environ["TESTS_STARTED_THIS"] + "-hangs", "w").close()
time.sleep(600)
"""
BENCH = """
import sys
from pathlib import Path
from advisor.benchmark.measurement_request import Request
from advisor.benchmark.runner_process import Run
folder = Path(sys.argv[1])
run = Run(Request(recipe=sys.argv[2], gpu_count=2, device="cpu", methods="naive",
                  records_file=folder / "records.jsonl", work_directory=folder / "work"))
for event in run.events():
    pass
"""
SOLVE = """
import os, time
from advisor.planning.solver_process import Search
from tests.benchmark.test_nothing_left import Endless
Search(Endless()).run()
"""


class Endless:
    """A task for the solver's process that never ends."""

    seconds = 600.0

    def run(self, say: object) -> None:
        (Path(os.environ[TAG] + "-hangs")).touch()
        while True:
            time.sleep(1)


@pytest.fixture
def tag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The mark of all that a test starts."""
    fake = tmp_path / "path" / "torch" / "distributed"
    fake.mkdir(parents=True)
    (fake / "run.py").write_text(FAKE_TORCHRUN)
    for folder in (fake, fake.parent):
        (folder / "__init__.py").touch()
    monkeypatch.setenv("PYTHONPATH", str(fake.parents[1]))
    name = str(tmp_path / uuid.uuid4().hex)
    monkeypatch.setenv(TAG, name)
    yield name
    for pid in marked(TAG, name):
        os.kill(pid, signal.SIGKILL)


def wait_for_hang(tag: str) -> None:
    deadline = time.monotonic() + 60
    while not Path(f"{tag}-hangs").exists():
        assert time.monotonic() < deadline, "it never got so far"
        time.sleep(0.1)


def seconds_until_gone(tag: str) -> float:
    began = time.monotonic()
    while marked(TAG, tag):
        assert time.monotonic() - began < 20, marked(TAG, tag)
        time.sleep(0.1)
    return time.monotonic() - began


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_benchmark_ends_with_whoever_asked_for_it(
    tag: str, tmp_path: Path, number: signal.Signals
) -> None:
    asker = subprocess.Popen([sys.executable, "-c", BENCH, str(tmp_path), str(TINY)])
    wait_for_hang(tag)
    assert len(marked(TAG, tag)) >= 3
    asker.send_signal(number)
    asker.wait()
    assert seconds_until_gone(tag) < WITHIN_S


def test_nohup_keeps_a_benchmark(tag: str, tmp_path: Path) -> None:
    """Who starts it with nohup wants it to live on when the terminal is closed."""
    command = [*(sys.executable, "-m", "bench_runner", "run", "--recipe", str(TINY))]
    command += ["--settings", "naive", "--gpus", "2", "--device", "cpu", "--yes"]
    command += ["--work", str(tmp_path / "work"), "--records", str(tmp_path / "r.jsonl")]
    runner = subprocess.Popen(["nohup", *command], stdout=subprocess.DEVNULL)
    wait_for_hang(tag)
    status = Path(f"/proc/{runner.pid}/status").read_text()
    ignored = int(status.partition("SigIgn:")[2].split()[0], 16)
    assert ignored >> (signal.SIGHUP - 1) & 1
    runner.send_signal(signal.SIGTERM)
    assert seconds_until_gone(tag) < WITHIN_S
    assert runner.wait() == 130


def test_the_solver_ends_with_whoever_asked_it(tag: str) -> None:
    asker = subprocess.Popen([sys.executable, "-c", SOLVE], cwd=Path(__file__).parents[2])
    wait_for_hang(tag)
    asker.kill()
    asker.wait()
    assert seconds_until_gone(tag) < WITHIN_S


def open_program(store: Path, tmp_path: Path) -> tuple[int, int]:
    """The terminal program on a terminal of its own: its process and the terminal's other end."""
    state = tmp_path / "state.json"
    state.write_text('{"prices": "paper"}')
    child, terminal = pty.fork()
    if child == 0:
        os.environ |= {"ADVISOR_STATE": str(state), "TERM": "xterm-256color"}
        os.environ |= {"COLUMNS": "120", "LINES": "40"}
        os.execv(sys.executable, [sys.executable, "-m", "advisor", "--store", str(store)])
    return child, terminal


def drained(terminal: int, until: bytes, within_s: float) -> bytes:
    """What the program drew, until something stands there."""
    os.set_blocking(terminal, False)
    seen, deadline = b"", time.monotonic() + within_s
    while time.monotonic() < deadline and until not in seen:
        try:
            seen += os.read(terminal, 65536)
        except BlockingIOError:
            time.sleep(0.05)
        except OSError:
            break  # the other end is closed
    return seen


def test_a_request_to_end_puts_the_terminal_back(tag: str, own_store: Path, tmp_path: Path) -> None:
    child, terminal = open_program(own_store, tmp_path)
    assert b"\x1b[?1049h" in drained(terminal, b"Pythia", 30)
    os.kill(child, signal.SIGTERM)
    seen = drained(terminal, b"never", 6)
    assert seen.rindex(b"\x1b[?1049l") > seen.rfind(b"\x1b[?1049h")
    assert b"\x1b[?1000l" in seen
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 128 + signal.SIGTERM
    assert seconds_until_gone(tag) < WITHIN_S
    os.close(terminal)


def test_a_terminal_that_is_closed_ends_the_program(
    tag: str, own_store: Path, tmp_path: Path
) -> None:
    child, terminal = open_program(own_store, tmp_path)
    drained(terminal, b"Pythia", 30)
    os.close(terminal)
    began = time.monotonic()
    while os.waitpid(child, os.WNOHANG)[0] == 0:
        assert time.monotonic() - began < WITHIN_S
        time.sleep(0.1)
    assert seconds_until_gone(tag) < WITHIN_S


def test_a_terminal_that_is_closed_elsewhere_ends_the_program(
    own_store: Path, tmp_path: Path
) -> None:
    """No SIGHUP: the terminal was that of a shell, a recorder or a job before it."""
    state = tmp_path / "state.json"
    state.write_text('{"prices": "paper"}')
    terminal, its_end = pty.openpty()
    program = subprocess.Popen(
        [sys.executable, "-m", "advisor", "--store", str(own_store)],
        **{"stdin": its_end, "stdout": its_end, "stderr": its_end},
        env=os.environ | {"ADVISOR_STATE": str(state), "TERM": "xterm-256color"},
        start_new_session=True,
    )
    os.close(its_end)
    seen = drained(terminal, b"\x1b[1;1H", 30) + drained(terminal, b"never", 1)
    # Nobody said how large it is, for which it was drawn over and over.
    assert 0 < seen.count(b"\x1b[1;1H") < 12
    os.close(terminal)
    try:
        program.wait(WITHIN_S)
    finally:
        program.kill()


# What a kill left on the disk


def old(path: Path) -> Path:
    os.utime(path, (time.time() - 1000,) * 2)
    return path


def test_leftovers_go_at_the_next_write_and_what_is_used_stays(
    tmp_path: Path, store_path: Path
) -> None:
    from advisor.files import write_whole
    from advisor.store import build_store

    draft, young = tmp_path / f".{'a' * 16}.tmp", tmp_path / f".{'b' * 16}.tmp"
    held, others = tmp_path / f".{'c' * 16}.tmp", tmp_path / ".mine.tmp"
    for path in (draft, young, held, others):
        path.touch()
    for path in (draft, held, others):
        old(path)
    folder = tmp_path / ".results.duckdb-abcd1234"
    folder.mkdir()
    (folder / "results.duckdb").touch()
    old(folder)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "precious").touch()
    link = tmp_path / ".results.duckdb-linklink"
    link.symlink_to(elsewhere)
    with leftovers.in_use(held):
        write_whole(tmp_path / "a.csv", "a\n", overwrite=False)
        build_store(tmp_path / "results.duckdb")
    assert not draft.exists()
    assert not folder.exists()
    for path in (young, held, others, link, elsewhere / "precious"):
        assert path.exists(), path


def test_a_build_that_was_ended_keeps_no_later_one_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TORCH_EXTENSIONS_DIR", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    dead, living = (
        tmp_path / "torch_extensions" / "py311_cpu" / name / "lock" for name in ("dead", "living")
    )
    for lock in (dead, living):
        lock.parent.mkdir(parents=True)
        lock.touch()
    (dead.parent / "build.ninja").touch()
    old(dead)
    old(dead.parent / "build.ninja")
    assert leftovers.sweep_build_locks() == 1
    assert living.exists() and (dead.parent / "build.ninja").exists() and not dead.exists()
    monkeypatch.setenv("TORCH_EXTENSIONS_DIR", str(living.parents[1]))
    old(living)
    assert leftovers.sweep_build_locks() == 1
