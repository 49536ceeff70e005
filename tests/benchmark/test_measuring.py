"""Following, cancelling and keeping a benchmark: real child processes, real stores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.benchmark.benchmark_plan import make_plan
from advisor.benchmark.measurement_request import look_here
from advisor.benchmark.progress import (
    FAILED,
    LEFT_OUT,
    MISFIT,
    TIME,
    Progress,
)
from advisor.benchmark.runner_process import Run, last_log_line
from advisor.cli.main import main
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.row_order import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from bench_runner.records import journal
from tests.benchmark.fake_runs import LEAN, TINY, followed, measure, planned, request
from tests.store_for_tests import look

pytestmark = pytest.mark.usefixtures("two_fake_gpus")


# A whole run


def test_every_trial_ends_in_a_row_of_the_board_and_of_the_store(
    own_store: Path, tmp_path: Path
) -> None:
    plan = planned(own_store, tmp_path)
    run, recorder, progress = measure(plan, "good")
    ending = run.ending()
    assert ending.kind == "answered"
    states = [row.state for row in progress.rows.values()]
    assert states[:4] == [TIME, MISFIT, FAILED, TIME]
    assert set(states[4:]) == {LEFT_OUT}
    assert progress.best_row is not None
    assert progress.best_row.label == LEAN
    assert list(progress.rows.values())[2].log_tail == ("NCCL watchdog", "second line")
    # 22 settings and the best once more, as what the search found.
    times = look(Store(own_store)).times("pythia-160m", origin="local")
    assert len(times) == recorder.kept == 23
    assert {time.status for time in times} == {"ok", "infeasible", "failed", "pruned"}
    assert [t.training_days for t in times if t.method == "optimal"] == [3.0]
    assert recorder.problem is None
    assert "records of pythia-160m are in" in recorder.words()


def test_the_user_s_machine_stands_among_the_builds_as_owned(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measure(planned(own_store, tmp_path), "good")
    measure(planned(own_store, tmp_path), "good")
    with Store(own_store).reading() as reader:
        snapshot = take_snapshot(reader)
        field = make_candidates(reader, snapshot, CandidatesKey("pythia-160m", "latest", "sound"))
    owned = [row for row in rank(field, Question()).rows() if row.build.host_owned]
    assert len(owned) == 1
    (row,) = owned
    assert (row.build.gpu.name, row.build.gpu_count) == ("H200", 2)
    assert row.build.host.name == "your 2 × H200"
    assert row.overall_cost_usd == 0
    assert row.training_days == 3.0
    assert row.time.basis == "measured"
    assert row.time.timing == "synchronised"
    asked = ["rank", "--model", "pythia-160m", "--budget", "1000", "--store", str(own_store)]
    assert main(asked) == 0
    assert "your 2 × H200" in capsys.readouterr().out
    # It is the very machine that `advisor prices own` knows, so that can forget it.
    assert main(["prices", "own", "2 x H200", "--remove", "--store", str(own_store)]) == 0
    assert not any(host.kind == "owned" for host in look(Store(own_store)).hosts())


def test_a_machine_on_which_nothing_was_timed_is_not_owned(own_store: Path, tmp_path: Path) -> None:
    """The file of records lies in a home that machines of other GPUs share."""
    measure(planned(own_store, tmp_path, gpu_count=1), "good")
    before = [host.name for host in look(Store(own_store)).hosts() if host.kind == "owned"]
    measure(planned(own_store, tmp_path), "refuse")
    hosts = look(Store(own_store)).hosts()
    assert [host.name for host in hosts if host.kind == "owned"] == before == ["your 1 × H200"]


def test_a_gpu_that_no_catalogue_knows_is_said_to_have_no_rank(
    own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_GPUS", "1:NVIDIA Fancy 9000")
    plan = planned(own_store, tmp_path, gpu_count=1)
    assert plan.gpu is None
    assert plan.owned_host() is None
    assert "no GPU called NVIDIA Fancy 9000" in plan.remarks()[0]
    measure(plan, "good")
    assert (
        look(Store(own_store)).times("pythia-160m", origin="local")[0].gpu_id == "NVIDIA Fancy 9000"
    )


# What the events say


labels = st.sampled_from(["free lunch", "zero-1", "naive", "new one"])
events = st.one_of(
    st.builds(lambda name: {"event": "trial-started", "label": name}, labels),
    st.builds(
        lambda name, phase, size: {
            "event": "trial-progress",
            "label": name,
            "phase": phase,
            "micro_batch_size": size,
            "fits": bool(size),
        },
        labels,
        st.sampled_from(["climb", "probe", "timing", "of the future"]),
        st.none() | st.integers(0, 64),
    ),
    st.builds(
        lambda kind, name, status, days: {
            "event": kind,
            "label": name,
            "record": {"status": status, "training_days": days if status == "ok" else None},
        },
        st.sampled_from(["trial-finished", "left-out", "reused"]),
        labels,
        st.sampled_from(["ok", "infeasible", "failed", "pruned", "odd"]),
        st.floats(0.001, 1e4),
    ),
    st.builds(lambda name: {"event": "best", "label": name}, labels),
    st.just({"event": "noise", "text": "x"}),
    st.just({"event": "search-finished", "label": None, "best": None}),
)


@given(st.lists(events, max_size=30), st.none() | st.floats(1, 1e5))
def test_any_order_of_events_leaves_a_board_that_makes_sense(
    told: list[dict[str, Any]], limit_s: float | None
) -> None:
    progress = Progress(["free lunch", "zero-1"], 3.0)
    for now, event in enumerate(told):
        progress.apply(event, float(now))
        left = progress.remaining_s(float(now), limit_s)
        assert left is None or left >= 0
        assert sum(progress.counts().values()) == len(progress.rows)
    progress.close()
    assert not {"waiting", "running"} & progress.counts().keys()
    best = progress.best_row
    assert best is None or best.training_days is not None


# The real runner


@pytest.mark.torch
def test_a_real_run_on_the_cpu_is_kept_and_never_ranked_as_a_gpu(
    own_store: Path, tmp_path: Path
) -> None:
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    wanted = request(
        tmp_path,
        recipe=str(file),
        device="cpu",
        methods="naive",
        gpu_count=1,
        more=("--minimum-steps", "3", "--settle-s", "2"),
    )
    store = Store(own_store)
    here = look_here(wanted.work_directory)
    plan = make_plan(store, wanted, here, gpu_count=1)
    assert "never ranks as a GPU" in " ".join(plan.remarks())
    run = Run(plan.request)
    recorder, progress = followed(run, plan)
    assert run.ending().kind == "answered", run.ending()
    assert recorder.problem is None
    assert progress.rows["naive"].state == TIME
    assert last_log_line(plan.request.work_directory) is not None
    (time_,) = look(store).times("tiny", origin="local")
    assert time_.gpu_id == "cpu"
    assert time_.verdict == "unchecked"
    (record,) = journal.read(plan.request.records_file)
    assert record.environment["not_a_gpu"] is True
    # The recipe came with it, so the ranking knows it, and has nothing to rank.
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
        field = make_candidates(reader, snapshot, CandidatesKey("tiny", "latest", "sound"))
    assert len(rank(field, Question())) == 0
    assert not any(build.host_owned for build in field.builds)
    assert [own.recipe.recipe_id for own in store.own_definitions().models] == ["tiny"]

    # The same file, carried to another store as from a node of a cluster: twice is once.
    other = tmp_path / "other.duckdb"
    other.write_bytes(own_store.read_bytes())
    before = look(Store(other)).times("tiny")
    assert main(["merge", "--mine", str(plan.request.records_file), "--store", str(other)]) == 0
    assert look(Store(other)).times("tiny") == before
    # Again: nothing is measured twice, and the screen's board says so.
    again = Run(plan.request)
    recorder, progress = followed(again, plan)
    assert progress.rows["naive"].reused
    assert len(look(store).times("tiny")) == 1
