"""Whatever is wrong with a store, the answer is one line, and nothing is lost or half written."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

from advisor.store import Store, StoreError, build_store, check_store
from tests.store_for_tests import answer, look, program, record


def _cut_to(end: int) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(path.read_bytes()[:end])


def _sql(statements: str, *, fresh: bool = False) -> Callable[[Path], object]:
    def spoil(path: Path) -> None:
        if fresh:
            path.unlink()
        with duckdb.connect(str(path)) as connection:
            connection.execute(statements)

    return spoil


def _overwritten(path: Path) -> None:
    content = bytearray(path.read_bytes())
    for start in range(12_288, len(content), 64 * 1024):
        content[start : start + 4096] = b"\xff" * 4096
    path.write_bytes(content)


def _directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(target: str) -> Callable[[Path], object]:
    def spoil(path: Path) -> None:
        path.unlink()
        path.symlink_to(target)

    return spoil


def _below_a_file(path: Path) -> None:
    # The path of the store leads through what is no folder.
    folder = path.parent
    shutil.rmtree(folder)
    folder.write_text("not a folder")


NEWER = "INSERT INTO schema_version VALUES (999, '999_from_the_future')"
TEXT = "gpu,price\nRTX 3090,1300\n" * 4000
WRONG: dict[str, tuple[Callable[[Path], object], str]] = {
    "missing": (Path.unlink, "no store at {path}; make one with: advisor rebuild --store {path}"),
    "empty": (lambda path: path.write_bytes(b""), "is empty"),
    "text": (lambda path: path.write_text(TEXT), "no DuckDB file"),
    "few bytes": (_cut_to(100), "is damaged (cut short)"),
    "cut header": (_cut_to(6000), "cut short"),
    "cut early": (_cut_to(20_000), "is damaged"),
    "cut late": (_cut_to(-300_000), "is damaged"),
    "overwritten": (_overwritten, "is damaged"),
    "a pipe": (_pipe, "is a pipe"),
    "a ring of links": (_link("results.duckdb"), "cannot be read"),
    "a device": (_link("/dev/zero"), "is a device"),
    # Some files of /proc keep their reader waiting, and all of them say that they are empty.
    "a file of /proc": (_link("/proc/version"), "is empty"),
    "a directory": (_directory, "is a directory"),
    "below a file": (_below_a_file, "is not a directory"),
    "newer": (_sql(NEWER), "from a newer version of this program"),
    "another's": (
        _sql("CREATE TABLE cats (a INTEGER)", fresh=True),
        "a table of its own (cats)",
    ),
    "no table": (_sql("DROP TABLE recipe; DROP TABLE measurement"), "is damaged"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_store_is_one_line_and_stays_as_it_is(
    store_path: Path, tmp_path: Path, wrong: str
) -> None:
    spoil, said = WRONG[wrong]
    folder = tmp_path / "folder"
    folder.mkdir()
    path = Path(shutil.copy(store_path, folder / "results.duckdb"))
    spoil(path)
    before = path.read_bytes() if path.is_file() else None

    def read() -> object:
        with Store(path).reading() as reader:
            best = reader.best_times("pythia-1b", "sound")
            return best, reader.models(), reader.hosts(), reader.quotes(), reader.sources()

    actions: list[Callable[[], object]] = [
        read,
        lambda: Store(path).add(measurement=[record("lost?")]),
        lambda: check_store(path),
    ]
    if wrong not in ("missing", "a ring of links"):  # a store is made, or the link is named
        actions.append(lambda: build_store(path))
    for action in actions:
        with pytest.raises(StoreError) as caught:
            action()
        message = str(caught.value)
        assert said.format(path=path) in message or "no store can be made at" in message
        assert "\n" not in message
        assert len(message) < 500
    assert (path.read_bytes() if path.is_file() else None) == before
    if folder.is_dir():
        assert {entry.name for entry in folder.iterdir()} <= {"results.duckdb"}


HOLD = """
import sys, duckdb
connection = duckdb.connect()
connection.execute(f"ATTACH '{sys.argv[1]}' AS s ({sys.argv[2]})")
print("held", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["READ_WRITE", "READ_ONLY"])
def test_a_store_that_another_program_holds_names_it(own_store: Path, how: str) -> None:
    holder = program(HOLD, own_store, how, stdin=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdin is not None
    assert holder.stdout.readline() == "held\n"
    store = Store(own_store, wait_s=0.3)
    start = time.monotonic()
    with pytest.raises(StoreError, match=rf"held by \S+ \(PID {holder.pid}\)") as caught:
        store.add(measurement=[record("waits")])
    assert 0.3 <= time.monotonic() - start < 10
    assert "\n" not in str(caught.value)
    if how == "READ_WRITE":
        with pytest.raises(StoreError, match=rf"PID {holder.pid}"):
            look(store).models()
    else:
        assert look(store).models()
    holder.stdin.close()
    holder.wait(timeout=30)
    assert store.add(measurement=[record("waits")]) == 1


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "inf"])
def test_a_wrong_waiting_time_is_refused(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setenv("ADVISOR_STORE_WAIT", text)
    with pytest.raises(StoreError, match="ADVISOR_STORE_WAIT"):
        look(Store(own_store)).models()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("No locks available", "where files cannot be locked (No locks available)"),
        (
            "File locks are not supported for this file system, cannot open the file in read-write "
            "mode. Try opening the file in read-only mode",
            "where files cannot be locked (File locks are not supported for this file system)",
        ),
        # Refused, and yet nobody has it: another container, or a disk without locks.
        ("Conflicting lock is held in PID 0", "its disk gives no locks"),
    ],
)
def test_where_nothing_can_be_locked_it_is_said(
    own_store: Path, monkeypatch: pytest.MonkeyPatch, said: str, why: str
) -> None:
    """With DuckDB's own words."""

    def refused(connection: object, path: Path, *_: str) -> None:
        raise duckdb.IOException(
            f'IO Error: Could not set lock on file "{path}": {said}. See also '
            "https://duckdb.org/docs/current/connect/concurrency"
        )

    monkeypatch.setattr("advisor.store.storage.connection._attach", refused)
    with pytest.raises(StoreError) as caught, Store(own_store, wait_s=0.05).reading():
        pass
    assert why in str(caught.value) and "--store" in str(caught.value)


