"""``advisor predict``: does a model fit a machine, how long would it train, and how sure is that.

There is no answer where the model does not fit, or is too far from everything measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from advisor.answers.before import quoted
from advisor.answers.prediction import as_object, as_text
from advisor.cli.command import (
    ANSWERED,
    MOST_MACHINES,
    NO_ANSWER,
    network_of,
    open_store,
    terminal_width,
)
from advisor.parse import InputError, parse_choice, parse_count, parse_positive, parse_whole, shown
from price_catalog.builds import GPU_COUNTS

if TYPE_CHECKING:
    from advisor.prediction.fitted import Fitted
    from advisor.prediction.model.targets import Target
    from advisor.prediction.physics.chip import Chip
    from advisor.prediction.physics.memory import Wanted
    from advisor.prediction.predict_one import MeasuredTime, Prediction
    from advisor.store import Store


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = parser.add_argument
    add("--model", help="a recipe, a .toml, a config.json or its folder, or a timm name")
    add("--gpu", help="a GPU of the catalogue, such as H100")
    add("--count", default="1", metavar="N", help="how many GPUs (default: 1)")
    add("--nodes", default="1", metavar="N", help="so many machines share the GPUs (default: 1)")
    add("--fabric", metavar="NET", help="between them: ethernet-25, infiniband-ndr and others")
    add("--tokens", metavar="T", help="tokens of the whole run, such as 300B")
    add("--images", metavar="I", help="images of the whole run, such as 1.28B")
    add("--batch", metavar="B", help="samples an optimiser step, over all GPUs")
    add("--sequence-length", metavar="L", help="tokens a sample")
    add("--image-size", metavar="P", help="pixels a side")
    add("--precision", metavar="P", help="fp16, bf16 or fp32")
    add("--parameters", metavar="P", help="where only a size is known: with --model FAMILY")
    add("--method", default="optimal", help="optimal (default), free-lunch or naive")
    add("--host-memory", metavar="G", help="of each machine, such as 128GiB (default: 64 a GPU)")
    add("--micro-batch", metavar="M", help="samples a pass and GPU (default: what fits)")
    add("--sharding", metavar="S", help=f"{', '.join(_STAGES)} (default: what is fastest)")
    add("--checkpointing", metavar="YES", help="activation checkpointing: yes or no")
    add("--offloading", metavar="YES", help="optimiser states in host memory: yes or no")
    add("--details", action="store_true", help="what it rests on, too, and the settings")
    add("--format", default="table", help="table (default) or json")
    add(
        "--keep",
        metavar="NAME",
        help="keep the model under this name, to rank and to plan with, predicted on every GPU",
    )
    add("--force", action="store_true", help="with --keep: replace your model of that name")
    add("--forget", metavar="NAME", help="forget a model that you kept; nothing else is done")


def run(options: argparse.Namespace) -> int:
    """Predict and print, keep or forget. Raises InputError and StoreError."""
    from advisor.prediction.own_records import fit_with

    store = open_store(options)
    return run_with(options, lambda: fit_with(store.own_records(), store.own_models()), store)


def run_with(options: argparse.Namespace, load_fit: Callable[[], Fitted], store: Store) -> int:
    """The same with a fit of the caller's.

    ``load_fit`` is called once the input is known.
    """
    from advisor.prediction.physics.chip import chip_of
    from advisor.prediction.predict_one import beside_measured, predict
    from price_catalog.gpu_names import find_gpu, index_gpus
    from price_catalog.load import load_catalog

    options.format = parse_choice(options.format, ("table", "json"), "--format")
    options.method = options.method.strip().casefold()
    if options.force and options.keep is None:
        raise InputError("--force goes with --keep NAME")
    if options.forget is not None:
        if any(word is not None for word in (options.model, options.gpu, options.keep)):
            raise InputError("--forget NAME goes alone")
        return _forget(options.forget, store)
    if options.model is None:
        sized = options.parameters is not None
        hint = "add --model decoder" if sized else "name a recipe, a config.json or a timm name"
        raise InputError(f"--model is missing: {hint}")
    if options.gpu is None and options.keep is None:
        raise InputError("--gpu is missing: name a GPU such as H100, or keep the model with --keep")
    try:
        chip = None
        if options.gpu is not None:
            chip = chip_of(find_gpu(options.gpu, index_gpus(load_catalog().gpus)))
        count = _whole(options.count, "--count", "gpus", "gpu") or 1
        machines, network = network_of(options.nodes, options.fabric, MOST_MACHINES)
        if count % machines:
            raise InputError(
                f"{count} GPU{'s'[: count > 1]} cannot be shared by {machines} machines alike: "
                "--count is of all "
                f"machines together, such as {machines * 4}"
            )
        target = _target(options, store)
        if options.keep is not None:
            target = _keep(target, options.keep, options.force, store)
        if chip is None:
            return ANSWERED
        each = count // machines
        wanted = _wanted(options, each)
        _check_divides(wanted.micro_batch_size, target.workload.batch_size, count)
        answer = predict(target, chip, each, load_fit(), method=options.method, wanted=wanted)
        answer = _named_as_asked(answer, _sharding(options))
        if options.host_memory is not None:  # which is then not assumed
            rest = tuple(words for words in answer.assumptions if " of host memory " not in words)
            answer = replace(answer, assumptions=rest)
        elif answer.reason.endswith(" of host memory for each"):
            told = f"{answer.reason} (assumed: --host-memory states yours)"
            answer = replace(answer, reason=told)
        if network is None:
            if not _settings_named(options):
                measured = _measured(store, target, chip.gpu_id, count, options.method)
                answer = _from_own(answer, measured, target, chip, wanted)
                answer = beside_measured(answer, measured)
        else:
            from advisor.prediction.predict_machines import over_machines
            from advisor.ranking.fabric import parse_fabric

            answer = over_machines(answer, target, machines, parse_fabric(network))
    except ValueError as error:
        raise InputError(str(error)) from None
    bench = _bench_command(options, target, count)
    rank = _rank_command(options, target, chip.gpu_id)
    said = _assumptions_said(
        options, target, answer.assumptions, wanted.host_gib * min(each, _GPUS_A_MACHINE)
    )
    name = answer.target if target.recipe is None else target.recipe.name
    if options.format == "json":
        from advisor.tables import to_json

        print(to_json(as_object(answer, bench, name, rank, said)))
    else:
        width = terminal_width()
        print(as_text(answer, bench, name, rank, said, details=options.details, width=width))
    return ANSWERED if answer.measured or answer.training_days is not None else NO_ANSWER


def _bench_command(options: argparse.Namespace, target: Target, count: int) -> str:
    """What to type to measure it: a model that only a file describes has to be kept first."""
    name = options.keep or options.model
    recipe = target.recipe
    if options.keep is None:
        if recipe is None or not _is_as_known(options, target):
            words = [quoted(word) for word in sys.argv[1:]]
            return " ".join(["advisor", *words, "--keep my-model"])
        name = recipe.recipe_id
    several = f" --nodes {options.nodes} --on slurm" if options.fabric is not None else ""
    return f"advisor bench --model {quoted(name)} --gpus {count}{several}"


def _assumptions_said(
    options: argparse.Namespace, target: Target, assumptions: Sequence[str], host_gib: float
) -> str | None:
    """The same question with what was assumed written out as flags, for the user to change; None
    where no flag says it."""
    recipe = target.recipe
    flags = []
    if any(words.startswith("sequences of ") for words in assumptions):
        flags.append(f"--sequence-length {target.workload.tokens}")
    if recipe is not None and any(words.startswith("images of ") for words in assumptions):
        flags.append(f"--image-size {recipe.training.image_size}")
    if any(words.startswith("batches of ") for words in assumptions):
        flags.append(f"--batch {target.workload.batch_size}")
    if any(words.endswith(" mixed precision") for words in assumptions):
        flags.append(f"--precision {target.workload.precision}")
    if any(" of host memory " in words for words in assumptions):
        flags.append(f"--host-memory {host_gib:g}GiB")
    if not flags:
        return None
    return " ".join(["advisor", *(quoted(word) for word in sys.argv[1:]), *flags])


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


def _rank_command(options: argparse.Namespace, target: Target, gpu_id: str) -> str | None:
    """What to type to see which machines hold the GPU; None for a model that only a file, or what
    was typed beside its name, describes."""
    recipe = target.recipe
    name = options.keep
    if name is None and recipe is not None and _is_as_known(options, target):
        name = recipe.recipe_id
    if name is None or options.fabric is not None:
        return None
    return f"advisor rank --model {quoted(name)} --gpus {quoted(gpu_id)}"


def _target(options: argparse.Namespace, store: Store) -> Target:
    """What the words name. Raises ValueError."""
    from advisor.prediction.model.resolve import DEFAULT_BATCH, Ask, resolve
    from advisor.prediction.model.targets import Run, target_of_size
    from bench_runner.recipes import load_recipes
    from bench_runner.typed_numbers import count_words

    ask = Ask(
        tokens=_amount(options.tokens, "--tokens", "tokens"),
        images=_amount(options.images, "--images", "images"),
        batch_size=_samples(options.batch, "--batch"),
        sequence_length=_whole(options.sequence_length, "--sequence-length", "tokens"),
        image_size=_whole(options.image_size, "--image-size", "pixels", "px"),
        precision=options.precision and options.precision.strip().casefold(),
    )
    parameters = _amount(options.parameters, "--parameters", "parameters", "params")
    if parameters is None:
        return resolve(options.model, ask, load_recipes(), store.own_models)
    run_ = Run(
        batch_size=ask.batch_size or DEFAULT_BATCH["text"],
        batch_assumed=ask.batch_size is None,
        tokens=ask.tokens,
        images=ask.images,
        sequence_length=ask.sequence_length,
        image_size=ask.image_size,
        precision=ask.precision,
    )
    article = "An" if options.model.casefold().startswith("e") else "A"
    name = f"{article} {options.model} of {count_words(parameters)} parameters"
    return target_of_size(name, options.model, parameters, run_)


def _check_divides(micro: int | None, batch: int, count: int) -> None:
    """Raises InputError where passes of so many samples do not make the batch: another batch is
    another training."""
    of_each = batch // count
    if micro is None or micro > of_each or batch % (micro * count) == 0:
        return  # what is too large is refused where it is predicted
    near = [each for each in range(micro, 0, -1) if batch % (each * count) == 0]
    if not near:
        return  # the batch itself cannot be shared alike, which is told there, too
    gpus = "1 GPU" if count == 1 else f"{count} GPUs"
    raise InputError(
        f"--micro-batch {micro} does not divide the batch of {batch:,} on {gpus}: "
        f"give one that does, such as {near[0]}"
    )


def _settings_named(options: argparse.Namespace) -> bool:
    """Whether settings are asked for that what was measured may not have had."""
    named = (options.micro_batch, options.sharding, options.checkpointing, options.offloading)
    return any(word is not None for word in named)


def _measured(
    store: Store, target: Target, gpu_id: str, count: int, method: str
) -> tuple[MeasuredTime, ...]:
    """What was measured of this very training on these GPUs, synchronised, the fastest first."""
    from advisor.prediction.predict_one import MeasuredTime
    from bench_runner.recipes import recipe_hash

    if target.recipe is None:
        return ()
    with store.reading() as reader:
        models = {model.recipe_id: model.recipe_hash for model in reader.models()}
        recipe_id = target.workload.workload_id
        if models.get(recipe_id) != recipe_hash(target.recipe):
            return ()
        times = reader.times(recipe_id, gpu_id=gpu_id, gpu_count=count, status="ok")
    return tuple(
        MeasuredTime(
            training_days=time.training_days,
            settings=time.settings,
            source_id=time.source_id,
            measured_on=None if time.measured_on is None else time.measured_on.isoformat(),
            here=time.origin == "local" and time.lab is None,
            method=time.method,
        )
        for time in sorted(times, key=lambda time: time.training_days or 0.0)
        if time.timing == "synchronised"
        and time.method in (_TUNED if method == "optimal" else (method,))
        and time.training_days
        and time.node_count == 1
        and time.standing != "unconfirmed"
    )


def _from_own(
    answer: Prediction,
    measured: Sequence[MeasuredTime],
    target: Target,
    chip: Chip,
    wanted: Wanted,
) -> Prediction:
    """What is predicted where a search with the paper's settings was measured: as it is ranked."""
    from advisor.prediction.predict_one import from_own_time, predict
    from advisor.prediction.shipped_predictions import OwnTime, shipped_fit

    searched = (
        time
        for time in measured
        if time.method == "optimal" and (time.settings is None or time.settings.loss != "fused")
    )
    found = next(searched, None)
    if found is None or answer.method != "optimal":
        return answer
    return from_own_time(
        answer,
        OwnTime(days=found.training_days, settings=found.settings),
        target.workload.family,
        lambda: predict(target, chip, answer.gpu_count, shipped_fit(), wanted=wanted),
    )


