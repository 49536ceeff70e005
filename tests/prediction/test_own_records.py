"""A user's own records move the predictions of a store, and nothing else does."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest

from advisor.prediction.model.workload import workload_of
from advisor.prediction.observed_times import chips_by_name
from advisor.prediction.own_records import fit_with, own_observations
from advisor.prediction.shipped_predictions import own_cells, predicted_rows, shipped_fit
from advisor.store import Store, build_store, check_store
from advisor.store.own_rows import MEASURED_HERE
from bench_runner.recipes import load_recipes
from bench_runner.records.journal import to_json
from bench_runner.records.measurement import Measurement
from bench_runner.records.published import load_published
from price_catalog.load import load_catalog
from tests.once_for_tests import folder_once
from tests.store_for_tests import TUNED, record

GPU = "l4"
Cell = tuple[str, str, int]


def own(
    number: int, recipe_id: str, gpu: str, count: int, days: float, /, **other: Any
) -> Measurement:
    """A synchronised time of a user's own."""
    values: dict[str, Any] = {
        "recipe_id": recipe_id,
        "gpu": gpu,
        "gpu_count": count,
        "training_days": days,
        "training_days_low": None,
        "training_days_high": None,
        "source_id": MEASURED_HERE.source_id,
    }
    return record(f"m-own{number}", **values | other)


