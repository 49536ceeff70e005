"""What a circuit carries: estimates, limits on the cards, and what they cost in time."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from price_catalog.builds import Build, enumerate_builds
from price_catalog.load import load_catalog
from price_catalog.power import (
    DESKTOP_FANS_W,
    DRIVES_W,
    LEAST_EFFICIENCY,
    MEMORY_W_PER_GIB,
    SERVER_FAN_SHARE,
    Supply,
    beside_w,
    is_estimated,
    power_figures,
    supply_obstacle,
    wall_w,
)
from price_catalog.power_limits import limit_w, load_points, on_circuit, speed_under

CATALOG = load_catalog()
HOSTS = {host.host_id: host for host in CATALOG.hosts}
GPUS = {gpu.gpu_id: gpu for gpu in CATALOG.gpus}
BUILDS = [build for build in enumerate_builds(CATALOG.gpus, CATALOG.hosts) if not build.obstacle]


def rank(store: Path, circuit: str, capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict]]:  # type: ignore[type-arg]
    argv = ["rank", "--store", str(store), "--model", "pythia-1b", "--circuit", circuit]
    assert main([*argv, "--format", "json"]) == 0
    found: dict[str, list[dict]] = json.loads(capsys.readouterr().out)  # type: ignore[type-arg]
    return found


def test_no_server_of_eight_h100_runs_on_208_volts_and_40_amperes(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = rank(store_path, "208V/40A", capsys)
    assert not [r for r in found["ranked"] if r["gpu"] == "H100" and r["gpu_count"] == 8]
    asked = ["rank", "--store", str(store_path), "--model", "pythia-1b", "--gpus", "H100"]
    assert main([*asked, "--circuit", "208V/40A"]) == 1
    said = capsys.readouterr().out
    assert re.search(r"cannot be\s+built\. 8 × H100 \(", said)
    assert "carries 6,656" in said.replace("\n", " ")
    out = [
        r
        for r in found["excluded"]
        if r["gpu"] == "H100" and r["gpu_count"] == 8 and "W at the wall" in r["detail"]
    ]
    assert {"DGX H100", "Supermicro 8125GS-TNHR, 8 x H100 (HGX)"} <= {r["host"] for r in out}
    for row in out:
        stated = row["host"] == "DGX H100"
        assert ("it draws 10,200 W" if stated else "it is estimated to draw 1") in row["detail"]


def test_a_limit_that_was_measured_ranks_slower_and_says_so(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def two_3090(rows: list[dict]) -> dict:  # type: ignore[type-arg]
        return next(r for r in rows if (r["gpu"], r["gpu_count"]) == ("RTX 3090", 2))

    free = two_3090(rank(store_path, "208V/30A", capsys)["ranked"])
    held = two_3090(rank(store_path, "120V/12A", capsys)["ranked"])
    assert free["power_limit_w"] is None
    assert 190 <= held["power_limit_w"] < 350
    known = speed_under("rtx-3090", held["power_limit_w"])
    assert known is not None
    assert held["training_days"] == pytest.approx(free["training_days"] / known.middle)
    assert held["training_days_high"] == pytest.approx(free["training_days_high"] / known.slowest)
    argv = ["rank", "--store", str(store_path), "--model", "pythia-1b", "--gpus", "RTX 3090"]
    assert main([*argv, "--circuit", "120V/12A", "--evidence", "published"]) == 0
    assert f"2 × RTX 3090 limited to {held['power_limit_w']:.0f} W each" in capsys.readouterr().out


@given(st.sampled_from(BUILDS), st.sampled_from([120, 208, 230]), st.integers(5, 63))
def test_the_limit_is_the_highest_that_the_circuit_carries(
    build: Build, volts: int, amps: int
) -> None:
    supply = Supply(volts, amps)
    (judged,) = on_circuit([build], supply)
    if judged.limit is not None:
        least = wall_w(judged)
        more = wall_w(judged._replace(limit=judged.limit._replace(watts=judged.limit.watts + 2)))
        assert least is not None
        assert more is not None
        assert least <= supply.watts + 1e-6 < more
        assert 0 < judged.limit.slowest <= judged.limit.middle <= judged.limit.fastest <= 1
    elif judged.obstacle is None and not judged.unknown:
        assert (wall_w(judged) or 0) <= supply.watts


@given(st.sampled_from(sorted(load_points())), st.floats(60, 400), st.floats(60, 400))
def test_a_lower_limit_is_not_faster_in_what_was_measured(gpu: str, one: float, two: float) -> None:
    low, high = speed_under(gpu, min(one, two)), speed_under(gpu, max(one, two))
    if low is not None and high is not None:
        assert low.middle <= high.middle + 0.02


def test_nothing_is_said_below_what_was_measured_nor_of_other_cards() -> None:
    assert speed_under("rtx-3090", 189) is None
    assert speed_under("rtx-3090", 350) is not None
    for gpu_id in ("rtx-6000-ada", "h100-sxm5-80gb", "rtx-pro-6000-blackwell-ws"):
        assert speed_under(gpu_id, 250) is None
    assert set(load_points()) <= set(GPUS)


def test_fans_memory_and_drives_are_counted_with_their_margins() -> None:
    desktop = Build(gpu=GPUS["rtx-3090"], gpu_count=1, host=HOSTS["desktop-1gpu"])
    parts = 64 * MEMORY_W_PER_GIB + DRIVES_W
    assert beside_w(desktop) == pytest.approx(parts + DESKTOP_FANS_W, abs=0.1)
    assert wall_w(desktop) == pytest.approx((350 + 65 + parts + DESKTOP_FANS_W) / 0.87, abs=0.2)
    server = Build(gpu=GPUS["rtx-a6000"], gpu_count=8, host=HOSTS["server-8gpu"])
    rest = 8 * 300 + 270 + 512 * MEMORY_W_PER_GIB + DRIVES_W
    assert wall_w(server) == pytest.approx(rest / (1 - SERVER_FAN_SHARE) / 0.91, rel=0.001)


def test_a_maker_s_own_figure_is_taken_as_it_is() -> None:
    dgx = next(b for b in BUILDS if b.host.host_id == "dgx-h100")
    assert wall_w(dgx) == 10_200
    assert power_figures(dgx).beside_w is None
    assert limit_w(dgx, Supply(208, 60)) == 673  # 216 W too much, 27 W on each of eight


def test_a_supply_whose_efficiency_nobody_states_wastes_a_fifth() -> None:
    host = replace(HOSTS["ws-wrx90-3gpu"], psu_efficiency=None)
    build = Build(gpu=GPUS["rtx-a6000"], gpu_count=3, host=host)
    inside_w = 3 * 300 + 350 + beside_w(build)
    assert wall_w(build) == pytest.approx(inside_w / LEAST_EFFICIENCY, abs=0.1)
    assert power_figures(build).basis == "supply"
    assert is_estimated(build)
    assert supply_obstacle(build, Supply(120, 15)) is not None
    known = build._replace(host=replace(host, psu_efficiency=0.9))
    assert wall_w(known) == pytest.approx(inside_w / 0.9, abs=0.1)
    assert power_figures(known).basis == "parts"


@given(st.sampled_from(BUILDS))
def test_no_supply_gives_all_that_it_takes(build: Build) -> None:
    figures, watts = power_figures(build), wall_w(build)
    if watts is None or figures.stated_w is not None or figures.gpu_w is None:
        return
    inside_w = float(figures.gpu_w) * build.gpu_count + (build.host.base_w or 0)
    assert watts >= inside_w * 1.04  # the best class of supplies wastes 4 % where it wastes least