_TUNED = ("free-lunch", "memory-saving", "optimal")
"""What trains the same model with settings that somebody would choose."""


_STAGES = {
    "none": 0,
    "zero-1": 1,
    "zero-2": 2,
    "zero-3": 3,
    "fsdp-shard-grad-op": 2,
    "fsdp-full-shard": 3,
}
"""What each word of --sharding shards; for the prediction ZeRO and FSDP are one."""
_MOST_HOST_GIB = 1e6
_GPUS_A_MACHINE = 8


def _wanted(options: argparse.Namespace, count: int) -> Wanted:
    """Settings and host memory as asked. Raises InputError."""
    from advisor.prediction.physics.memory import HOST_GIB_A_GPU, Wanted

    host, sharding = HOST_GIB_A_GPU, _sharding(options)
    if options.host_memory is not None:
        whole = parse_positive(options.host_memory, "host memory", "GiB", _MOST_HOST_GIB)
        host = whole / min(count, _GPUS_A_MACHINE)
    if sharding is not None and sharding not in _STAGES:
        raise InputError(f"--sharding {shown(options.sharding)} is not one of {', '.join(_STAGES)}")
    return Wanted(
        host_gib=host,
        stage=None if sharding is None else _STAGES[sharding],
        checkpointing=_yes(options.checkpointing, "--checkpointing"),
        offloading=_yes(options.offloading, "--offloading"),
        micro_batch_size=_samples(options.micro_batch, "--micro-batch"),
    )


