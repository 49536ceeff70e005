"""Two machines for one model: by network, never faster than linear, and what ranks of it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.ranking.candidates import Candidates
from advisor.ranking.fabric import (
    FABRICS,
    Fabric,
    doubt,
    kept_scaling,
    link_of,
    link_of_speed,
    parse_fabric,
)
from advisor.ranking.question import CandidatesKey, Question
from advisor.ranking.row_order import rank
from advisor.ranking.snapshot import make_candidates, take_snapshot
from advisor.store import Store
from advisor.typed_input import InputError
from tools.fit.scaling import fit_scaling, load_pairs, wire_s


def test_an_unmeasured_network_is_less_sure() -> None:
    ten, twenty_five, hundred = (doubt(link_of(f)) for f in FABRICS if f.startswith("ethernet"))
    assert ten == pytest.approx(twenty_five)
    assert hundred > 1.2 * twenty_five


def test_the_wire_is_a_rings_two_halves() -> None:
    # 1 GB over 10 Gbit/s between two machines: each sends half and gets half, twice.
    assert wire_s(1e9, 2, link_of("ethernet-10")) == pytest.approx(0.8)
    assert wire_s(1e9, 4, link_of("ethernet-10")) == pytest.approx(1.2)


def test_the_kept_fit_is_that_of_the_evidence() -> None:
    assert fit_scaling(load_pairs()) == kept_scaling()


@pytest.mark.parametrize("text", ["", "ethernet", "ethernet-40", "wifi"])
def test_a_network_that_is_none_is_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(InputError, match="ethernet-25"):
        parse_fabric(text)


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
        if joined.gap[one] is None:
            assert joined.days[i] > joined.days[one] / 2, "nothing is faster than linear"
        assert not build.host_owned
        assert not build.gpus_owned
    cheap = rank(joined, Question(rule="days"))
    row = cheap.machine(next(i for i in cheap.order if i in pairs))
    assert row.time.basis == "predicted"


def test_a_command_a_ranking_and_a_plan_tell_the_same_of_two_machines(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranked = _asked(store_path, "infiniband-ndr")
    with Store(store_path).reading() as reader:
        planned = reader.asked_times("pythia-1b", "ours", 2, link_of_speed(400.0))
    of_plan = {(t.gpu_id, t.gpu_count): t.chosen for t in planned}
    for i in [i for i in ranked.rankable if ranked.builds[i].machines == 2][::40]:
        build, time = ranked.builds[i], ranked.times[i]
        words = ["predict", "--model", "pythia-1b", "--gpu", build.gpu.gpu_id, "--nodes", "2"]
        words += ["--count", str(2 * build.gpu_count), "--fabric", "infiniband-ndr"]
        assert main([*words, "--format", "json", "--store", str(store_path)]) == 0
        told = json.loads(capsys.readouterr().out)
        same = of_plan[build.gpu.gpu_id, 2 * build.gpu_count]
        assert time is not None and time.chosen is not None and same is not None
        for name in ("training_days", "training_days_low", "training_days_high"):
            assert getattr(time.chosen, name) == pytest.approx(told[name], rel=1e-3)
            assert getattr(same, name) == getattr(time.chosen, name)


def test_a_model_that_fits_two_machines_alone_is_offered(store_path: Path, tmp_path: Path) -> None:
    store = shutil.copy(store_path, tmp_path / "mine.duckdb")
    words = ["predict", "--model", "decoder", "--parameters", "70B", "--tokens", "100B"]
    assert main([*words, "--keep", "large", "--store", str(store)]) == 0
    with Store(store).reading() as reader:
        snapshot = take_snapshot(reader)
        key = CandidatesKey("large", "latest", "sound", network="infiniband-ndr")
        asked = make_candidates(reader, snapshot, key)
    ranked = {
        (asked.builds[i].gpu.gpu_id, asked.builds[i].gpu_count, asked.builds[i].machines)
        for i in asked.rankable
    }
    alone = {(gpu, count) for gpu, count, machines in ranked if machines == 1}
    both = {(gpu, count) for gpu, count, machines in ranked if machines == 2}
    assert both - alone


def test_gpus_that_machines_alike_cannot_share_are_refused(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["predict", "--model", "pythia-1b", "--gpu", "H100", "--store", str(store_path)]
    words += ["--fabric", "infiniband-hdr"]
    assert main([*words, "--count", "8", "--nodes", "3"]) == 2
    assert "such as 12" in capsys.readouterr().err
    assert main([*words, "--count", "32", "--nodes", "16", "--batch", "8"]) == 1
    assert "give --batch 32 or more" in capsys.readouterr().out
    assert main([*words, "--count", "2048", "--nodes", "128"]) == 2
    assert "give 1 to 1024" in capsys.readouterr().err
