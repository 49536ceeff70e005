"""What a benchmark will do, in full before it starts, on this machine or elsewhere."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.benchmark.trained_recipe import in_one_line, recipe_to_measure
from advisor.costs.amount_words import minutes_words
from advisor.typed_input import InputError
from bench_runner.launch import hardware
from bench_runner.recipes import PEAK_KINDS, recipe_hash
from bench_runner.records.timing import SECONDS_PER_DAY
from bench_runner.settings import batch_and_sharding
from bench_runner.typed_numbers import plain
from price_catalog.model import Gpu, Host

if TYPE_CHECKING:
    from advisor.benchmark.measurement_request import Request
    from advisor.benchmark.trained_recipe import Trained
    from advisor.prediction.model.own_model import OwnModel
    from advisor.ranking.snapshot import Snapshot
    from advisor.store import Store
    from bench_runner.recipes import Recipe

CPU = "cpu"
CPU_REMARK = (
    "a CPU run shows that all of it works; its time is kept as a CPU's and never ranks as a GPU"
)
RECORDS = Path("records.jsonl")
"""In a job's folder."""
WORK = Path("work")
RECIPE = "recipe.toml"
LONGER = 2
"""A scheduler ends what runs over its time, so a job asks for this multiple of the estimate: trials
that offload take two to four times as long as others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A benchmark as it would run: what a person confirms."""

    request: Request
    """Of a job elsewhere with paths inside the job's folder."""
    recipe_id: str
    recipe_name: str
    here: hardware.Machine | None
    """This machine; None where it is measured elsewhere."""
    node_count: int
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
        assert self.here is not None
        if self.request.device == CPU:
            return f"CPU ({self.here.cpu})"
        return f"{self.request.gpu_count} × {self.here.gpus[0].name}"

    @property
    def gpu_word(self) -> str:
        """The device's name as a table has it: the catalogue's, else its own."""
        assert self.here is not None
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
        assert self.here is not None
        remarks = hardware.concerns(self.here, self.request.gpu_count)
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
        assert self.here is not None
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
        if self.gpu is None or self.request.device == CPU:
            return None
        from advisor.costs.own_machines import own_machine

        return own_machine(f"{self.request.gpu_count} x {self.gpu.name}", (self.gpu,))


def bench_folders() -> tuple[Path, Path]:
    """Where the runner's records and its work lie unless told otherwise, in the user's folders."""
    from platformdirs import user_cache_path, user_data_path

    name = "gpu-grant-advisor"
    return user_data_path(name) / "bench" / "records.jsonl", user_cache_path(name) / "bench"


def make_plan(
    store: Store, request: Request, here: hardware.Machine, *, gpu_count: int | None = None
) -> Plan:
    """Complete a request from the catalogue and from what is here. Raises InputError, StoreError.

    ``gpu_count`` None takes as many GPUs as there are and as share the batch evenly.
    """
    from price_catalog.gpu_names import index_gpus, normalise

    snapshot, trained = _trained(store, request)
    count = _gpu_count(trained.recipe, request.device, here, gpu_count)
    gpu, word, text = None, trained.recipe.recipe_id, None
    if request.device != CPU:
        gpu = index_gpus(snapshot.gpus).get(normalise(here.gpus[0].name))
    if trained.file is not None:
        word = str(trained.file)
    elif trained.text is not None:
        text = trained.text
        # By its hash, so that a run never meets the file of another definition.
        name = f"{word}-{recipe_hash(trained.recipe)}.toml"
        word = str(request.work_directory.absolute() / "recipes" / name)
    request = replace(request, recipe=word, recipe_text=text, gpu_count=count)
    return _completed(store, request, trained, gpu, here=here)


