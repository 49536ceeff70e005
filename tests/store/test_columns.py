"""The columns of a measurement have one owner: the records, in the tables and views as they are."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import duckdb

from advisor.ranking.times import TrainingTime
from advisor.store import Store
from advisor.store import rows as columns
from advisor.store.stored_time import SETTINGS, TIME, StoredTime
from bench_runner.records.measurement import Measurement, Settings
from tests.store_for_tests import record


def names_of(path: Path, table: str) -> tuple[str, ...]:
    with duckdb.connect(str(path), read_only=True) as connection:
        answer = connection.execute(f"FROM {table} LIMIT 0")
        return tuple(column[0] for column in answer.description or ())


def test_tables_and_views_have_the_columns_of_their_records(store_path: Path) -> None:
    recorded = {*columns.RECORDED, *columns.AUDITED, "origin"}
    assert set(names_of(store_path, "measurement")) == recorded
    assert names_of(store_path, "measured_time") == (*TIME, "place")
    assert names_of(store_path, "predicted_time") == TIME
    assert set(SETTINGS) <= set(names_of(store_path, "prediction"))


def test_every_field_of_a_time_comes_back_from_the_store(own_store: Path) -> None:
    given = record("m-1", peak_memory_gib=21.5)
    Store(own_store).add(measurement=[given])
    with Store(own_store).reading() as reader:
        (time,) = reader.times(origin="local")
        (found,) = reader.search_times(["local"], limit=9)
    ours = {field.name for field in fields(Measurement)}
    derived = {
        **{"gpu_id": "rtx-3090", "basis": "measured", "verdict": "plausible", "origin": "local"},
        **{"rests_on": "measured-here", "implied_mfu": time.implied_mfu},
        **{"implied_mfu_printed": time.implied_mfu_printed, "verdict_reason": time.verdict_reason},
    }
    assert time.implied_mfu and time.implied_mfu > 0.1
    for stored in (time, found):
        for name in (field.name for field in fields(TrainingTime)):
            wanted = getattr(given, name) if name in ours else derived.get(name)
            assert getattr(stored, name) == wanted, name


def test_a_prediction_is_a_time_that_nobody_measured(store_path: Path) -> None:
    with Store(store_path).reading() as reader:
        times = reader.predictions("pythia-1b")
    assert times
    for time in times:
        assert isinstance(time, StoredTime)
        assert time.measurement_id == f"prediction:pythia-1b:{time.gpu_id}:{time.gpu_count}"
        assert (time.basis, time.method, time.timing) == ("predicted", "optimal", "none")
        assert time.measured_on is None
        assert (time.peak_memory_gib is None) == (time.status != "ok")
        assert time.implied_mfu_printed == time.implied_mfu
        assert (time.status == "ok") == isinstance(time.settings, Settings)
        assert (time.status == "ok") == (time.comparison_factor is not None)
        assert (time.status == "ok") == (time.rests_on == "estimated")
        if time.status == "ok":
            assert time.evidence_pieces and time.evidence_nearest
            assert time.paper_settings_days is None or (
                time.training_days is not None
                and time.training_days <= time.paper_settings_days * 1.001
            )
