"""What a benchmark will do, in full before it starts; and how its records get into the store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.benchmark.measurement_request import peak_tflops
from advisor.costs.amount_words import minutes_words
from advisor.files import typed_path
from advisor.typed_input import InputError, shown
from bench_runner.recipes import recipe_hash
from bench_runner.settings import paper_space
from bench_runner.typed_numbers import plain
from price_catalog.model import Gpu, Host

if TYPE_CHECKING:
    from advisor.benchmark.measurement_request import MachineState, Request
    from advisor.prediction.model.own_model import OwnModel
    from advisor.prediction.model.targets import Ask
    from advisor.ranking.snapshot import Snapshot
    from advisor.ranking.times import Model
    from advisor.store import Store
    from bench_runner.recipes import Recipe


FEWEST_STEPS = 20
"""Of a training whose steps can be timed: some before they settle, and some after."""
CPU = "cpu"
CPU_REMARK = (
    "a CPU run shows that all of it works; its time is kept as a CPU's and never ranks as a GPU"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A benchmark as it would run: what a person confirms."""

    request: Request
    recipe_id: str
    recipe_name: str
    here: MachineState
    gpu: Gpu | None
    """The GPU in the catalogue; None for a CPU, or where the catalogue does not have it."""
    own_recipe: OwnModel | None
    """The recipe of a file, for the store; None where it ships, where the store has it, or where
    nothing counts its FLOPs."""
    as_kept: str | None
    """What is trained of a model that the user keeps, in words; None for other recipes."""
    labels: tuple[str, ...]
    """The settings that are sure to be tried or left out with a reason, in the space's order."""
    papers_labels: frozenset[str]
    """What the settings of the paper's space are called, whether they are tried or not."""
    settings_count: int
    """How many there are to choose from."""
    estimated_minutes: float
    """At most the minutes that the search may take."""
    store_path: Path

    @property
    def device_words(self) -> str:
        """``2 × NVIDIA H200``, or the CPU's name."""
        if self.request.device == CPU:
            return f"CPU ({self.here.cpu})"
        return f"{self.request.gpu_count} × {self.here.gpus[0].name}"

    @property
    def gpu_word(self) -> str:
        """The device's name as a table has it: the catalogue's, else its own."""
        if self.request.device == CPU:
            return CPU
        return self.here.gpus[0].name if self.gpu is None else self.gpu.name

    @property
    def takes_words(self) -> str:
        """How long it may take, in words; nothing is known of CPUs."""
        minutes = self.request.minutes
        if minutes is not None:
            return f"at most {plain(minutes, 6)} min"
        if self.request.device == CPU:
            return "time not estimated"
        return f"about {minutes_words(self.estimated_minutes)}"

    def remarks(self) -> tuple[str, ...]:
        """What to know before it starts, a sentence each."""
        remarks = list(self.here.concerns)
        if self.request.device == CPU:
            remarks.append(CPU_REMARK)
        elif self.gpu is None:
            remarks.append(
                f"the catalogue has no GPU called {self.here.gpus[0].name}: its times are kept, "
                "but have no MFU and no rank until a row of price_catalog/gpus.csv names it"
            )
        return tuple(remarks)

    def lines(self) -> tuple[tuple[str, str], ...]:
        """What a person confirms, as label and text."""
        request = self.request
        return (
            ("train", f"{self.recipe_name} ({request.recipe})"),
            *((("as kept", self.as_kept),) if self.as_kept is not None else ()),
            ("on", self.device_words),
            ("settings", f"{self.settings_count} ({request.methods}), {request.search} search"),
            ("takes", self.takes_words),
            ("disk", f"{self.here.disk_free_gib:.0f} GiB free for {request.work_directory}"),
            ("records", str(request.records_file)),
            ("store", str(self.store_path)),
        )

    def owned_host(self) -> Host | None:
        """This machine as one that need not be bought, where its times can be ranked."""
        request = self.request
        if self.gpu is None or request.device == CPU:
            return None
        from advisor.costs.own_machines import own_machine

        return own_machine(f"{request.gpu_count} x {self.gpu.name}", (self.gpu,))


def bench_folders() -> tuple[Path, Path]:
    """Where the runner's records and its work lie unless told otherwise, in the user's folders."""
    from platformdirs import user_cache_path, user_data_path

    name = "gpu-grant-advisor"
    return user_data_path(name) / "bench" / "records.jsonl", user_cache_path(name) / "bench"


