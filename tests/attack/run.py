"""The attacks, one command each; minutes, by hand: docs/reliability.md says what they showed.

    python tests/attack/run.py files [--kinds record,recipe] [--count 1000] [--seed 1]
    python tests/attack/run.py words|kills|writes|crowd|damage|keys [--count N] [--seed 1]

Prints a line an attack. Exit code 1 where something went wrong; what did it is kept in --folder.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))


def main() -> int:
    """Run one attack; 1 where something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "attack", choices=("files", "words", "kills", "writes", "crowd", "damage", "keys")
    )
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9, help="of files: for each kind")
    parser.add_argument("--kinds", help="of files: by commas (default: all)")
    parser.add_argument("--screens", default="f2,f3,f6,f7,f8", help="of keys: by commas")
    parser.add_argument("--folder", type=Path, help="where what went wrong is kept")
    options = parser.parse_args()
    folder = options.folder or Path(tempfile.mkdtemp(prefix="attack-"))
    folder.mkdir(parents=True, exist_ok=True)
    folder = folder.resolve()
    os.environ["ADVISOR_STORE_WAIT"] = "30"
    os.environ["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    (folder / "here").mkdir(exist_ok=True)
    os.chdir(folder / "here")  # a command line may name a file to write
    from advisor.store import build_store

    whole = folder / "whole.duckdb"
    if not whole.exists():
        build_store(whole)
    began = time.monotonic()
    faults: list[str] = []
    if options.attack == "files":
        from tests.attack import generated_files

        for kind in (options.kinds or ",".join(generated_files.KINDS)).split(","):
            store = Path(shutil.copy(whole, folder / "results.duckdb"))
            began = time.monotonic()
            tried, accepted, found = generated_files.attack(
                kind, store, folder, options.count, options.seed, options.seconds
            )
            faults += found
            _tell(f"{kind} files: {accepted} accepted", tried, found, began)
    else:
        from tests.attack import commands_and_stores, random_keys

        attack = {
            "words": commands_and_stores.words,
            "kills": commands_and_stores.kills,
            "writes": commands_and_stores.writes,
            "crowd": commands_and_stores.crowd,
            "damage": commands_and_stores.damage,
            "keys": random_keys.keys,
        }[options.attack]
        screens = options.screens.split(",") if options.attack == "keys" else ()
        with_screens = {"screens": screens} if screens else {}
        faults = attack(whole, folder, options.count, options.seed, **with_screens)
        # Of the kills at each write there are as many as there are; it says itself how many.
        what = "writes, at most" if options.attack == "writes" else options.attack
        _tell(what, options.count, faults, began)
    for fault in faults[:20]:
        print(f"  {fault}")
    return 1 if faults else 0


def _tell(what: str, count: int, faults: list[str], began: float) -> None:
    print(
        f"{what}: {count:,} tried, {len(faults)} went wrong, {time.monotonic() - began:.0f} s",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
