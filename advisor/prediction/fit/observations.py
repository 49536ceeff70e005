"""Measured training speeds as observations that the fit learns from, each with its source.

Three kinds: the paper's tables (biased by their harness, `harness = "paper"`), published
throughput of other stacks (`evidence/throughput.csv`, each source with its own bias), and this
project's own synchronised records, which are what a prediction means (`harness = "reference"`).
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from advisor.prediction.fitted import OWN_SOFTWARE, OWN_STACK
from advisor.prediction.model.targets import Run, target_of_timm
from advisor.prediction.model.workload import Workload, labelled_alone, workload_of
from advisor.prediction.physics.chip import Chip, chip_of
from advisor.prediction.physics.memory import HOST_GIB_A_GPU, NAIVE, Option
from bench_runner.kernels import ROUND_LENGTH
from bench_runner.published import load_published
from bench_runner.recipe_model import ModelSource
from bench_runner.recipes import (
    IMAGE_FAMILIES,
    PRECISIONS,
    Recipe,
    Support,
    Training,
    load_recipes,
)
from bench_runner.records import SHARDINGS, Measurement, Settings, one_of
from bench_runner.space import STAGES
from price_catalog.load import load_catalog

EVIDENCE_FOLDER = Path(__file__).parent / "evidence"
SECONDS_PER_DAY = 86_400.0
PAPER_SOURCES = ("paper-table1", "paper-table4")
REFERENCE = "reference"
PAPER = "paper"
MOST_ROUNDING = 0.03
"""Half of the interval that a printed figure stands for, as a share of it: beyond it a row says
too little."""
LEAST_SHARE = 0.45
"""And how much slower: below it something other than training was the limit."""
LEAST_TOKENS = 2048
"""Tokens of a pass: with fewer the host's launches are what a row measures."""
BEYOND_LINEAR = 1.03
"""How much faster a GPU may be among several than among fewer before a row is not believed."""
PLAIN = Option(free_lunch=True, checkpointing=False, stage=0, offloading=False)
NATIVE = "native"
"""Training code in C and CUDA."""
ROUNDING_SD = 0.29
"""Standard deviation of a figure rounded to whole days, in days."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One measured step time, or (``step_s`` None) that a setting did not fit."""

    observation_id: str
    source_id: str
    kind: str
    """Of software, as sources.csv says: ``trainer`` (Hugging Face's, our own among them),
    ``pytorch`` (training code of its own), ``vendor`` (tuned by a GPU's maker), ``native`` (C and
    CUDA)."""
    harness: str
    """``paper``, ``reference``, or the source's own id: whose bias it carries."""
    workload: Workload
    chip: Chip
    count: int
    method: str
    """``naive``, ``optimal`` (the best of a search), or ``trial`` (settings as given)."""
    option: Option | None
    """The settings where they were given and not searched for; None: the method's best."""
    micro_batch_size: int | None
    step_s: float | None
    rounding: float
    """Relative standard deviation that printing added."""
    searched: tuple[Option, int] | None = None
    """Of the paper's search: the settings that it found, with their micro-batch. They teach the
    memory model; predicting with them would be to peek."""

    host_gib: float = HOST_GIB_A_GPU
    """Host memory for each GPU."""

    @property
    def stack(self) -> str:
        """Whose software it is: our records of all machines are one."""
        return OWN_STACK if self.harness == REFERENCE else self.source_id

    @property
    def plain(self) -> str:
        """``naive`` or ``tuned``: which half of a stack's methods it is."""
        return "naive" if self.method == "naive" else "tuned"

    @property
    def settings(self) -> str:
        """The same, with settings beyond the paper's apart (``lean``): other compilation and
        another loss are code of their own."""
        return "lean" if self.option is not None and self.option.lean else self.plain

    @property
    def training_days(self) -> float | None:
        """The whole run's days."""
        if self.step_s is None:
            return None
        return self.step_s * self.workload.training_steps / SECONDS_PER_DAY

    @property
    def half_width_days(self) -> float:
        """Half the width of the interval that the printed figure stands for."""
        return 0.5 if self.harness == PAPER else 0.0


