"""How long `advisor rank` takes as a whole process, against importing DuckDB alone.

    python tests/benchmarks/bench_rank.py [--store results.duckdb] [--runs 21]

The two run in turn, so that a machine whose speed drifts slows both. Prints the median of the
ratios pair by pair, for wall and for processor time. Goal: at most 1.7 x. The program is compiled
first, as an installed one is.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import statistics
import subprocess
import sys
import time
from pathlib import Path

FLOOR = [sys.executable, "-c", "import duckdb"]


def seconds(command: list[str]) -> tuple[float, float]:
    """Wall and processor seconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--store", type=Path, default=Path("results.duckdb"))
    parser.add_argument("--runs", type=int, default=21)
    options = parser.parse_args()
    os.environ["ADVISOR_STORE"] = str(options.store.resolve())
    for package in ("advisor", "bench_runner", "price_catalog"):
        compileall.compile_dir(package, quiet=1)
    advisor = Path(sys.executable).with_name("advisor")
    rank = [str(advisor), "rank", "--model", "pythia-1b", "--budget", "40000"]
    pairs = [(seconds(rank), seconds(FLOOR)) for _ in range(options.runs + 1)][1:]
    for name, at in (("wall", 0), ("processor", 1)):
        ours = statistics.median(a[at] for a, _ in pairs)
        floor = statistics.median(b[at] for _, b in pairs)
        ratios = sorted(a[at] / b[at] for a, b in pairs)
        print(
            f"{name:>9}: rank {ours * 1000:.0f} ms, import duckdb {floor * 1000:.0f} ms, ratio "
            f"{statistics.median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
        )


if __name__ == "__main__":
    main()
