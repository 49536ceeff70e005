"""Whether what `bench_runner export` writes trains as fast as the record says.

    python tests/benchmarks/export_check.py --recipe ID|FILE.toml --records records.jsonl --work DIR
        [--id MEASUREMENT] [--steps 10] [--workers 0]

Exports the winner (the recipe's fastest record, or the one named) into DIR, starts its launch.sh
with the exported train.py and its own plain Trainer, and takes the seconds between the ends of
optimiser steps, synchronised, random data included; the first three hold compilation. Prints one
JSON line: {label, gpu, gpu_count, record_step_s, step_s: raw seconds, median_s, ratio, within}.
``ratio`` is the median over the record; within 3 % is exit code 0, else 1.

The script makes its random data while it trains. Text costs next to nothing; for images give
--workers, as one would with real data.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from statistics import median
from typing import Any

from bench_runner import export
from bench_runner.arguments import find_recipe
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement
from bench_runner.settings import batch_and_sharding, fastest_possible_step

WITHIN = 0.03
WARM_UP = 3
_DRIVER = '''"""Runs the exported train.py and notes when each optimiser step ends."""

import json
import sys
import time

import torch
import transformers

import train


class Ends(transformers.TrainerCallback):
    """Synchronised, so that a step is over when it is noted."""

    def __init__(self):
        self.ends = []

    def on_step_end(self, *arguments, **keywords):
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        self.ends.append(time.perf_counter())


noted = Ends()
Trainer, Arguments = transformers.Trainer, transformers.TrainingArguments
transformers.Trainer = lambda **keywords: Trainer(**keywords, callbacks=[noted])
ours = {"dataloader_num_workers": int(sys.argv[2]), "save_strategy": "no", "report_to": "none"}
transformers.TrainingArguments = lambda **keywords: Arguments(**(keywords | ours))
train.main(max_steps=int(sys.argv[1]))
if not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0:
    print("ends " + json.dumps(noted.ends), flush=True)
if torch.distributed.is_initialized():
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()
'''


def step_seconds(folder: Path, steps: int, workers: int) -> list[float]:
    """The seconds of each optimiser step after the warm-up, by the exported launch.sh."""
    (folder / "train_and_note.py").write_text(_DRIVER, encoding="utf-8")
    launch = (folder / "launch.sh").read_text(encoding="utf-8")
    noting = folder / "launch_and_note.sh"
    noting.write_text(launch.replace("/train.py", "/train_and_note.py"), encoding="utf-8")
    done = subprocess.run(
        ["sh", str(noting), str(steps + WARM_UP), str(workers)],
        cwd=folder,
        env={**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    ends = [json.loads(line[5:]) for line in done.stdout.splitlines() if line.startswith("ends ")]
    if done.returncode or not ends:
        raise RuntimeError(f"the exported training failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return [after - before for before, after in zip(ends[0], ends[0][1:], strict=False)][
        WARM_UP - 1 :
    ]


def judged(record: Measurement, seconds: list[float]) -> dict[str, Any]:
    """The record's step beside the measured ones."""
    assert record.step_s is not None and record.settings is not None
    ratio = median(seconds) / record.step_s
    return {
        "recipe_id": record.recipe_id,
        "label": batch_and_sharding.label(record.settings),
        "measurement_id": record.measurement_id,
        "gpu": record.gpu,
        "gpu_count": record.gpu_count,
        "record_step_s": record.step_s,
        "step_s": [round(second, 5) for second in seconds],
        "median_s": median(seconds),
        "ratio": ratio,
        "within": abs(ratio - 1) <= WITHIN,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--recipe", required=True)
    parser.add_argument("--records", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--id")
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--workers", type=int, default=0)
    given = parser.parse_args()
    recipe = find_recipe(given.recipe)
    winner = fastest_possible_step.best_of(
        [
            record
            for record in journal.read(given.records)
            if record.recipe_id == recipe.recipe_id
            and (
                record.measurement_id == given.id
                if given.id
                else record.method != "changes-training"
            )
        ]
    )
    if winner is None:
        print(f"{given.records} holds no time of {recipe.recipe_id}", file=sys.stderr)
        return 2
    folder = given.work.absolute()  # the training starts there
    export.write(recipe, winner, folder)
    row = judged(winner, step_seconds(folder, given.steps, given.workers))
    print(json.dumps(row), flush=True)
    return 0 if row["within"] else 1


if __name__ == "__main__":
    sys.exit(main())