def option_of(settings: Settings) -> Option:
    """The runner's settings as prediction sees them: ZeRO and FSDP of one stage are one."""
    return Option(
        free_lunch=settings.free_lunch,
        checkpointing=settings.activation_checkpointing,
        stage=STAGES[settings.sharding],
        offloading=settings.offloading,
        lean=settings.loss == "fused",
        half_weights=settings.weights == "half",
    )


def load_evidence() -> tuple[Observation, ...]:
    """Everything that ships: the paper, published throughput, this project's own records."""
    recipes = {recipe.recipe_id: recipe for recipe in load_recipes()}
    workloads = {name: workload_of(recipe) for name, recipe in recipes.items()}
    chips = chips_by_name()
    return (
        *from_measurements(load_published(), workloads, chips),
        *from_throughput(EVIDENCE_FOLDER / "throughput.csv", chips),
        *from_images(EVIDENCE_FOLDER / "images.csv", chips),
    )


def chips_by_name() -> dict[str, Chip]:
    """Every GPU of the catalogue under its name and its aliases."""
    chips: dict[str, Chip] = {}
    for gpu in load_catalog().gpus:
        chip = chip_of(gpu)
        for name in (gpu.name, gpu.gpu_id, *gpu.aliases):
            chips.setdefault(name, chip)
    return chips


def from_measurements(
    records: Iterable[Measurement],
    workloads: Mapping[str, Workload],
    chips: Mapping[str, Chip],
) -> list[Observation]:
    """Records of known recipes on known GPUs; a CPU's and a capped GPU's are neither.

    Of a search the fastest trial is what its method reaches (``naive`` or ``optimal``); the others
    say what their own settings cost (``trial``). Failed and pruned trials say nothing of speed.
    """
    observations: list[Observation] = []
    fastest: dict[tuple[object, ...], Observation] = {}
    searched: set[str] = set()
    """What a search found, or the only naive settings: not one setting that was tried."""
    for record in records:
        workload, chip = workloads.get(record.recipe_id), chips.get(record.gpu)
        if workload is None or chip is None or record.status not in ("ok", "infeasible"):
            continue
        if record.method == "changes-training":
            continue
        if _off_fast_path(record.settings, workload):
            continue
        paper = record.source_id in PAPER_SOURCES
        if not paper and (record.timing != "synchronised" or record.status != "ok"):
            continue
        days = record.training_days
        settings = record.settings
        if not paper and settings is not None and settings.attention is not None:
            workload = replace(workload, fused_attention=settings.attention != "eager")
        if paper:
            workload = replace(workload, opens=False)  # its transformers wrote no such masks
        option = None if paper or settings is None else option_of(settings)
        if settings is not None and settings.compilation == "none" and not settings.sharding:
            workload = replace(workload, compiles=False)  # of sharded ones the option says it
        if settings is not None and settings.compilation == "regional":
            workload = replace(workload, opens=False)
            if option is not None and workload.family in IMAGE_FAMILIES:
                option = replace(option, lean=workload.layered)
        observation = Observation(
            observation_id=record.measurement_id,
            source_id=record.source_id,
            kind=OWN_SOFTWARE,
            harness=PAPER if paper else REFERENCE,
            workload=workload,
            chip=chip,
            count=record.gpu_count,
            method="naive" if record.method == "naive" else "optimal",
            option=option,
            micro_batch_size=None if paper or settings is None else settings.micro_batch_size,
            step_s=None if days is None else days * SECONDS_PER_DAY / workload.training_steps,
            rounding=ROUNDING_SD / days if paper and days else 0.0,
            searched=_searched(settings) if paper else None,
            host_gib=_host_gib(record),
        )
        if paper:
            observations.append(observation)
            continue
        if record.method in ("naive", "optimal"):
            searched.add(record.measurement_id)
        lean = _is_lean(observation)
        key = (
            *(workload.workload_id, workload.fused_attention, chip.gpu_id, record.gpu_count),
            *(observation.method, lean),
        )
        slower = observation
        if key not in fastest:
            fastest[key] = observation
            continue
        if (observation.step_s or 0.0) < (fastest[key].step_s or 0.0):
            slower, fastest[key] = fastest[key], observation
        observations.append(replace(slower, method="trial"))
    best = [
        replace(o, option=None, micro_batch_size=None)
        if o.observation_id in searched and not _is_lean(o)
        else o
        for o in fastest.values()
    ]
    return [*observations, *best]


