"""How long 100,000 predictions take in one call, beside the floor: the same columns, multiplied.

python -m tests.benchmarks.bench_predict
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from time import perf_counter

import numpy as np

from advisor.prediction.model.workload import workload_of
from advisor.prediction.physics.chip import chip_of
from advisor.prediction.physics.columns import WorkloadTable
from advisor.prediction.predict_many import Asked, predict_many
from advisor.prediction.shipped_predictions import shipped_fit
from bench_runner.recipes import load_recipes
from price_catalog.load import load_catalog

PAIRS = 100_000
MUST_S = 0.2


def main() -> None:
    """Print the median of nine calls."""
    fitted = shipped_fit()
    models = [workload_of(recipe) for recipe in load_recipes()]
    chips = [chip_of(gpu) for gpu in load_catalog().gpus]
    random = np.random.default_rng(0)
    model, chip = random.integers(0, len(models), PAIRS), random.integers(0, len(chips), PAIRS)
    count = random.choice([1, 2, 4, 8], PAIRS)
    table = WorkloadTable(models, chips)
    calls, floors = [], []
    for _ in range(9):
        start = perf_counter()
        predict_many(Asked(models, chips, model, chip, count, fitted))
        calls.append(perf_counter() - start)
        start = perf_counter()
        columns = table.columns(model, chip, count)
        _ = columns.linear_flops * columns.batch_size / (columns.count * columns.peak)
        floors.append(perf_counter() - start)
    call, floor = float(np.median(calls)), float(np.median(floors))
    print(f"{PAIRS:,} pairs: {call:.3f} s (at most {MUST_S} s), {call / floor:.1f} x the floor")


if __name__ == "__main__":
    main()
