"""Many programs at once: no error, no lost row, no broken store. Kills: tests/attack."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from advisor.store import Store, check_store
from tests.store_for_tests import look, program, record

# Ten programs are forks of one that has loaded all: each start of Python would cost a second.
CROWD = """
import os, sys, traceback
from advisor.store import Store, build_store, shipped_rows
from tests.store_for_tests import record

def write(path, name):
    for n in range(3):
        assert Store(path).add(measurement=[record(f"{name}-{n}")]) == 1

def read(path, name):
    seen = -1
    for _ in range(4):
        with Store(path).reading() as reader:
            now = len(reader.times(origin="local"))
            assert len(reader.best_times("pythia-1b", "sound")) >= 16
        assert now >= seen, (now, seen)
        seen = now

def make(path, name):
    build_store(path)
    assert Store(path).add(measurement=[record(name)]) == 1

shipped_rows.text_tables()
waiting, go = os.pipe()
children = []
for name in sys.argv[2:]:
    if (child := os.fork()) == 0:
        os.close(go)
        os.read(waiting, 1)                 # all at the same moment, after the last fork
        try:
            {"w": write, "r": read, "m": make}[name[0]](sys.argv[1], name)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        sys.stderr.flush()
        os._exit(0)
    children.append(child)
os.close(go)
sys.exit(sum(os.waitpid(child, 0)[1] != 0 for child in children))
"""


def crowd(path: Path, *names: str) -> list[str]:
    """What programs of these names say on stderr, which write, read or make a store at once."""
    # They wait for one another, however slow the machine is that all of them share.
    running = program(CROWD, path, *names, env=os.environ | {"ADVISOR_STORE_WAIT": "90"})
    out, err = running.communicate(timeout=280)
    assert (running.returncode, out) == (0, ""), err
    return str(err).splitlines()


def kept(path: Path) -> set[str]:
    return {time.measurement_id for time in look(Store(path)).times(origin="local")}


def test_ten_programs_at_once_see_no_error_and_lose_no_row(own_store: Path) -> None:
    writers, readers = [f"w{n}" for n in range(6)], [f"r{n}" for n in range(4)]
    crowd(own_store, *writers, *readers)
    assert kept(own_store) == {f"{name}-{n}" for name in writers for n in range(3)}
    assert check_store(own_store) == []


DWELL = """
import sys, time
from advisor.store import Store
while True:
    with Store(sys.argv[1]).reading():
        print("in", flush=True)
        time.sleep(0.3)
"""


def test_readers_whose_visits_overlap_do_not_keep_a_writer_out(own_store: Path) -> None:
    readers = [program(DWELL, own_store) for _ in range(5)]
    try:
        for reader in readers:
            assert reader.stdout is not None and reader.stdout.readline() == "in\n"
        for n in range(2):  # without a queue they keep it out for ever
            assert Store(own_store, wait_s=60).add(measurement=[record(f"w-{n}")]) == 1
        assert [reader.poll() for reader in readers] == [None] * 5
    finally:
        for reader in readers:
            reader.kill()
            reader.communicate()


def test_programs_that_all_find_an_old_store_update_it_once(own_store: Path) -> None:
    import duckdb

    with duckdb.connect(str(own_store)) as connection:
        connection.execute("UPDATE meta SET value = 'older'; DELETE FROM quote")
    said = crowd(own_store, "r1", "r2", "r3", "r4")
    assert said == [f"advisor: updated the shipped rows of {own_store}"]
    assert check_store(own_store) == []


def test_programs_that_make_one_store_at_once_agree(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.duckdb"
    crowd(path, "m1", "m2", "m3")
    assert kept(path) == {"m1", "m2", "m3"}
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_threads_of_one_program_take_turns(own_store: Path) -> None:
    store = Store(own_store)

    def work(name: str) -> int:
        if name.startswith("w"):
            return sum(store.add(measurement=[record(f"{name}-{n}")]) for n in range(4))
        return sum(len(look(store).models()) > 0 for _ in range(4))

    with ThreadPoolExecutor(6) as threads:
        done = list(threads.map(work, ["w1", "r1", "w2", "r2", "w3", "r3"]))
    assert done == [4] * 6
    assert len(look(store).times(origin="local")) == 12