def make_plan(
    store: Store, request: Request, here: MachineState, *, gpu_count: int | None = None
) -> Plan:
    """Complete a request from the catalogue and from what is here. Raises InputError, StoreError.

    ``gpu_count`` None takes as many GPUs as there are and as share the batch evenly.
    """
    from advisor.ranking.snapshot import take_snapshot
    from price_catalog.gpu_names import index_gpus, normalise

    with store.reading() as reader:
        snapshot = take_snapshot(reader)
    with in_one_line():
        trained = recipe_to_measure(store, snapshot, request.recipe, request.ask)
        recipe, recipe_word, text = trained.recipe, trained.recipe.recipe_id, None
        if trained.file is not None:
            recipe_word = str(trained.file)
        elif trained.text is not None:
            text = trained.text
            # By its hash, so that a run never meets the file of another definition.
            name = f"{recipe_word}-{recipe_hash(recipe)}.toml"
            recipe_word = str(request.work_directory.absolute() / "recipes" / name)
        count = _gpu_count(recipe, request.device, here, gpu_count)
        tries = tries_of(request, recipe, count)
    gpu = None
    if request.device != CPU:
        gpu = index_gpus(snapshot.gpus).get(normalise(here.gpus[0].name))
    minutes = minutes_of(tries, store, recipe, gpu, count)
    return Plan(
        request=replace(
            request,
            recipe=recipe_word,
            recipe_text=text,
            gpu_count=count,
            peak_tflops=peak_tflops(gpu),
        ),
        recipe_id=recipe.recipe_id,
        recipe_name=recipe.name,
        here=here,
        gpu=gpu,
        own_recipe=trained.own,
        as_kept=trained.as_kept,
        labels=tries.labels,
        papers_labels=tries.papers_labels,
        settings_count=tries.settings_count,
        estimated_minutes=minutes if request.minutes is None else min(minutes, request.minutes),
        store_path=store.path,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Trained:
    """The recipe that a request names."""

    recipe: Recipe
    own: OwnModel | None
    """For the store; None where the store has it, or where nothing counts its FLOPs."""
    file: Path | None = None
    """Where the user named one."""
    text: str | None = None
    """A recipe file's content where the runner does not ship the recipe."""
    as_kept: str | None = None
    """What a model that the user keeps became, in words."""


def recipe_to_measure(
    store: Store, snapshot: Snapshot, named: str, ask: Ask | None = None
) -> Trained:
    """A shipped recipe, a model that the user keeps, or a file, fine-tuned where that is asked.
    Raises InputError, ValueError and OSError."""
    from advisor.prediction.model.targets import Ask
    from advisor.ranking.fine_tuning import parted
    from bench_runner.recipes import LARGEST_RECIPE, load_recipe, load_recipes
    from bench_runner.untrusted_text import OutsideError, text_outside

    named, tuning = parted(named)
    if tuning is not None and ask is None:
        ask = Ask(tuning=tuning)
    if ask is not None:
        return _fine_tuned(store, snapshot, named, ask)
    if named.endswith(".toml"):
        path = typed_path(named).absolute()
        recipe = load_recipe(path)
        known = next((m for m in snapshot.models if m.recipe_id == recipe.recipe_id), None)
        if known is not None and known.recipe_hash != recipe_hash(recipe):
            raise InputError(
                f"{path}: the store knows another recipe called {shown(recipe.recipe_id)}: "
                "give this one an id of its own"
            )
        try:
            text = text_outside(path, LARGEST_RECIPE)
        except OutsideError as error:  # a pipe is empty by now
            raise ValueError(f"{path.name} {error}") from None
        return Trained(recipe=recipe, own=_own_model(recipe), file=path, text=text)
    model = snapshot.model(named)
    shipped = {recipe.recipe_id: recipe for recipe in load_recipes()}
    if model.origin == "shipped" and model.recipe_id in shipped:
        return Trained(recipe=shipped[model.recipe_id], own=None)
    if model.own_command is not None:
        raise InputError(
            f"{model.recipe_id} is a training of your own, which no recipe describes: time it by "
            f"{model.own_command}"
        )
    kept = kept_model(store, model)
    text = recipe_text(kept)
    return Trained(recipe=kept.recipe, own=None, text=text, as_kept=kept_words(kept))


def _fine_tuned(store: Store, snapshot: Snapshot, named: str, ask: Ask) -> Trained:
    """A model fine-tuned as asked, under a name of its own. Raises InputError and ValueError."""
    from advisor.prediction.model.own_model import own_model
    from advisor.prediction.model.resolve import resolve
    from bench_runner.recipes import TEXT_FAMILIES, load_recipes

    if not named.endswith((".toml", ".json")):
        family = snapshot.model(named).family
        if family not in TEXT_FAMILIES:
            raise InputError(
                f"fine-tuning is timed here of models of text, and {shown(named)} is none: time "
                "your own training by advisor bench -- python train.py"
            )
    target = resolve(named, ask, load_recipes(), lambda: store.own_definitions().models)
    assert target.recipe is not None  # each that can be asked about is one of text
    rank = target.recipe.training.adapter_rank
    train = "full" if ask.tuning is None else ask.tuning.train
    name = "-".join([target.recipe.recipe_id, train, *([] if rank is None else [f"rank-{rank}"])])
    own = own_model(target, name)
    known = next((m for m in snapshot.models if m.recipe_id == own.recipe.recipe_id), None)
    if known is not None and known.recipe_hash != recipe_hash(own.recipe):
        raise InputError(
            f"you have times of another {known.recipe_id}, of other data or batches: forget it by "
            f"advisor predict --forget {known.recipe_id}, or keep this one under a name of its own "
            "by advisor predict --keep NAME, and give that as --model"
        )
    if (steps := own.recipe.training.training_steps) < FEWEST_STEPS:
        raise InputError(
            f"so few data make {steps} optimiser steps, and {FEWEST_STEPS} are needed to time "
            "one: give more by --data or --epochs, or a smaller --batch"
        )
    words = [kept_words(own), *target.assumptions]
    return Trained(
        recipe=own.recipe,
        own=own if known is None else None,
        text=recipe_text(own),
        as_kept="; ".join(words),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Tries:
    """What a search would do."""

    labels: tuple[str, ...]
    """The settings that are known ahead, in the order of the space."""
    papers_labels: frozenset[str]
    settings_count: int
    trials: float
    """About how many it measures."""


def tries_of(request: Request, recipe: Recipe, gpu_count: int) -> Tries:
    """What ``--methods`` and ``--search`` name on so many GPUs. Raises ValueError."""
    from bench_runner.records.measurement import one_of
    from bench_runner.settings import search, settings_tried
    from bench_runner.settings.search import STRATEGIES

    chosen = settings_tried.settings_of_methods(request.methods, recipe, gpu_count, flash=False)
    strategy = one_of(request.search, STRATEGIES, "--search")
    return Tries(
        labels=tuple(map(paper_space.label, search.named_ahead(chosen, strategy))),
        papers_labels=settings_tried.papers_labels(recipe, gpu_count),
        settings_count=len(chosen),
        trials=search.expected_trials(chosen, strategy),
    )


def minutes_of(
    tries: Tries, store: Store, recipe: Recipe, gpu: Gpu | None, gpu_count: int
) -> float:
    """How long the search takes by the estimate, without a limit; the passes are counted where a
    ranking has a time for these GPUs."""
    pass_s = None
    if gpu is not None:
        with store.reading() as reader:
            times = reader.best_times(recipe.recipe_id, "sound")
        chosen = [t.chosen for t in times if (t.gpu_id, t.gpu_count) == (gpu.gpu_id, gpu_count)]
        if chosen and chosen[0] is not None and chosen[0].training_days is not None:
            pass_s = paper_space.fast_search(
                recipe.family,
                gpu_count,
                compiles=recipe.support.compile,
                days=chosen[0].training_days,
                training_steps=recipe.training.training_steps,
                settings=chosen[0].settings,
            ).pass_s
    return paper_space.estimated_minutes(tries.trials, pass_s)


@contextmanager
def in_one_line() -> Iterator[None]:
    """What is wrong with a recipe, as an InputError of one line."""
    try:
        yield
    except InputError:
        raise
    except (ValueError, OSError) as error:
        raise InputError(" ".join(str(error).split())) from None


def _gpu_count(recipe: Recipe, device: str, here: MachineState, wanted: int | None) -> int:
    if device == CPU:
        count = wanted or 1
    else:
        found = len(here.gpus)
        if not found:
            why = here.no_gpu or "nvidia-smi shows no GPU on this machine: start where the GPUs are"
            raise InputError(
                f"{why}, or rent one (--on sky); --device cpu tries it out, and never ranks as a "
                "GPU"
            )
        if wanted is None:
            batch = recipe.training.batch_size
            wanted = next(n for n in range(found, 0, -1) if batch % n == 0)
        if wanted > found:
            raise InputError(
                f"{wanted} GPUs are asked for, nvidia-smi shows {found}: ask for at most that"
            )
        count = wanted
        names = sorted({gpu.name for gpu in here.gpus[:count]})
        if len(names) > 1:
            raise InputError(
                f"the GPUs differ ({', '.join(names)}), and a time would stand for neither: "
                "choose some of one kind with CUDA_VISIBLE_DEVICES"
            )
    paper_space.micro_batch_sizes(recipe.training.batch_size, count)
    return count


def _own_model(recipe: Recipe) -> OwnModel | None:
    from advisor.prediction.model.own_model import OwnModel, to_text
    from bench_runner.recipe_flops import UncountedArchitectureError

    own = OwnModel(recipe=recipe)
    try:
        to_text(own)
    except UncountedArchitectureError:
        return None
    return own


def kept_model(store: Store, model: Model) -> OwnModel:
    """What is kept of a model of the user's own.

    Raises InputError, one line, where that is not all that a measurement needs.
    """
    definitions = store.own_definitions()
    found = (own for own in definitions.models if own.recipe.recipe_id == model.recipe_id)
    own = next(found, None)
    lack, files = _lack(own, model.recipe_hash), "a recipe .toml"
    if own is None and (why := definitions.uncounted.get(model.recipe_id)):
        lack = f"is counted no longer ({why})"
    if own is None or lack is not None:
        raise InputError(
            f"your model {model.recipe_id} {lack}: keep it again from {files} (advisor predict "
            f"--model FILE --keep {model.recipe_id} --force), or measure a recipe itself (advisor "
            "bench --model FILE.toml)"
        )
    return own


def _lack(own: OwnModel | None, recipe_hash: str) -> str | None:
    """What a measurement needs and a kept model does not say, after the model's name."""
    from bench_runner.recipes import recipe_hash as hash_of

    if own is None:
        return "was kept without its architecture"
    if hash_of(own.recipe) != recipe_hash:
        # A time of it would stand for another recipe than the one that is ranked.
        return (
            "was kept without all of its architecture (only a config_class with plain arguments is "
            "kept whole)"
        )
    architecture, training = own.recipe.architecture, own.recipe.training
    if "attn_implementation" in own.recipe.model.arguments:
        # It may be a kernel on a hub, and a definition from somebody else must fetch nothing.
        return "names an attn_implementation in its architecture, which support.attention is for"
    length = training.sequence_length
    positions = architecture.longest if architecture is not None else None
    if length and positions and positions < length:
        plural = "" if positions == 1 else "s"
        return (
            f"has {positions:,} position{plural} in its architecture and trains on {length:,} "
            "tokens a sample"
        )
    timm = own.recipe.model.timm is not None  # it checkpoints by itself
    if own.recipe.family == "convnet" and not own.recipe.support.fsdp_wrap and not timm:
        # By these names the runner checkpoints a model whose library offers no checkpointing.
        return "says no fsdp_wrap, without which nothing of a convnet is checkpointed"
    return None


def kept_words(own: OwnModel) -> str:
    """``LlamaConfig, 512 samples of 2,048 tokens a step, bf16, adamw``: what a config.json became,
    and what was assumed."""
    from bench_runner.typed_numbers import count_words

    recipe, training = own.recipe, own.recipe.training
    sample = f"{training.image_size} pixels a side"
    if training.sequence_length is not None:
        sample = f"{training.sequence_length:,} tokens"
    built = recipe.model.timm or recipe.model.config_class
    if own.parameters is not None:
        built = f"the usual shape of {count_words(own.parameters)} parameters ({built})"
    return (
        f"{built}, {training.batch_size:,} samples of {sample} a step, "
        f"{training.precision}, {training.optimizer}"
    )


def recipe_text(own: OwnModel) -> str:
    """The recipe file of a kept model. Raises InputError where TOML cannot say it."""
    import tomllib

    import tomli_w

    from advisor.prediction.model.own_model import to_text
    from bench_runner.recipes import recipe_from

    content = json.loads(to_text(own))
    content.pop("parameters", None)
    try:
        text = tomli_w.dumps(content)
        if recipe_from(tomllib.loads(text.encode().decode()), Path("definition")) == own.recipe:
            return text
    except (ValueError, TypeError):  # a list of nothing, half of a character
        pass
    raise InputError(
        f"your model {own.recipe.recipe_id} cannot be written as a recipe file: measure a "
        "recipe itself (advisor bench --model FILE.toml)"
    )
