"""The folder one stands in is no code: not for the runner, the solver, the ranks or serve."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

import bench_runner
from advisor.benchmark.measurement_request import look_here
from advisor.planning.solver_process import Say, Search
from bench_runner.arguments import find_recipe
from bench_runner.launch.process_group import child_environment
from bench_runner.launch.trial import TrialSpec
from tests.store_for_tests import NAIVE


@dataclass(frozen=True)
class Where:
    """A task for the solver's process: where it finds its modules."""

    seconds: float = 20.0

    def run(self, say: Say) -> str:
        import random

        return str(random.__file__)


def hostile_folder(folder: Path, trace: Path) -> Path:
    """A folder in which everything that we could import leaves a trace."""
    code = f"open({str(trace)!r}, 'w').write(__file__)\nraise SystemExit(3)\n"
    folder.mkdir()
    for name in (
        "random",
        "uuid",
        "json",
        "sitecustomize",
        "torch",
        "duckdb",
        "msgspec",
        "secrets",
    ):
        (folder / f"{name}.py").write_text(code)
    packages = ("bench_runner", "advisor", "price_catalog", "textual", "textual_serve", "aiohttp")
    for name in (*packages, "rich", "asyncio", "numpy", "scipy"):
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text(code)
        (folder / name / "__main__.py").write_text(code)
    return folder


@pytest.fixture
def hostile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """We stand in such a folder; the trace."""
    trace = tmp_path / "it-ran"
    monkeypatch.chdir(hostile_folder(tmp_path / "paper", trace))
    # As `export PYTHONPATH=$PYTHONPATH:...` leaves it where it was not set.
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(["", os.environ.get("PYTHONPATH", "")]))
    return trace


def test_the_runner_is_our_own(hostile: Path, tmp_path: Path) -> None:
    look_here(tmp_path / "work")
    # And where its work is told to lie among the hostile files.
    look_here(Path.cwd())
    assert not hostile.exists()


def test_the_solver_is_our_own(hostile: Path) -> None:
    assert Path(Search(Where()).run()).parent != Path.cwd()
    assert not hostile.exists()


def test_every_rank_and_all_that_it_starts_is_our_own(hostile: Path, tmp_path: Path) -> None:
    spec = TrialSpec(recipe=find_recipe("pythia-160m"), settings=NAIVE, gpu_count=2)
    environment = child_environment(dict(os.environ), spec, tmp_path, "g")
    # torchrun starts a rank by -u -m, and a rank may start Python by -c.
    program = (
        "import json, subprocess, sys; paths = sys.path; more = subprocess.run([sys.executable,"
        " '-c', 'import random, bench_runner.launch.trial; print(bench_runner.__file__)'],"
        " capture_output=True, text=True).stdout; import random; print(json.dumps([paths, more]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, env=environment
    )
    paths, more = json.loads(done.stdout)
    assert "" not in paths
    assert str(Path.cwd()) not in paths
    assert Path(more.strip()) == Path(bench_runner.__file__)
    assert not hostile.exists()


def test_an_empty_entry_of_pythonpath_is_not_the_folder_one_stands_in(
    own_store: Path, tmp_path: Path
) -> None:
    # As `export PYTHONPATH=$PYTHONPATH:/somewhere` leaves it where nothing was set before.
    trace, here = tmp_path / "it-ran", hostile_folder(tmp_path / "paper", tmp_path / "it-ran")
    # Python itself loads this one before any program; whoever starts the program finds it there.
    (here / "sitecustomize.py").unlink()
    shutil.rmtree(here / "advisor")
    words = ("rank", "--store", own_store, "--model=pythia-1b", "--budget=40k")
    done = subprocess.run(
        [Path(sys.executable).with_name("advisor"), *words],
        cwd=here,
        env=os.environ | {"PYTHONPATH": ":/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not trace.exists()


def test_the_runner_started_by_hand_takes_nothing_from_the_folder_one_stands_in(
    tmp_path: Path,
) -> None:
    trace, here = tmp_path / "it-ran", hostile_folder(tmp_path / "paper", tmp_path / "it-ran")
    # Python itself looks for these two there, before any line of ours.
    (here / "sitecustomize.py").unlink()
    shutil.rmtree(here / "bench_runner")
    done = subprocess.run(
        [sys.executable, "-m", "bench_runner", "run", "--help"],
        cwd=here,
        env={name: text for name, text in os.environ.items() if name != "PYTHONSAFEPATH"}
        | {"PYTHONPATH": str(Path(__file__).parents[2])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not trace.exists()
