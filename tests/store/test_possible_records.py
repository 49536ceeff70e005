"""A record with a figure that no such GPU can have is refused by name; what is real comes in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.main import main
from advisor.store import Store
from bench_runner.records import journal
from tests.store_for_tests import NAIVE, TUNED, look, record

FP8 = {"method": "changes-training", "settings": replace(TUNED, matmul="fp8")}
H100 = {"gpu": "NVIDIA H100 80GB HBM3"}
RTX_4090 = {"gpu": "NVIDIA GeForce RTX 4090"}
UNKNOWN = {"gpu": "NVIDIA X9000"}


def written(path: Path, **changes: Any) -> str:
    """A file with a good record and one of these figures."""
    rows = [record("good"), record("odd", **changes)]
    path.write_text("".join(f"{json.dumps(journal.to_json(each))}\n" for each in rows))
    return str(path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"mfu": 1.7}, "an MFU of 1.7, 120.7 TFLOP/s a GPU, above its dense bf16 peak of 71 TF"),
        (H100 | {"mfu": 1.01}, "an MFU of 1.01, 998.9 TFLOP/s a GPU, above its dense bf16 peak"),
        (H100 | FP8 | {"mfu": 2.1}, "2077 TFLOP/s a GPU, above its dense fp8 peak of 1979"),
        (RTX_4090 | FP8 | {"mfu": 4.1}, "an MFU of 4.1, above 4"),
        (UNKNOWN | {"mfu": 1.7}, "an MFU of 1.7, above 1"),
        (UNKNOWN | FP8 | {"mfu": 5.0}, "an MFU of 5, above 4"),
        (
            {"recipe_id": "vit", "method": "naive", "settings": NAIVE, "mfu": 1.2},
            "above its dense fp32 peak of 35.58 TFLOP/s",
        ),
        ({"mfu": 1.7, "environment": {"peak_tflops": "71"}}, "an MFU of 1.7, 120.7 TFLOP/s"),
        ({"mfu": 1e308}, "an MFU of 1e+308, 1.798e+308 TFLOP/s a GPU"),
        (
            {"environment": {"gpu": {"power_w": 1e9}}},
            "1e+09 W of a GPU that is made for 350",
        ),
        ({"environment": {"gpu": {"counted_w": 800}}}, "800 W of a GPU that is made for 350"),
        ({"peak_memory_gib": 100_000.0}, "that it used 100,000 GiB of a GPU that has 24"),
        ({"peak_memory_gib": 24.6}, "that it used 24.6 GiB of a GPU that has 24"),
        (UNKNOWN | {"peak_memory_gib": 1e5}, "100,000 GiB, and the largest GPU that is known here"),
    ],
    ids=lambda each: None if isinstance(each, dict) else each[:40],
)
def test_a_figure_that_no_such_gpu_can_have_is_refused_in_one_line(
    changes: dict[str, Any],
    said: str,
    own_store: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = written(tmp_path / "lab.jsonl", **changes)
    assert main(["merge", file, "--store", str(own_store)]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
    assert "the record 'odd' (" in told and "nothing was added" in told
    assert look(Store(own_store)).times(origin="local") == ()


@pytest.mark.parametrize(
    "changes",
    [
        {"mfu": 0.78, "settings": replace(TUNED, loss="fused")},
        {"mfu": 1.0},
        H100 | FP8 | {"mfu": 1.3},
        RTX_4090 | FP8 | {"mfu": 2.5},
        # Of another peak than the card's: a share of 60 % of the right one.
        {"mfu": 1.2, "environment": {"peak_tflops": 35.5}},
        {"peak_memory_gib": 23.9},
        UNKNOWN | {"peak_memory_gib": 400.0, "mfu": 0.5},
        {"environment": {"gpu": {"power_w": 372.0, "counted_w": None}}},
        {"gpu": "cpu", "peak_memory_gib": 6_000.0},
    ],
    ids=str,
)
def test_what_is_high_and_real_comes_in(
    changes: dict[str, Any], own_store: Path, tmp_path: Path
) -> None:
    file = written(tmp_path / "lab.jsonl", **changes)
    assert Store(own_store).merge(file).added == 2


@pytest.mark.parametrize(
    ("low", "days", "high", "said"),
    [
        (None, 1e-300, 1e300, "training_days is 1e-300, and no training takes less than 1e-09 da"),
        (None, 1e308, None, "training_days is 1e+308, and no training takes more than 1,000,000,0"),
        (None, 1e-4, 130.0, "training_days_high is 130, more than 100 times its training_days of"),
        (1e-300, 130.0, None, "training_days_low is 1e-300, less than a hundredth of its training"),
        (0.0, 130.0, None, "training_days_low is 0, less than a hundredth of its training_days of"),
    ],
)
def test_a_time_that_nothing_bounds_is_refused(
    low: float | None,
    days: float,
    high: float | None,
    said: str,
    own_store: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """One of 1e-300 days would be first, one of 1e308 would leave no prediction a number."""
    changes = {"training_days": days, "training_days_low": low, "training_days_high": high}
    file = written(tmp_path / "lab.jsonl", **changes)
    assert main(["merge", file, "--store", str(own_store)]) == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1 and "nothing was added" in told


def test_every_record_that_ships_could_be_merged(own_store: Path) -> None:
    from advisor.store.merge.merge_checks import check_figures
    from advisor.store.rows import measurement_values
    from advisor.store.seed import read_shipped
    from advisor.store.storage.connection import opened

    rows = [measurement_values(record) for record in read_shipped().measurements]
    assert sum(row["mfu"] is not None for row in rows) > 100
    with opened(own_store, write=False, wait_s=1) as connection:
        check_figures(connection, rows)
