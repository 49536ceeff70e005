"""Command lines nobody meant, kills in the middle of a write, crowds, and damaged stores."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from advisor.store import Store, StoreError, build_store, check_store
from bench_runner.records import journal
from tests.attack.generated_files import READ_ROWS, asked, wrong
from tests.commands_for_tests import run
from tests.store import test_store_processes as processes
from tests.store_for_tests import record

COMMANDS = [
    "rank", "data", "findings", "rebuild", "merge", "export", "predict", "plan", "prices",
    "doctor", "paths", "bench", "jobs",
]  # fmt: skip
FLAGS = [
    "--model", "--budget", "--max-days", "--by", "--prices", "--evidence", "--gpus", "--format",
    "--gpu", "--count", "--tokens", "--batch", "--out", "--item", "--price", "--vendor",
    "--date", "--kind", "--store", "--details", "--own", "--json", "--help", "--yes",
    "--minutes", "--device", "--lifetime", "--check", "--keep", "--machine", "--seed",
]  # fmt: skip
VALUES = (
    "pythia-1b vit 40k -5 0 1e400 nan 2026-11-01 latest paper H100 RTX json csv table times gpus"
    " list add import sound published 4 999999999999 \x1b[2J \u202e ../.. /dev/null = ' \" % * {}"
    " [] <script> 9" + " " + "9" * 300
).split()
NEVER = {"rebuild", "bench", "jobs"}
"""Commands whose right use takes long, tried with --help alone."""


def words(store: Path, folder: Path, count: int, seed: int) -> list[str]:
    """Command lines of right and wrong words in any order."""
    faults = []
    own = Path(shutil.copy(store, folder / "words.duckdb"))
    for number in range(count):
        dice = random.Random(f"words {seed} {number}")
        command = dice.choice(COMMANDS)
        line = [command]
        for _ in range(dice.randint(0, 6)):
            line.append(dice.choice(FLAGS if dice.random() < 0.5 else VALUES))
        if command in NEVER:
            line += ["--no-such-flag"]
        # A file that they name lies in a folder of its own.
        line = [word if word != "--out" else "--out=" + str(folder / "out.csv") for word in line]
        began = time.monotonic()
        try:
            code, out, err = asked(["--store", str(own), *line])
        except SystemExit as ended:  # --help
            code, out, err = int(ended.code or 0), "", ""
        if problem := wrong(code, out, err, time.monotonic() - began):
            faults.append(f"{line}: {problem}: {err.strip()[:300]}")
    return faults


def write(folder: str, who: str, count: str) -> None:
    """Append records to a journal and a store, say where each is kept, and export them."""
    path = Path(folder, "results.duckdb")
    for n in range(int(count)):
        raw = (0.5,) * random.choice((1, 10, 20_000))
        one = journal.with_id(record(f"{who}-{n}", gpu_count=n + 1, recipe_hash=who, pass_s=raw))
        journal.append(Path(folder, "r.jsonl"), one)
        print("journal", one.measurement_id, flush=True)
        Store(path, wait_s=600).add(measurement=[one])
        print("store", one.measurement_id, flush=True)
        with Store(path, wait_s=600).reading() as reader:
            reader.own_records()
        if n % 5 == 4:
            build_store(path)  # replaces every shipped row
    Store(path, wait_s=600).export(Path(folder, f"e-{who}.jsonl"))
    print("done", "-", flush=True)


WRITE = [
    *(sys.executable, "-c"),
    "import sys; from tests.attack.commands_and_stores import write; write(*sys.argv[1:])",
]


def _fresh(store: Path, folder: Path, name: str) -> tuple[Path, Path]:
    """An empty folder, and a copy of the store in it."""
    place = folder / name
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    return place, Path(shutil.copy(store, place / "results.duckdb"))


def kills(store: Path, folder: Path, count: int, seed: int) -> list[str]:
    """A writer of journal and store killed at any moment: what it was told is kept stays kept."""
    faults = []
    for number in range(count):
        dice = random.Random(f"kills {seed} {number}")
        place, own = _fresh(store, folder, "kills")
        hears, tells = os.pipe()
        writer = os.fork()  # starting Python for each would take most of the time
        if writer == 0:
            with contextlib.suppress(BaseException), open(tells, "w") as sys.stdout:
                write(str(place), "k", "10000")
            os._exit(1)
        os.close(tells)
        with open(hears) as heard:
            first = heard.readline()
            time.sleep(dice.uniform(0.0, 0.6))
            os.kill(writer, signal.SIGKILL)
            _, status = os.waitpid(writer, 0)
            told = first + heard.read()
        if os.waitstatus_to_exitcode(status) != -signal.SIGKILL:
            faults.append(f"kill {number}: the writer ended by itself")
        faults += _lost(f"kill {number}", place, own, told)
        left = {path.name for path in place.iterdir()} - {"r.jsonl", "results.duckdb"}
        if left - {"results.duckdb.wal"}:
            faults.append(f"kill {number}: left {left}")
    return faults


def crowd(store: Path, folder: Path, count: int, seed: int) -> list[str]:
    """Eight programs that write one store at once, three rows each."""
    _, own = _fresh(store, folder, "crowd")
    try:
        processes.crowd(own, *(f"w{who}" for who in range(8)))
    except AssertionError as error:
        return [f"a writer: {str(error)[-300:]}"]
    held = len(processes.kept(own))
    return [] if held == 24 else [f"the store lost {24 - held} of 24"]


READ = (
    ("rank", "--model", "pythia-1b", "--budget", "40k"),
    ("rank", "--model", "pythia-1b", "--budget", "40k"),
    ("data", "prices", "--format", "csv"),
    ("merge", str(Path(__file__).with_name("one-record.jsonl"))),
)


def damage(store: Path, folder: Path, count: int, seed: int) -> list[str]:
    """Stores cut, overwritten and scratched anywhere: an answer or one line, never a fault."""
    faults = []
    whole = store.read_bytes()
    path = folder / "damaged.duckdb"
    for number in range(count):
        dice = random.Random(f"damage {seed} {number}")
        raw = bytearray(whole)
        what = dice.random()
        if what < 0.2:
            del raw[dice.randrange(len(raw)) :]
        else:
            for _ in range(dice.choice((1, 4, 64))):
                at = dice.randrange(len(raw) if what < 0.7 else 16_384)
                length = dice.choice((1, 8, 512))
                raw[at : at + length] = dice.randbytes(length)
        path.write_bytes(bytes(raw))
        path.with_name(path.name + ".wal").unlink(missing_ok=True)
        began = time.monotonic()
        words = ["--store", str(path), *dice.choice(READ)]
        try:
            done = run(*words)  # a process of its own: DuckDB may end it
        except subprocess.TimeoutExpired:
            faults.append(f"damage {seed} {number}: no answer within 60 s")
            continue
        said = done.returncode, done.stdout, done.stderr
        if problem := wrong(*said, time.monotonic() - began):
            faults.append(f"damage {seed} {number}: {problem}: {done.stderr.strip()[:200]}")
    return faults


ODD = {
    "VARCHAR": ("''", "'-1'", "'NaN'", "'x\x1b[2J'", "repeat('9', 10000)", "NULL"),
    "DOUBLE": ("0", "-1", "1e-300", "1e300", "'nan'::DOUBLE", "'inf'::DOUBLE", "NULL"),
    "INTEGER": ("0", "-8", "2147483647", "NULL"),
    "BIGINT": ("0", "-8", "9223372036854775807", "NULL"),
    "DATE": ("DATE '0001-01-01'", "DATE '9999-12-31'", "'infinity'::DATE", "NULL"),
    "BOOLEAN": ("NULL", "true"),
    "VARCHAR[]": ("[]", "['']", "[NULL]", "NULL"),
    "DOUBLE[]": ("[]", "[-1.0]", "['nan'::DOUBLE]", "NULL"),
    "DECIMAL(14,2)": ("0.01", "999999999999"),
    "DECIMAL(14,4)": ("0.0001", "9999999999"),
}
"""By type of a column what somebody may have written into a store by hand."""


def altered(store: Path, folder: Path, count: int, seed: int) -> list[str]:
    """Whole stores in which one value of one row is another: an answer or one line."""
    import duckdb

    faults = []
    path = folder / "altered.duckdb"
    for number in range(count):
        dice = random.Random(f"altered {seed} {number}")
        shutil.copy(store, path)
        with duckdb.connect(str(path)) as connection:
            columns = connection.execute(
                "SELECT table_name, column_name, data_type FROM duckdb_columns()"
                " WHERE schema_name = 'main' AND NOT internal AND column_name <> 'origin'"
                " AND table_name IN (SELECT table_name FROM duckdb_tables()) ORDER BY ALL"
            ).fetchall()
            table, column, kind = dice.choice(columns)
            value = dice.choice(ODD[kind])
            which = f"rowid = {dice.randrange(100)}" if dice.random() < 0.5 else "true"
            own = ", origin = 'local'" if dice.random() < 0.5 and "meta" not in table else ""
            change = f"UPDATE {table} SET {column} = {value}{own} WHERE {which}"
            if table == "schema_version":
                continue
            try:
                connection.execute(change)
            except duckdb.Error:
                continue  # what the store's own checks refuse
        words = dice.choice(READ_ROWS)
        began = time.monotonic()
        with pytest.MonkeyPatch.context() as patch:
            if dice.random() < 0.5:  # one that may only be read is not put right
                patch.setattr("advisor.store.store.can_write", lambda _: False)
            code, out, err = asked(["--store", str(path), *words])
        if problem := wrong(code, out, err, time.monotonic() - began):
            said = f"{problem}: {err.strip()[:200]}"
            faults.append(f"altered {seed} {number}: {change}: {' '.join(words)}: {said}")
    return faults


CALLS = (
    "pwrite64", "write", "ftruncate", "fsync", "fdatasync", "unlink", "link", "rename", "flock",
)  # fmt: skip


def writes(store: Path, folder: Path, count: int, seed: int) -> list[str]:
    """Killed by strace at the n-th call of each kind that changes a file, one after the other."""
    if shutil.which("strace") is None:
        return ["strace is not installed: nothing was tried"]
    faults: list[str] = []
    tried = killed = 0
    for call in CALLS:
        for nth in range(1, 1000):
            if tried == count:
                print(f"stopped at {call} {nth}, after {killed} kills")
                return faults
            tried += 1
            place, own = _fresh(store, folder, "writes")
            words = ["strace", "-f", "-qq", "-o", os.devnull, "-e", f"trace={call}"]
            words += ["-e", f"inject={call}:signal=KILL:when={nth}"]
            done = subprocess.run(
                [*words, *WRITE, str(place), "w", "2"],
                capture_output=True,
                text=True,
                timeout=300,
            )
            faults += _lost(f"{call} {nth}", place, own, done.stdout)
            if "done -\n" in done.stdout:
                break
            if done.returncode not in (-signal.SIGKILL, 128 + signal.SIGKILL):
                faults.append(f"{call} {nth}: not killed: {done.stderr.strip()[-200:]}")
                break
            killed += 1
    print(f"{killed} kills")
    if killed < len(CALLS):
        faults.append("strace killed hardly anything: nothing was shown")
    return faults


def _lost(what: str, place: Path, own: Path, told: str) -> list[str]:
    """What was acknowledged and is gone, or what cannot be used any more."""
    try:
        written = {each.measurement_id for each in journal.read(place / "r.jsonl")}
        with Store(own).reading() as reader:
            kept = {each.measurement_id for each in reader.times(origin="local")}
        Store(own).check_whole()
        if differs := check_store(own):
            return [f"{what}: {differs[0]}"]
        Store(own).add(measurement=[record("after")])
    except (ValueError, StoreError) as error:
        return [f"{what}: {error}"]
    if any(not each.read_bytes().endswith(b"\n") for each in place.glob("e-*.jsonl")):
        return [f"{what}: half an export"]
    held = {"journal": written, "store": kept}
    return [
        f"{what}: {where} lost {name}"
        for where, name in (line.split() for line in told.splitlines(True) if line[-1] == "\n")
        if name not in held.get(where, {name})
    ]
