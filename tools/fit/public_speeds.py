"""Speeds that others published, `evidence/*.csv`, as observations."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from advisor.prediction.model.askable_models import Ask, target_of_timm
from advisor.prediction.model.workload import Workload, workload_of
from advisor.prediction.observed_times import Observation, option_of
from advisor.prediction.physics.chip import Chip
from advisor.prediction.physics.memory import NAIVE, Option, of_others
from bench_runner.models.model_source import ModelSource
from bench_runner.recipes import PRECISIONS, Recipe, Support, Training
from bench_runner.records.measurement import SHARDINGS, Settings, one_of

EVIDENCE_FOLDER = Path(__file__).parent / "evidence"
MOST_ROUNDING = 0.03
"""Half of the interval that a printed figure covers, as a share of it: beyond it a row says
too little."""
LEAST_SHARE = 0.45
"""And how much slower: below it something other than training was the limit."""
LEAST_TOKENS = 2048
"""Tokens of a pass: with fewer the host's launches are what a row measures."""
BEYOND_LINEAR = 1.03
"""How much faster a GPU may be among several than among fewer before a row is not believed."""
PLAIN = Option(free_lunch=True, checkpointing=False, stage=0, offloading=False)


@dataclass(frozen=True, slots=True)
class _Row:
    """One row of a table of speeds."""

    row_id: str
    cells: Mapping[str, str]
    chip: Chip
    source: Mapping[str, str]
    """Its row of sources.csv."""

    @property
    def tuned(self) -> bool:
        """Whether its program has kernels of its own: of a GPU's maker who compiled it, in C and
        CUDA, or with a fused loss."""
        made = self.source["software"]
        compiled = self.cells.get("compiled") == "yes"
        return made == "native" or (made == "vendor" and compiled) or self.fuses_loss

    @property
    def fuses_loss(self) -> bool:
        return self.source["logits"] == "fused"

    def observed(
        self, workload: Workload, option: Option | None, step_s: float, rounding: float = 0.0
    ) -> Observation:
        """What it says that somebody's training took."""
        size = self.cells["micro_batch_size"]
        return Observation(
            observation_id=self.row_id,
            source_id=self.cells["source_id"],
            software="tuned" if self.tuned else "plain",
            harness=self.cells["source_id"],
            workload=workload,
            chip=self.chip,
            count=int(self.cells["gpu_count"]),
            method=self.cells["method"],
            option=option,
            micro_batch_size=int(size) if size else None,
            step_s=step_s,
            rounding=rounding,
        )


def from_throughput(path: Path, chips: Mapping[str, Chip]) -> list[Observation]:
    """Tokens a second that other stacks reached, as seconds an optimiser step."""
    observations = []
    for row in _rows(path, chips):
        cells, recipe = row.cells, _row_recipe(row.cells)
        workload = replace(workload_of(recipe), opens=False)
        if row.source["logits"] == "labelled":
            workload = labelled_alone(workload)
        naive = cells["method"] == "naive"
        option = NAIVE if naive else None
        if cells["sharding"] and not naive:
            option = option_of(
                Settings(
                    free_lunch=True,
                    activation_checkpointing=cells["activation_checkpointing"] == "yes",
                    sharding=None
                    if cells["sharding"] == "none"
                    else one_of(cells["sharding"], SHARDINGS, "sharding"),
                    offloading=cells["offloading"] == "yes",
                    micro_batch_size=None,
                    gradient_accumulation_steps=None,
                )
            )
            option = of_others(option, tuned=row.tuned)
        tokens = recipe.training.batch_size * int(cells["sequence_length"])
        step_s = tokens / float(cells["tokens_per_s"])
        rounding = float(cells["rounding"] or 0.0) / 3**0.5
        observations.append(row.observed(workload, option, step_s, rounding))
    return usable(observations)


def labelled_alone(workload: Workload) -> Workload:
    """The same by code that gathers the positions with a label before it computes logits."""
    without = (1.0 - workload.labelled) * workload.logit_elements
    return replace(
        workload,
        linear_flops=workload.linear_flops - 2.0 * workload.logit_width * without,
        logit_elements=workload.logit_elements - without,
        labelled=1.0,
    )


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
    for row in _rows(path, chips):
        cells = row.cells
        batch = int(cells["micro_batch_size"]) * int(cells["gpu_count"])
        run = Ask(
            batch_size=batch,
            images=batch,
            image_size=int(cells["image_size"]),
            precision=one_of(cells["precision"], PRECISIONS, "precision"),
        )
        workload = replace(
            target_of_timm(cells["model"], run).workload,
            compiles=cells["compiled"] == "yes",
            fused_attention=cells["fused_attention"] == "yes",
            opens=False,
        )
        observations.append(row.observed(workload, PLAIN, batch / float(cells["images_per_s"])))
    return observations


def _rows(path: Path, chips: Mapping[str, Chip]) -> Iterator[_Row]:
    """Each row with its source; ValueError where the catalogue has no such GPU."""
    with path.with_name("sources.csv").open(encoding="utf-8", newline="") as file:
        sources = {row["source_id"]: row for row in csv.DictReader(file)}
    with path.open(encoding="utf-8", newline="") as file:
        for number, row in enumerate(csv.DictReader(file), start=2):
            if row["gpu"] not in chips:
                raise ValueError(
                    f"{path.name}, line {number}: no GPU '{row['gpu']}' in the catalogue"
                )
            source = sources[row["source_id"]]
            yield _Row(f"{path.name}:{number}", row, chips[row["gpu"]], source)


def _row_recipe(row: Mapping[str, str]) -> Recipe:
    """The model of one row of throughput.csv, as the recipe that workload_of counts."""
    columns = {
        "hidden_size": "hidden_size",
        "num_hidden_layers": "layers",
        "num_attention_heads": "heads",
        "intermediate_size": "intermediate_size",
        "vocab_size": "vocab_size",
    }
    arguments: dict[str, Any] = {"tie_word_embeddings": row["tied"] == "yes"}
    if row["family"] == "encoder":
        config, columns["max_position_embeddings"] = "BertConfig", "sequence_length"
    elif row["gated"] == "yes":
        config, columns["num_key_value_heads"] = "LlamaConfig", "kv_heads"
    else:
        config, names = "GPT2Config", ("n_embd", "n_layer", "n_head", "n_inner", "vocab_size")
        columns = dict(zip(names, columns.values(), strict=True)) | {
            "n_positions": "sequence_length"
        }
        # Programs that pre-train decoders drop nothing.
        arguments |= dict.fromkeys(("resid_pdrop", "embd_pdrop", "attn_pdrop"), 0)
    arguments |= {name: int(row[column]) for name, column in columns.items()}
    return Recipe(
        recipe_id=row["model"],
        name=row["model"],
        family=row["family"],
        model=ModelSource(config_class=config, arguments=arguments),
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