def predictions(path: Path) -> dict[Cell, dict[str, Any]]:
    with duckdb.connect(str(path), read_only=True) as connection:
        answer = connection.execute("FROM prediction WHERE host_memory_gib = 0")
        names = [column[0] for column in answer.description or ()]
        rows = [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
    cells = {(r["recipe_id"], r["gpu_id"], r["gpu_count"]): r for r in rows}
    assert len(cells) == len(rows)  # one row a cell, whoever wrote it
    return cells


def days(path: Path, recipe_id: str = "pythia-410m", gpu: str = GPU, count: int = 4) -> float:
    return float(predictions(path)[recipe_id, gpu, count]["training_days"])


def width(row: dict[str, Any]) -> float:
    return float(row["training_days_high"] / row["training_days_low"])


def add(path: Path, *records: Measurement) -> int:
    """As a benchmark does."""
    store = Store(path)
    added = store.add([MEASURED_HERE], measurement=records)
    store.update_predictions()
    return added


@pytest.fixture(scope="module")
def moved_once(store_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    def moved(folder: Path) -> None:
        path = Path(shutil.copy(store_path, folder))
        add(path, own(1, "pythia-410m", GPU, 4, 1.3 * days(path)))

    return folder_once("moved", tmp_path_factory, moved) / store_path.name


@pytest.fixture
def moved_store(moved_once: Path, tmp_path: Path) -> Path:
    """A store of one's own with a record that moves its predictions."""
    return Path(shutil.copy(moved_once, tmp_path / "results.duckdb"))


def test_an_own_record_moves_its_neighbours_and_narrows_them(own_store: Path) -> None:
    before = predictions(own_store)
    slow = 1.35 * days(own_store, "pythia-1b", GPU, 1)
    assert add(own_store, own(1, "pythia-1b", GPU, 1, slow)) == 1
    after = predictions(own_store)
    assert before.keys() <= after.keys()
    ratios = {}
    for cell in (("pythia-1b", GPU, 2), ("pythia-410m", GPU, 1), ("roberta", "a100-sxm4-80gb", 8)):
        ratios[cell] = after[cell]["training_days"] / before[cell]["training_days"]
        assert 1.0 < ratios[cell] < 1.35
        assert width(after[cell]) < width(before[cell])
        assert after[cell]["origin"] == "local"
        assert "your own records" in after[cell]["reason"]
    near, middle, far = ratios.values()
    assert near > middle > far  # same model and GPU, same GPU, neither


@pytest.mark.parametrize(
    ("gpu", "count"), [("RTX 4090", 4), ("NVIDIA H100 80GB HBM3", 1), ("NVIDIA H100 80GB HBM3", 4)]
)
def test_a_slow_search_of_ones_own_never_makes_its_estimate_faster(gpu: str, count: int) -> None:
    (recipe,) = [r for r in load_recipes() if r.recipe_id == "pythia-1b"]
    (bought,) = [g for g in load_catalog().gpus if gpu in (g.name, *g.aliases)]
    published = load_published()

    def estimate(*records: Measurement) -> dict[str, Any]:
        cells = own_cells([*published, *records], [bought])
        asked: dict[str, Any] = {"counts": [count], "measured": cells, "gains_by": shipped_fit()}
        (row,) = predicted_rows(fit_with(records), [recipe], [bought], **asked)[:1]
        return row

    before = estimate()
    paper = before["paper_settings_days"]
    ours = own_cells(published, [bought]).get(("pythia-1b", bought.gpu_id, count))
    alike = TUNED if ours is None else ours.settings
    taken = [
        estimate(own(1, "pythia-1b", gpu, count, share * paper, settings=alike))["training_days"]
        for share in (0.9, 1.0, 1.02, 1.1, 1.3)
    ]
    assert taken == sorted(taken)
    assert taken[0] == pytest.approx(0.9 * before["training_days"], rel=1e-3)
    assert taken[1] == pytest.approx(before["training_days"], rel=1e-3)  # one starting point


def test_what_offloading_cost_is_no_measure_of_a_run_that_needs_none() -> None:
    """Of Pythia 6.9B on one H200 the settings with offloading were the fastest measured."""
    cell = ("pythia-6.9b", "h200-sxm-141gb", 1)
    (recipe,) = [r for r in load_recipes() if r.recipe_id == cell[0]]
    (gpu,) = [g for g in load_catalog().gpus if g.gpu_id == cell[1]]
    offloaded = own_cells(load_published(), [gpu])[cell]
    asked: dict[str, Any] = {"counts": [1]}
    plain = predicted_rows(shipped_fit(), [recipe], [gpu], **asked)[0]
    own_time = replace(offloaded, days=1.2 * plain["training_days"])
    beside = predicted_rows(shipped_fit(), [recipe], [gpu], **asked, measured={cell: own_time})[0]
    assert own_time.settings is not None and own_time.settings.offloading
    assert not beside["offloading"]
    assert beside["training_days"] == plain["training_days"] < own_time.days
    assert beside["paper_settings_days"] == pytest.approx(own_time.days, rel=1e-3)
    # One that was faster than what is estimated bounds it.
    fast = replace(own_time, days=0.9 * plain["training_days"])
    bounded = predicted_rows(shipped_fit(), [recipe], [gpu], **asked, measured={cell: fast})[0]
    assert bounded["training_days"] == pytest.approx(fast.days, rel=1e-3)


@pytest.mark.parametrize(
    "wrong",
    [
        {"gpu": "cpu"},
        {"timing": "unsynchronised"},
        {"training_days": 0.001},  # far above the peak
        {"status": "failed", "training_days": None, "reason": "out of memory"},
        {"recipe_hash": "000000000000"},  # another definition of the recipe
        {"gpu": "a GPU of nobody's catalogue"},
    ],
)
def test_what_never_counts(own_store: Path, wrong: dict[str, Any]) -> None:
    before = predictions(own_store)
    assert add(own_store, own(1, "pythia-1b", GPU, 1, 200.0, **wrong)) == 1
    assert predictions(own_store) == before


def merge_file(path: Path, records: Iterable[Measurement]) -> Path:
    path.write_text("".join(json.dumps(to_json(r)) + "\n" for r in records))
    return path


def test_own_predictions_survive_a_rebuild_and_are_never_handed_on(
    moved_store: Path, store_path: Path, tmp_path: Path
) -> None:
    moved = predictions(moved_store)
    build_store(moved_store)
    assert predictions(moved_store) == moved
    assert check_store(moved_store) == []
    exported = tmp_path / "mine.jsonl"
    assert Store(moved_store).export(exported) == (2, 0)  # the record and its source
    assert "prediction" not in exported.read_text()
    other = Path(shutil.copy(store_path, tmp_path / "other.duckdb"))
    Store(other).merge(moved_store, mine=True)
    assert predictions(other) == moved


def test_without_the_records_the_shipped_predictions_are_back(
    moved_store: Path, store_path: Path, tmp_path: Path
) -> None:
    before = predictions(store_path)
    assert predictions(moved_store) != before
    with duckdb.connect(str(moved_store)) as connection:
        connection.execute("DELETE FROM measurement WHERE origin = 'local'")
    rebuilt = Path(shutil.copy(moved_store, tmp_path / "rebuilt.duckdb"))
    Store(moved_store).update_predictions()
    assert predictions(moved_store) == before
    build_store(rebuilt)
    assert predictions(rebuilt) == before


def test_of_a_search_the_fastest_counts() -> None:
    workloads = {recipe.recipe_id: workload_of(recipe) for recipe in load_recipes()}
    records = [
        own(1, "pythia-1b", "L40S", 1, 300.0, method="free-lunch"),
        own(2, "pythia-1b", "L40S", 1, 200.0),
        own(3, "pythia-1b", "L40S", 1, 500.0, method="naive"),
        own(4, "pythia-410m", "L40S", 1, 400.0, method="naive"),
    ]
    found = own_observations(records, workloads, chips_by_name())
    assert sorted(o.observation_id for o in found) == ["m-own2", "m-own4"]
