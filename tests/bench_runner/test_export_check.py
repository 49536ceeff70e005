"""The exported winner in its own plain Trainer, end to end on the CPU, beside its record."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bench_runner.records import journal
from tests.bench_runner.test_export import WINNER

pytestmark = pytest.mark.torch
CHECK = Path(__file__).parents[1] / "benchmarks" / "export_check.py"
TINY = Path(__file__).with_name("tiny.toml")


def _paths() -> list[str]:
    return [path for path in [os.environ.get("PYTHONPATH", "")] if path]


def test_the_exported_training_is_timed_and_held_against_its_record(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    assert WINNER.settings is not None
    settings = replace(
        WINNER.settings,
        loss="fused",
        inputs="trimmed",
        micro_batch_size=8,
        gradient_accumulation_steps=2,
    )
    winner = replace(
        WINNER,
        recipe_id="tiny",
        gpu="cpu",
        settings=settings,
        step_s=1e-6,
        pass_s=(1e-7,),
        sync_pass_s=(1e-7,),
        update_s=(1e-7,),
        training_days=1e-9,
        training_days_low=1e-9,
        training_days_high=1e-9,
    )
    records = tmp_path / "records.jsonl"
    journal.append(records, journal.with_id(winner))
    done = subprocess.run(
        [
            *(sys.executable, str(CHECK), "--recipe", str(TINY), "--records", str(records)),
            *("--work", "winner", "--steps", "2"),
        ],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(CHECK.parents[2]), *_paths()])},
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.stdout, done.stderr[-2000:]
    row = json.loads(done.stdout)
    # No machine takes a microsecond a step.
    assert done.returncode == 1 and row["within"] is False
    assert row["ratio"] == pytest.approx(row["median_s"] / 1e-6)
    assert len(row["step_s"]) == 2 and all(second > 1e-6 for second in row["step_s"])
    assert row["label"] == "naive + fused loss + trimmed"
    named = subprocess.run(
        [
            *(sys.executable, str(CHECK), "--recipe", "pythia-160m", "--records", str(records)),
            *("--work", str(tmp_path / "none")),
        ],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert named.returncode == 2 and "no time of pythia-160m" in named.stderr