_CALLED = {stage.replace("-", ""): stage for stage in _STAGES} | {
    "ddp": "none",
    "zero0": "none",
    "fsdp": "fsdp-full-shard",  # which is what FSDP does where nothing is said
    "fullshard": "fsdp-full-shard",
    "shardgradop": "fsdp-shard-grad-op",
}
"""What else they are called, without what parts the words."""


def _sharding(options: argparse.Namespace) -> str | None:
    """As it is spelled in settings, known or not."""
    if options.sharding is None:
        return None
    word = "".join(options.sharding.casefold().replace("_", " ").replace("-", " ").split())
    return _CALLED.get(word, word)


def _named_as_asked(answer: Prediction, sharding: str | None) -> Prediction:
    """The settings with FSDP where it was asked for: of one stage it and ZeRO are predicted alike,
    and written as ZeRO."""
    if sharding is None or not sharding.startswith("fsdp"):
        return answer
    from bench_runner.records import SHARDINGS, one_of

    fsdp = one_of(sharding, SHARDINGS, "sharding")
    settings, *fitting = (
        None if each is None else replace(each, sharding=fsdp)
        for each in (answer.settings, *answer.fitting)
    )
    kept = tuple(each for each in fitting if each is not None)
    said = (*answer.assumptions, "FSDP as fast as ZeRO of the same stage")
    return replace(answer, settings=settings, fitting=kept, assumptions=said)


