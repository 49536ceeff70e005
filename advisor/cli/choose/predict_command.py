"""``advisor predict``: does a model fit a machine, how long would it train, and how sure is that.

There is no answer where the model does not fit, or is too far from everything measured.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from advisor.answers.checklist import of_typed_store
from advisor.answers.prediction.predicted_time import as_object, as_text
from advisor.cli.choose.predict_options import (
    GPUS_A_MACHINE,
    MOST_ASSUMED_GIB,
    STAGES,
    Commands,
    check_divides,
    commands_of,
    named_as_asked,
    settings_named,
    sharding_asked,
    typed_ask,
    wanted_settings,
    whole,
)
from advisor.cli.command import (
    ANSWERED,
    MOST_MACHINES,
    NO_ANSWER,
    add_fine_tuning,
    add_format,
    network_of,
    open_store,
    terminal_width,
)
from advisor.typed_input import InputError, parse_count, shown
from price_catalog.builds import GPU_COUNTS

if TYPE_CHECKING:
    from advisor.prediction.fitted import Fitted
    from advisor.prediction.model.askable_models import Target
    from advisor.prediction.own_training import OwnTraining
    from advisor.prediction.predict_one import MeasuredTime, Prediction
    from advisor.store import Store
    from price_catalog.model import Gpu


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The flags of the command."""
    add = parser.add_argument
    add("--model", help="a recipe, a .toml, a config.json or its folder, or a timm name")
    add("--gpu", help="a GPU of the catalogue, such as H100")
    add("--count", default="1", metavar="N", help="how many GPUs (default: 1)")
    add("--nodes", default="1", metavar="N", help="machines that share the GPUs (default: 1)")
    add("--fabric", metavar="NET", help="between them: ethernet-25, infiniband-ndr and others")
    add("--tokens", metavar="T", help="tokens of the whole run, such as 300B")
    add("--images", metavar="I", help="images of the whole run, such as 1.28B")
    add("--batch", metavar="B", help="samples an optimiser step, over all GPUs")
    add_fine_tuning(parser)
    add("--sequence-length", metavar="L", help="tokens a sample")
    add("--image-size", metavar="P", help="pixels a side")
    add("--precision", metavar="P", help="fp16, bf16 or fp32")
    add("--parameters", metavar="P", help="where only a size is known: with --model FAMILY")
    add("--method", default="optimal", help="optimal (default), free-lunch or naive")
    add("--host-memory", metavar="G", help="of each machine, such as 128GiB (default: 64 a GPU)")
    add("--micro-batch", metavar="M", help="samples a pass and GPU (default: what fits)")
    add("--sharding", metavar="S", help=f"{', '.join(STAGES)} (default: what is fastest)")
    add("--checkpointing", metavar="YES", help="activation checkpointing: yes or no")
    add("--offloading", metavar="YES", help="optimiser states in host memory: yes or no")
    add("--software", default="ours", metavar="WHOSE", help="ours (default), plain or tuned")
    add("--details", action="store_true", help="what it rests on, too, and the settings")
    add_format(parser, csv=False)
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

    def fitted() -> Fitted:
        with store.reading() as reader:
            return fit_with(reader.own_records(), reader.own_definitions().models)

    return run_with(options, fitted, store)


def run_with(options: argparse.Namespace, load_fit: Callable[[], Fitted], store: Store) -> int:
    """The same with a fit of the caller's.

    ``load_fit`` is called once the input is known.
    """
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
        found = _answered(options, load_fit, store)
    except ValueError as error:
        raise InputError(str(error)) from None
    if found is None:
        return ANSWERED
    gpu, answer, name, commands = found
    if options.format == "json":
        from advisor.tables.plain_values import to_json

        print(to_json(as_object(answer, name, *commands)))
    else:
        answer = replace(answer, gpu=gpu.short_name)  # as the ranking's table has it
        how = {"details": options.details, "width": terminal_width()}
        print(as_text(answer, name, *commands, **how))
    return ANSWERED if answer.measured or answer.training_days is not None else NO_ANSWER


