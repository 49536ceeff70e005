"""The store answers with what the text says, and chooses the time that stands for a build."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.ranking.times import BestTime
from advisor.store import Store
from advisor.store.counted_models import model_of
from bench_runner.recipes import load_recipes
from bench_runner.records.published import load_published
from price_catalog.load import load_catalog
from tests.store_for_tests import look, record, taken_as_it_is


def test_reading_gives_back_what_the_text_says(store_path: Path) -> None:
    catalog = load_catalog()
    published = load_published()
    with Store(store_path).reading() as reader:
        assert set(reader.gpus()) == set(catalog.gpus)
        assert set(reader.hosts()) == set(catalog.hosts)
        assert set(reader.quotes()) == set(catalog.quotes)
        assert set(reader.rentals()) == set(catalog.rentals)
        assert set(reader.sources()) >= set(catalog.sources)
        assert set(reader.models()) == set(map(model_of, load_recipes()))
        times = {time.measurement_id: time for time in reader.times()}
    assert len(times) == len(published) >= 288
    for measurement in published:
        time = times[measurement.measurement_id]
        assert time.settings == measurement.settings
        assert time.training_days == measurement.training_days
        assert time.training_days_high == measurement.training_days_high
        assert (time.method, time.status, time.reason, time.timing, time.source_id) == (
            measurement.method,
            measurement.status,
            measurement.reason,
            measurement.timing,
            measurement.source_id,
        )
        assert (time.verdict is None) == (measurement.status != "ok")


@pytest.mark.parametrize(
    ("name", "value"), [("gpu_id", "rtx-3090"), ("gpu_count", 8), ("status", "infeasible")]
)
def test_times_can_be_filtered(store_path: Path, name: str, value: str | int) -> None:
    with Store(store_path).reading() as reader:
        found, every = reader.times("pythia-1b", **{name: value}), reader.times("pythia-1b")
    assert list(found) == [time for time in every if getattr(time, name) == value] != []


# The choice of the time that stands for a build. Each case adds rows for a GPU count that no
# published row has, and names the row that must come out under each kind of evidence.

_SLOW = 400.0
_IMPOSSIBLE = 1.0


def _choose(path: Path, rows: list[dict[str, Any]], shipped: set[str]) -> dict[str, BestTime]:
    """What stands for 3 x RTX 3090 under each evidence, of these rows."""
    store = Store(path)
    store.add(
        measurement=[
            record(**{"gpu_count": 3, "training_days_low": None, "training_days_high": None, **row})
            for row in rows
        ]
    )
    if shipped:
        _mark_shipped(path, shipped)
    return {
        evidence: next(
            best
            for best in look(store).best_times("pythia-1b", evidence)
            if (best.gpu_id, best.gpu_count) == ("rtx-3090", 3)
        )
        for evidence in ("sound", "published")
    }


def _mark_shipped(path: Path, ids: set[str]) -> None:
    import duckdb

    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "UPDATE measurement SET origin = 'shipped' WHERE measurement_id IN"
            " (SELECT unnest(?::VARCHAR[]))",
            [list(ids)],
        )
    taken_as_it_is(path)


PRINTED = {"measurement_id": "printed", "timing": "unsynchronised", "training_days": 200.0}
PRINTED_NAIVE = {**PRINTED, "measurement_id": "printed-naive", "method": "naive"} | {
    "training_days": 300.0
}
OWN = {"measurement_id": "own", "training_days": _SLOW}
OWN_NAIVE = {"measurement_id": "own-naive", "method": "naive", "training_days": 350.0}
IMPOSSIBLE = {**PRINTED, "training_days": _IMPOSSIBLE}
DOES_NOT_FIT = {"measurement_id": "no-fit", "status": "infeasible", "reason": "out of memory"}
ESTIMATE = "prediction:pythia-1b:rtx-3090:3"
FAILED = {"measurement_id": "failed", "status": "failed", "reason": "crashed"}


@pytest.mark.parametrize(
    ("rows", "sound", "published"),
    [
        pytest.param([PRINTED, PRINTED_NAIVE], ESTIMATE, "printed", id="tuned before naive"),
        pytest.param([PRINTED_NAIVE], ESTIMATE, "printed-naive", id="only naive"),
        pytest.param([PRINTED, OWN], "own", "printed", id="synchronised first, though slower"),
        pytest.param(
            [PRINTED, OWN_NAIVE, OWN], "own", "printed", id="synchronised tuned before naive"
        ),
        pytest.param([OWN_NAIVE], ESTIMATE, "own-naive", id="nothing published"),
        pytest.param([PRINTED, OWN_NAIVE], ESTIMATE, "printed", id="tuned before one's own naive"),
        pytest.param(
            [IMPOSSIBLE, OWN_NAIVE], ESTIMATE, "printed", id="impossible, measured since, naive"
        ),
        pytest.param([OWN, DOES_NOT_FIT], "own", "own", id="a time before a failure"),
        pytest.param([DOES_NOT_FIT, FAILED], "no-fit", "no-fit", id="does not fit"),
        pytest.param(
            [IMPOSSIBLE, PRINTED_NAIVE],
            ESTIMATE,
            "printed",
            id="impossible: no falling back on the naive time",
        ),
        pytest.param([IMPOSSIBLE, OWN], "own", "printed", id="impossible, but measured since"),
        pytest.param(
            [IMPOSSIBLE, {**PRINTED, "measurement_id": "other"}],
            ESTIMATE,
            "printed",
            id="impossible, but published elsewhere",
        ),
        pytest.param(
            [PRINTED, {**PRINTED, "measurement_id": "slower", "training_days": 201.0}],
            ESTIMATE,
            "printed",
            id="the faster of two",
        ),
        pytest.param(
            [{**PRINTED, "measurement_id": "b"}, {**PRINTED, "measurement_id": "a"}],
            ESTIMATE,
            "a",
            id="the same one of two as fast",
        ),
    ],
)
def test_the_time_that_stands_for_a_build(
    own_store: Path, rows: list[dict[str, Any]], sound: str, published: str
) -> None:
    printed = {row["measurement_id"] for row in rows if row.get("timing") == "unsynchronised"}
    best = _choose(own_store, rows, printed)
    for evidence, wanted in (("sound", sound), ("published", published)):
        chosen = best[evidence].chosen
        assert chosen is not None
        assert chosen.measurement_id == wanted, evidence
    beside = best["sound"].published
    assert (beside.measurement_id if beside else sound) == published


def test_a_training_that_is_changed_never_stands(own_store: Path) -> None:
    store = Store(own_store)
    plain = record("any").settings
    assert plain is not None
    settings = replace(plain, matmul="fp8")
    changed = record(
        "changed",
        gpu_count=5,
        method="changes-training",
        settings=settings,
        training_days=100.5,
        training_days_low=100.4,
        training_days_high=100.6,
        timing="synchronised",
    )
    store.add(measurement=[record("exact", gpu_count=5, training_days=130.5), changed])
    (best,) = (b for b in look(store).best_times("pythia-1b", "sound") if b.gpu_count == 5)
    assert best.chosen is not None and best.chosen.measurement_id != "changed"
    (kept,) = (
        t for t in look(store).times("pythia-1b", gpu_count=5) if t.measurement_id == "changed"
    )
    assert kept.settings == settings and kept.method == "changes-training"


def test_a_time_for_another_definition_of_the_recipe_does_not_count(own_store: Path) -> None:
    store = Store(own_store)
    now = next(
        model for model in look(store).models() if model.recipe_id == "pythia-1b"
    ).recipe_hash
    store.add(
        measurement=[
            record("before", gpu_count=5, recipe_hash="0123456789ab", training_days=129.5),
            record("now", gpu_count=5, recipe_hash=now, training_days=130.5),
        ]
    )
    (best,) = (b for b in look(store).best_times("pythia-1b", "sound") if b.gpu_count == 5)
    assert best.chosen is not None
    assert best.chosen.measurement_id == "now"
    assert look(store).times("pythia-1b", gpu_count=5) != ()


def test_what_a_search_found_on_the_own_machine_comes_before_what_others_measured(
    own_store: Path,
) -> None:
    def best() -> BestTime:
        times = look(Store(own_store)).best_times("pythia-1b", "sound")
        return next(b for b in times if (b.gpu_id, b.gpu_count) == ("h200-sxm-141gb", 1))

    shipped = best().chosen
    assert shipped is not None and shipped.training_days is not None
    days = shipped.training_days
    slower = {"gpu": "NVIDIA H200", "gpu_count": 1, "training_days": days + 5}
    slower |= {"training_days_low": days + 4, "training_days_high": days + 6}
    # One setting that was tried says less than the best one that others found.
    Store(own_store).add(measurement=[record("one-try", method="memory-saving", **slower)])
    assert best().chosen == shipped
    Store(own_store).add(measurement=[record("searched", **slower)])
    chosen = best().chosen
    assert chosen is not None
    assert chosen.measurement_id == "searched"


def test_an_unknown_gpu_is_kept_and_listed_but_never_ranked(own_store: Path) -> None:
    store = Store(own_store)
    assert store.add(measurement=[record("odd", gpu="Quantum Brick 9", gpu_count=1)]) == 1
    (time,) = look(store).times("pythia-1b", gpu_id="Quantum Brick 9")
    assert (time.verdict, time.gpu_count) == ("unchecked", 1)
    assert time.verdict_reason is not None
    assert "Quantum Brick 9" in time.verdict_reason
    assert "Quantum Brick 9" not in {b.gpu_id for b in look(store).best_times("pythia-1b", "sound")}


def test_an_alias_of_the_driver_finds_its_gpu_and_is_audited(own_store: Path) -> None:
    store = Store(own_store)
    fast = {"training_days": 2.0, "training_days_low": 1.9, "training_days_high": 2.1}
    store.add(measurement=[record("fast", gpu="NVIDIA GeForce RTX 3090", **fast)])
    (time,) = look(store).times("pythia-1b", origin="local")
    assert time.gpu_id == "rtx-3090"
    assert time.verdict == "implausible"
    assert time.implied_mfu is not None
    assert time.implied_mfu > 1


def test_the_change_token_moves_with_each_append_and_not_with_reading(own_store: Path) -> None:
    store = Store(own_store)
    look(store).models()
    token = store.change_token()
    look(store).models()
    assert store.change_token() == token
    store.add(measurement=[record("one")])
    assert store.change_token() != token


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"training_days": float("nan")}, "training_days is 'nan'"),
        ({"training_days": -1.0}, "training_days is '-1.0'"),
        ({"training_days_high": 100.0}, "no bounds of it are"),
        ({"gpu_count": 0}, "gpu_count is '0'"),
        ({"status": "great"}, "status 'great' is not known"),
    ],
)
def test_a_wrong_record_is_refused_in_one_line(
    own_store: Path, changes: dict[str, Any], said: str
) -> None:
    store = Store(own_store)
    with pytest.raises(ValueError, match=said) as caught:
        store.add(measurement=[record("fine"), replace(record("bad"), **changes)])
    assert "\n" not in str(caught.value)
    assert look(store).times("pythia-1b", origin="local") == ()
