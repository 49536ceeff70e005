"""What fine-tuning takes on GPUs: Llama shapes of 1B, 3B and 8B, LoRA and full, naive to best.

    python tests/benchmarks/bench_finetuning.py --out FOLDER [--minutes 9] [--models 1b,3b,8b]
        [--train lora,full] [--done RECORDS.jsonl]... [--exports] [--device cpu] [--list]

One lane for each GPU that nvidia-smi shows (or CUDA_VISIBLE_DEVICES names) takes the next trial of
the list, the most telling first; each is `python -m bench_runner trial`, as a search of
`advisor bench` runs it. FOLDER gets the recipes, records.jsonl (one line a trial as it ends) and a
log a lane. What records.jsonl or a file after --done holds is not measured again, so that the same
command goes on where it was stopped. With --exports nothing is measured: of each model and way to
train the fastest exact record and the fastest of all are exported, and what their own plain
Trainer takes is held against the record (export_check.py). Prints one JSON line a trial: {model,
train, settings, status, step_s, tokens_s, micro_batch, peak_gib, ratio (predicted step over real
Trainer steps), reason}.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from queue import Empty, Queue
from typing import Any, NamedTuple

from bench_runner.arguments import find_recipe
from bench_runner.launch import hardware
from bench_runner.recipes import recipe_hash
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement
from bench_runner.settings import least_step, settings_tried
from bench_runner.settings.obstacles import parse_settings, settings_words

ROOT = Path(__file__).parents[2]
LENGTH, BATCH, STEPS, RANK = 2048, 64, 381, 16
"""64 sequences of 2,048 tokens a step; 50M tokens in all."""
SHAPES: dict[str, tuple[str, str]] = {
    "1b": (
        "Llama 3.2 1B shape",
        "hidden_size = 2048, num_hidden_layers = 16, num_attention_heads = 32, "
        "num_key_value_heads = 8, head_dim = 64, intermediate_size = 8192, "
        "vocab_size = 128256, max_position_embeddings = 131072, tie_word_embeddings = true",
    ),
    "3b": (
        "Llama 3.2 3B shape",
        "hidden_size = 3072, num_hidden_layers = 28, num_attention_heads = 24, "
        "num_key_value_heads = 8, head_dim = 128, intermediate_size = 8192, "
        "vocab_size = 128256, max_position_embeddings = 131072, tie_word_embeddings = true",
    ),
    "8b": (
        "Llama 3.1 8B shape",
        "hidden_size = 4096, num_hidden_layers = 32, num_attention_heads = 32, "
        "num_key_value_heads = 8, head_dim = 128, intermediate_size = 14336, "
        "vocab_size = 128256, max_position_embeddings = 131072, tie_word_embeddings = false",
    ),
    "tiny": (
        "Tiny Llama shape",
        "hidden_size = 256, num_hidden_layers = 2, num_attention_heads = 4, "
        "num_key_value_heads = 2, intermediate_size = 512, vocab_size = 256, "
        "max_position_embeddings = 2048, tie_word_embeddings = true",
    ),
}
LORA = (
    "naive",
    "regional,fused,pure-half",
    "regional,fused",
    "regional",
    "regional,fused,pure-half,checkpointing",
    "naive,checkpointing",
    "regional,pure-half",
    "not-compiled,fused,pure-half",
    "naive,pure-half",
    "regional,fused,checkpointing",
    "not-compiled,fused",
)
QLORA = (
    "naive",
    "regional,fused,pure-half",
    "regional,fused,pure-half,checkpointing",
    "regional,fused",
    "naive,checkpointing",
)
"""Weights in NF4 by torchao, which has to be installed."""
FULL = (
    "naive,sdpa,pure-half",
    "regional,fused,pure-half",
    "naive",
    "regional,fused,half-weights",
    "regional,fused",
    "regional,fused,pure-half,checkpointing",
    "naive,checkpointing",
    "regional,pure-half",
    "regional,fused,half-weights,checkpointing",
)
SETTINGS = {"lora": LORA, "full": FULL, "qlora": QLORA}


class Task(NamedTuple):
    """One trial."""

    model: str
    train: str
    settings: str
    recipe: Path


def recipe_text(model: str, train: str) -> str:
    """The recipe file of one model and way to train."""
    name, arguments = SHAPES[model]
    length, batch, rank = (64, 8, 4) if model == "tiny" else (LENGTH, BATCH, RANK)
    adapters = "" if train == "full" else f"adapter_rank = {rank}\n"
    adapters += "weight_bits = 4\n" if train == "qlora" else ""
    words = {"lora": "LoRA", "qlora": "QLoRA", "full": "fully fine-tuned"}[train]
    return f"""id = "llama-{model}-{train}"
