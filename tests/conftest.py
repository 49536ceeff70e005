"""One store, built once from the shipped text, that tests may read; copies for those that write."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

import tests.store_for_tests  # noqa: F401 - which has the text read once
from advisor.store import Store, build_store
from advisor.store.digest import files_mark
from advisor.store.storage.reject_untrusted_store import remember
from tests.once_for_tests import folder_once

# How long one example takes says more of what else the machine does than of what is tested.
# And a change is refused for what it breaks, never for what chance finds elsewhere on that day: a
# property sees the same examples everywhere. `--hypothesis-profile new-examples` draws others.
settings.register_profile("new-examples", deadline=None)
settings.register_profile("same-examples", deadline=None, derandomize=True)
settings.load_profile("same-examples")

# What thousands of tests have loaded stays to the end, and the collector would look through it all
# again and again: a tenth of the processors' time.
gc.set_threshold(100_000, 20, 50)

_loaded = 0
NAME = "results.duckdb"


def pytest_runtest_setup() -> None:
    """Leave out of it even where somebody asks for all of it: every training of accelerate's ends
    with that, which was most of what a test of a small model took."""
    global _loaded
    if len(sys.modules) > _loaded + 100:
        _loaded = len(sys.modules)
        gc.freeze()


def pytest_unconfigure() -> None:
    """At the end some libraries look whether all of theirs is gone."""
    gc.unfreeze()


# A shell that starts the tests in the background has them ignore Ctrl-C, and so would every program
# that they start; some of the tests send it.
signal.signal(signal.SIGINT, signal.default_int_handler)
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
    # The same below nohup; ours alone live on, since a handler is not handed down.
    signal.signal(signal.SIGHUP, lambda *_: None)
# The workers, and the processes that they start, share two cores. Were each to take both for its
# matrices, they would wait for one another: a fit of the predictions then takes ten times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Answers are as wide as the shell says.
os.environ.pop("COLUMNS", None)
# Where the shell forbids it, each of hundreds of child processes would compile what it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Tests of several workers and of other trees measure at the same time: what they time is nobody's.
os.environ["BENCH_RUNNER_LOCKS"] = f"tests-{os.getpid()}"


@pytest.fixture(scope="session", autouse=True)
def _folders_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Not the user's jobs, and for each worker what is known of stores: others would forget it."""
    os.environ["ADVISOR_JOBS"] = str(tmp_path_factory.mktemp("jobs"))
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def store_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of the shipped evidence. Read only: copy it to write."""
    made = folder_once("store", tmp_path_factory, lambda folder: build_store(folder / NAME))
    _know(made / NAME)  # another worker may have made it
    return made / NAME


@pytest.fixture
def own_store(store_path: Path, tmp_path: Path) -> Path:
    """A store of the shipped evidence that the test may change. Of ours: it is not looked through
    for code of its own, which takes as long as all else of a short answer, until it changes."""
    path = Path(shutil.copy(store_path, tmp_path / NAME))
    _know(path)
    return path


def _know(path: Path) -> None:
    for kind in ("rows", files_mark()):
        remember(kind, path)


@pytest.fixture
def predictions_stay(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests of benchmarks and merges, each of which ends with all predictions made again: that
    takes longer than all else of them. What records do to predictions, test_own_records.py asks; of
    the tests here those that are marked ``predicts_anew`` end as a benchmark or a merge does."""
    if request.node.get_closest_marker("predicts_anew") is None:
        monkeypatch.setattr(Store, "update_predictions", lambda store: None)
        monkeypatch.setattr("advisor.store.own_rows.update_predictions", lambda connection: None)
