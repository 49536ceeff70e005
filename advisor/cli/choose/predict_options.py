"""The options of ``advisor predict``: read from what was typed, and written as a command again."""

from __future__ import annotations

import argparse
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.answers.checklist import quoted
from advisor.cli.command import typed_fine_tuning
from advisor.ranking.fine_tuning import parted, read_data
from advisor.typed_input import (
    InputError,
    parse_choice,
    parse_count,
    parse_positive,
    parse_samples,
    parse_whole,
    shown,
)
from bench_runner.settings.batch_and_sharding import even_batch

if TYPE_CHECKING:
    from advisor.prediction.model.askable_models import Ask, Target
    from advisor.prediction.physics.memory import Wanted
    from advisor.prediction.predict_one import Prediction
    from advisor.ranking.fine_tuning import FineTuning


STAGES = {
    "none": 0,
    "zero-1": 1,
    "zero-2": 2,
    "zero-3": 3,
    "fsdp-shard-grad-op": 2,
    "fsdp-full-shard": 3,
}
"""What each word of --sharding shards; for the prediction ZeRO and FSDP are one."""
_MOST_HOST_GIB = 1e6
GPUS_A_MACHINE = 8
MOST_ASSUMED_GIB = 4096.0
"""Host memory that a machine is assumed to have at most where a model fits by it alone."""


def wanted_settings(options: argparse.Namespace, count: int) -> Wanted:
    """Settings and host memory as asked. Raises InputError."""
    from advisor.prediction.physics.memory import HOST_GIB_A_GPU, Wanted

    host, sharding = HOST_GIB_A_GPU, sharding_asked(options)
    if options.host_memory is not None:
        all_gib = parse_positive(options.host_memory, "host memory", "GiB", _MOST_HOST_GIB)
        host = all_gib / min(count, GPUS_A_MACHINE)
    if sharding is not None and sharding not in STAGES:
        raise InputError(f"--sharding {shown(options.sharding)} is not one of {', '.join(STAGES)}")
    return Wanted(
        host_gib=host,
        stage=None if sharding is None else STAGES[sharding],
        checkpointing=_yes(options.checkpointing, "--checkpointing"),
        offloading=_yes(options.offloading, "--offloading"),
        micro_batch_size=samples(options.micro_batch, "--micro-batch"),
    )


_CALLED = {stage.replace("-", ""): stage for stage in STAGES} | {
    "ddp": "none",
    "zero0": "none",
    "fsdp": "fsdp-full-shard",  # which is what FSDP does where nothing is said
    "fullshard": "fsdp-full-shard",
    "shardgradop": "fsdp-shard-grad-op",
}
"""What else they are called, without what parts the words."""


def sharding_asked(options: argparse.Namespace) -> str | None:
    """As it is spelled in settings, known or not."""
    if options.sharding is None:
        return None
    word = "".join(options.sharding.casefold().replace("_", " ").replace("-", " ").split())
    return _CALLED.get(word, word)


def named_as_asked(answer: Prediction, sharding: str | None) -> Prediction:
    """The settings with FSDP where it was asked for: of one stage it and ZeRO are predicted alike,
    and written as ZeRO."""
    if sharding is None or not sharding.startswith("fsdp") or answer.settings is None:
        return answer
    from bench_runner.records.measurement import SHARDINGS, one_of

    settings = replace(answer.settings, sharding=one_of(sharding, SHARDINGS, "sharding"))
    said = (*answer.assumptions, "FSDP as fast as ZeRO of the same stage")
    return replace(answer, settings=settings, assumptions=said)


def _yes(text: str | None, option: str) -> bool | None:
    return None if text is None else parse_choice(text, ("yes", "no"), option) == "yes"


def check_divides(micro: int | None, batch: int, count: int) -> None:
    """Raises InputError where passes of this size do not make the batch: another batch is
    another training."""
    if micro is None or micro * count > batch:
        return  # what is too large is refused where it is predicted
    even = even_batch(batch, count)
    if even % (micro * count) == 0:
        return
    near = next(each for each in range(micro, 0, -1) if even % (each * count) == 0)
    gpus = "1 GPU" if count == 1 else f"{count} GPUs"
    instead = "" if even == batch else f", which they share instead of {batch:,}"
    raise InputError(
        f"--micro-batch {micro} does not divide the batch of {even:,} on {gpus}{instead}: "
        f"give one that does, such as {near}"
    )


