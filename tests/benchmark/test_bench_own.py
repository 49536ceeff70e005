"""``advisor bench -- COMMAND`` from the command line, what it keeps, and what is ranked of it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from advisor.answers.prediction.own_run_answer import own_run_text
from advisor.cli.main import main
from advisor.store import Store
from tests.own_trainings_for_tests import RUN, timed

ROOT = str(Path(__file__).parents[2])


def run_command(words: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    code = main(words)
    printed = capsys.readouterr()
    return code, printed.out, printed.err


def bench(*words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "advisor", "bench", *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "PATH": "/usr/bin:/bin",
            "HOME": str(cwd),
        },
    )


@pytest.mark.parametrize("code", [0, 3])
def test_stdout_is_the_answer_s_and_the_exit_code_the_training_s(tmp_path: Path, code: int) -> None:
    done = bench(
        "--", sys.executable, "-c", f"print('loss 3.2'); raise SystemExit({code})", cwd=tmp_path
    )
    assert done.stdout == ""
    assert "loss 3.2" in done.stderr
    assert done.returncode == (code or 1)


def test_a_name_that_keeps_nothing_is_said_before_anything_starts(
    own_store: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    started = ["--device", "cpu", "--", sys.executable, "-c"]
    code = main(["--store", str(own_store), "bench", "--name", "x", *started, "print('starts')"])
    _, err = capfd.readouterr()
    assert code == 1
    assert err.startswith("advisor: --name keeps nothing of this run: a time of processors")
    assert 0 < err.index("\n") < err.index("starts")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--"], "no command after --"),
        (["--model", "pythia-160m", "--", "true"], "--model goes without a command"),
        (["--name", "pythia-160m", "--", "true"], "is a model that ships"),
        (["--name", "a/b", "--", "true"], "is no name for a model"),
        (["--steps", "0", "--", "true"], "--steps"),
        (["--steps", "soon", "--", "true"], "soon"),
        (["--steps", "5"], "goes with a command of your own: advisor bench --steps 5 -- "),
        ([], "missing: --model, such as pythia-160m, or a command of your own after --"),
        (["--", "no-such-program"], "cannot be started"),
        (["--share", "times.csv"], "does not end with .jsonl"),
    ],
)
def test_what_is_typed_wrongly_is_one_line(
    words: list[str], said: str, own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run_command(["--store", str(own_store), "bench", *words], capsys)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_slice_is_told_from_a_gpu(
    own_store: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-8f5e2b1c-1111-2222-3333-444455556666")
    for words in (["--", "true"], ["--model", "pythia-160m", "--yes"]):
        code, _, err = run_command(["--store", str(own_store), "bench", *words], capsys)
        assert code == 2
        assert "a slice of a GPU divided by MIG" in err


@pytest.mark.predicts_anew
def test_kept_it_is_ranked_predicted_and_shared(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(own_store)
    assert store.keep_model(timed()) > 50
    assert store.keep_model(timed(step_s=0.5, joules=None)) > 50  # timed again, it takes its place
    asked = ["--store", str(own_store)]
    code, out, _ = run_command(
        [*asked, "rank", "--model", "my-run", "--budget", "100k", "--format", "json"], capsys
    )
    assert code == 0
    rows = json.loads(out)["ranked"]
    assert rows
    assert all(
        row["training_days_low"] <= row["training_days"] <= row["training_days_high"]
        for row in rows
    )
    _, out, _ = run_command([*asked, "rank", "--model", "my-run", "--budget", "40k"], capsys)
    assert "bench --model my-run" not in out
    assert "bench --name my-run" in out
    predict = [*asked, "predict", "--model", "my-run", "--gpu", "H100", "--format", "json"]
    code, out, _ = run_command(predict, capsys)
    assert code == 0
    there = json.loads(out)
    assert there["training_days"] == pytest.approx(timed().training_days)
    code, _, err = run_command([*asked, "bench", "--model", "my-run", "--device", "cpu"], capsys)
    assert code == 2
    assert "advisor bench --name my-run --steps 100000 -- COMMAND" in err

    path = tmp_path / "shared.jsonl"
    code, out, err = run_command([*asked, "bench", "--share", str(path)], capsys)
    assert code == 0
    assert out == path.read_text()
    assert "advisor merge shared.jsonl" in err
    assert store.forget_model("my-run") >= 1
    code, _, _ = run_command([*asked, "merge", str(path)], capsys)
    assert code == 0
    assert store.own_definitions().trainings == [timed(joules=None)]


def test_what_a_person_reads() -> None:
    waiting = {**RUN.seconds, "bf16": 0.1, "data": 0.15}
    run = timed(seconds=waiting, pauses=2, settled=False).run
    text = own_run_text(run, 120_000, 100)
    assert "A step takes 500 ms (490–510) on 1 × NVIDIA H100 80GB HBM3: 120,000 steps are" in text
    assert "16.7 hours." in text
    assert "1,200 steps are 10 minutes." in own_run_text(run, 1200, 100)
    assert "Your GPUs wait 30 % of the time for data: no faster GPU will help" in text
    assert "45 GiB, 40 GiB of them used" in text
