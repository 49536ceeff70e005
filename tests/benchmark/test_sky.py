"""Tasks for rented GPUs, with a price that bounds them."""

from __future__ import annotations

import shlex
import subprocess
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from advisor.benchmark.jobs.job_folder import kept_jobs
from advisor.cli.main import main
from advisor.costs.rental import price_of
from advisor.store import Store
from bench_runner.records.journal import events_since
from tests.benchmark.test_slurm import stand_in

yaml = pytest.importorskip("yaml")


@pytest.fixture(autouse=True)
def _of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADVISOR_JOBS", str(tmp_path / "jobs"))


WORDS = ["bench", "--model", "pythia-160m", "--on", "sky"]


def test_the_task_is_one_that_skypilot_takes_and_says_what_it_costs_at_most(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*WORDS, "--gpu", "H100", "--gpus", "1", "--time", "20", "--store", str(own_store)]
    assert main(words) == 0
    text, said = capsys.readouterr()
    task = yaml.safe_load(text)
    resources = task["resources"]
    # Keys of SkyPilot's own schema (sky/utils/schemas.py, 0.10).
    assert task.keys() == {"name", "resources", "workdir", "setup", "run"}
    assert {**resources, "max_hourly_cost": 0} == {
        "accelerators": "H100:1",
        "use_spot": False,
        "max_hourly_cost": 0,
        "autostop": {"idle_minutes": 5, "down": True},
    }
    assert "timeout --signal=TERM --kill-after=60 20m" in task["run"]
    with Store(own_store).reading() as reader:
        price = price_of(reader.rentals(), "h100-sxm5-80gb", 1, 20, today=date.today())
    hours = Decimal(20 + 20 + 10 + 5) / 60
    assert (
        price.most_usd >= price.offer.price_per_hour_usd * hours > price.most_usd - Decimal("0.01")
    )
    assert resources["max_hourly_cost"] == pytest.approx(float(price.offer.price_per_hour_usd))
    assert f"at most ${price.most_usd} for 55 minutes" in said
    (job,) = kept_jobs()
    assert (Path(job.folder) / "node" / "bench_runner" / "__main__.py").exists()
    assert (Path(job.folder) / "task.yaml").read_text() == text
    for part in ("setup", "run"):
        subprocess.run(["bash", "-n", "-c", task[part]], check=True)


def test_what_the_task_prints_is_merged_from_skypilots_log(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*WORDS, "--gpu", "H100", "--gpus", "2", "--methods", "paper"]
    assert main([*words, "--store", str(own_store)]) == 0
    text, said = capsys.readouterr()
    (job,) = kept_jobs()
    # As the rented machine would: the same command, a stand-in for the training, a name before
    # each line.
    command = yaml.safe_load(text)["run"].rpartition("python3 ")[2].strip()
    run = subprocess.run(
        [stand_in(tmp_path, "good"), *shlex.split(command)],
        cwd=job.folder,
        env={
            "PYTHONPATH": f"{job.folder}/node",
            "PYTHONSAFEPATH": "1",
            "PATH": "/usr/bin:/bin",
        },
        capture_output=True,
        text=True,
        check=True,
    )
    told = [f"(bench, pid=4711) {line}\x1b[0m\n" for line in run.stdout.splitlines()]
    log = Path(job.folder) / "sky.log"
    log.write_text("⠋ Launching\n" + "".join(told) + "✓ Job finished\n")
    assert len(events_since(log)[0]) == len(told)
    assert f"  advisor merge --mine {log.name}" in said
    assert main(["jobs", "merge", job.name, "--store", str(own_store)]) == 0
    assert "23 records, 23 of them new" in capsys.readouterr().err
    assert Store(own_store).merge(log, mine=True).added == 0
    log.write_text("nothing\n")
    assert main(["merge", "--mine", str(log), "--store", str(own_store)]) == 2
    assert "holds no record that bench_runner printed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        (["--gpus", "1"], "name the GPU to rent"),
        (["--gpus", "1", "--gpu", "H9000"], "no GPU called"),
        (["--gpus", "1", "--gpu", "RX 9070 XT"], "no price is known for renting"),
        (["--gpus", "1", "--gpu", "H100", "--partition", "gpu"], "goes with --on slurm"),
        (["--gpus", "1", "--gpu", "H100", "--submit"], "goes with --on slurm"),
        (["--gpus", "1", "--gpu", "H100", "--time", "-3"], "time"),
        (["--gpus", "7", "--gpu", "H100"], "evenly"),
    ],
)
def test_what_cannot_be_rented_is_one_line(
    own_store: Path, capsys: pytest.CaptureFixture[str], more: list[str], reason: str
) -> None:
    assert main([*WORDS, *more, "--store", str(own_store)]) == 2
    printed, said = capsys.readouterr()
    assert printed == "" and said.count("\n") == 1
    assert reason in said
    assert kept_jobs() == []
