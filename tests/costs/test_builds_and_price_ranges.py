"""What can be bought under the default prices, what is owned, and what price ranges leave open."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.main import main


def ask(capsys: pytest.CaptureFixture[str], store: Path, *argv: str) -> Any:
    assert main([*argv, "--format", "json", "--store", str(store)]) in (0, 1)
    return json.loads(capsys.readouterr().out)


def test_what_cannot_be_built_is_left_out_with_the_reason(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    answer = ask(capsys, store_path, "rank", "--model", "pythia-1b")
    # A published time that is impossible is listed beside whatever else keeps its build out.
    left = {
        (row["gpu"], row["gpu_count"], row["host"]): row
        for row in answer["excluded"]
        if row["reason"] != "implausible-time"
    }
    out = left["RTX 3090", 8, "2U server for 8 GPUs"]
    assert out["reason"] == "cannot-be-built"
    assert "blows into the case" in out["detail"]
    assert left["H100", 4, "1U server for 4 GPUs"]["reason"] == "cannot-be-built"
    ranked = {(row["gpu"], row["gpu_count"], row["host"]): row for row in answer["ranked"]}
    # A GPU that nobody timed is predicted or listed without a time, never dropped.
    l40s = ("L40S", 8, "2U server for 8 GPUs")
    assert ranked[l40s]["basis"] == "predicted" if l40s in ranked else left[l40s]["reason"]
    dgx = ranked["H100", 8, "DGX H100"]
    assert dgx["whole_server"]
    assert dgx["overall_cost_usd"] == 375_000
    assert dgx["price_marks"]["gpu"] == []
    # What nobody states of the paper's servers might keep a card out: they do not rank.
    assert left["A6000", 8, "2U server for 8 GPUs"]["reason"] == "fit-not-known"
    assert "slots or power per card" in left["A6000", 8, "2U server for 8 GPUs"]["detail"]


def test_owned_gpus_cost_nothing_and_upgrades_only_what_is_added(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    where = ["--store", str(own_store)]
    question = ["rank", "--model", "pythia-1b", "--gpus", "A6000"]
    before = ask(capsys, own_store, *question)
    cost = {row["gpu_count"]: row["overall_cost_usd"] for row in before["ranked"]}
    price = before["ranked"][0]["prices"]["gpu_usd"]
    assert main(["prices", "own", "2 x A6000", *where]) == 0
    assert main(["prices", "own", "2 × RTX A6000", *where]) == 0
    capsys.readouterr()
    after = ask(capsys, own_store, *question)
    owned = {(row["gpu_count"], row["gpus_owned"]): row for row in after["ranked"]}
    assert owned[2, 2]["overall_cost_usd"] == 0
    assert owned[2, 2]["experiment_cost_usd"] == 0
    assert owned[2, 0]["overall_cost_usd"] == cost[2]
    assert owned[4, 2]["overall_cost_usd"] == pytest.approx(cost[4] - 2 * price)
    assert main(["prices", "own", "2 x A6000", "--remove", *where]) == 0
    assert main(["prices", "own", "2 x A6000", "--remove", *where]) == 2
    capsys.readouterr()
    assert ask(capsys, own_store, *question)["ranked"] == before["ranked"]


def test_running_an_owned_machine_costs_its_electricity(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prices", "own", "2 x A6000", "--store", str(own_store)]) == 0
    capsys.readouterr()
    flags = ["--model", "pythia-1b", "--gpu", "A6000", "--count", "2", "--electricity", "0.2"]
    answer = ask(capsys, own_store, "prices", "cost", *flags)
    terms = {row["term"]: row for row in answer["terms"]}
    assert terms["hardware"]["life_usd"] == 0
    ranked = ask(capsys, own_store, "rank", "--model", "pythia-1b", "--gpus", "A6000")["ranked"]
    (days,) = {row["training_days"] for row in ranked if row["gpu_count"] == 2}
    # 2 x 300 W and 70 % of that for what nobody states, for so many days at $0.2 a kWh.
    assert terms["whole"]["experiment_usd"] == pytest.approx(1.02 * 24 * days * 0.2, abs=0.01)


def test_hosting_needs_rack_units_that_somebody_states(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["prices", "own", "2 x A6000", "--store", str(own_store)]) == 0
    capsys.readouterr()
    flags = ["--model", "pythia-1b", "--gpu", "A6000", "--count", "2", "--hosting", "50"]
    assert main(["prices", "cost", *flags, "--store", str(own_store)]) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert "your 2 × A6000" in said.err
    answer = ask(capsys, own_store, "prices", "cost", *flags, "--rack-units", "4")
    terms = {row["term"]: row["life_usd"] for row in answer["terms"]}
    assert terms["hosting"] == 50 * 4 * 60
    rows = ask(capsys, own_store, "prices", "builds", "--gpus", "A6000")
    units = {row["host"]: row["rack_units"] for row in rows}
    assert units["Desktop for 2 GPUs"] == 0
    assert units["your 2 × A6000"] is None
    assert (units["1U server for 4 GPUs"], units["2U server for 8 GPUs"]) == (1, 2)


@pytest.mark.parametrize("text", ["", "120", "15A/120V", "120V/15A/2", "1V/1A", "999V/15A", "a/b"])
def test_a_circuit_that_is_none_is_one_line(
    text: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rank = ["rank", "--model", "pythia-1b", "--circuit", text, "--store", str(store_path)]
    assert main(rank) == 2
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
