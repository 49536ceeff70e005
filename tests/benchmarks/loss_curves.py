"""Loss curves of the exact settings beside plain training, over several seeds.

    python tests/benchmarks/loss_curves.py --out curves.jsonl [--minutes M] [--device cuda|cpu]
        [--recipe FILE.toml] [--precision bf16|fp16|fp32] [--steps 200] [--seeds 4]
        [--settings WORDS]... [--parallel 4]

Each setting trains a small decoder (tests/benchmarks/recipes/curve-20m.toml) on a synthetic
language that can be learned: four words may follow each word, and the second half of a text
repeats the first. A seed draws the weights and the data. A masked encoder's recipe
(curve-encoder.toml) is trained on the same texts, in which 15 % of the words are hidden and
no other has a label. Plain is ``naive``: eager, uncompiled, full logits, autocast.

Every run is a process of its own through Hugging Face's Trainer and adds one JSON line to the file:
{"kind": "curve", settings, seed, precision, steps, losses}. What the file holds is not run again,
so that the same call goes on where it stopped. At the end one line a setting:
{"kind": "verdict", settings, distance, scatter, ratio, end_distance, end_scatter, within}.

``distance`` is the root mean square, over windows of ten steps, between a setting's curve and the
plain curve of the same seed, the mean over seeds; ``scatter`` the same between two plain curves of
different seeds, over all pairs; ``end_`` of the last twenty steps alone. A setting is ``within``
where neither distance exceeds its scatter. The word ``rounded-start`` rounds the weights to the
recipe's half precision before plain training begins, as DeepSpeed does: it shows how much of a
distance comes from that start. Exit code 0: all are; 1: one is not, failed, or was not reached in
time.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import IO, Any

PLAIN = "naive"
SETTINGS = (
    "regional,fused,trimmed",
    "regional,fused,trimmed,half-weights",
    "whole",
    "not-compiled,half-weights",
    "regional,eager",
    "not-compiled,fused",
    "not-compiled,trimmed",
    "regional,fused,trimmed,checkpointing",
    "zero-1,regional,fused,trimmed",
    "fsdp-full-shard,regional,fused,trimmed",
)
RECIPE = Path(__file__).parent / "recipes" / "curve-20m.toml"
ROOT = Path(__file__).resolve().parents[2]
ROUNDED = "rounded-start"
HIDDEN, MASK, IGNORED = 0.15, 0, -100
"""The share of a masked encoder's words that it is asked for, what stands there, and no label."""
PASSES = 4
WINDOW, END = 10, 20
FOLLOWERS = 4


class Language:
    """Random texts in which four words may follow each, and the second half repeats the first.

    Yields micro-batches for the Trainer; the same seed gives the same texts on every device.
    ``masked``: some words are hidden, and they alone are asked for.
    """

    def __init__(
        self, seed: int, vocabulary: int, length: int, size: int, passes: int, *, masked: bool
    ) -> None:
        import torch

        self.micro_batch_size = size
        self._masked = masked
        self._passes, self._length = passes, length
        self._vocabulary = vocabulary
        grammar = torch.Generator().manual_seed(20260101)
        self._next = torch.randint(vocabulary, (vocabulary, FOLLOWERS), generator=grammar)
        self._seed = seed

    def __len__(self) -> int:
        return self._passes

    def __iter__(self) -> Iterator[dict[str, Any]]:
        import torch

        draw = torch.Generator().manual_seed(1000 + self._seed)
        half = (self._length + 1) // 2
        for _ in range(self._passes):
            words = [torch.randint(self._vocabulary, (self.micro_batch_size,), generator=draw)]
            choices = torch.randint(FOLLOWERS, (half, self.micro_batch_size), generator=draw)
            for choice in choices[1:]:
                words.append(self._next[words[-1], choice])
            text = torch.stack(words, dim=1)
            text = torch.cat([text, text], dim=1)[:, : self._length].contiguous()
            if not self._masked:
                yield {"input_ids": text, "labels": text}
                continue
            hidden = torch.rand(text.shape, generator=draw) < HIDDEN
            yield {
                "input_ids": text.masked_fill(hidden, MASK),
                "labels": text.masked_fill(~hidden, IGNORED),
            }