def _off_fast_path(settings: Settings | None, workload: Workload) -> bool:
    """Whether a state space model was fed a length that its kernels are slow with: nothing is
    written out so, and what it took says nothing of what is."""
    trimmed = settings is not None and settings.inputs == "trimmed"
    return trimmed and workload.family == "ssm" and (workload.tokens - 1) % ROUND_LENGTH > 0


def _is_lean(o: Observation) -> bool:
    return o.option is not None and o.option.lean


def _host_gib(record: Measurement) -> float:
    held = (record.environment or {}).get("host_memory_gib")
    if not isinstance(held, int | float):
        return HOST_GIB_A_GPU
    return float(held) / record.gpu_count


def _searched(settings: Settings | None) -> tuple[Option, int] | None:
    if settings is None or settings.micro_batch_size is None:
        return None
    return option_of(settings), settings.micro_batch_size


def from_throughput(path: Path, chips: Mapping[str, Chip]) -> list[Observation]:
    """Tokens a second that other stacks reached, as seconds an optimiser step."""
    observations = []
    kinds = _kinds(path)
    gathering, fusing = (
        {name for name, row in _sources(path).items() if row["logits"] == how}
        for how in ("labelled", "fused")
    )
    for number, row, chip in _published_rows(path, chips):
        recipe = _row_recipe(row)
        workload = replace(workload_of(recipe), opens=False)
        if row["source_id"] in gathering:
            workload = labelled_alone(workload)
        naive = row["method"] == "naive"
        option = NAIVE if naive else None
        if row["sharding"] and not naive:
            option = option_of(
                Settings(
                    free_lunch=True,
                    activation_checkpointing=row["activation_checkpointing"] == "yes",
                    sharding=None
                    if row["sharding"] == "none"
                    else one_of(row["sharding"], SHARDINGS, "sharding"),
                    offloading=row["offloading"] == "yes",
                    micro_batch_size=None,
                    gradient_accumulation_steps=None,
                )
            )
            option = replace(option, lean=row["source_id"] in fusing)
        if option is not None and kinds[row["source_id"]] == NATIVE:
            option = replace(option, half_weights=True)
        tokens = recipe.training.batch_size * int(row["sequence_length"])
        observations.append(
            Observation(
                observation_id=f"{path.name}:{number}",
                source_id=row["source_id"],
                kind=kinds[row["source_id"]],
                harness=row["source_id"],
                workload=workload,
                chip=chip,
                count=int(row["gpu_count"]),
                method=row["method"],
                option=option,
                micro_batch_size=int(row["micro_batch_size"]) if row["micro_batch_size"] else None,
                step_s=tokens / float(row["tokens_per_s"]),
                rounding=float(row["rounding"] or 0.0) / 3**0.5,
            )
        )
    return usable(observations)


def usable(observations: Sequence[Observation]) -> list[Observation]:
    """Those that print enough digits, and whose GPUs are no faster together than fewer of them in
    the same table that recompute as much: no training scales so, and a table that says it measured
    something else."""
    kept: list[Observation] = []
    fastest: dict[tuple[object, ...], float] = {}
    for o in sorted(observations, key=lambda o: o.count):
        if o.rounding * 3**0.5 > MOST_ROUNDING or o.step_s is None:
            continue
        w = o.workload
        if o.micro_batch_size and o.micro_batch_size * w.tokens < LEAST_TOKENS:
            continue
        recomputed = o.option is not None and o.option.checkpointing
        key = (o.source_id, w.workload_id, w.tokens, w.precision, o.chip.gpu_id, o.method)
        alike = (*key, recomputed)
        rate = w.batch_size / o.step_s / o.count
        if not LEAST_SHARE < rate / fastest.get(alike, rate) <= BEYOND_LINEAR:
            continue
        fastest[alike] = max(rate, fastest.get(alike, 0.0))
        kept.append(o)
    return kept