def settings_named(options: argparse.Namespace) -> bool:
    """Whether settings are asked for that what was measured may not have had."""
    named = (options.micro_batch, options.sharding, options.checkpointing, options.offloading)
    return any(word is not None for word in named)


def typed_ask(options: argparse.Namespace) -> Ask:
    """How the model is to be trained. Raises InputError."""
    from advisor.prediction.model.askable_models import Ask

    tuning = _fine_tuning(options)

    def amount(text: str | None, option: str, unit: str) -> float | None:
        return None if text is None else parse_count(text, option, "300B", (unit,))

    return Ask(
        tokens=amount(options.tokens, "--tokens", "tokens"),
        images=amount(options.images, "--images", "images"),
        batch_size=samples(options.batch, "--batch"),
        sequence_length=whole(options.sequence_length, "--sequence-length", "tokens"),
        tuning=tuning,
        image_size=whole(options.image_size, "--image-size", "pixels", "px"),
        precision=options.precision and options.precision.strip().casefold(),
    )


def _fine_tuning(options: argparse.Namespace) -> FineTuning | None:
    """What was typed of it, or what the model's name says, which is taken off it; --tokens or
    --images may say how much. Raises InputError."""
    options.model, named = parted(options.model)
    seen = options.tokens if options.tokens is not None else options.images
    if options.data is not None and seen is not None:
        raise InputError("--data and --tokens both say how long: leave one out")
    tuning = typed_fine_tuning(options) or named
    if tuning is not None and seen is not None:
        data, length = read_data(seen)
        tuning = replace(tuning, data=data, length=length)
        options.tokens = options.images = None
    options.tuning = tuning
    return tuning


def whole(text: str | None, option: str, *units: str) -> int | None:
    """A count such as of GPUs; None where nothing was typed. Raises InputError."""
    return None if text is None else parse_whole(text, option, units)


def samples(text: str | None, option: str) -> int | None:
    """How many samples. Raises InputError."""
    return None if text is None else parse_samples(text, option)


Commands = tuple[str, str | None]
"""To measure it, where a model that only a file describes has to be kept first; and to see which
machines hold the GPU, None for a model that only a file, or what was typed beside its name,
describes."""


def commands_of(
    options: argparse.Namespace, target: Target, gpu_id: str, count: int, *, known: bool
) -> Commands:
    """What to type next. ``known``: whether the model's name alone says what was asked."""
    name: str | None = options.keep
    if name is None and known and target.recipe is not None:
        recipe_id = target.recipe.recipe_id
        name = recipe_id if options.tuning is None else options.tuning.of(recipe_id)
    rank = None
    if name is not None and options.fabric is None:
        rank = f"advisor rank --model {quoted(name)} --gpus {quoted(gpu_id)}"
    batch = target.workload.batch_size
    again = " ".join(["advisor", *(quoted(word) for word in options.typed)])
    if target.workload.frozen_bytes < 2.0:  # of weights of 4 bits, which are not timed here
        bench = f"advisor bench --name {quoted(options.keep or 'my-run')} -- COMMAND"
    elif batch >= count and batch % count:  # which no search would measure
        keep = "--force" if options.keep is not None else "--keep my-model"
        bench = f"{again} --batch {even_batch(batch, count)} {keep}"
    elif name is None:
        bench = f"{again} --keep my-model"
    else:
        nodes = options.nodes if options.fabric is not None else None
        if nodes is None and count > GPUS_A_MACHINE and count % GPUS_A_MACHINE == 0:
            nodes = count // GPUS_A_MACHINE
        several = f" --nodes {nodes} --on slurm" if nodes is not None else ""
        bench = f"advisor bench --model {quoted(name)} --gpus {count}{several}"
    return bench, rank
