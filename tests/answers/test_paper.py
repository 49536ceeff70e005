"""The paper's numbers come out of the program: Tables 1 and 4, Appendix J, section 4.1."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.main import main

GPUS = ("RTX 3090", "A6000", "A100", "H100")
COUNTS = (1, 2, 4, 8)
GPU_USD = {"RTX 3090": 1_300, "A6000": 4_800, "A100": 19_000, "H100": 30_000}
HOST_USD = {1: 1_000, 2: 1_500, 4: 7_500, 8: 10_500}

# Days as printed, for 1, 2, 4 and 8 of each GPU in the order of GPUS.
TABLE_1 = """
pythia-160m 41 18 6 3 29 15 7 4 14 7 3 2 7 4 2 1
pythia-410m 151 69 35 19 105 49 26 15 50 25 12 6 25 13 6 3
pythia-1b 370 109 77 30 152 72 40 22 72 36 18 9 34 16 8 4
pythia-2.8b 1515 1040 485 177 934 292 150 88 342 148 71 35 166 77 31 15
pythia-6.9b - 7157 1769 1250 - 1110 819 264 - 488 170 77 - 220 69 32
roberta 1070 559 266 170 826 423 213 114 394 197 100 50 175 88 44 23
mamba 1992 1217 444 304 1414 483 259 193 500 263 133 67 277 145 74 37
convnext-xlarge-22k 154 133 49 27 168 68 33 22 59 30 16 8 31 16 8 5
vit 156 87 45 29 111 56 31 16 53 26 14 7 27 14 7 4
"""
TABLE_4 = """
pythia-160m 125 92 46 20 124 63 35 19 71 36 18 9 42 21 11 5
pythia-410m 430 431 226 69 421 213 150 64 232 117 59 30 137 69 35 18
pythia-1b - - - - 326 238 82 41 160 81 41 21 90 45 23 12
pythia-2.8b - - - - - - - - - - - - - - - -
pythia-6.9b - - - - - - - - - - - - - - - -
roberta 1560 1095 418 420 1375 1125 489 185 685 345 174 87 399 201 101 51
mamba - - - - - - - - - - - - - - - -
convnext-xlarge-22k 240 196 60 30 233 166 68 30 236 119 60 31 - 49 25 13
vit 255 218 63 33 243 158 72 31 246 124 62 32 93 47 24 12
"""


def cells(table: str) -> Iterator[tuple[str, str, int, int | None]]:
    for line in table.strip().splitlines():
        model, *days = line.split()
        machines = [(gpu, count) for gpu in GPUS for count in COUNTS]
        for (gpu, count), printed in zip(machines, days, strict=True):
            yield model, gpu, count, None if printed == "-" else int(printed)


def ask(capsys: pytest.CaptureFixture[str], *argv: str) -> Any:
    code = main([*argv, "--format", "json"])
    out = capsys.readouterr().out
    assert code in (0, 1)
    return json.loads(out)


@pytest.mark.parametrize(("table", "method"), [(TABLE_1, "optimal"), (TABLE_4, "naive")])
def test_the_tables_come_back_cell_by_cell(
    table: str, method: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ask(capsys, "data", "times", "--store", str(store_path))
    found = {
        (row["model"], row["gpu"], row["gpu_count"]): row
        for row in rows
        if row["method"] == method and row["source"].startswith("paper-table")
    }
    expected = list(cells(table))
    assert len(found) == len(expected) == 144
    for model, gpu, count, days in expected:
        row = found[(model, gpu, count)]
        assert row["training_days"] == days
        assert row["feasible"] == (days is not None)
        if days is not None:
            assert row["training_days_low"] == days - 0.5
            assert row["training_days_high"] == days + 0.5
            assert 0 < row["implied_mfu"] < row["implied_mfu_printed"]
            assert row["verdict"] in ("plausible", "doubtful", "implausible")


def test_appendix_j_comes_back(store_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = ask(capsys, "data", "settings", "--store", str(store_path))
    found = {
        (row["model"], row["gpu"], row["gpu_count"]): row
        for row in rows
        if row["source"] == "paper-table1"
    }
    assert len(found) == 140
    row = found[("pythia-6.9b", "H100", 2)]
    assert (row["sharding"], row["sharding_as_printed"]) == ("fsdp-shard-grad-op", "FSDP (2)")
    assert (row["activation_checkpointing"], row["offloading"]) == (True, False)
    assert (row["micro_batch_size"], row["gradient_accumulation_steps"]) == (4, 128)
    row = found[("mamba", "RTX 3090", 2)]
    assert (row["sharding"], row["offloading"]) == ("fsdp-full-shard", True)
    batch = {"roberta": 8192, "mamba": 128, "convnext-xlarge-22k": 4096, "vit": 4096}
    for (model, _, count), row in found.items():
        product = count * row["micro_batch_size"] * row["gradient_accumulation_steps"]
        assert product == batch.get(model, 1024)


def published_days() -> dict[tuple[str, str, int], int | None]:
    """What the published evidence says: the optimal time, whole days."""
    return {(model, gpu, count): days for model, gpu, count, days in cells(TABLE_1)}


@pytest.mark.parametrize("model", sorted({model for model, *_ in cells(TABLE_1)}))
@pytest.mark.parametrize("budget", [5_000, 40_000, 130_000, None])
def test_the_published_ranking_is_the_paper_s(
    model: str, budget: int | None, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--prices", "paper", "--evidence", "published", "--gpus", ",".join(GPUS)]
    if budget is not None:
        flags += ["--budget", str(budget)]
    answer = ask(capsys, "rank", "--model", model, *flags, "--store", str(store_path))
    expected = []
    does_not_fit = set()
    for (name, gpu, count), days in published_days().items():
        cost = HOST_USD[count] + GPU_USD[gpu] * count
        if name != model:
            continue
        if days is None:
            does_not_fit.add((gpu, count))
        elif budget is None or cost <= budget:
            expected.append((days, cost, gpu, count))
    expected.sort(key=lambda row: row[:2])
    ranked = answer["ranked"]
    assert [(row["training_days"], row["overall_cost_usd"]) for row in ranked] == [
        row[:2] for row in expected
    ]
    assert {(row["gpu"], row["gpu_count"]) for row in ranked} == {row[2:] for row in expected}
    for row in ranked:
        each = row["overall_cost_usd"] * row["training_days"] / 1825
        assert row["experiment_cost_usd"] == pytest.approx(each, abs=0.005001)
    reasons = {(row["gpu"], row["gpu_count"]): row["reason"] for row in answer["excluded"]}
    assert len(ranked) + len(reasons) == 16
    for build, reason in reasons.items():
        assert reason == ("does-not-fit" if build in does_not_fit else "over-budget")


def test_section_4_1(store_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["rank", "--model", "pythia-1b", "--prices", "paper", "--evidence", "published"]
    flags += ["--store", str(store_path)]
    best = ask(capsys, *flags, "--budget", "40000")["ranked"][0]
    assert (best["gpu"], best["gpu_count"], best["training_days"]) == ("RTX 3090", 8, 30)
    assert (best["overall_cost_usd"], best["experiment_cost_usd"]) == (20_900, 343.56)
    rows = {(row["gpu"], row["gpu_count"]): row for row in ask(capsys, *flags)["ranked"]}
    for gpu, count, days, cost, each in [
        ("H100", 4, 8, 127_500, 558.90),
        ("A100", 8, 9, 162_500, 801.37),
        ("H100", 8, 4, 250_500, 549.04),
    ]:
        row = rows[(gpu, count)]
        assert row["training_days"] == days
        assert row["overall_cost_usd"] == cost
        assert row["experiment_cost_usd"] == each


def test_sound_evidence_does_not_recommend_the_impossible(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ask(
        capsys,
        "rank",
        "--model",
        "pythia-1b",
        "--budget",
        "40k",
        "--prices",
        "paper",
        "--store",
        str(store_path),
    )
    assert all(row["verdict"] != "implausible" for row in answer["ranked"])
    reasons = {(row["gpu"], row["gpu_count"]): row for row in answer["excluded"]}
    out = reasons[("RTX 3090", 8)]
    assert out["reason"] == "implausible-time"
    assert "117 %" in out["detail"]