name = "{name}, {words}"
family = "decoder"
source = "tests/benchmarks/bench_finetuning.py"

[architecture]
config_class = "LlamaConfig"
arguments = {{ {arguments} }}

[training]
batch_size = {batch}
training_steps = {STEPS}
sequence_length = {length}
precision = "bf16"
optimizer = "adamw"
learning_rate = 1e-4
max_grad_norm = 1.0
{adapters}
[support]
attention = "sdpa"
fsdp_wrap = ["LlamaDecoderLayer"]
"""


def tasks(folder: Path, models: list[str], trains: list[str]) -> list[Task]:
    """All trials, one setting of every model after the other; recipes are written to the folder."""
    files = {}
    for model in models:
        for train in trains:
            files[model, train] = folder / "recipes" / f"llama-{model}-{train}.toml"
            files[model, train].parent.mkdir(parents=True, exist_ok=True)
            files[model, train].write_text(recipe_text(model, train), encoding="utf-8")
    most = max(len(SETTINGS[train]) for train in trains)
    return [
        Task(model, train, SETTINGS[train][place], file)
        for place in range(most)
        for (model, train), file in files.items()
        if place < len(SETTINGS[train])
    ]


def key(task: Task) -> tuple[str, str]:
    """What a record of this trial has: its recipe's hash, and its settings in words."""
    recipe = find_recipe(str(task.recipe))
    settings = settings_tried.as_searched(recipe, parse_settings(task.settings))
    return recipe_hash(recipe), settings_words(settings)


def key_of(record: Measurement) -> tuple[str, str]:
    """The same of a record."""
    assert record.settings is not None and record.recipe_hash is not None
    return record.recipe_hash, settings_words(least_step.without_micro_batch(record.settings))


def line_of(task: Task, record: Measurement) -> dict[str, Any]:
    """What is printed of a record."""
    training = find_recipe(str(task.recipe)).training
    tokens = training.batch_size * (training.sequence_length or 0)
    settings, step_s = record.settings, record.step_s
    return {
        "model": task.model,
        "train": task.train,
        "settings": task.settings,
        "gpu": record.gpu,
        "status": record.status,
        "step_s": step_s,
        "tokens_s": None if step_s is None else round(tokens / step_s),
        "micro_batch": None if settings is None else settings.micro_batch_size,
        "peak_gib": record.peak_memory_gib,
        "reason": record.reason,
    }


def environment_of(lane: int, given: argparse.Namespace) -> dict[str, str]:
    """With this lane's GPU alone, and compiled kernels that the lanes share."""
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "TORCHINDUCTOR_CACHE_DIR": str(given.work / "compiled"),
    }
    if given.device == "cuda":
        environment["CUDA_VISIBLE_DEVICES"] = given.gpus[lane]
    return environment


def winners(tasks: list[Task], records: list[Measurement]) -> list[tuple[Task, Measurement]]:
    """The fastest exact record and the fastest of all, of each model and way to train."""
    found: dict[str, tuple[Task, Measurement]] = {}
    for task in tasks:
        mine = recipe_hash(find_recipe(str(task.recipe)))
        timed = [r for r in records if r.recipe_hash == mine and r.step_s is not None]
        exact = [r for r in timed if r.method not in ("changes-training", "naive")]
        for some in filter(None, (exact, timed)):
            best = min(some, key=lambda record: record.step_s or 0.0)
            found[best.measurement_id] = (task, best)
    return list(found.values())


