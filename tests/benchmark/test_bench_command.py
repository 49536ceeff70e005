"""A measurement by the command: what it prints, asks and refuses, and how it ends."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from advisor.benchmark import runner_process
from advisor.cli.main import main
from advisor.store import Store
from tests.benchmark.fake_runs import FAKE, LEAN, runner
from tests.store_for_tests import REPOSITORY, look

pytestmark = pytest.mark.usefixtures("two_fake_gpus")


@pytest.fixture
def fake_command(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(scenario: str) -> None:
        monkeypatch.setattr(runner_process, "RUNNER", runner(scenario))

    return use


def flags(store: Path, tmp_path: Path, *more: str) -> list[str]:
    places = ["--records", str(tmp_path / "r.jsonl"), "--work", str(tmp_path / "w")]
    return ["bench", "--model", "pythia-160m", "--store", str(store), *places, *more]


def test_a_person_reads_the_winner_first_and_the_rest_folded(
    own_store: Path, tmp_path: Path, fake_command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_command("good")
    assert main(flags(own_store, tmp_path, "--yes")) == 0
    out, err = capsys.readouterr()
    assert "23 records of pythia-160m" in err
    head, table, *rest = out.split("\n\n")
    said = f"Pythia 160M trains on 2 × NVIDIA H200 in 3 days, measured here with {LEAN}"
    assert " ".join(head.split()).startswith(said)
    assert "not finished" not in head
    assert table.splitlines()[1].startswith(f"{LEAN}  ")
    assert rest[-2].endswith("18 left out: --details shows why.")
    pasted = re.findall(r"advisor .*", rest[-1])
    assert [words.split()[1] for words in pasted] == ["bench", "rank"]
    again = " ".join(rest[-1].replace(" \\\n", " ").split())
    assert "--gpus 2 --records" in again and "--search exhaustive" in again
    # a path cannot be broken; a temporary one's may be longer than a line
    assert max(len(line) for line in out.splitlines() if str(tmp_path.parent) not in line) <= 100
    assert "cannot win" not in table
    assert main(flags(own_store, tmp_path, "--yes", "--format", "csv")) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("model,gpu,gpu_count,settings,state,training_days")
    assert len(lines) == 1 + 22
    assert lines[1].startswith(f"pythia-160m,H200,2,{LEAN},time,3.0")


def test_without_a_terminal_and_without_yes_it_is_one_line(
    own_store: Path, tmp_path: Path, fake_command: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_command("good")
    assert main(flags(own_store, tmp_path)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "--yes" in err
    assert not (tmp_path / "r.jsonl").exists()


@pytest.mark.parametrize(
    "more",
    [
        ("--gpus", "0"),
        ("--gpus", "two"),
        ("--gpus", "³"),
        ("--minutes", "nan"),
        ("--minutes", "-1"),
        ("--minutes", "1e400"),
        ("--search", "slow"),
        ("--methods", "best"),
        ("--device", "tpu"),
        ("--train", "half"),
        ("--train", "full", "--rank", "8"),
        ("--train", "lora", "--rank", "5000"),
        ("--train", "lora", "--data", "much"),
        ("--rank", "8"),
        ("--format", "xml"),
        ("--colour", "red"),
    ],
)
def test_wrong_flags_are_one_line(
    own_store: Path,
    tmp_path: Path,
    fake_command: Any,
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
) -> None:
    fake_command("good")
    assert main(flags(own_store, tmp_path, "--yes", *more)) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_an_interrupt_cancels_and_keeps_what_is_finished(own_store: Path, tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from advisor.benchmark import runner_process\n"
        "from advisor.cli.main import main\n"
        "from bench_runner.launch import hardware\n"
        "from tests import fake_runner\n"
        "hardware.machine = fake_runner.machine\n"
        f"runner_process.RUNNER = (sys.executable, {str(FAKE)!r}, 'hang')\n"
        f"sys.exit(main({flags(own_store, tmp_path, '--yes')!r}))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        said.append(line)
        if line.startswith(LEAN.replace("lunch", "lunch + checkpointing") + ": trying"):
            process.send_signal(signal.SIGINT)
            break
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130, [*said, err]
    assert "cancelled; what was measured before is kept" in err
    assert LEAN in " ".join(out.split())
    assert len(look(Store(own_store)).times("pythia-160m", origin="local")) == 2
