from __future__ import annotations

import json
import re
import shutil
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import pytest

from bench_runner.recipes import load_recipes
from bench_runner.records.published import (
    PUBLISHED_FOLDER,
    load_original,
    load_paper,
    load_published,
    load_sources,
)

PAPER = load_paper()
BY_ID = {record.measurement_id: record for record in PAPER}
RECIPES = {recipe.recipe_id: recipe for recipe in load_recipes()}

GPUS = ("RTX 3090", "A6000", "A100", "H100")
COUNTS = (1, 2, 4, 8)

DASH = None
TABLE_1 = {  # rows of the table as printed, left to right
    "pythia-160m": (41, 18, 6, 3, 29, 15, 7, 4, 14, 7, 3, 2, 7, 4, 2, 1),
    "pythia-1b": (370, 109, 77, 30, 152, 72, 40, 22, 72, 36, 18, 9, 34, 16, 8, 4),
    "pythia-6.9b": (
        *(DASH, 7157, 1769, 1250),
        *(DASH, 1110, 819, 264),
        *(DASH, 488, 170, 77),
        *(DASH, 220, 69, 32),
    ),
    "vit": (156, 87, 45, 29, 111, 56, 31, 16, 53, 26, 14, 7, 27, 14, 7, 4),
}
TABLE_4 = {
    "pythia-1b": (*(DASH,) * 4, 326, 238, 82, 41, 160, 81, 41, 21, 90, 45, 23, 12),
    "pythia-2.8b": (DASH,) * 16,
    "convnext-xlarge-22k": (
        *(240, 196, 60, 30),
        *(233, 166, 68, 30),
        *(236, 119, 60, 31),
        *(DASH, 49, 25, 13),
    ),
}


def days(method: str, recipe_id: str) -> tuple[float | None, ...]:
    """One row of a table, as the records have it."""
    return tuple(
        record.training_days
        for gpu in GPUS
        for count in COUNTS
        for record in PAPER
        if (record.method, record.recipe_id, record.gpu, record.gpu_count)
        == (method, recipe_id, gpu, count)
    )


def test_every_cell_of_both_tables_is_there_once_and_as_printed() -> None:
    cells = Counter((r.method, r.recipe_id, r.gpu, r.gpu_count) for r in PAPER)
    assert len(cells) == len(PAPER) == 2 * 9 * len(GPUS) * len(COUNTS)
    for method, table in (("optimal", TABLE_1), ("naive", TABLE_4)):
        for recipe_id, row in table.items():
            assert days(method, recipe_id) == row
    for record in PAPER:
        infeasible = record.status == "infeasible"
        assert (record.reason is not None) is infeasible
        assert (record.training_days is None) is infeasible
        assert (record.training_days_low is None) is infeasible
    assert "236 days" in (BY_ID["paper-table4:convnext-xlarge-22k:h100:1"].reason or "")


def test_the_settings_of_appendix_j_make_up_the_recipe_s_batch() -> None:
    found = [(r, r.settings) for r in PAPER if r.method == "optimal" and r.status == "ok"]
    for record, used in found:
        assert used is not None and used.micro_batch_size and used.gradient_accumulation_steps
        batch = record.gpu_count * used.micro_batch_size * used.gradient_accumulation_steps
        assert batch == RECIPES[record.recipe_id].training.batch_size, record.measurement_id
    assert Counter(used.sharding for _, used in found if used is not None) == {
        **{None: 63, "zero-1": 65, "zero-2": 2, "zero-3": 5},
        **{"fsdp-shard-grad-op": 3, "fsdp-full-shard": 2},
    }


def test_every_record_and_recipe_names_a_source() -> None:
    known = {source.source_id for source in load_sources()}
    assert {record.source_id for record in load_published()} <= known
    assert {recipe.source for recipe in RECIPES.values()} | {"paper-appendix-j"} <= known


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of the paper's tables that a test may change."""
    for path in PUBLISHED_FOLDER.glob("*.csv"):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


def line(**changes: object) -> str:
    """A record of one of this program's own runs, as its journal writes it."""
    row = asdict(BY_ID["paper-table1:vit:h100:1"])
    row |= {"measurement_id": "m-1", "timing": "synchronised", "measured_on": "2026-11-21"}
    return json.dumps(row | {"gpu": "NVIDIA H200", "pass_s": [0.5, 0.25], **changes}) + "\n"


def test_own_records_stand_behind_the_paper_s_and_count_once(folder: Path) -> None:
    (folder / "a.jsonl").write_text(line() + line(measurement_id="m-2"))
    (folder / "b.jsonl").write_text(line())
    records = load_published(folder)
    assert [record.measurement_id for record in records[296:]] == ["m-1", "m-2"]
    assert records[296].pass_s == (0.5, 0.25)
    assert records[:288] == PAPER


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            line(measurement_id="paper-table1:vit:h100:1"),
            "'paper-table1:vit:h100:1' is there twice",
        ),
        (line(source_id="hearsay"), "source 'hearsay', which is not in published/sour"),
        *((line() + wrong + "\n", "a.jsonl:2") for wrong in ("{", "[]", '{"x": 1}')),
    ],
)
def test_a_record_that_is_none_of_ours_is_refused(folder: Path, text: str, said: str) -> None:
    (folder / "a.jsonl").write_text(text)
    with pytest.raises(ValueError, match=re.escape(said)):
        load_published(folder)


@pytest.mark.parametrize(
    ("table", "old", "new", "said"),
    [
        ("paper_times.csv", "ok,41,", "ok,no,", "line 2: could not convert"),
        ("paper_times.csv", ",optimal,", ",best,", "line 2: method is 'best', not one of naive"),
        ("paper_times.csv", "3090,2,", "3090,9,", "line 3: 'pythia-160m:rtx-3090:9' is not known"),
        ("paper_times.csv", "recipe_id", "recipe", "line 2: 'recipe_id' is not known"),
        ("paper_times.csv", "ok,41,", "ok,4,1,", "line 2: "),
        ("paper_settings.csv", "Zero (1)", "Zero (9)", "'Zero (9)' is not known"),
        ("sources.csv", "2025-07-08", "8 July 2025", "sources.csv line"),
    ],
)
def test_a_broken_table_names_the_line(
    folder: Path, table: str, old: str, new: str, said: str
) -> None:
    path = folder / table
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=re.escape(said)) as caught:
        load_published(folder)
    assert "\n" not in str(caught.value)


def test_the_original_trainings_come_back() -> None:
    original = {record.recipe_id: record for record in load_original()}
    assert len(original) == 8
    record = original["pythia-1b"]
    assert (record.gpu_count, record.training_days, record.method) == (64, 3.0, "original")
    assert record.settings is None
    assert original["vit"].gpu == "TPUv3-core"