def _yes(text: str | None, option: str) -> bool | None:
    return None if text is None else parse_choice(text, ("yes", "no"), option) == "yes"


def _keep(target: Target, name: str, force: bool, store: Store) -> Target:
    """Keep what was asked about, and what it is called from now on. Raises ValueError."""
    from advisor.prediction.model.own_model import own_model

    own = own_model(target, name)
    predicted = store.keep_model(own, force=force)
    recipe_id = own.recipe.recipe_id
    then = f"now: advisor rank --model {recipe_id}"
    if not predicted:
        then = "it fits none of the GPUs, or is too far from everything measured"
    counts = ", ".join(map(str, GPU_COUNTS[:-1]))
    print(
        f"kept {recipe_id} in {store.path}: {predicted} times predicted, of every GPU x {counts} "
        f"and {GPU_COUNTS[-1]}; {then}",
        file=sys.stderr,
    )
    for assumed in target.assumptions:
        print(f"  assumed: {assumed}", file=sys.stderr)
    return replace(target, workload=own.workload)


def _forget(name: str, store: Store) -> int:
    stayed = store.forget_model(name)
    left = f"; {stayed} times measured for it stay" if stayed else ""
    print(f"forgot {shown(name)} in {store.path}{left}", file=sys.stderr)
    return ANSWERED


def _amount(text: str | None, option: str, *units: str) -> float | None:
    """``300B`` as 3e11."""
    return None if text is None else parse_count(text, option, "300B", units)


_SAMPLES = ("samples", "sample", "sequences", "images")


def _whole(text: str | None, option: str, *units: str) -> int | None:
    return None if text is None else parse_whole(text, option, units)


def _samples(text: str | None, option: str) -> int | None:
    """How many samples; a batch in tokens, as some write it, is told how to say it."""
    if text is not None and text.strip().casefold().endswith("tokens"):
        raise InputError(
            f"{option} {shown(text)} is in tokens: write samples, which is the tokens over those "
            "of one sample"
        )
    return _whole(text, option, *_SAMPLES)