def test_a_nested_opening_in_one_thread_ends_in_words(own_store: Path) -> None:
    store = Store(own_store, wait_s=0.05)
    with store.reading(), pytest.raises(StoreError, match="in use by this program itself"):
        look(store).models()
    assert look(store).models()


# Read-only files and folders mean nothing to root, so these run as another user where we are root.

AS_ANOTHER = """
import os, sys, tempfile
from pathlib import Path
import advisor.store.merge.read_rows
from advisor.store import Store, StoreError, build_store, shipped_rows
from tests.store_for_tests import record
shipped_rows.text_tables(predicted=False)  # of a program that only root may read
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
path, action = Path(sys.argv[1]), sys.argv[2]
store = Store(path, note=lambda note: print("note:", note))
try:
    if action == "read":
        with store.reading() as reader:
            print(len(reader.models()) > 0)
    elif action == "build":
        build_store(path)
    else:
        store.add(measurement=[record("x")])
except StoreError as error:
    print("error:", error)
"""


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach."""
    folder = Path(tempfile.mkdtemp(prefix="advisor-test-"))
    folder.chmod(0o755)
    yield folder
    folder.chmod(0o755)
    shutil.rmtree(folder)


def _as_another(path: Path, action: str) -> str:
    return answer(program(AS_ANOTHER, path, action))


def test_a_read_only_store_is_read_and_refuses_to_be_written(
    store_path: Path, open_folder: Path
) -> None:
    path = Path(shutil.copy(store_path, open_folder / "results.duckdb"))
    path.chmod(0o444)
    open_folder.chmod(0o555)
    assert _as_another(path, "read") == "True\n"
    for action in ("write", "build"):
        said = _as_another(path, action)
        assert said.startswith(f"error: the store {path} is read-only: make it writable")
        assert said.count("\n") == 1
    path.chmod(0o666)
    assert "because its folder is read-only" in _as_another(path, "write")
    assert "no store can be made" in _as_another(open_folder / "new.duckdb", "build")
    path.chmod(0o000)
    if os.geteuid() == 0:  # its owner could always change it back
        assert "may not be read by you" in _as_another(path, "read")


def test_a_read_only_store_from_older_text_is_used_as_it_is(
    store_path: Path, open_folder: Path
) -> None:
    path = Path(shutil.copy(store_path, open_folder / "results.duckdb"))
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE meta SET value = 'older'")
    path.chmod(0o444)
    open_folder.chmod(0o555)
    assert _as_another(path, "read") == (
        f"note: the store {path} is read-only and not from the shipped text as it is now: "
        "used as it is\nTrue\n"
    )


def test_a_full_disk_loses_nothing(own_store: Path) -> None:
    store = Store(own_store)
    store.add(measurement=[record("before")])
    # A limit on the size of files is what a full disk looks like to a program.
    code = """
import resource, signal, sys
from advisor.store import Store, StoreError
from tests.store_for_tests import record
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, resource.RLIM_INFINITY))
raw = tuple(float(i) for i in range(50_000))
try:
    Store(sys.argv[1]).add(measurement=[record("big", pass_s=raw)])
except StoreError as error:
    print(error)
"""
    out, err = program(code, own_store).communicate(timeout=60)
    assert err == ""
    assert out.count("\n") == 1
    assert {time.measurement_id for time in look(store).times(origin="local")} == {"before"}
    assert store.add(measurement=[record("after")]) == 1
