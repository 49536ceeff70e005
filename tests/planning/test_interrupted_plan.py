"""Ctrl-C on a real terminal while a plan is computed: what is there is kept, and files named."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from time import monotonic
from typing import Any, cast

import pytest

from advisor.answers.plan.plan_text import no_plan_text
from advisor.planning import plan_grant
from advisor.planning.plan_grant import EXAMPLE, Impossible, search_for, stopped
from advisor.planning.sensitivity.explain import Explanation, explain
from advisor.planning.solver.problem import Rules
from advisor.planning.solver.search_clock import Progress
from advisor.planning.solver.solve import solve
from tests.benchmarks.bench_plan import RUNS, grant_text
from tests.plans_for_tests import make_experiment, make_machine, make_problem, make_rental

CTRL_C = b"\x03"
PATIENCE_S = 240


def on_a_terminal(words: list[str], until: bytes) -> tuple[int, str]:
    """What a command shows, and its exit code, where Ctrl-C is pressed once it has shown this."""
    leader, follower = pty.openpty()
    child = subprocess.Popen(
        [sys.executable, "-m", "advisor", *words],
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
        preexec_fn=_take_terminal,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(follower)
    shown, pressed, began = b"", False, monotonic()
    try:
        while monotonic() - began < PATIENCE_S:
            if not select.select([leader], [], [], 1.0)[0]:
                continue
            try:
                some = os.read(leader, 65536)
            except OSError:  # the child has closed its side
                break
            if not some:
                break
            shown += some
            if not pressed and until in shown:
                os.write(leader, CTRL_C)
                pressed = True
        assert pressed, shown
        return child.wait(timeout=30), shown.decode()
    finally:
        child.kill()
        child.wait()
        os.close(leader)


def _take_terminal() -> None:
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_ctrl_c_keeps_the_plan_and_says_which_files_were_written(
    store_path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    wanted = [str(out / name) for name in ("plan.csv", "plan.json")]
    words = ["plan", str(EXAMPLE), "--store", str(store_path)]
    for name in wanted:
        words += ["--out", name]
    # The plan is settled and shown; what would change it is being tried.
    code, shown = on_a_terminal(words, until=b"do             what")
    assert code == 0, shown
    assert "stopped: the plan is kept" in shown
    assert [f"wrote {name}" in shown for name in wanted] == [True, True], shown
    assert files(out) == ["plan.csv", "plan.json"]
    assert "Traceback" not in shown
    assert "stopped before anything was tried" in re.sub(r"\s+", " ", shown)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_ctrl_c_before_any_plan_writes_nothing(store_path: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    # Of so many runs that only machines may do, the first plan takes long on any computer.
    many = grant_text(RUNS, each_year=False, seed=1)
    path = tmp_path / "grant.toml"
    path.write_text(f"{many}[rentals]\nallowed = false\n", encoding="utf-8")
    words = ["plan", str(path), "--store", str(store_path), "--out", str(out / "plan.csv")]
    code, shown = on_a_terminal(words, until=b"no plan yet")
    assert code == 130, shown
    assert "stopped before any plan was found: nothing is written" in shown
    assert files(out) == []
    assert "Traceback" not in shown


@pytest.mark.skipif(sys.platform == "win32", reason="there is no pty")
def test_ctrl_c_while_the_report_is_made_says_that_nothing_is_written(
    store_path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    words = ["plan", str(EXAMPLE), "--quick", "--store", str(store_path)]
    words += ["--out", str(out / "plan.pdf")]
    code, shown = on_a_terminal(words, until=b"What else there is")
    assert code == 130, shown
    assert "stopped while the report was made: no file is written" in shown
    assert files(out) == []
    assert "Traceback" not in shown


def test_ctrl_c_in_a_library_that_is_being_loaded_ends_with_the_same_code(tmp_path: Path) -> None:
    # A library makes its dataclasses by executing text, in which Ctrl-C may come as well.
    text = """
import sys
from advisor.cli import main
main._run = lambda options: exec("raise KeyboardInterrupt")
sys.argv = ["advisor", "plan"]
main.entry()
"""
    (tmp_path / "loading.py").write_text(text, encoding="utf-8")
    words = [sys.executable, "-m", "loading"]
    assert subprocess.run(words, cwd=tmp_path, check=False).returncode == 130


def test_a_plan_that_is_stopped_keeps_what_explained_it_until_then() -> None:
    problem = make_problem(
        year_days=(0, 365),
        experiments=(make_experiment("e", "a", 2, 0, 200),),
        machines=(make_machine("m", "1000", {"a": 60.0}), make_machine("n", "1500", {"a": 50.0})),
        rentals=(make_rental("r", "5", {"a": 50.0}),),
        rules=Rules(longest_run_days=Decimal(55)),
    )
    plan = solve(problem)
    heard: list[Explanation] = []
    whole = explain(problem, plan, 20, thresholds=False, so_far=heard.append)
    assert [(each.alternatives, each.binds) for each in heard] == [
        (whole.alternatives, ()),
        (whole.alternatives, whole.binds),
    ]
    assert whole.alternatives and whole.binds
    loaded: Any = None  # is only passed on
    kept = stopped(loaded, plan, heard[-1]).explanation
    assert kept is not None
    assert (kept.alternatives, kept.binds) == (whole.alternatives, whole.binds)
    assert [each.text() for each in kept.thresholds] == ["it was stopped before anything was tried"]


def test_that_there_is_no_plan_is_kept_though_what_to_relax_takes_too_long() -> None:
    search = search_for(cast(Any, None), 10)
    kept = search._keep(Impossible(trying="what to relax"))
    assert kept is not None and kept.plan is None
    assert no_plan_text(kept) == (
        "No plan meets every constraint. Time ran out before it was known what to relax: "
        "give it more time."
    )
    assert search._keep(Progress(trying="the plan")) is None


def test_a_plan_that_was_found_is_not_forgotten_while_another_search_begins() -> None:
    plan = solve(
        make_problem(
            experiments=(make_experiment("e", "a", 1, 0, 100),),
            machines=(make_machine("buy", "1000", {"a": 40.0}),),
        )
    )
    heard: list[Progress] = []
    say = plan_grant._with_last_plan(heard.append)
    for found in (None, plan, None):
        say(Progress(trying="nothing bought", plan=found))
    assert [each.plan for each in heard] == [None, plan, plan]
