"""Times that are predicted when they are asked for: of other software, over several machines, or of
fine-tuning.

The store keeps what training from nothing with our own software takes on one machine. What differs
from it is predicted by the same functions when somebody asks (loads numpy).
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from advisor.ranking.times import BestTime, TrainingTime
from advisor.store.counted_models import StoredFineTuner, model_of_own
from advisor.store.engine import duckdb
from advisor.store.measurement_columns import SETTINGS, settings_in
from advisor.store.predictions import own_models, own_records

if TYPE_CHECKING:
    from advisor.ranking.fabric import Link


def asked_times(
    connection: duckdb.DuckDBPyConnection,
    recipe_id: str,
    software: str,
    machines: int,
    link: Link | None,
) -> tuple[BestTime, ...]:
    """Of one model on every GPU; nothing of a model that cannot be counted."""
    from advisor.prediction.own_records import fit_with
    from advisor.prediction.physics.memory import SOFTWARE, host_gib_of
    from advisor.prediction.shipped_predictions import predicted_rows
    from bench_runner.records.measurement import one_of
    from price_catalog.load import load_catalog

    models = own_models(connection)
    asked = StoredFineTuner(own=tuple(models)).named(recipe_id)
    if asked is None:
        return ()
    model = model_of_own(asked)
    rows = predicted_rows(
        fit_with(own_records(connection), models),
        [asked.recipe],
        load_catalog().gpus,
        {recipe_id: asked.parameters},
        software=one_of(software, SOFTWARE, "software"),
        machines=machines,
        link=link,
    )
    found: dict[tuple[str, int], BestTime] = {}
    for row in rows:
        place = (row["gpu_id"], row["gpu_count"])
        time = _time(row, machines)
        if row["host_memory_gib"]:
            if place in found:
                found[place] = replace(found[place], with_host=(row["host_memory_gib"], time))
            continue
        found[place] = BestTime(
            gpu_id=place[0],
            gpu_count=place[1],
            chosen=time,
            published=None,
            naive=None,
            host_gib=host_gib_of(time, model),
            machines=machines,
        )
    return tuple(found.values())


def _time(row: dict[str, Any], machines: int) -> TrainingTime:
    """A predicted row as the store would hand it out."""
    known = {field.name for field in fields(TrainingTime)}
    days = row.get("training_days")
    said = {
        "measurement_id": f"prediction:{row['recipe_id']}:{row['gpu_id']}:{row['gpu_count']}",
        "method": "optimal",
        "settings": settings_in({**row}) if days is not None else None,
        "basis": "predicted",
        "timing": "none",
        "implied_mfu": row.get("implied_mfu"),
        "implied_mfu_printed": row.get("implied_mfu"),
        "measured_on": None,
        "peak_memory_gib": None,
        "origin": "local",
        "node_count": machines,
        "rests_on": None if days is None else "estimated",
    }
    empty = dict.fromkeys(
        ("training_days", "training_days_low", "training_days_high", "verdict", "verdict_reason")
    )
    given = {name: value for name, value in row.items() if name in known and name not in SETTINGS}
    return TrainingTime(**{**empty, **given, **said})
