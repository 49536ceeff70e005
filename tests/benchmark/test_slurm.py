"""Jobs on a real SLURM of two nodes on this machine: submitted, followed, ended in every way."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import psutil
import pytest

from advisor.benchmark.benchmark_plan import Plan, make_job_plan
from advisor.benchmark.jobs import slurm
from advisor.benchmark.jobs.cluster_profile import ClusterProfile
from advisor.benchmark.jobs.job_files import SCRIPT, sbatch_text
from advisor.benchmark.jobs.job_folder import Job, find_job, keep_job, kept_jobs, write_folder
from advisor.benchmark.jobs.job_records import follow_job, merge_job, records_in
from advisor.benchmark.measurement_request import Request
from advisor.cli.main import main
from advisor.cli.measure.jobs_command import follow
from advisor.store import Store
from bench_runner.records.journal import events_since

HERE = Path(__file__).parent
LOCAL = HERE / "slurm_local.sh"
FAKE = HERE.parent / "fake_runner.py"
TINY = HERE.parent / "bench_runner" / "tiny.toml"
MISSING = [
    name for name in ("slurmctld", "slurmd", "sbatch", "srun", "scontrol") if not shutil.which(name)
]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"slurm-wlm is not installed: no {MISSING}"),
    pytest.mark.skipif(
        not hasattr(os, "geteuid") or os.geteuid() != 0, reason="this SLURM runs as root only"
    ),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a running SLURM."""
    folder = tmp_path_factory.mktemp("slurm")
    port = 20_000 + os.getpid() % 9_000
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
        try:
            subprocess.run(["bash", str(LOCAL), "start", str(folder), str(port)], check=True)
            yield folder
        finally:
            subprocess.run(["scancel", "--user=root"], check=False, timeout=60)
            subprocess.run(["bash", str(LOCAL), "stop", str(folder)], check=False)
            for process in of_cluster(folder):
                with suppress(psutil.Error):
                    process.kill()


def of_cluster(folder: Path, node: str | None = None) -> list[psutil.Process]:
    """What this SLURM runs, whichever others there are on this machine; on one node alone."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.pid == os.getpid():
                continue
            told = process.environ()
            if told.get("SLURM_CONF") == str(folder / "slurm.conf") and (
                node is None or told.get("SLURMD_NODENAME") == node
            ):
                found.append(process)
    return found


@pytest.fixture(scope="module")
def late_job(cluster: Path, store_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Job:
    """A job out of time: SLURM looks for those twice a minute, so the others run meanwhile."""
    folder = tmp_path_factory.mktemp("late")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ADVISOR_JOBS", str(folder / "jobs"))
        patch.setenv("FAKE_GPUS", "2:NVIDIA H200")
        job = submitted(planned(store_path), folder / "late", stand_in(folder, "stepwise"))
    until(lambda: len(events(job, "trial-started")) == 2, "the second trial did not begin")
    # A minute is shorter than the warning before the end, so the warning is due at once.
    subprocess.run(["scontrol", "update", f"jobid={job.number}", "TimeLimit=1"], check=True)
    return job


@pytest.fixture(autouse=True)
def _of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late_job: Job) -> None:
    monkeypatch.setenv("ADVISOR_JOBS", str(tmp_path / "jobs"))
    monkeypatch.setenv("ADVISOR_SETTINGS", str(tmp_path / "settings.toml"))
    monkeypatch.setenv("FAKE_GPUS", "2:NVIDIA H200")
    for name, value in OUTER.items():
        monkeypatch.setenv(name, value)


ASKED = ("bench", "--model", "pythia-160m", "--gpus", "2", "--on", "slurm")
OUTER = {
    "SLURM_MEM_PER_CPU": "100",
    "SLURM_MEM_PER_NODE": "900",
    "SLURM_CPU_BIND": "verbose",
    "SLURM_TIME_FORMAT": "relative",
    "SBATCH_PARTITION": "nowhere",
}
"""What an allocation around this program and a user's profile may set."""


