"""The options of ``advisor predict``: read from what was typed, and written as a command again."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping, Sequence
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
from bench_runner.settings.paper_space import even_batch
from bench_runner.typed_numbers import plain

if TYPE_CHECKING:
    from advisor.prediction.model.targets import Target
    from advisor.prediction.physics.memory import Wanted
    from advisor.prediction.predict_one import Prediction
    from advisor.ranking.fine_tuning import FineTuning
    from bench_runner.recipes import Recipe
    from price_catalog.model import Gpu


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
        compiled=_of_others(options, "compiled", _yes(options.compiled, "--compiled")),
        fused=_of_others(options, "attention", _fused(options.attention)),
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
    if sharding is None or not sharding.startswith("fsdp"):
        return answer
    from bench_runner.records.measurement import SHARDINGS, one_of

    fsdp = one_of(sharding, SHARDINGS, "sharding")
    settings, *fitting = (
        None if each is None else replace(each, sharding=fsdp)
        for each in (answer.settings, *answer.fitting)
    )
    kept = tuple(each for each in fitting if each is not None)
    said = (*answer.assumptions, "FSDP as fast as ZeRO of the same stage")
    return replace(answer, settings=settings, fitting=kept, assumptions=said)


def without_host_memory(answer: Prediction) -> Prediction:
    """The same where the host's memory was told and is not assumed."""
    rest = tuple(words for words in answer.assumptions if " of host memory " not in words)
    return replace(answer, assumptions=rest)


def _of_others(options: argparse.Namespace, name: str, value: bool | None) -> bool | None:
    """What is said of other people's programs: ours is known."""
    if value is not None and options.software == "ours":
        raise InputError(f"--{name} is of other software: add --software plain")
    return value


def _fused(text: str | None) -> bool | None:
    return (
        None if text is None else parse_choice(text, ("fused", "eager"), "--attention") == "fused"
    )


def _yes(text: str | None, option: str) -> bool | None:
    return None if text is None else parse_choice(text, ("yes", "no"), option) == "yes"


def check_divides(micro: int | None, batch: int, count: int) -> None:
    """Raises InputError where passes of so many samples do not make the batch: another batch is
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


def amount(text: str | None, option: str, *units: str) -> float | None:
    """``300B`` as 3e11. Raises InputError."""
    return None if text is None else parse_count(text, option, "300B", units)


def fine_tuning_of(options: argparse.Namespace) -> FineTuning | None:
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


_COUNT_FIRST = re.compile(r"(?P<count>\d{1,4})\s*[x\u00d7*]\s*(?P<gpu>.+)", re.IGNORECASE)
_COUNT_LAST = re.compile(r"(?P<gpu>.+?)\s*[x\u00d7*]\s*(?P<count>\d{1,4})", re.IGNORECASE)


def gpu_of(text: str, gpus: Mapping[str, Gpu]) -> Gpu:
    """The GPU of that name. Raises ValueError, which says how several are asked for."""
    from price_catalog.gpu_names import find_gpu, normalise

    for pattern in (_COUNT_FIRST, _COUNT_LAST):
        several = pattern.fullmatch(text.strip()) if len(text) < 80 else None
        if several is not None and normalise(several["gpu"]) in gpus:
            raise ValueError(
                f'--gpu {shown(text)} says how many, too: write --gpu "{several["gpu"]}" --count '
                f"{several['count']}"
            )
    return find_gpu(text, gpus)


def bench_command(options: argparse.Namespace, target: Target, count: int) -> str:
    """What to type to measure it: a model that only a file describes has to be kept first."""
    name = options.keep or options.model
    recipe = target.recipe
    batch = target.workload.batch_size
    if target.workload.frozen_bytes < 2.0:  # of weights of 4 bits, which are not timed here
        return f"advisor bench --name {quoted(options.keep or 'my-run')} -- COMMAND"
    if batch >= count and batch % count:  # which no search would measure
        words = [quoted(word) for word in options.typed]
        keep = "--force" if options.keep is not None else "--keep my-model"
        return " ".join(["advisor", *words, f"--batch {even_batch(batch, count)}", keep])
    if options.keep is None:
        if recipe is None or not _is_as_known(options, target):
            words = [quoted(word) for word in options.typed]
            return " ".join(["advisor", *words, "--keep my-model"])
        name = _known_name(options, recipe)
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
    if options.keep is not None and not options.force:
        flags.append("--force")  # it is kept by now
    return " ".join(["advisor", *(quoted(word) for word in options.typed), *flags])


def _machines(count: int) -> int | None:
    """Machines of eight GPUs for ``count`` GPUs; None if one is enough or they do not divide."""
    return None if count <= GPUS_A_MACHINE or count % GPUS_A_MACHINE else count // GPUS_A_MACHINE


def _is_as_known(options: argparse.Namespace, target: Target) -> bool:
    """Whether the model's name alone says what was asked: no file, no training of one's own."""
    names = (
        *("tokens", "images", "batch", "sequence_length", "image_size", "precision"),
        "parameters",
    )
    changes = [getattr(options, name) for name in names]
    recipe = target.recipe
    called = () if recipe is None else (recipe.recipe_id, recipe.name.partition(", ")[0].casefold())
    named = options.model.casefold() in called
    return named and all(word is None for word in changes)


def _known_name(options: argparse.Namespace, recipe: Recipe) -> str:
    """Of a model whose name says what was asked, its fine-tuning in it."""
    name: str = recipe.recipe_id
    return name if options.tuning is None else options.tuning.of(name)


def rank_command(options: argparse.Namespace, target: Target, gpu_id: str) -> str | None:
    """What to type to see which machines hold the GPU; None for a model that only a file, or what
    was typed beside its name, describes."""
    recipe = target.recipe
    name = options.keep
    if name is None and recipe is not None and _is_as_known(options, target):
        name = _known_name(options, recipe)
    if name is None or options.fabric is not None:
        return None
    return f"advisor rank --model {quoted(name)} --gpus {quoted(gpu_id)}"
