"""What a job elsewhere is to measure, completed from the store; nothing is looked at here."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from advisor.benchmark.benchmark_plan import (
    CPU,
    in_one_line,
    minutes_of,
    recipe_to_measure,
    tries_of,
)
from advisor.benchmark.measurement_request import Request, peak_tflops
from advisor.typed_input import InputError
from bench_runner.settings import paper_space
from price_catalog.model import Gpu

if TYPE_CHECKING:
    from advisor.prediction.model.own_model import OwnModel
    from advisor.store import Store

Where = Literal["slurm", "sky"]
RECORDS = Path("records.jsonl")
"""In a job's folder."""
WORK = Path("work")
RECIPE = "recipe.toml"
_SPARE_MINUTES = 10
"""Of a job's time, for what comes before the first trial."""
LONGER = 2
"""A scheduler ends what runs over its time, so a job asks for so many times the estimate: trials
that offload take two to four times as long as others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JobPlan:
    """A measurement on machines that are reached by a file."""

    request: Request
    """With paths inside the job's folder."""
    recipe_id: str
    recipe_name: str
    recipe_text: str | None
    """What the folder's recipe file holds; None for a shipped recipe."""
    own_recipe: OwnModel | None
    node_count: int
    gpu: Gpu | None
    """The GPU in the catalogue, where one was named that it has."""
    settings_count: int
    minutes: float
    """At most the minutes that the search may take, by the estimate or the limit."""
    store_path: Path

    @property
    def gpus_per_node(self) -> int:
        return self.request.gpu_count // self.node_count

    @property
    def job_minutes(self) -> int:
        """What to ask a scheduler for where nobody said: the search and a start, in fives."""
        return 5 * -(-int(self.minutes + _SPARE_MINUTES) // 5)

    def device_words(self, gpu_type: str | None = None) -> str:
        """``8 × H100 on 2 nodes``; the cluster's own word where the catalogue's was not given."""
        count, gpu = self.request.gpu_count, self.gpu.name if self.gpu else gpu_type or "GPU"
        if self.request.device == CPU:
            gpu = "CPU process"
        nodes = "" if self.node_count == 1 else f" on {self.node_count} nodes"
        return f"{count} × {gpu}{nodes}"

    def name(self, where: Where, more: object = None) -> str:
        """The same question has the same name, so that asking again goes on where it stopped."""
        asked = [
            self.request.words(relative=True),
            self.node_count,
            self.recipe_text,
            self.gpu.gpu_id if self.gpu else None,
            where,
            more,
        ]
        digest = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:6]
        readable = re.sub(r"[^a-z0-9.]+", "-", self.recipe_id.lower()).strip("-.")[:40]
        return f"{readable}-{self.request.gpu_count}gpu-{digest}"


def make_job_plan(
    store: Store, request: Request, *, node_count: int = 1, gpu: str | None = None
) -> JobPlan:
    """Complete a request. Raises InputError, StoreError."""
    from advisor.ranking.snapshot import take_snapshot
    from price_catalog.csv_table import nearest
    from price_catalog.gpu_names import LISTED_BY, index_gpus, normalise

    if node_count < 1 or request.gpu_count % node_count:
        raise InputError(
            f"{request.gpu_count} GPUs cannot be shared evenly by {node_count} nodes: change "
            "--gpus (it counts the GPUs of all nodes) or --nodes"
        )
    with store.reading() as reader:
        snapshot = take_snapshot(reader)
    found = None
    if gpu is not None:
        index = index_gpus(snapshot.gpus)
        found = index.get(normalise(gpu))
        if found is None:
            names = {each.name for each in snapshot.gpus}
            near = nearest(gpu, names, LISTED_BY)
            raise InputError(f"the catalogue has no GPU called '{gpu}'; {near}")
    with in_one_line():
        trained = recipe_to_measure(store, snapshot, request.recipe, request.ask)
        paper_space.micro_batch_sizes(trained.recipe.training.batch_size, request.gpu_count)
        tries = tries_of(request, trained.recipe, request.gpu_count)
    minutes = LONGER * minutes_of(tries, store, trained.recipe, found, request.gpu_count)
    more = request.more
    if node_count > 1:
        more = (*more, "--launcher", "slurm")
    return JobPlan(
        request=replace(
            request,
            recipe=trained.recipe.recipe_id if trained.text is None else RECIPE,
            records_file=RECORDS,
            work_directory=WORK,
            peak_tflops=peak_tflops(found),
            more=more,
        ),
        recipe_id=trained.recipe.recipe_id,
        recipe_name=trained.recipe.name,
        recipe_text=trained.text,
        own_recipe=trained.own,
        node_count=node_count,
        gpu=found,
        settings_count=tries.settings_count,
        minutes=minutes if request.minutes is None else min(minutes, request.minutes),
        store_path=store.path,
    )
