"""Every attack for some minutes, by hand, as one table: docs/reliability.md has what it showed.

    python tests/attack/all.py [--minutes 5] [--only kills,keys] [--seed 1] [--folder DIR]

Exit code 1 where something went wrong; what did it is kept in --folder.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
Attack = Callable[[Path, Path, int, int], list[str]]
"""A store, a folder, how many to try, and a seed; what went wrong."""


def attacks() -> dict[str, tuple[int, Attack]]:
    """Each attack by its name, with how many it tries at a time."""
    from tests.attack import commands_and_stores as stores
    from tests.attack import generated_files, random_keys

    found: dict[str, tuple[int, Attack]] = {
        f"{kind} files": (50, partial(generated_files.attack, kind))
        for kind in generated_files.KINDS
    }
    found["command lines"] = (20, stores.words)
    found["altered stores"] = (10, stores.altered)
    found["damaged stores"] = (5, stores.damage)
    found["kills"] = (2, stores.kills)
    found["kills at each write"] = (8, stores.writes)
    found["a crowd of eight"] = (8, stores.crowd)
    found["keys and clicks"] = (64, random_keys.keys)
    return found


def main() -> int:
    """Run them; 1 where something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=5, help="for all of them together")
    parser.add_argument("--only", help="names, or words of them, by commas (default: all)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where what went wrong is kept")
    options = parser.parse_args()
    folder = (options.folder or Path(tempfile.mkdtemp(prefix="attack-"))).resolve()
    (folder / "here").mkdir(parents=True, exist_ok=True)
    os.environ["ADVISOR_STORE_WAIT"] = "30"
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    os.chdir(folder / "here")  # a command line may name a file to write
    from advisor.store import build_store

    whole = folder / "whole.duckdb"
    if not whole.exists():
        build_store(whole)
    chosen = {
        name: attack
        for name, attack in attacks().items()
        if options.only is None or any(word in name for word in options.only.split(","))
    }
    print("| attack | tries | lost | tracebacks | hangs | other |\n|---|---:|---:|---:|---:|---:|")
    failed = []
    for name, (count, attack) in chosen.items():
        ends = time.monotonic() + 60 * options.minutes / len(chosen)
        tries, seed = 0, options.seed
        faults: list[str] = []
        while not tries or time.monotonic() < ends:
            faults += attack(whole, folder, count, seed)
            tries, seed = tries + count, seed + 1
        kinds = [_kind(fault) for fault in faults]
        counts = (kinds.count(each) for each in ("lost", "traceback", "hang", "other"))
        print(f"| {name} | {tries:,} | {' | '.join(map(str, counts))} |", flush=True)
        failed += faults
    print(*(f"  {fault}" for fault in failed[:20]), sep="\n")
    return 1 if failed else 0


def _kind(fault: str) -> str:
    """Which column of the table a fault belongs to."""
    words = fault.lower()
    if "lost" in words or "another" in words:
        return "lost"
    if "fault of this program" in words or "traceback" in words or "ended after" in words:
        return "traceback"
    return "hang" if " s:" in words or "no answer" in words else "other"


if __name__ == "__main__":
    sys.exit(main())