def _answered(
    options: argparse.Namespace, load_fit: Callable[[], Fitted], store: Store
) -> tuple[Gpu, Prediction, str, Commands] | None:
    """The GPU, what is answered of it, what a person calls the model, and what to type next; None
    where a model was kept alone. Raises ValueError."""
    from advisor.prediction.physics.chip import chip_of
    from advisor.prediction.physics.memory import SOFTWARE
    from advisor.prediction.predict_one import predict
    from advisor.ranking.fabric import parse_fabric
    from advisor.ranking.typed_question import parse_software
    from bench_runner.records.measurement import one_of
    from price_catalog.gpu_names import find_gpu, index_gpus
    from price_catalog.load import load_catalog

    gpu = None
    if options.gpu is not None:
        gpu = find_gpu(options.gpu, index_gpus(load_catalog().gpus))
    count = whole(options.count, "--count", "gpus", "gpu") or 1
    machines, network = network_of(options.nodes, options.fabric, MOST_MACHINES)
    if count % machines:
        raise InputError(
            f"{count} GPU{'s'[: count > 1]} cannot be shared by {machines} machines alike: --count "
            f"is of all machines together, such as {machines * 4}"
        )
    try:
        target = _target(options, store)
    except ValueError:
        named = options.model.casefold()
        trainings = store.own_definitions().trainings
        timed = next((own for own in trainings if named in own.called), None)
        if timed is None or gpu is None:
            raise
        bench = f"advisor bench --name {timed.recipe_id} --steps {timed.steps} -- COMMAND"
        rank = f"advisor rank --model {timed.recipe_id} --gpus {gpu.gpu_id}"
        return gpu, _timed_elsewhere(timed, gpu, count, options), timed.name, (bench, rank)
    if options.keep is not None:
        target = _keep(target, options.keep, options.force, store)
    if gpu is None:
        return None
    each = min(count // machines, GPUS_A_MACHINE)
    software = one_of(parse_software(options.software), SOFTWARE, "software")
    wanted = wanted_settings(options, each)
    check_divides(wanted.micro_batch_size, target.workload.batch_size, count)
    known, measured = _known(store, target, gpu, count, options)
    plain = network is None and software == "ours" and not settings_named(options)
    answer_with = partial(
        predict,
        *(target, chip_of(gpu), count, load_fit()),
        method=options.method,
        software=software,
        machines=machines,
        network=None if network is None else parse_fabric(network),
        measured=measured if plain else (),
    )
    answer = answer_with(wanted=wanted)
    if options.host_memory is None and answer.host_gib_needed is not None and not answer.fits:
        # It is not said how much there is: where a machine can have it, what it needs is assumed.
        best = answer_with(wanted=replace(wanted, host_gib=MOST_ASSUMED_GIB / each))
        if best.training_days is not None and best.host_gib_needed is not None:
            answer = answer_with(wanted=replace(wanted, host_gib=best.host_gib_needed))
        else:
            assumed = "are assumed (--host-memory states yours)"
            answer = replace(answer, reason=answer.reason.replace("are there", assumed))
    elif options.host_memory is not None:  # which is then not assumed
        rest = (words for words in answer.assumptions if " of host memory " not in words)
        answer = replace(answer, assumptions=tuple(rest))
    name = answer.target if target.recipe is None else target.recipe.name
    commands = commands_of(options, target, gpu.gpu_id, count, known=known)
    return gpu, named_as_asked(answer, sharding_asked(options)), name, commands


def _timed_elsewhere(
    own: OwnTraining, gpu: Gpu, count: int, options: argparse.Namespace
) -> Prediction:
    """A training of the user's own on another machine. Raises InputError."""
    from advisor.prediction.own_training import as_prediction
    from advisor.prediction.shipped_predictions import shipped_fit

    fixed = ("micro_batch", "sharding", "checkpointing", "offloading", "host_memory", "tokens")
    for name in (*fixed, "images", "batch", "precision", "fabric", "keep"):
        if getattr(options, name) is not None:
            raise InputError(
                f"--{name.replace('_', '-')} cannot be changed of {own.recipe_id}, which was timed "
                "as it runs: change your command and time it again"
            )
    return as_prediction(own, gpu, count, shipped_fit().costs)


def _target(options: argparse.Namespace, store: Store) -> Target:
    """What the words name. Raises ValueError."""
    from advisor.prediction.model.askable_models import target_of_size
    from advisor.prediction.model.resolve import resolve
    from bench_runner.recipes import load_recipes
    from bench_runner.typed_numbers import count_words

    ask = typed_ask(options)
    if options.parameters is None:
        try:
            return resolve(
                options.model, ask, load_recipes(), lambda: store.own_definitions().models
            )
        except ValueError:
            name = options.model.casefold()
            if (why := store.own_definitions().uncounted.get(name)) is None:
                raise
            raise ValueError(
                f"your model {name} is counted no longer: {why}; keep it again: advisor predict "
                f"--model FILE --keep {name} --force"
            ) from None
    units = ("parameters", "params")
    parameters = parse_count(options.parameters, "--parameters", "300B", units)
    article = "An" if options.model.casefold().startswith("e") else "A"
    name = f"{article} {options.model} of {count_words(parameters)} parameters"
    return target_of_size(name, options.model, parameters, ask)


def _known(
    store: Store, target: Target, gpu: Gpu, count: int, options: argparse.Namespace
) -> tuple[bool, tuple[MeasuredTime, ...]]:
    """Whether the model's name alone says what was asked, and what was measured of this very
    training on these GPUs, synchronised, the fastest first."""
    from advisor.prediction.predict_one import MeasuredTime
    from advisor.ranking.times import as_elsewhere
    from bench_runner.recipes import recipe_hash

    recipe, method = target.recipe, options.method
    if recipe is None:
        return False, ()
    if options.tuning is not None:
        changes = (options.batch, options.sequence_length, options.image_size, options.precision)
        called = (recipe.recipe_id, recipe.name.partition(", ")[0].casefold())
        return options.model.casefold() in called and not any(changes), ()
    with store.reading() as reader:
        models = {model.recipe_id: model.recipe_hash for model in reader.models()}
        recipe_id = target.workload.workload_id
        if models.get(recipe_id) != recipe_hash(recipe):
            return False, ()
        times = reader.times(recipe_id, gpu_id=gpu.gpu_id, gpu_count=count, status="ok")
    return True, tuple(
        MeasuredTime(
            training_days=time.training_days,
            settings=time.settings,
            source_id=time.source_id,
            measured_on=None if time.measured_on is None else time.measured_on.isoformat(),
            here=time.rests_on == "measured-here",
            method=time.method,
            training_days_low=time.training_days_low,
            training_days_high=time.training_days_high,
            peak_memory_gib=time.peak_memory_gib,
        )
        for time in map(as_elsewhere, sorted(times, key=lambda time: time.training_days or 0.0))
        if time.timing == "synchronised"
        and time.method in (_TUNED if method == "optimal" else (method,))
        and time.training_days
        and time.node_count == 1
    )


_TUNED = ("free-lunch", "memory-saving", "optimal")
"""What trains the same model with settings that somebody would choose."""


def _keep(target: Target, name: str, force: bool, store: Store) -> Target:
    """Keep what was asked about, and what it is called from now on. Raises ValueError."""
    from advisor.prediction.model.own_model import own_model

    own = own_model(target, name)
    predicted = store.keep_model(own, force=force)
    recipe_id = own.recipe.recipe_id
    then = f"now: {of_typed_store(f'advisor rank --model {recipe_id}')}"
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