def train(task: dict[str, Any]) -> list[float]:
    """One run in this process; the loss of each optimiser step."""
    import torch
    from transformers import TrainingArguments, set_seed

    from bench_runner import configure
    from bench_runner.arguments import parse_settings
    from bench_runner.worker import models
    from bench_runner.worker.prepared_model import prepared_model
    from bench_runner.worker.ranks import tell_deepspeed
    from bench_runner.worker.timed_trainer import PlainTrainer

    class LossTrainer(PlainTrainer):
        """Keeps what each pass adds to its step's loss."""

        def training_step(self, *arguments: Any, **keywords: Any) -> Any:
            loss = super().training_step(*arguments, **keywords)
            passed.append(loss.detach().float())
            return loss

    words = [word for word in task["settings"].split(",") if word != ROUNDED]
    recipe, settings = _recipe(task), parse_settings(",".join(words))
    count = task["passes"]
    size = recipe.training.batch_size // count
    on_gpu = task["device"] == "cuda"
    keywords = configure.training_arguments(
        recipe,
        settings,
        micro_batch_size=size,
        accumulation_steps=count,
        device=task["device"],
        compute_capability=torch.cuda.get_device_capability() if on_gpu else None,
    )
    arguments = TrainingArguments(**{**keywords, "seed": task["seed"]})
    if configure.zero_stage(settings) is not None:
        tell_deepspeed()
    set_seed(task["seed"])
    # On the CPU, so that a seed draws the same weights whatever the settings.
    model = prepared_model(recipe, settings, arguments, torch.device("cpu"))
    if ROUNDED in task["settings"]:
        half = torch.float16 if recipe.training.precision == "fp16" else torch.bfloat16
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(parameter.to(half))
    passed: list[torch.Tensor] = []
    vocabulary = model.config.vocab_size
    length = recipe.training.sequence_length or 1
    trainer = LossTrainer(
        model=model,
        args=arguments,
        batches=Language(
            task["seed"],
            vocabulary,
            length,
            size,
            count * recipe.training.training_steps,
            masked=recipe.family == "encoder",
        ),
        optimizer_cls_and_kwargs=models.optimizer(
            recipe, torch.device(task["device"]), settings.states
        ),
    )
    trainer.train()
    steps = [passed[start : start + count] for start in range(0, len(passed), count)]
    return [float(torch.stack(step).sum()) for step in steps]


def _named(recipe: Path) -> str:
    """Without the machine's folders where it is one of ours."""
    path = recipe.resolve()
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)


def _recipe(task: dict[str, Any]) -> Any:
    from bench_runner.recipes import load_recipe

    recipe = load_recipe(ROOT / task["recipe"])
    training = replace(recipe.training, training_steps=task["steps"])
    if task["precision"] is not None:
        training = replace(training, precision=task["precision"])
    return replace(recipe, training=training)


def curves(lines: Iterable[dict[str, Any]]) -> dict[tuple[str, int], list[float]]:
    """The curves that were finished, by settings and seed."""
    return {
        (line["settings"], line["seed"]): line["losses"]
        for line in lines
        if line["kind"] == "curve" and line.get("losses")
    }


def _windows(losses: Sequence[float], window: int) -> list[float]:
    starts = range(0, max(1, len(losses) - window + 1), window)
    return [sum(losses[s : s + window]) / len(losses[s : s + window]) for s in starts]


def distance(one: Sequence[float], other: Sequence[float], window: int = WINDOW) -> float:
    """Root mean square between two curves, over windows of so many steps."""
    pairs = list(zip(_windows(one, window), _windows(other, window), strict=True))
    return float((sum((a - b) ** 2 for a, b in pairs) / len(pairs)) ** 0.5)


def verdicts(found: dict[tuple[str, int], list[float]]) -> list[dict[str, Any]]:
    """Each setting beside plain training; nothing where fewer than two plain curves are there."""
    plain = {seed: losses for (words, seed), losses in found.items() if words == PLAIN}
    pairs = list(combinations(plain.values(), 2))
    if not pairs:
        return []

    def mean(values: Sequence[float]) -> float:
        return sum(values) / len(values)

    scatter = mean([distance(a, b) for a, b in pairs])
    end_scatter = mean([abs(mean(a[-END:]) - mean(b[-END:])) for a, b in pairs])
    rows = []
    for words in dict.fromkeys(words for words, _ in found if words != PLAIN):
        mine = {seed: found[words, seed] for seed in plain if (words, seed) in found}
        if not mine:
            continue
        far = mean([distance(losses, plain[seed]) for seed, losses in mine.items()])
        end = mean([abs(mean(c[-END:]) - mean(plain[s][-END:])) for s, c in mine.items()])
        rows.append(
            {
                "kind": "verdict",
                "settings": words,
                "seeds": len(mine),
                "distance": far,
                "scatter": scatter,
                "ratio": far / scatter if scatter else None,
                "end_distance": end,
                "end_scatter": end_scatter,
                "first_loss": mean([losses[0] for losses in mine.values()]),
                "last_loss": mean([mean(losses[-END:]) for losses in mine.values()]),
                "plain_last_loss": mean([mean(losses[-END:]) for losses in plain.values()]),
                "within": far <= scatter and end <= end_scatter,
            }
        )
    return rows