def stand_in(folder: Path, scenario: str) -> str:
    """A python that runs the fake instead of bench_runner."""
    path = folder / f"{scenario} python"
    path.write_text(f'#!/bin/bash\nshift 2\nexec {sys.executable} {FAKE} {scenario} "$@"\n')
    path.chmod(0o755)
    return str(path)


def planned(store: Path, *more: str, nodes: int = 1, methods: str = "naive,free-lunch") -> Plan:
    request = Request(
        recipe=str(TINY),
        gpu_count=2,
        methods=methods,
        device="cpu",
        records_file=Path("records.jsonl"),
        work_directory=Path("work"),
        more=more,
    )
    return make_job_plan(Store(store), request, node_count=nodes)


def submitted(plan: Plan, folder: Path, python: str, minutes: float = 10, cpus: int = 1) -> Job:
    profile = ClusterProfile(python=python, partition="gpu", gpu_type="h100", cpus_per_gpu=cpus)
    text = sbatch_text(plan, profile, "bench", minutes=minutes)
    write_folder(folder, plan.request.recipe_text, {SCRIPT: text})
    return keep_job(
        Job(
            name=folder.name,
            where="slurm",
            folder=str(folder),
            recipe_id=plan.recipe_id,
            device="1 × H100",
            gpu_count=plan.request.gpu_count,
            made_at="2026-11-22T10:00:00",
            number=slurm.submit(folder, SCRIPT),
            submitted_at=datetime.now().isoformat(timespec="seconds"),
        )
    )


def until(told: Callable[[], object], what: str, seconds: float = 240) -> None:
    """Wait for an event; however busy the machine, it comes long before this gives up."""
    deadline = time.monotonic() + seconds
    while not told():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def events(job: Job, kind: str) -> list[dict[str, object]]:
    assert job.output is not None
    return [event for event in events_since(job.output)[0] if event["event"] == kind]


def release(job: Job) -> None:
    """A requeued job waits two minutes, which a test need not."""
    assert job.number is not None
    until(lambda: slurm.look(job.number or "").state == "PENDING", "it was not requeued")
    time.sleep(1.5)  # in the second of its end the nodes would refuse it as ended
    subprocess.run(["scontrol", "update", f"jobid={job.number}", "StartTime=now"], check=True)


def test_a_job_is_submitted_followed_and_merged_by_one_command(
    cluster: Path,
    own_store: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "settings.toml").write_text(
        f'[slurm.hopper]\npartition = "gpu"\ncpus_per_gpu = 1\ngpu_type = "h100"\n'
        f'python = "{stand_in(tmp_path, "good")}"\n'
    )
    words = [*ASKED, "--methods", "paper", "--submit", "--yes", "--store", str(own_store)]
    greeting = tmp_path / "bin" / "sbatch"
    greeting.parent.mkdir()
    greeting.write_text(
        f"#!/bin/bash\necho 'Welcome to Hopper: 512 nodes'\n{shutil.which('sbatch')} \"$@\"\n"
        "code=$?\necho 'Your account has 12 h left'\nexit $code\n"
    )
    greeting.chmod(0o755)
    monkeypatch.setenv("PATH", f"{greeting.parent}:{os.environ['PATH']}")
    assert main(words) == 0
    printed, said = capfd.readouterr()
    assert "! SBATCH_PARTITION=nowhere of your environment is not used" in said
    assert "#SBATCH --gpus-per-node=h100:2" in printed
    assert "expected start: " in said and "queue_days = 0" in said
    assert "records of this job are in" in said and "free lunch: 3 days" in said
    (job,) = kept_jobs()
    assert (job.ended, job.merged) == ("COMPLETED", len(records_in(job)))
    assert len(records_in(job)) == 23  # 22 settings and the best of them
    with Store(own_store).reading() as reader:
        best = [time for time in reader.times(recipe_id="pythia-160m") if time.origin == "local"]
    assert {time.gpu_count for time in best} == {2}
    # Asked for again it is measured no second time, and merging twice is merging once.
    assert merge_job(Store(own_store), job)[1] == 0


