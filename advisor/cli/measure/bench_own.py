"""``advisor bench -- COMMAND``: times a training of the user's own, which runs unchanged.

stdout holds the answer alone; what the training prints goes to stderr. A training that fails ends
with its own exit code.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from advisor.answers.checklist import of_typed_store
from advisor.cli.command import ANSWERED, CANCELLED, NO_ANSWER, open_store, say, terminal_width
from advisor.typed_input import InputError, parse_whole, shown

if TYPE_CHECKING:
    from bench_runner.own_command.own_run import OwnRun

OF_PROCESSORS = "a time of processors says nothing of GPUs"
_OF_A_RECIPE = ("model", "gpus", "minutes", "records", "work", "on")


def run(options: argparse.Namespace, command: Sequence[str]) -> int:
    """Run, time, print, keep. Raises InputError and StoreError."""
    from bench_runner.launch.hardware import slice_words
    from bench_runner.launch.processes import at_signals
    from bench_runner.own_command.own_run import measure

    steps = _checked(options, command)
    if (words := slice_words(os.environ.get("CUDA_VISIBLE_DEVICES"))) is not None:
        raise InputError(words)
    if options.name is not None and _on_processors(options.device):
        say(f"advisor: --name keeps nothing of this run: {OF_PROCESSORS}")
    stop = Event()
    try:
        with at_signals(stop.set):
            ended = measure(command, stop=stop, say=lambda text: say(f"advisor: {text}"))
    except ValueError as error:
        raise InputError(str(error)) from None
    if ended.cancelled:
        say("advisor: cancelled; nothing of the training is left")
        return CANCELLED
    if ended.run is None:
        if ended.reason is not None:
            say(f"advisor: {ended.reason}")
            return NO_ANSWER
        say(f"advisor: the training failed with exit code {ended.code}: its own words are above")
        return ended.code if ended.code > 0 else 128 - ended.code
    steps = steps or ended.run.max_steps
    _print(ended.run, steps, options.format)
    _keep(options, ended.run, steps)
    return ANSWERED


def _on_processors(device: str) -> bool:
    """Whether it is known before that the training finds no GPU, NVIDIA's or AMD's."""
    visible = os.environ.get("CUDA_VISIBLE_DEVICES")
    no_gpu = shutil.which("nvidia-smi") is None and not Path("/dev/kfd").exists()
    return device == "cpu" or no_gpu or visible in ("", "-1")


def _checked(options: argparse.Namespace, command: Sequence[str]) -> int | None:
    """How many steps the training makes, as typed. Raises InputError before anything runs."""
    from advisor.prediction.model.own_model import name_of_own
    from advisor.prediction.own_training import MOST_STEPS

    if not command:
        raise InputError(
            "no command after --: write how you start your training, such as "
            "advisor bench -- python train.py"
        )
    for name in _OF_A_RECIPE:
        if getattr(options, name) is not None:
            flag = name.replace("_", "-")
            raise InputError(f"--{flag} goes without a command of your own after --: leave it out")
    if options.name is not None:
        try:
            recipe_id, _ = name_of_own(options.name, "--name")
        except ValueError as error:
            raise InputError(str(error)) from None
        _check_free(options, recipe_id)
    if options.steps is None:
        return None
    steps = parse_whole(options.steps, "--steps", ("steps", "step"))
    if not 1 <= steps <= MOST_STEPS:
        raise InputError(f"--steps {shown(options.steps)} is no training: give 1 to {MOST_STEPS:,}")
    return steps


def _check_free(options: argparse.Namespace, recipe_id: str) -> None:
    """Raise InputError where another model has the name: before the training runs."""
    store = open_store(options)
    with store.reading() as reader:
        models = {model.recipe_id: model for model in reader.models()}
    found = models.get(recipe_id)
    if found is not None and found.family != "own":
        whose = "a model that ships" if found.origin == "shipped" else "a model that you keep"
        raise InputError(f"--name {recipe_id} is {whose}: give your training another name")


def _print(run: OwnRun, steps: int | None, form: str) -> None:
    from advisor.answers.prediction.own_run_answer import own_run_object, own_run_text

    if form == "json":
        from advisor.tables.plain_values import to_json

        print(to_json(own_run_object(run, steps)))
    elif form == "csv":
        from advisor.tables.table_formats import render_rows

        parts = [(kind, s, s / run.step_s) for kind, s in run.seconds.items()]
        names = ("kind", "seconds", "share")
        print(render_rows([dict(zip(names, p, strict=True)) for p in parts], form, names))
    else:
        print(own_run_text(run, steps, terminal_width()))


def _keep(options: argparse.Namespace, run: OwnRun, steps: int | None) -> None:
    """Keep it under its name, and say how to rank it, or what is missing."""
    from advisor.prediction.own_training import own_training

    if run.gpu == "cpu":
        say(f"advisor: not kept: {OF_PROCESSORS}; run it on one")
        return
    if options.name is None or steps is None:
        flags = {"--name my-run": options.name, "--steps N": steps}
        missing = " and ".join(flag for flag, value in flags.items() if value is None)
        say(f"advisor: not kept: add {missing} to rank GPUs for it")
        return
    try:
        own = own_training(run, options.name, steps, date.today())
        predicted = open_store(options).keep_model(own)
    except ValueError as error:
        say(f"advisor: not kept: {error}")
        return
    command = of_typed_store(f"advisor rank --model {own.recipe_id} --budget 40k")
    many = f"with times for {predicted} GPUs and counts"
    say(f"advisor: kept as {own.recipe_id}, {many}; now: {command}")
    if options.share is not None:
        share(options)


def share(options: argparse.Namespace) -> int:
    """Write what others may see of the user's times, show it, and say how to send it."""
    from advisor.store.merge.export_rows import checked_lab

    path = Path(options.share)
    if path.suffix != ".jsonl":
        raise InputError(
            f"--share {shown(options.share)} does not end with .jsonl: write my-times.jsonl"
        )
    lab = checked_lab(options.lab or "anonymous")
    count, left_out = open_store(options).export(path, lab)
    if not count:
        say(
            "you have no times to share yet: measure a model that ships, or a training of your own "
            "with --name and --steps, on a GPU"
        )
        return NO_ANSWER
    sys.stdout.write(path.read_text(encoding="utf-8"))
    stays = f"; {left_out} other records stay here" if left_out else ""
    say(
        f"{path}: {count} lines as {lab}{stays}. Nothing was sent. It holds no name of a person or "
        "a machine, and no path: read it above."
    )
    for line in (
        "To send it, attach it to an issue, or add it to bench_runner/published in a pull request, "
        "with this text:",
        f"  Measured times of {lab}: {count} lines, by advisor bench --share. I may share them "
        "under CC-BY 4.0.",
        f"Who gets it types: advisor merge {path.name}",
    ):
        say(line)
    return ANSWERED