def check_export(
    task: Task, record: Measurement, given: argparse.Namespace, records: Path, lane: int
) -> None:
    """The exported training of a record beside it; one line in exports.jsonl."""
    done = subprocess.run(
        [
            *(sys.executable, str(ROOT / "tests" / "benchmarks" / "export_check.py")),
            *("--recipe", str(task.recipe), "--records", str(records), "--steps", "6"),
            *("--id", record.measurement_id),
            *("--work", str(given.work / "exports" / record.measurement_id)),
        ],
        env=environment_of(lane, given),
        capture_output=True,
        text=True,
        check=False,
    )
    line = done.stdout.strip() or json.dumps({"failed": done.stderr[-2000:]})
    with (given.out / "exports.jsonl").open("a", encoding="utf-8") as file:
        file.write(line + "\n")
    print(line, flush=True)


def run(task: Task, given: argparse.Namespace, ends: float, lane: int) -> None:
    """One trial on the lane's GPU; its record is appended and printed."""
    left = (ends - time.monotonic()) / 60
    here = given.out / f"lane-{lane}"
    here.mkdir(parents=True, exist_ok=True)
    before = set(map(str, journal.read(here / "records.jsonl")))
    words = [
        *(sys.executable, "-m", "bench_runner", "run", "--recipe", str(task.recipe)),
        *("--settings", task.settings, "--device", given.device, "--yes"),
        *("--minimum-steps", "4", "--maximum-steps", "12", "--settle-s", "12"),
        *("--minutes", f"{max(left, 0.05):.2f}"),
        *("--records", str(here / "records.jsonl"), "--work", str(given.work / f"lane-{lane}")),
        *("--peak-tflops", "989"),
    ]
    environment = environment_of(lane, given)
    with (here / "log.txt").open("a", encoding="utf-8") as log:
        subprocess.run(words, env=environment, stdout=log, stderr=log, check=False)
    for record in journal.read(here / "records.jsonl"):
        if str(record) not in before:
            journal.append(given.out / "records.jsonl", record)
            print(json.dumps(line_of(task, record)), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--work", type=Path, default=Path("/tmp/bench-finetuning"))
    parser.add_argument("--minutes", type=float, default=9.0)
    parser.add_argument("--models", default="1b,3b,8b")
    parser.add_argument("--train", default="lora,full")
    parser.add_argument("--done", type=Path, action="append", default=[])
    parser.add_argument("--exports", action="store_true")
    parser.add_argument("--first", type=int, help="only the first so many settings of each")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--list", action="store_true", help="print what would run")
    given = parser.parse_args()
    ends = time.monotonic() + given.minutes * 60
    given.out.mkdir(parents=True, exist_ok=True)
    given.gpus = ["cpu"]
    if given.device == "cuda" and not given.list:
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        given.gpus = (
            visible.split(",") if visible else [g.uuid for g in hardware.machine(given.out).gpus]
        )
    records = journal.merge(
        [file for file in (given.out / "records.jsonl", *given.done) if file.exists()]
    )
    finished = {key_of(record) for record in records if record.status in ("ok", "infeasible")}
    wanted = tasks(given.out, given.models.split(","), given.train.split(","))
    count = len(given.models.split(",")) * len(given.train.split(","))
    if given.first is not None:
        wanted = wanted[: given.first * count]
    waiting: Queue[Callable[[int], None]] = Queue()
    if given.exports:
        everything = given.out / "all.jsonl"
        everything.unlink(missing_ok=True)
        for each in records:
            journal.append(everything, each)
        for task, record in winners(wanted, list(records)):
            waiting.put(partial(check_export, task, record, given, everything))
    else:
        for task in wanted:
            if key(task) not in finished:
                waiting.put(partial(run, task, given, ends))
                if given.list:
                    print(f"{task.model} {task.train} {task.settings}")
    if given.list:
        return 0

    def lane(number: int) -> None:
        while time.monotonic() < ends - 30:
            try:
                do = waiting.get_nowait()
            except Empty:
                return
            do(number)

    with ThreadPoolExecutor(max_workers=len(given.gpus)) as pool:
        for each in [pool.submit(lane, number) for number in range(len(given.gpus))]:
            each.result()
    print(json.dumps({"left": waiting.qsize()}), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
