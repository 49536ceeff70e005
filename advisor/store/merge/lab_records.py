"""Other people's records: recomputed from their raw seconds, refused where they are impossible.

A record that is possible counts under the name of its file and lab. There is no fixed maximum: the
limits are the peak, the memory and the power of the GPU itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from advisor.store.rows import Auditor, measurement_values
from bench_runner.recipes import Recipe, recipe_hash
from bench_runner.records import timing
from bench_runner.records.measurement import Measurement
from price_catalog.gpu_names import normalise
from price_catalog.model import Source

SHARED = Source(
    source_id="shared-by-labs",
    title="Measurements that labs share",
    url=None,
    how_measured=(
        "bench_runner on the machines of the lab that each record names; recomputed here from its "
        "raw seconds"
    ),
    licence=None,
    published_on=None,
)
RAW = ("pass_s", "sync_pass_s", "update_s", "first_pass_s", "fetch_s")
RECOMPUTED_WITHIN = 0.01
"""How far a file's own days may differ from those of its raw seconds."""
MEMORY_SLACK = 1.02
"""Of a card's memory as sold, which is rounded."""
MOST_OF_TDP = 1.5
"""Of the watts that a card is made for, over seconds."""


def recomputed(record: Measurement, recipes: Mapping[str, Recipe], auditor: Auditor) -> Measurement:
    """Another's record with all that follows from its raw seconds. Raises ValueError: why it is
    refused."""
    recipe = recipes.get(record.recipe_id)
    gpu = auditor.gpus.get(normalise(record.gpu))
    if recipe is None:
        raise ValueError(f"no recipe that ships is called {record.recipe_id}")
    if gpu is None:
        raise ValueError(f"no GPU of the catalogue is called {record.gpu}")
    if why := _not_recomputable(record, recipe):
        raise ValueError(why)
    again = _recomputed(record, recipe)
    audit = auditor.audited(measurement_values(again))
    for name, unit in (("step_s", "s a step"), ("training_days", "days")):
        said, found = getattr(record, name), getattr(again, name)
        if said is not None and abs(said / found - 1) > RECOMPUTED_WITHIN:
            raise ValueError(f"it says {said:.4g} {unit}, its raw seconds give {found:.4g}")
    if audit["verdict"] in ("implausible", "unchecked"):
        raise ValueError(audit["verdict_reason"])
    used_gib, said = again.peak_memory_gib or 0.0, again.environment.get("gpu") or {}
    if used_gib > MEMORY_SLACK * gpu.memory_gib:
        raise ValueError(
            f"it says that it used {used_gib:,.6g} GiB of a GPU that has {gpu.memory_gib:g}: "
            "impossible"
        )
    drawn_w = max(said.get("counted_w") or 0, said.get("power_w") or 0)
    if gpu.tdp_w is not None and drawn_w > MOST_OF_TDP * gpu.tdp_w:
        raise ValueError(
            f"it says {drawn_w:,.6g} W of a GPU that is made for {gpu.tdp_w:g}: impossible"
        )
    return again


def _not_recomputable(record: Measurement, recipe: Recipe) -> str | None:
    settings = record.settings
    if record.recipe_hash != recipe_hash(recipe):
        return f"it is of another definition of {record.recipe_id}"
    if record.status != "ok" or record.timing != "synchronised":
        return "it is no synchronised time"
    if not record.sync_pass_s or not record.update_s:
        return "it has no raw seconds, from which it could be recomputed"
    if settings is None or not settings.micro_batch_size:
        return "it does not say its settings"
    passes = settings.gradient_accumulation_steps
    batch = recipe.training.batch_size
    if not passes or settings.micro_batch_size * passes * record.gpu_count != batch:
        return f"its micro-batch, accumulation and GPUs do not make the recipe's batch of {batch}"
    if passes > 1 and not (record.pass_s or record.first_pass_s):
        return "it times no pass without gradient exchange"
    if min(len(record.sync_pass_s), len(record.update_s)) < 2:
        return "it times a single step"
    if any(second <= 0 for name in ("pass_s", "sync_pass_s") for second in getattr(record, name)):
        return "some of its passes take no time"
    return None


def _recomputed(record: Measurement, recipe: Recipe) -> Measurement:
    assert record.settings is not None and record.settings.gradient_accumulation_steps is not None
    raw = timing.RawSeconds(**{name: getattr(record, name) for name in RAW})
    step = timing.step_time(raw, record.settings.gradient_accumulation_steps)
    total = recipe.training.training_steps
    return replace(
        record,
        step_s=step.step_s,
        training_days=timing.training_days(step.step_s, total),
        training_days_low=timing.training_days(step.step_s_low, total),
        training_days_high=timing.training_days(step.step_s_high, total),
        mfu=None,
        source_id=SHARED.source_id,
    )
