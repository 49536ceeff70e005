"""A synthetic store for benchmarks: 100,000 builds and 1,000,000 measurements.

    python tests/benchmarks/big_store.py big.duckdb

The shipped rows are in it, so that the real models can be asked for; the rest is made by SQL,
deterministic, and no measurement of anything.
"""

from __future__ import annotations

import sys
from pathlib import Path

import duckdb

from advisor.store import build_store

GPUS = 2_000
HOSTS = 14
"""Beside the shipped ones that take cards: some fifty hosts x 2,000 GPUs are 100,000 builds. What a
build needs is stated of each synthetic GPU and host, so that they rank."""
RECIPES = 40
"""The shipped ones among them."""
MEASUREMENTS = 1_000_000

_FILL = f"""
INSERT INTO source VALUES
    ('synthetic', 'Synthetic rows for benchmarks', NULL, 'Made by SQL', NULL, NULL, 'local');

INSERT INTO gpu BY NAME
SELECT
    'synthetic-' || i AS gpu_id,
    'Synthetic ' || i AS name,
    ['NVIDIA Synthetic ' || i || ' 80GB'] AS aliases,
    'NVIDIA' AS vendor,
    'PCIe' AS form_factor,
    24 + i % 120 AS memory_gib,
    20 + i % 50 AS fp32_tflops,
    50 + i % 900 AS fp16_tflops,
    50 + i % 900 AS bf16_tflops,
    250 AS tdp_w,
    'blower' AS cooling,
    2 AS slot_width,
    'memory_gib=synthetic' AS field_sources,
    'local' AS origin
FROM range({GPUS}) AS t(i);

INSERT INTO host BY NAME
SELECT
    'synthetic-' || i AS host_id,
    'Synthetic host ' || i AS name,
    'server' AS kind,
    [1, 2, 4, 8][1 + i % 4] AS max_gpus,
    ['passive', 'blower', 'open'] AS takes,
    2 AS slot_width,
    350 AS max_gpu_w,
    4000 AS psu_w,
    400 AS base_w,
    1024 AS memory_gib,
    'shipped' AS origin
FROM range({HOSTS}) AS t(i);

INSERT INTO quote BY NAME
SELECT
    'synthetic-' || item_kind || i || '-' || n AS quote_id,
    item_kind,
    'synthetic-' || i AS item_id,
    500 + hash(item_kind, i, n) % 40000 AS price_usd,
    'street' AS kind,
    'synthetic vendor' AS vendor,
    DATE '2025-06-01' + (n * 200)::INTEGER AS quoted_on,
    'synthetic' AS source_id,
    CASE n WHEN 0 THEN 'paper' END AS price_set,
    'local' AS origin
FROM (
    SELECT 'gpu' AS item_kind, i FROM range({GPUS}) AS t(i)
    UNION ALL
    SELECT 'host', i FROM range({HOSTS}) AS t(i)
), range(3) AS u(n);

INSERT INTO recipe BY NAME
SELECT
    model.* REPLACE (
        'synthetic-' || i AS recipe_id, 'Synthetic model ' || i AS name, 'local' AS origin
    )
FROM range({RECIPES} - (SELECT count(*) FROM recipe)) AS t(i),
    (FROM recipe WHERE recipe_id = 'pythia-1b') AS model;

-- Recipes interleaved, as they come when a store grows: the reader finds no sorted run.
CREATE TEMP TABLE numbered AS
SELECT row_number() OVER (ORDER BY recipe_id) - 1 AS number, recipe_id FROM recipe;

INSERT INTO measurement BY NAME
SELECT
    'synthetic-' || i AS measurement_id,
    recipe_id,
    'NVIDIA Synthetic ' || gpu || ' 80GB' AS gpu,
    'synthetic-' || gpu AS gpu_id,
    [1, 2, 4, 8][1 + pair % 4] AS gpu_count,
    CASE WHEN naive THEN 'naive' ELSE 'optimal' END AS method,
    NOT naive AS free_lunch,
    hash(i, 4) % 3 = 0 AS activation_checkpointing,
    CASE WHEN pair % 4 > 0 THEN 'zero-1' END AS sharding,
    false AS offloading,
    2 ** (i % 5) AS micro_batch_size,
    2 ** (5 + i % 5) AS gradient_accumulation_steps,
    CASE WHEN infeasible THEN 'infeasible' ELSE 'ok' END AS status,
    CASE WHEN infeasible THEN 'does not fit' END AS reason,
    CASE WHEN NOT infeasible THEN days END AS training_days,
    CASE WHEN NOT infeasible THEN days * 0.98 END AS training_days_low,
    CASE WHEN NOT infeasible THEN days * 1.02 END AS training_days_high,
    CASE WHEN hash(i, 5) % 2 = 0 THEN 'synchronised' ELSE 'unsynchronised' END AS timing,
    'synthetic' AS source_id,
    DATE '2026-01-01' + (i % 300)::INTEGER AS measured_on,
    [] AS pass_s, [] AS sync_pass_s, [] AS update_s, [] AS first_pass_s, [] AS fetch_s,
    '{{}}' AS environment,
    CASE WHEN NOT infeasible THEN mfu END AS implied_mfu,
    CASE WHEN NOT infeasible THEN mfu END AS implied_mfu_printed,
    CASE
        WHEN infeasible THEN NULL
        WHEN mfu > 1 THEN 'implausible'
        WHEN mfu > 0.75 THEN 'doubtful'
        ELSE 'plausible'
    END AS verdict,
    CASE WHEN NOT infeasible THEN
        'implies ' || (mfu * 100)::INTEGER || '% of the peak of Synthetic ' || gpu
    END AS verdict_reason,
    'local' AS origin
FROM (
    SELECT
        i,
        i % {RECIPES} AS number,
        i // {RECIPES} AS pair,
        i // {RECIPES} // 4 % {GPUS} AS gpu,
        hash(i, 3) % 5 = 0 AS naive,
        hash(i) % 10 = 0 AS infeasible,
        1 + (hash(i, 1) % 100000) / 100 AS days,
        0.2 + (hash(i, 2) % 90) / 100 AS mfu
    FROM range({MEASUREMENTS}) AS t(i)
)
JOIN numbered USING (number)
ORDER BY i;
"""


def build_big_store(path: Path) -> None:
    """Make the synthetic store at ``path``, where nothing may be yet."""
    build_store(path)
    # A benchmark's own fixture may open the file itself: nothing else looks at it.
    connection = duckdb.connect(str(path))
    try:
        connection.execute(_FILL)
    finally:
        connection.close()


if __name__ == "__main__":
    build_big_store(Path(sys.argv[1]))
