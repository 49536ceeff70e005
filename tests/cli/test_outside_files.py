"""Pipes, devices, endless and deep files: read where meant, refused at once where not."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bench_runner import untrusted_text
from bench_runner.records import journal
from tests.store_for_tests import record

if sys.platform != "linux":
    pytest.skip("devices and pipes as Linux has them", allow_module_level=True)

GIB = 1024**3


def bounded() -> None:
    """3 GiB of address space at most."""
    resource.setrlimit(resource.RLIMIT_AS, (3 * GIB, 3 * GIB))


def run(store: Path, *words: str, **options: object) -> subprocess.CompletedProcess[str]:
    """A real program with as much memory as that."""
    return subprocess.run(
        [sys.executable, "-m", "advisor", "--store", str(store), *words],
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=bounded,
        **options,  # type: ignore[call-overload]
    )


@pytest.fixture
def records(tmp_path: Path) -> Path:
    path = tmp_path / "r.jsonl"
    for n in range(40):
        journal.append(path, record(f"m-{n}"))
    return path


def test_records_come_in_through_pipes_as_through_a_file(own_store: Path, records: Path) -> None:
    done = run(own_store, "merge", "--mine", "/dev/stdin", input=records.read_text())
    assert (done.returncode, done.stderr) == (0, "/dev/stdin: 40 new rows\n")
    with subprocess.Popen(["cat", str(records)], stdout=subprocess.PIPE) as cat:
        assert cat.stdout is not None
        name = f"/dev/fd/{cat.stdout.fileno()}"
        done = run(own_store, "merge", "--mine", name, pass_fds=[cat.stdout.fileno()])
    assert (done.returncode, done.stderr) == (0, f"{name}: 0 new rows\n")


def test_a_store_through_a_pipe_is_refused_with_the_way_out(
    own_store: Path, store_path: Path
) -> None:
    with (
        store_path.open("rb") as file,
        subprocess.Popen(["cat"], stdin=file, stdout=subprocess.PIPE) as cat,
    ):
        assert cat.stdout is not None
        name = f"/dev/fd/{cat.stdout.fileno()}"
        done = run(own_store, "merge", "--mine", name, pass_fds=[cat.stdout.fileno()])
        cat.stdout.close()
    assert done.returncode == 2
    assert "hands a store on through a pipe: name the file itself" in done.stderr


def sparse(path: Path) -> str:
    with path.open("wb") as file:
        file.truncate(20 * GIB)
    return str(path)


def device(path: Path) -> str:
    path.symlink_to("/dev/zero")
    return str(path)


def deep(path: Path) -> str:
    path.write_text(
        "a = " + "[" * 50_000 + "]" * 50_000 if path.suffix == ".toml" else "[" * 200_000
    )
    return str(path)


def long_line(path: Path) -> str:
    path.write_bytes(b'{"a": "' + b"x" * 40_000_000)
    return str(path)


def deep_key(path: Path) -> str:
    """A key of 100,000 parts, and points in quotes that are none."""
    parts = '."a,=b"' * 100_000 if path.suffix == ".toml" else "." * 100_000
    path.write_text(f'note = "{"." * 500}"\nx = [{"0.5, " * 200}]\na{parts} = 1\n')
    return str(path)


COMMANDS = {
    "record.jsonl": ("merge", "--mine", "{}"),
    "recipe.toml": ("predict", "--model", "{}", "--gpu", "H100"),
    "config.json": ("predict", "--model", "{}", "--gpu", "H100"),
    "grant.toml": ("plan", "{}"),
    "quotes.csv": ("prices", "import", "{}"),
    "job.log": ("merge", "--mine", "{}"),
}


ASK_ALL = """
import contextlib, io, json, sys, time
from advisor.cli.main import main
told = {}
for name, words in json.loads(sys.argv[1]).items():
    out, err, began = io.StringIO(), io.StringIO(), time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    told[name] = [code, out.getvalue(), err.getvalue(), time.monotonic() - began]
print(json.dumps(told))
"""


@pytest.mark.parametrize("make", [sparse, device, deep, deep_key, long_line])
def test_what_never_ends_is_refused_at_once(own_store: Path, tmp_path: Path, make: object) -> None:
    """Every command in one process of 3 GiB: each start of Python takes longer than its answer."""
    asked = {}
    for name, words in COMMANDS.items():
        file = make(tmp_path / name)  # type: ignore[operator]
        asked[name] = ["--store", str(own_store), *(word.replace("{}", file) for word in words)]
    done = subprocess.run(
        [sys.executable, "-c", ASK_ALL, json.dumps(asked)],
        capture_output=True,
        text=True,
        timeout=120,
        preexec_fn=bounded,
    )
    told = json.loads(done.stdout)
    assert told.keys() == COMMANDS.keys()
    for name, (code, out, err, took_s) in told.items():
        assert (code, out) == (2, ""), (name, code, out, err)
        assert err.count("\n") == 1, (name, err)
        assert "a fault of this program" not in err
        assert len(err) < 1000
        assert took_s < 30


@pytest.mark.parametrize("make", [sparse, device, os.mkfifo])
def test_the_runner_s_journal_and_recipe_are_bounded_too(
    tmp_path: Path, make: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    from bench_runner.recipes import load_recipe

    monkeypatch.setattr(untrusted_text, "PATIENCE_S", 0.2)
    file = tmp_path / "m.toml"
    make(file)  # type: ignore[operator]
    for read in (journal.read, load_recipe):
        with pytest.raises(ValueError, match=r"larger than|device|pipe") as caught:
            read(file)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_says_nothing_is_not_waited_for(
    own_store: Path, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pipe that nobody writes to; files of /proc that keep their reader waiting for ever."""
    from advisor.cli.main import main

    assert untrusted_text.PATIENCE_S < 8, "a command ends within 10 s"
    monkeypatch.setattr(untrusted_text, "PATIENCE_S", 0.2)
    os.mkfifo(tmp_path / name)
    read = ["/proc/kmsg"] if os.access("/proc/kmsg", os.R_OK) else []
    for path in (str(tmp_path / name), *read):
        words = [word.replace("{}", path) for word in COMMANDS[name]]
        began = time.monotonic()
        assert main(["--store", str(own_store), *words]) == 2
        assert time.monotonic() - began < 20


def test_a_pipe_that_trickles_is_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    line = json.dumps({"a": 1})
    program = f"import time\nwith open({str(pipe)!r}, 'w') as f:\n"
    program += f"  for _ in range(3): f.write({line!r} + chr(10)); f.flush(); time.sleep(0.2)\n"
    with subprocess.Popen([sys.executable, "-c", program]):
        found = list(untrusted_text.lines_outside(pipe, 1000, 1000))
    assert found == [line.encode() + b"\n"] * 3
