"""Every row of docs/measurements.md's tables of times is a record that ships, rounded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench_runner.recipes import load_recipes
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "measurements.md").read_text(encoding="utf-8")
NAMES = {
    "Pythia 160M": "pythia-160m",
    "Pythia 410M": "pythia-410m",
    "Pythia 1B": "pythia-1b",
    "Pythia 2.8B": "pythia-2.8b",
    "Pythia 6.9B": "pythia-6.9b",
    "Qwen3 0.6B shape": "qwen3-0.6b-shape",
    "Qwen3 1.7B shape": "qwen3-1.7b-shape",
    "ModernBERT 150M shape": "modernbert-150m-shape",
    "RoBERTa": "roberta",
    "Mamba": "mamba",
    "ViT": "vit",
    "ConvNeXt": "convnext-xlarge-22k",
}


def rows(head: str) -> Iterator[list[str]]:
    """The cells of the table that begins so, bold type taken off."""
    _, found, rest = PAGE.partition(f"\n| {head}")
    assert found
    for line in rest.split("\n")[2:]:
        if not line.startswith("|"):
            return
        yield [cell.strip(" *") for cell in line.strip("|").split("|")]


def shows(cell: str, value: float | None) -> bool:
    """Whether a cell is this number, rounded to the places that it has."""
    text = cell.removesuffix(" %").replace(",", "")
    if not text or value is None:
        return not text and value is None
    return abs(float(text) - value) <= 0.5 * 10 ** -len(text.partition(".")[2]) * 1.0001


@pytest.fixture(scope="module")
def timed() -> list[Measurement]:
    files = (ROOT / "bench_runner" / "published").glob("*.jsonl")
    records = [record for file in sorted(files) for record in journal.read(file)]
    return [record for record in records if record.status == "ok" and record.step_s]


def count_of(cell: str) -> int:
    return int(cell[0]) if re.match(r"\d x", cell) else 1


def shown_by(cells: list[str], recipe_id: str, timed: list[Measurement]) -> list[Measurement]:
    """The records that a row with these nine cells first may be: GPU, micro-batch, step and so on,
    after the recipe's name and before what a table has last."""
    _, gpu, _, micro_batch, step, days, mfu, peak, kilojoules = cells[:9]
    return [
        record
        for record in timed
        if (record.recipe_id, record.gpu_count) == (recipe_id, count_of(gpu))
        and ("H100" in gpu) == ("H100" in record.gpu)
        and shows(step, record.step_s)
        and shows(days, record.training_days)
        and shows(mfu, 100 * (record.mfu or 0))
        and shows(peak, record.peak_memory_gib)
        and record.settings is not None
        and int(micro_batch) == record.settings.micro_batch_size
        and shows(kilojoules, _kilojoules(record))
    ]


def test_the_table_of_further_free_lunch_is_its_records(timed: list[Measurement]) -> None:
    name, seen = "", 0
    for cells in rows("recipe | GPU | settings"):
        name = cells[0] or name
        if "does not fit" in cells:
            continue
        seen += 1
        assert any(
            shows(cells[9], record.environment["gpu"].get("sm_clock_mhz"))
            for record in shown_by(cells, NAMES[name], timed)
        ), cells
    assert seen == 70


def _kilojoules(record: Measurement) -> float | None:
    joules = record.environment.get("energy_j")
    return None if joules is None else joules / 1000


@pytest.mark.parametrize(("head", "gpu"), [("recipe | GPUs | method", "H200"), ("", "H100")])
def test_the_tables_of_naive_and_best_settings_are_their_records(
    timed: list[Measurement], head: str, gpu: str
) -> None:
    seen = 0
    for cells in rows(head or "recipe | method | settings"):
        if not head:
            cells = [cells[0], "1", *cells[1:]]
        recipe, count, _, _, micro_batch, days, mfu, peak, papers, difference = cells[:10]
        if "does not fit" in days:
            continue
        seen += 1
        found = [
            record
            for record in timed
            if (record.recipe_id, record.gpu_count) == (recipe, int(count))
            and gpu in record.gpu
            and shows(days, record.training_days)
            and shows(mfu, 100 * (record.mfu or 0))
            and shows(peak, record.peak_memory_gib)
            and record.settings is not None
            and int(micro_batch) == record.settings.micro_batch_size
        ]
        assert found, cells
        if papers.isdecimal():
            ratio = 100 * ((found[0].training_days or 0) / int(papers) - 1)
            assert abs(float(difference.removesuffix(" %")) - ratio) < 0.6, cells
    assert seen == (23 if head else 10)


def test_the_table_of_models_that_nobody_had_timed_is_its_records(
    timed: list[Measurement],
) -> None:
    ids = {recipe.name: recipe.recipe_id for recipe in load_recipes()}
    name, inside = "", 0
    told = list(rows("model | GPU | measured with"))
    for cells in told:
        name = cells[0] or name
        if "does not fit" in cells:
            continue
        found, before = shown_by(cells, ids[name], timed), cells[9]
        assert found, cells
        if before:
            low, high = (float(end) for end in before.split("(")[1].strip(")").split("–"))
            inside += low <= (found[0].training_days or 0) <= high
    shown = [cells for cells in told if cells[-1]]
    assert (len(told), len(shown), inside) == (37, 34, 31)
    assert f"**{inside} of the {len(shown)} are in" in PAGE