def make_job_plan(
    store: Store, request: Request, *, node_count: int = 1, gpu: str | None = None
) -> Plan:
    """Complete a request for machines that are reached by a file; nothing is looked at here. Raises
    InputError, StoreError."""
    from price_catalog.csv_table import nearest
    from price_catalog.gpu_names import LISTED_BY, index_gpus, normalise

    if node_count < 1 or request.gpu_count % node_count:
        raise InputError(
            f"{request.gpu_count} GPUs cannot be shared evenly by {node_count} nodes: change "
            "--gpus (it counts the GPUs of all nodes) or --nodes"
        )
    snapshot, trained = _trained(store, request)
    found = None
    if gpu is not None:
        found = index_gpus(snapshot.gpus).get(normalise(gpu))
        if found is None:
            near = nearest(gpu, {each.name for each in snapshot.gpus}, LISTED_BY)
            raise InputError(f"the catalogue has no GPU called '{gpu}'; {near}")
    request = replace(
        request,
        recipe=trained.recipe.recipe_id if trained.text is None else RECIPE,
        recipe_text=trained.text,
        records_file=RECORDS,
        work_directory=WORK,
        more=(*request.more, *(("--launcher", "slurm") if node_count > 1 else ())),
    )
    return _completed(store, request, trained, found, node_count=node_count, longer=LONGER)


def _trained(store: Store, request: Request) -> tuple[Snapshot, Trained]:
    from advisor.ranking.snapshot import take_snapshot

    with store.reading() as reader:
        snapshot = take_snapshot(reader)
    with in_one_line():
        return snapshot, recipe_to_measure(store, snapshot, request.recipe, request.ask)


def _completed(
    store: Store,
    request: Request,
    trained: Trained,
    gpu: Gpu | None,
    *,
    here: hardware.Machine | None = None,
    node_count: int = 1,
    longer: float = 1.0,
) -> Plan:
    """The plan of a request whose recipe and GPUs are known. Raises InputError."""
    from bench_runner.settings import exact_settings, search

    recipe, count = trained.recipe, request.gpu_count
    with in_one_line():
        batch_and_sharding.micro_batch_sizes(recipe.training.batch_size, count)
        chosen = exact_settings.settings_of_methods(request.methods, recipe, count, flash=False)
    strategy: search.Strategy = "fast" if request.search == "fast" else "exhaustive"
    trials = search.expected_trials(chosen, strategy)
    pass_s = None if gpu is None else _pass_s(store, recipe, gpu, count)
    minutes = longer * batch_and_sharding.estimated_minutes(trials, pass_s)
    known = {name: getattr(gpu, f"{name}_tflops", None) for name in PEAK_KINDS}
    peaks = {name: value for name, value in known.items() if value is not None}
    return Plan(
        request=replace(request, peak_tflops=peaks),
        recipe_id=recipe.recipe_id,
        recipe_name=recipe.name,
        here=here,
        node_count=node_count,
        gpu=gpu,
        own_recipe=trained.own,
        as_kept=trained.as_kept,
        labels=tuple(map(batch_and_sharding.label, search.named_ahead(chosen, strategy))),
        papers_labels=exact_settings.papers_labels(recipe, count),
        settings_count=len(chosen),
        estimated_minutes=minutes if request.minutes is None else min(minutes, request.minutes),
        store_path=store.path,
    )


def _pass_s(store: Store, recipe: Recipe, gpu: Gpu, gpu_count: int) -> float | None:
    """How long a pass takes, where a ranking has a time for these GPUs."""
    with store.reading() as reader:
        times = reader.best_times(recipe.recipe_id, "sound")
    steps = recipe.training.training_steps
    for time in times:
        best = time.chosen if (time.gpu_id, time.gpu_count) == (gpu.gpu_id, gpu_count) else None
        if best is None or best.training_days is None or best.settings is None:
            continue
        if passes := best.settings.gradient_accumulation_steps:
            return best.training_days * SECONDS_PER_DAY / steps / passes
    return None


def _gpu_count(recipe: Recipe, device: str, here: hardware.Machine, wanted: int | None) -> int:
    if device == CPU:
        return wanted or 1
    found = len(here.gpus)
    if not found:
        raise InputError(
            f"{hardware.why_no_gpu()}, or rent one (--on sky); --device cpu tries it out, and "
            "never ranks as a GPU"
        )
    if wanted is None:
        batch = recipe.training.batch_size
        wanted = next(n for n in range(found, 0, -1) if batch % n == 0)
    if wanted > found:
        raise InputError(
            f"{wanted} GPUs are asked for, nvidia-smi shows {found}: ask for at most that"
        )
    with in_one_line():
        hardware.check_alike(here.gpus[:wanted])
    return wanted