def from_images(path: Path, chips: Mapping[str, Chip]) -> list[Observation]:
    """Images a second at which timm's models were trained, as seconds an optimiser step."""
    observations = []
    kinds = _kinds(path)
    for number, row, chip in _published_rows(path, chips):
        batch = int(row["micro_batch_size"]) * int(row["gpu_count"])
        run = Run(
            batch_size=batch,
            images=batch,
            image_size=int(row["image_size"]),
            precision=one_of(row["precision"], PRECISIONS, "precision"),
        )
        target = target_of_timm(row["model"], run)
        workload = replace(
            target.workload,
            compiles=row["compiled"] == "yes",
            fused_attention=row["fused_attention"] == "yes",
            opens=False,
        )
        observations.append(
            Observation(
                observation_id=f"{path.name}:{number}",
                source_id=row["source_id"],
                kind=kinds[row["source_id"]],
                harness=row["source_id"],
                workload=workload,
                chip=chip,
                count=int(row["gpu_count"]),
                method=row["method"],
                option=PLAIN,
                micro_batch_size=int(row["micro_batch_size"]),
                step_s=batch / float(row["images_per_s"]),
                rounding=0.0,
            )
        )
    return observations


def _sources(path: Path) -> dict[str, dict[str, str]]:
    with path.with_name("sources.csv").open(encoding="utf-8", newline="") as file:
        return {row["source_id"]: row for row in csv.DictReader(file)}


def _kinds(path: Path) -> dict[str, str]:
    """The kind of software of each source."""
    return {name: row["software"] for name, row in _sources(path).items()}


def _published_rows(
    path: Path, chips: Mapping[str, Chip]
) -> Iterator[tuple[int, dict[str, str], Chip]]:
    """Line number, cells and GPU of each row; ValueError where the catalogue has no such GPU."""
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            if row["gpu"] not in chips:
                raise ValueError(
                    f"{path.name}, line {number}: no GPU '{row['gpu']}' in the catalogue"
                )
            yield number, row, chips[row["gpu"]]


def _row_recipe(row: Mapping[str, str]) -> Recipe:
    """The model of one row of throughput.csv, as the recipe that workload_of counts."""
    gated = row["gated"] == "yes"
    sizes = {
        "tie_word_embeddings": row["tied"] == "yes",
        "vocab_size": int(row["vocab_size"]),
    }
    if row["family"] == "encoder":
        config, arguments = (
            "BertConfig",
            {
                "hidden_size": int(row["hidden_size"]),
                "num_hidden_layers": int(row["layers"]),
                "num_attention_heads": int(row["heads"]),
                "intermediate_size": int(row["intermediate_size"]),
                "max_position_embeddings": int(row["sequence_length"]),
            },
        )
    elif gated:
        config, arguments = (
            "LlamaConfig",
            {
                "hidden_size": int(row["hidden_size"]),
                "num_hidden_layers": int(row["layers"]),
                "num_attention_heads": int(row["heads"]),
                "num_key_value_heads": int(row["kv_heads"]),
                "intermediate_size": int(row["intermediate_size"]),
            },
        )
    else:
        config, arguments = (
            "GPT2Config",
            {
                "n_embd": int(row["hidden_size"]),
                "n_layer": int(row["layers"]),
                "n_head": int(row["heads"]),
                "n_inner": int(row["intermediate_size"]),
                "n_positions": int(row["sequence_length"]),
            },
        )
    return Recipe(
        recipe_id=row["model"],
        name=row["model"],
        family=row["family"],
        model=ModelSource(config_class=config, arguments={**arguments, **sizes}),
        training=Training(
            batch_size=int(row["global_batch_size"]),
            training_steps=1,
            sequence_length=int(row["sequence_length"]),
            precision=one_of(row["precision"], PRECISIONS, "precision"),
            optimizer="adamw",
        ),
        support=Support(
            attention=None if row["fused_attention"] == "yes" else "eager",
            compile=row["compiled"] == "yes",
        ),
        source=row["source_id"],
    )