def _start(task: dict[str, Any]) -> tuple[subprocess.Popen[str], IO[str]]:
    from bench_runner import configure
    from bench_runner.arguments import parse_settings

    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
    environment.setdefault("OMP_NUM_THREADS", "2")
    settings = parse_settings(task["settings"].removesuffix(f",{ROUNDED}"))
    environment |= configure.environment(settings, task.get("capability"))
    if settings.sharding is not None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        environment |= {"RANK": "0", "LOCAL_RANK": "0", "WORLD_SIZE": "1"}
        environment |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    printed = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115  # read at the end
    words = [sys.executable, __file__, "--one", json.dumps(task), "--out", os.devnull]
    return subprocess.Popen(
        words, stdout=printed, stderr=subprocess.STDOUT, text=True, env=environment
    ), printed


def _finish(
    task: dict[str, Any], process: subprocess.Popen[str], output: IO[str], began: float
) -> dict[str, Any]:
    with output:
        output.seek(0)
        printed = output.read().splitlines()
    losses = next(
        (json.loads(line[7:]) for line in reversed(printed) if line.startswith("losses ")), None
    )
    row = {"kind": "curve", **task, "wall_s": round(time.monotonic() - began, 1), "losses": losses}
    if losses is None or process.returncode:
        words = [line for line in printed if line.strip()][-6:]
        row |= {"losses": None, "error": " | ".join(words)[-1500:]}
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--recipe", type=Path, default=RECIPE)
    parser.add_argument("--precision", choices=("bf16", "fp16", "fp32"))
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--passes", type=int, default=PASSES, help="of an optimiser step")
    parser.add_argument("--seeds", type=int, default=4, help="of plain training")
    parser.add_argument("--each", type=int, default=2, help="seeds of each other setting")
    parser.add_argument("--settings", action="append", help="instead of the list; repeatable")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--parallel", type=int, default=4, help="runs at a time; none is timed")
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        print("losses", json.dumps(train(json.loads(given.one))), flush=True)
        return 0
    deadline = time.monotonic() + given.minutes * 60
    common = {
        "recipe": _named(given.recipe),
        "precision": given.precision,
        "steps": given.steps,
        "device": given.device,
        "passes": given.passes,
    }
    if given.device == "cuda":
        common["capability"] = _capability()
    wanted = [(PLAIN, seed) for seed in range(given.seeds)]
    asked = given.settings or SETTINGS
    wanted += [(words, seed) for seed in range(min(given.each, given.seeds)) for words in asked]
    lines = [json.loads(line) for line in _lines(given.out)]
    lines = [line for line in lines if all(line.get(k) == v for k, v in common.items())]
    done = curves(lines)
    todo = [{**common, "settings": w, "seed": s} for w, s in wanted if (w, s) not in done]
    running: list[tuple[dict[str, Any], subprocess.Popen[str], IO[str], float]] = []
    with given.out.open("a") as out:
        while todo or running:
            if time.monotonic() > deadline:
                for _, process, *_ in running:
                    process.kill()
                print(f"out of time: {len(todo) + len(running)} runs are left", file=sys.stderr)
                break
            while todo and len(running) < given.parallel:
                task = todo.pop(0)
                running.append((task, *_start(task), time.monotonic()))
            for each in list(running):
                if each[1].poll() is None:
                    continue
                running.remove(each)
                row = _finish(*each)
                lines.append(row)
                print(json.dumps(row), file=out, flush=True)
                told = {k: v for k, v in row.items() if k not in ("losses", "recipe")}
                ends = row["losses"] and (round(row["losses"][0], 4), round(row["losses"][-1], 4))
                print(json.dumps({**told, "from_to": ends}), flush=True)
            time.sleep(0.2)
        rows = verdicts(curves(lines))
        for row in rows:
            print(json.dumps(row), file=out, flush=True)
            print(json.dumps(row), flush=True)
    complete = set(wanted) <= set(curves(lines))
    return 0 if complete and rows and all(row["within"] for row in rows) else 1


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.exists() else []


def _capability() -> str | None:
    from bench_runner import hardware

    gpus = hardware.machine(Path()).gpus
    return gpus[0].compute_capability if gpus else None


if __name__ == "__main__":
    sys.exit(main())
