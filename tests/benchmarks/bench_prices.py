"""What 100,000 quotes cost: `advisor rank` as a process, and the parts of it that prices touch.

    python tests/benchmarks/bench_prices.py [QUOTES] [ROUNDS]

Prints ratios to `python -c "import duckdb"`, each the median over pairs of runs right after one
another, so that a machine whose speed drifts slows both; asserts nothing. Goal: at most 2.0.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import duckdb

from advisor.costs.price_book import choose_quotes
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.rank import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store, build_store

ROOT = Path(__file__).parents[2]
_FILL = """
INSERT INTO quote BY NAME
SELECT
    'own:synthetic-' || n AS quote_id,
    item_kind,
    item_id,
    (price_usd * (0.7 + (hash(n) % 600) / 1000.0))::DECIMAL(14, 2) AS price_usd,
    ['reseller-quote', 'street', 'list', 'used', 'secondary'][1 + n % 5] AS kind,
    'vendor ' || (n % 997) AS vendor,
    DATE '2023-01-01' + (n % 1400)::INTEGER AS quoted_on,
    'own-quotes' AS source_id,
    'local' AS origin
FROM range($count) AS t(n)
JOIN (
    SELECT item_kind, item_id, any_value(price_usd) AS price_usd,
        row_number() OVER (ORDER BY item_kind, item_id) - 1 AS place,
        count(*) OVER () AS items
    FROM quote GROUP BY item_kind, item_id
) ON place = n % items
"""


def fill(path: Path, count: int) -> None:
    """A store with so many quotes beside the shipped ones."""
    build_store(path)
    connection = duckdb.connect(str(path))
    connection.execute(_FILL, {"count": count})
    connection.close()


def process_s(*argv: str) -> float:
    began = time.perf_counter()
    subprocess.run(argv, check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
    return time.perf_counter() - began


def timed_ms(work: Callable[[], object], rounds: int) -> float:
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 15
    with tempfile.TemporaryDirectory() as folder:
        small, big = Path(folder, "small.duckdb"), Path(folder, "big.duckdb")
        build_store(small)
        fill(big, count)
        ask = [str(Path(sys.executable).with_name("advisor")), "rank", "--model", "pythia-1b"]
        asked = {
            "shipped quotes": [*ask, "--budget", "40000", "--store", str(small)],
            f"{count:,} quotes": [*ask, "--budget", "40000", "--store", str(big)],
        }
        floor: list[float] = []
        taken: dict[str, list[float]] = {name: [] for name in asked}
        ratios: dict[str, list[float]] = {name: [] for name in asked}
        for lap in range(rounds + 1):
            for name, argv in asked.items():
                bare = process_s(sys.executable, "-c", "import duckdb")
                ours = process_s(*argv)
                if lap:  # the first one warms the caches of the system
                    floor.append(bare)
                    taken[name].append(ours)
                    ratios[name].append(ours / bare)
        print(
            f"python -c 'import duckdb'          {statistics.median(floor) * 1000:7.0f} ms   1.00"
        )
        for name, times in taken.items():
            middle, ratio = statistics.median(times), statistics.median(ratios[name])
            ends = f"({min(ratios[name]):.2f} to {max(ratios[name]):.2f})"
            print(f"advisor rank, {name:20} {middle * 1000:7.0f} ms   {ratio:.2f} {ends}")
        store = Store(big)
        with store.reading() as reader:
            snapshot = take_snapshot(reader)
            model = snapshot.model("pythia-1b")
            print(f"reading every quote               {timed_ms(reader.quotes, 3):7.1f} ms")
            today = date.today()
            chosen = timed_ms(lambda: choose_quotes(snapshot.quotes, "latest", today=today), 5)
            print(f"choosing among them               {chosen:7.1f} ms")
            candidates = make_candidates(
                reader, snapshot, CandidatesKey(model.recipe_id, "latest", "sound")
            )
        answer = timed_ms(lambda: rank(candidates, Question()).rows(40), 50)
        print(f"ranking, as at each key press     {answer:7.2f} ms")


if __name__ == "__main__":
    main()
