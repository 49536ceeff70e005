"""Other people's records: recomputed from their raw seconds, refused where they are impossible.

A record that is possible counts under the name of its file and lab. There is no fixed maximum: the
limits are the peak, the memory and the power of the GPU itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from advisor.ranking.audit import audit_time
from advisor.store.engine import duckdb
from advisor.store.measurement_columns import SETTINGS, settings_in
from bench_runner.records import timing
from bench_runner.records.measurement import Measurement
from price_catalog.model import Gpu, Source

if TYPE_CHECKING:
    from bench_runner.recipes import Recipe

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


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedRecord:
    """One record of another's, recomputed, and why it is refused."""

    record: Measurement
    refused: str | None = None
    """None where it counts."""


class LabRecordCheck:
    """Holds others' records against the recipes and the catalogue."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        from advisor.store.reader import Reader
        from bench_runner.recipes import load_recipes
        from price_catalog.gpu_names import index_gpus

        reader = Reader(connection)
        self._gpus = index_gpus(reader.gpus())
        self._recipes = {recipe.recipe_id: recipe for recipe in load_recipes()}
        self._flops = {model.recipe_id: model.flops_lowest for model in reader.models()}
        self._seen = {_stored_content(row) for row in connection.execute(_KNOWN).fetchall()}

    def new_records(self, records: Iterable[Measurement]) -> tuple[list[CheckedRecord], int]:
        """The records whose seconds are not known yet, checked; and how many are known."""
        checked, known = [], 0
        for record in records:
            content = _content(record)
            if content in self._seen:
                known += 1
            else:
                self._seen.add(content)
                checked.append(self._checked(record))
        return checked, known

    def _checked(self, record: Measurement) -> CheckedRecord:
        from bench_runner.recipes import recipe_hash
        from price_catalog.gpu_names import normalise

        recipe = self._recipes.get(record.recipe_id)
        gpu = self._gpus.get(normalise(record.gpu))
        why = None
        if recipe is None:
            why = f"no recipe that ships is called {record.recipe_id}"
        elif record.recipe_hash != recipe_hash(recipe):
            why = f"it is of another definition of {record.recipe_id}"
        elif gpu is None:
            why = f"no GPU of the catalogue is called {record.gpu}"
        elif record.status != "ok" or record.timing != "synchronised":
            why = "it is no synchronised time"
        else:
            why = _not_recomputable(record, recipe)
        if why is not None or recipe is None or gpu is None:
            return CheckedRecord(record=record, refused=why or "not known")
        again = _recomputed(record, recipe)
        why = _contradiction(record, again) or self._impossible(again, gpu, recipe)
        return CheckedRecord(record=again, refused=why)

    def _impossible(self, record: Measurement, gpu: Gpu, recipe: Recipe) -> str | None:
        assert record.settings is not None and record.training_days is not None
        audit = audit_time(
            gpu=gpu,
            gpu_count=record.gpu_count,
            precision=recipe.training.precision,
            naive=not record.settings.free_lunch,
            flops=self._flops.get(record.recipe_id),
            training_days=record.training_days,
            training_days_high=record.training_days_high,
        )
        if audit.verdict in ("implausible", "unchecked"):
            return audit.reason
        why = over_memory(record.peak_memory_gib, gpu) or over_power(record.environment, gpu)
        return None if why is None else f"it says {why}: impossible"


MEMORY_SLACK = 1.02
"""Of a card's memory as sold, which is rounded."""
MOST_OF_TDP = 1.5
"""Of the watts that a card is made for, over seconds."""


def over_memory(peak_gib: float | None, gpu: Gpu) -> str | None:
    """Why a record's peak memory cannot be this card's; None where it can."""
    if peak_gib is None or peak_gib <= MEMORY_SLACK * gpu.memory_gib:
        return None
    return f"that it used {peak_gib:,.6g} GiB of a GPU that has {gpu.memory_gib:g}"


def over_power(environment: Mapping[str, Any], gpu: Gpu | None) -> str | None:
    """Why a record's power cannot be this card's; None where it can, or nothing is known."""
    said = environment.get("gpu")
    if gpu is None or gpu.tdp_w is None or not isinstance(said, Mapping):
        return None
    for name in ("counted_w", "power_w"):
        watts = said.get(name)
        if watts is not None and watts > MOST_OF_TDP * gpu.tdp_w:
            return f"{watts:,.6g} W of a GPU that is made for {gpu.tdp_w:g}"
    return None


def _not_recomputable(record: Measurement, recipe: Recipe) -> str | None:
    settings = record.settings
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
    """The record with everything that follows from its raw seconds computed again."""
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
    )


def _contradiction(told: Measurement, again: Measurement) -> str | None:
    for name, unit in (("step_s", "s a step"), ("training_days", "days")):
        said, found = getattr(told, name), getattr(again, name)
        if said is not None and abs(said / found - 1) > RECOMPUTED_WITHIN:
            return f"it says {said:.4g} {unit}, its raw seconds give {found:.4g}"
    return None


_KNOWN = f"""
    SELECT recipe_id, recipe_hash, gpu_count, coalesce(node_count, 1),
        {", ".join(RAW)}, {", ".join(SETTINGS)}
    FROM measurement
    WHERE origin = 'local' AND status = 'ok' AND timing = 'synchronised'
"""


def _content(record: Measurement) -> str:
    """The same for the same seconds of the same settings, whatever id or lab is written on them."""
    settings = None if record.settings is None else asdict(record.settings)
    build = (record.recipe_id, record.recipe_hash, record.gpu_count, record.node_count)
    return _digest(build, [getattr(record, name) for name in RAW], settings)


def _stored_content(row: Sequence[Any]) -> str:
    """The same of a row of _KNOWN."""
    settings = settings_in(dict(zip(SETTINGS, row[4 + len(RAW) :], strict=True)))
    return _digest(row[:4], row[4 : 4 + len(RAW)], None if settings is None else asdict(settings))


def _digest(build: Sequence[Any], seconds: Sequence[Any], settings: Any) -> str:
    facts = [*build, *(list(each) for each in seconds), settings]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()
