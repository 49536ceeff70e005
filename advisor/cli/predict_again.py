"""What to type after ``advisor predict``: to measure, to rank, to change what was assumed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from advisor.answers.checklist import quoted
from advisor.cli.predict_settings import GPUS_A_MACHINE
from bench_runner.settings.space import even_batch
from bench_runner.typed_numbers import plain

if TYPE_CHECKING:
    from advisor.prediction.model.targets import Target


def bench_command(options: argparse.Namespace, target: Target, count: int) -> str:
    """What to type to measure it: a model that only a file describes has to be kept first."""
    name = options.keep or options.model
    recipe = target.recipe
    batch = target.workload.batch_size
    if batch >= count and batch % count:  # which no search would measure
        words = [quoted(word) for word in sys.argv[1:]]
        keep = "--force" if options.keep is not None else "--keep my-model"
        return " ".join(["advisor", *words, f"--batch {even_batch(batch, count)}", keep])
    if options.keep is None:
        if recipe is None or not _is_as_known(options, target):
            words = [quoted(word) for word in sys.argv[1:]]
            return " ".join(["advisor", *words, "--keep my-model"])
        name = recipe.recipe_id
    nodes = options.nodes if options.fabric is not None else _machines(count)
    several = f" --nodes {nodes} --on slurm" if nodes is not None else ""
    return f"advisor bench --model {quoted(name)} --gpus {count}{several}"


def assumptions_said(
    options: argparse.Namespace,
    target: Target,
    count: int,
    assumptions: Sequence[str],
    host_gib: float,
) -> str | None:
    """The same question with what was assumed written out as flags, for the user to change; None
    where no flag says it."""
    recipe = target.recipe
    flags = []
    if any(words.startswith("sequences of ") for words in assumptions):
        flags.append(f"--sequence-length {target.workload.tokens}")
    if recipe is not None and any(words.startswith("images of ") for words in assumptions):
        flags.append(f"--image-size {recipe.training.image_size}")
    batch = target.workload.batch_size
    if any(words.startswith("a batch of ") for words in assumptions):
        flags.append(f"--batch {even_batch(batch, count)}")
    elif any(words.startswith("batches of ") for words in assumptions):
        flags.append(f"--batch {batch}")
    if any(words.endswith(" mixed precision") for words in assumptions):
        flags.append(f"--precision {target.workload.precision}")
    if any(" of host memory " in words for words in assumptions):
        flags.append(f"--host-memory {plain(host_gib, 6)}GiB")
    if options.fabric is None and _machines(count):
        flags.append(f"--nodes {_machines(count)} --fabric infiniband-ndr")
    if not flags:
        return None
    return " ".join(["advisor", *(quoted(word) for word in sys.argv[1:]), *flags])


def _machines(count: int) -> int | None:
    """How many machines of eight have so many GPUs; None where one machine may, or none evenly."""
    return None if count <= GPUS_A_MACHINE or count % GPUS_A_MACHINE else count // GPUS_A_MACHINE


def _is_as_known(options: argparse.Namespace, target: Target) -> bool:
    """Whether the model's name alone says what was asked: no file, no training of one's own."""
    names = ("tokens", "images", "batch", "sequence_length", "image_size", "precision")
    changes = [getattr(options, name) for name in (*names, "parameters")]
    recipe = target.recipe
    named = recipe is not None and options.model.casefold() in (
        recipe.recipe_id,
        recipe.name.casefold(),
    )
    return named and all(word is None for word in changes)


def rank_command(options: argparse.Namespace, target: Target, gpu_id: str) -> str | None:
    """What to type to see which machines hold the GPU; None for a model that only a file, or what
    was typed beside its name, describes."""
    recipe = target.recipe
    name = options.keep
    if name is None and recipe is not None and _is_as_known(options, target):
        name = recipe.recipe_id
    if name is None or options.fabric is not None:
        return None
    return f"advisor rank --model {quoted(name)} --gpus {quoted(gpu_id)}"