def test_what_the_cluster_cannot_give_is_refused_with_its_own_reason(
    cluster: Path, own_store: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    words = ["bench", "--model", "pythia-160m", "--gpus", "4", "--on", "slurm", "--submit", "--yes"]
    words += ["--store", str(own_store), "--cpus-per-gpu", "1"]
    for more, reason in (
        (["--gpu-type", "h100"], "Requested node configuration is not available"),
        (["--gpu-type", "a100", "--nodes", "2"], "Requested node configuration"),
        (["--partition", "nowhere"], "invalid partition"),
    ):
        assert main([*words, *more]) == 2
        said = capfd.readouterr().err.strip().splitlines()
        assert reason.lower() in said[-1].lower()
        assert len(said) == 1
    assert [job.number for job in kept_jobs()] == [None] * 2  # the partition is not of the question


def test_a_cancelled_job_keeps_what_it_measured(
    cluster: Path, own_store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    job = submitted(planned(own_store), tmp_path / "cancelled", stand_in(tmp_path, "stepwise"))
    until(lambda: len(events(job, "trial-started")) == 2, "the second trial did not begin")
    assert main(["jobs", "cancel", job.name, "--store", str(own_store)]) == 0
    seen = list(follow_job(job, poll_s=0.2))
    assert seen[-1][0].state == "CANCELLED"
    # What is on record, and its choice of the best where SLURM left it the time to write that.
    said = re.search(r"\b([12]) records?, \1 of them new", capfd.readouterr().err)
    assert said is not None
    assert main(["jobs", "--format", "json"]) == 0
    (row,) = json.loads(capfd.readouterr().out)
    assert (row["job"], row["state"].split()[0]) == ("cancelled", "cancelled")
    assert row["records"] == int(said[1])


def test_a_job_killed_by_the_system_loses_no_record_and_goes_on_when_asked_again(
    cluster: Path, own_store: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    plan, folder = planned(own_store), tmp_path / "killed"
    job = submitted(plan, folder, stand_in(tmp_path, "crash"))
    follow(Store(own_store), job, poll_s=0.2)
    assert slurm.look(job.number or "").state == "FAILED"
    assert "RuntimeError: no more" in capfd.readouterr().err
    # One was told; the other stood in the file alone.
    assert len(records_in(job)) == find_job("killed").merged == 2
    again = submitted(plan, folder, stand_in(tmp_path, "stepwise"))
    assert follow(Store(own_store), again, poll_s=0.2) == 0
    assert len(events(again, "reused")) == 2


async def test_a_job_submitted_on_the_screen_is_found_again_after_closing(
    cluster: Path, own_store: Path, tmp_path: Path
) -> None:

    from advisor.tui.app import AdvisorApp
    from advisor.tui.benchmark.benchmark_screen import BenchmarkScreen
    from advisor.tui.benchmark.elsewhere_screen import ElsewhereScreen
    from advisor.tui.program.state import State
    from advisor.tui.widgets.lines import LinesView

    (tmp_path / "settings.toml").write_text(
        '[slurm]\npartition = "gpu"\ncpus_per_gpu = 1\ngpu_type = "h100"\n'
        f'python = "{stand_in(tmp_path, "good")}"\n'
    )

    async def opened(keys: str, wanted: Callable[[str], bool]) -> str:
        app = AdvisorApp(own_store, state=State(model="pythia-160m"))
        async with app.run_test(size=(110, 34)) as pilot:
            app.install_screen(
                BenchmarkScreen(
                    app.size,
                    runner=(sys.executable, str(FAKE), "good"),
                    folders=(tmp_path / "records.jsonl", tmp_path / "work"),
                ),
                "benchmark",
            )
            await pilot.press("f6", "J")
            page = app.screen
            assert isinstance(page, ElsewhereScreen)
            deadline = time.monotonic() + 240
            while page.studied is None:
                assert time.monotonic() < deadline
                await pilot.pause(0.1)
            if keys:
                await pilot.press(*keys.split())

            def jobs() -> str:
                return "\n".join(text for text, _ in page.query_one("#jobs", LinesView).lines)

            while not wanted(jobs()):
                assert time.monotonic() < deadline, jobs()
                page._list_jobs()
                await app.workers.wait_for_complete()
                await pilot.pause(0.3)
            return jobs()

    first = await opened("f5 enter", lambda text: "slurm" in text and "pythia-160m" in text)
    assert "None yet" not in first
    again = await opened("", lambda text: "completed" in text and "records" in text)
    (job,) = kept_jobs()
    assert job.number is not None and job.number in again
    assert job.merged == len(records_in(job)) > 0


def test_a_job_out_of_time_waits_in_the_queue_and_goes_on_where_it_stopped(
    late_job: Job, own_store: Path, tmp_path: Path
) -> None:
    job = keep_job(late_job)
    until(lambda: events(job, "search-finished"), "no warning came")
    release(job)
    assert follow(Store(own_store), job, poll_s=0.2) == 0
    state = slurm.look(job.number or "")
    assert (state.state, state.restarts) == ("COMPLETED", 1)
    assert [event["label"] for event in events(job, "reused")] == ["naive"]
    # Two settings, and the best of each of the two starts.
    assert find_job(job.number or "").merged == len(records_in(job)) == 4


@pytest.mark.timeout(900)  # a busy machine takes minutes for what a free one does in one
def test_a_lost_node_is_a_failed_trial_and_the_next_job_measures_over_both_nodes(
    cluster: Path, own_store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")  # compiling on a CPU would take minutes
    pytest.importorskip("transformers")
    quick = ["--minimum-steps", "2", "--maximum-steps", "4", "--settle-s", "3"]
    quick += ["--exchange-timeout-s", "5"]
    plan = planned(own_store, *quick, nodes=2, methods="naive")
    job = submitted(plan, tmp_path / "two-nodes", sys.executable)
    until(lambda: events(job, "trial-progress"), "no trial began")
    lose_node("n2", cluster)
    until(lambda: events(job, "trial-finished"), "the trial did not end")
    record = events(job, "trial-finished")[0]["record"]
    assert isinstance(record, dict)
    assert record["status"] == "failed"
    assert record["reason"].startswith("the job lost 1 of its 2 nodes during the trial")
    subprocess.run(["slurmd", "-N", "n2"], check=True, stdin=subprocess.DEVNULL)
    until(lambda: slurm.look(job.number or "").state == "PENDING", "it was not requeued")
    # It is submitted anew: what SLURM could not tell the lost node it tells it a minute later, and
    # would end the same step of the same job.
    slurm.cancel(job.number or "")
    job = submitted(plan, tmp_path / "two-nodes", sys.executable)
    assert follow(Store(own_store), job, poll_s=0.2) == 0
    # What a lost node spoilt another job measures again; a requeued one would go on with the next.
    assert events(job, "reused") == []
    measured = [each for each in records_in(job) if each.status == "ok"]
    assert measured, events(job, "trial-finished")[-1]
    assert {each.node_count for each in measured} == {2}
    # Two machines are no time of one.
    with Store(own_store).reading() as reader:
        kept = [time for time in reader.times(recipe_id="tiny") if time.status == "ok"]
    assert {time.node_count for time in kept} == {2}


def lose_node(name: str, cluster: Path) -> None:
    """As if its power were cut: the node's daemon, its job steps and what they run."""
    victims = {psutil.Process(int((cluster / f"slurmd-{name}.pid").read_text()))}
    for process in of_cluster(cluster, name):
        victims.add(process)
        with suppress(psutil.Error):
            parent = process.parent()
            if parent is not None and "slurmstepd" in " ".join(parent.cmdline()):
                victims.add(parent)
    assert len(victims) > 2
    for process in victims:
        with suppress(psutil.Error):
            process.kill()
