"""Two machines for one model: by network, never faster than linear, and what ranks of it."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.parse import InputError
from advisor.planning.grant.candidates.split_machines import over_two
from advisor.prediction.physics.columns import WorkloadTable
from advisor.prediction.physics.memory import Option
from advisor.prediction.physics.step_terms import traffic_terms
from advisor.ranking.candidates import Candidates
from advisor.ranking.fabric import (
    FABRICS,
    Fabric,
    bytes_a_parameter,
    kept_scaling,
    link_of,
    over_machines,
    parse_fabric,
    shared_settings,
    slowdown,
    wire_s,
)
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.rank import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.ranking.times import Model
from advisor.store import Store
from bench_runner.records.measurement import SHARDINGS
from tests.facts_for_tests import PLAIN, make_time
from tests.plans_for_tests import make_time as make_run_time
from tools.fit.public_speeds import EVIDENCE_FOLDER
from tools.fit.scaling import fit_scaling, load_pairs


@given(st.floats(1e-3, 1e4), st.floats(1.0, 1e12), st.integers(2, 16), st.sampled_from(FABRICS))
def test_nothing_is_faster_than_linear(
    compute_s: float, sent: float, machines: int, fabric: Fabric
) -> None:
    slow = slowdown(compute_s, sent, machines, link_of(fabric))
    assert 1.0 < slow.low <= slow.middle <= slow.high
    more = slowdown(compute_s, 2 * sent, machines, link_of(fabric))
    assert more.middle > slow.middle
    longer = slowdown(2 * compute_s, sent, machines, link_of(fabric))
    assert longer.middle < slow.middle


def test_a_faster_network_of_a_kind_loses_less_and_an_unmeasured_one_is_less_sure() -> None:
    ethernet = [slowdown(1.0, 4e9, 2, link_of(f)) for f in FABRICS if f.startswith("ethernet")]
    assert [s.middle for s in ethernet] == sorted((s.middle for s in ethernet), reverse=True)
    ten, twenty_five, hundred = ((s.high - 1) / (s.middle - 1) for s in ethernet)
    assert ten == pytest.approx(twenty_five)
    assert hundred > 1.2 * twenty_five


def test_the_wire_is_a_rings_two_halves() -> None:
    # 1 GB over 10 Gbit/s between two machines: each sends half and gets half, twice.
    assert wire_s(1e9, 2, link_of("ethernet-10")) == pytest.approx(0.8)
    assert wire_s(1e9, 4, link_of("ethernet-10")) == pytest.approx(1.2)


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("sharding", [None, *SHARDINGS])
def test_what_is_exchanged_is_what_one_machines_physics_exchanges(
    store_path: Path, sharding: str | None, half: bool
) -> None:
    from advisor.prediction.model.workload import workload_of
    from advisor.prediction.physics.chip import chip_of
    from bench_runner.recipes import load_recipes
    from bench_runner.settings.space import STAGES
    from price_catalog.load import load_catalog

    recipe = next(r for r in load_recipes() if r.recipe_id == "pythia-160m")
    workload = replace(workload_of(recipe), precision="fp16" if half else "fp32")
    gpu = next(gpu for gpu in load_catalog().gpus if gpu.name == "H100")
    zero = np.zeros(1, dtype=int)
    columns = WorkloadTable([workload], [chip_of(gpu)]).columns(zero, zero, np.array([4]))
    option = Option(free_lunch=True, checkpointing=False, stage=STAGES[sharding], offloading=False)
    micro = columns.share / 2  # two passes
    exposed = traffic_terms(option, columns, micro, np.ones(1))[2]
    settings = replace(PLAIN, sharding=sharding)
    expected = bytes_a_parameter(settings, half=half, passes=2)
    assert float((exposed / columns.ring_s)[0]) == pytest.approx(expected)


def test_the_kept_fit_is_that_of_the_evidence() -> None:
    assert fit_scaling(load_pairs()) == kept_scaling()


def test_every_pair_has_a_source_that_says_how_it_was_measured() -> None:
    import csv

    with (EVIDENCE_FOLDER / "nodes_sources.csv").open(encoding="utf-8", newline="") as file:
        told = {row["source_id"]: row for row in csv.DictReader(file)}
    assert {pair.source_id for pair in load_pairs()} == set(told)
    assert all(row["title"] and row["how_measured"] and row["licence"] for row in told.values())


def test_a_shared_batch_first_takes_fewer_passes_then_smaller_ones() -> None:
    two = shared_settings(PLAIN, 1024, 16)
    assert two is not None
    assert (two.micro_batch_size, two.gradient_accumulation_steps) == (8, 8)
    many = shared_settings(replace(PLAIN, gradient_accumulation_steps=1), 64, 16)
    assert many is not None
    assert (many.micro_batch_size, many.gradient_accumulation_steps) == (4, 1)


def test_a_batch_that_is_too_small_for_two_machines_does_not_fit(store_path: Path) -> None:
    model = _model(store_path)
    time = make_time("h100-sxm", 8, 10.0)
    small = over_machines(time, replace(model, batch_size=15), 2, "infiniband-ndr")
    assert (small.status, small.training_days) == ("infeasible", None)
    assert small.reason == "a batch of 15 cannot be shared by 16 GPUs"
    fits = over_machines(time, model, 2, "infiniband-ndr")
    assert fits.training_days is not None
    assert fits.training_days > 5.0
    assert (fits.basis, fits.node_count, fits.gpu_count) == ("predicted", 2, 16)
    assert fits.training_days_low is not None
    assert fits.training_days_low > 9.5 / 2


@pytest.mark.parametrize("text", ["", "ethernet", "ethernet-40", "wifi"])
def test_a_network_that_is_none_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(InputError, match="ethernet-25"):
        parse_fabric(text)


def _model(store: Path) -> Model:
    with Store(store).reading() as reader:
        return next(model for model in reader.models() if model.recipe_id == "pythia-1b")


def _asked(store: Path, network: Fabric | None) -> Candidates:
    with Store(store).reading() as reader:
        snapshot = take_snapshot(reader)
        return make_candidates(
            reader, snapshot, CandidatesKey("pythia-1b", "latest", "sound", network=network)
        )


def test_a_ranking_offers_two_machines_only_where_a_network_is_named(store_path: Path) -> None:
    alone = _asked(store_path, None)
    assert {build.machines for build in alone.builds} == {1}
    joined = _asked(store_path, "infiniband-ndr")
    assert joined.builds[: len(alone.builds)] == alone.builds
    assert joined.days[: len(alone.builds)] == alone.days
    pairs = [i for i in joined.rankable if joined.builds[i].machines == 2]
    assert pairs
    places = {(b.gpu.gpu_id, b.gpu_count, b.host.host_id): i for i, b in enumerate(alone.builds)}
    for i in pairs:
        build = joined.builds[i]
        one = places[build.gpu.gpu_id, build.gpu_count, build.host.host_id]
        assert joined.cents[i] == 2 * joined.cents[one]
        assert joined.days[i] > joined.days[one] / 2
        assert not build.host_owned
        assert not build.gpus_owned
    cheap = rank(joined, Question(rule="days"))
    row = cheap.row(next(n for n, i in enumerate(cheap.order) if i in pairs))
    assert row.time.basis == "predicted"


def test_a_plan_takes_two_machines_where_they_are_faster(store_path: Path) -> None:
    from decimal import Decimal

    model = _model(store_path)
    time = make_run_time(30.0)
    fast, slow = (over_two(time, model, 16, Decimal(speed)) for speed in ("400", "10"))
    assert fast is not None
    assert slow is not None
    assert 15.0 < fast.days < slow.days < 30.0
    assert fast.basis == "predicted"
    assert fast.days_high is not None
    assert fast.days_high > fast.days
    # A run of little computing and much to exchange gains nothing.
    assert over_two(make_run_time(0.6), model, 16, Decimal(10)) is None
    assert math.isclose(time.days, 30.0)


def test_gpus_that_machines_alike_cannot_share_are_refused(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["predict", "--model", "pythia-1b", "--gpu", "H100", "--store", str(store_path)]
    words += ["--fabric", "infiniband-hdr"]
    assert main([*words, "--count", "8", "--nodes", "3"]) == 2
    assert "such as 12" in capsys.readouterr().err
    assert main([*words, "--count", "32", "--nodes", "16", "--batch", "8"]) == 2
    assert "larger --batch or fewer --nodes" in capsys.readouterr().err
    assert main([*words, "--count", "2048", "--nodes", "128"]) == 2
    assert "give --count 1,024 or less" in capsys.readouterr().err
