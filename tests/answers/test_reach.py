"""What GPUs can train in a time says of each model what a ranking says of it."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from advisor.answers.reach import ASSUMED_DAYS
from advisor.cli.main import main
from advisor.planning.grant.grant_keys import LONGEST_RUN_DAYS
from advisor.store import Store
from tests.commands_for_tests import refused
from tests.own_trainings_for_tests import timed


def asked(store: Path, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["--store", str(store), "reach", *words])
    return code, capsys.readouterr().out


@pytest.mark.parametrize(("gpu", "count"), [("A6000", 4), ("H100", 1), ("RTX 3090", 2)])
def test_each_model_has_the_time_that_ranks_it(
    store_path: Path, capsys: pytest.CaptureFixture[str], gpu: str, count: int
) -> None:
    words = ("--gpu", gpu, "--count", str(count), "--max-days", "30", "--format", "json")
    code, out = asked(store_path, capsys, *words)
    answer = json.loads(out)
    assert code == 0
    with Store(store_path).reading() as reader:
        assert {row["model"] for row in answer["models"]} == {m.recipe_id for m in reader.models()}
        for row in answer["models"][::12]:
            stands = {
                (best.gpu_id, best.gpu_count): best.chosen
                for best in reader.best_times(row["model"], "sound")
            }.get((answer["gpu"], count))
            days = None if stands is None else stands.training_days
            assert row["training_days"] == days
            assert (row["reach"] == "no-time") == (stands is None)
            assert (row["reach"] == "does-not-fit") == (stands is not None and days is None)
            assert (row["reach"] in ("within", "perhaps")) == (days is not None and days <= 30)
            assert row["reach"] != "within" or row["training_days_high"] <= 30
            assert row["mend"] is None or row["training_days"] is None
    code, out = asked(store_path, capsys, *words[:-1], "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["model"] for row in rows] == [row["model"] for row in answer["models"]]


def test_more_of_a_gpu_train_at_least_as_many(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def count(*words: str) -> int:
        _, out = asked(store_path, capsys, "--gpu", "A6000", *words, "--format", "json")
        return sum(row["reach"] in ("within", "perhaps") for row in json.loads(out)["models"])

    assert count("--count", "1", "--max-days", "30") < count("--count", "4", "--max-days", "30")
    assert count("--count", "4", "--max-days", "3") < count("--count", "4", "--max-days", "30")
    assert count("--count", "4", "--max-days", "30") <= count("--count", "4")


def test_a_limit_is_assumed_and_said(store_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Days without a limit led with a model of 21,300 days."""
    assert ASSUMED_DAYS == LONGEST_RUN_DAYS
    _, out = asked(store_path, capsys, "--gpu", "A6000", "--format", "json")
    answer = json.loads(out)
    assert answer["max_days"] == 90
    assert "within 90 days (assumed" in answer["verdict"]["sentence"]
    assert all(r["training_days"] <= 90 for r in answer["models"] if r["reach"] == "within")


def models_on(capsys: pytest.CaptureFixture[str], store: Path, *words: str) -> dict[str, Any]:
    _, out = asked(store, capsys, "--gpu", "A6000", *words, "--format", "json")
    return {row["model"].partition("+")[0]: row for row in json.loads(out)["models"]}


def test_other_counts_lie_between(store_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    four, five, eight = (models_on(capsys, store_path, "--count", n) for n in ("4", "5", "8"))
    assert {*five} == {*four}
    days = [tuple(rows[name]["training_days"] for rows in (four, five, eight)) for name in four]
    known = [each for each in days if None not in each]
    assert len(known) > 100
    assert sum(a * 1.02 >= b >= c / 1.02 for a, b, c in known) > 0.9 * len(known)


def test_fine_tuning_says_days_memory_and_what_would_do(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Store(own_store).keep_model(timed())
    full, lora, qlora = (
        models_on(capsys, own_store, "--count", "1", "--train", kind, "--data", "10M")
        for kind in ("full", "lora", "qlora")
    )
    assert {*lora} == {*qlora} < {*full}
    assert "resnet-50" in full and "resnet-50" not in lora
    assert full["llama-3.1-8b"]["reach"] == "does-not-fit"
    assert full["llama-3.1-8b"]["mend"].startswith("QLoRA (≈")
    assert lora["llama-3.1-8b"]["reach"] == "within"
    for name, row in qlora.items():
        assert row["estimated_memory_gib"] <= 48
        assert row["tokens"] == pytest.approx(10e6, rel=0.02)
        mine = lora[name]["training_days"]
        assert mine is None or mine <= row["training_days"] * 1.2


def test_a_training_of_one_s_own_is_among_them(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Store(own_store).keep_model(timed())
    _, out = asked(own_store, capsys, "--gpu", "A100", "--details")
    (line,) = [line for line in out.splitlines() if line.startswith("my-run")]
    assert "as it runs" in line
    assert "as timed" in line
    _, out = asked(own_store, capsys, "--gpu", "RTX 3090", "--details")
    assert "do not fit; what would do:" in out


@pytest.mark.parametrize("width", ["60", "80"])
def test_a_narrow_table_keeps_what_a_model_is_trained_on(
    store_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    width: str,
) -> None:
    """Without it, 30,000 days for 15T tokens and 60 for 100B look alike."""
    monkeypatch.setenv("COLUMNS", width)
    _, out = asked(store_path, capsys, "--gpu", "A6000", "--count", "4")
    head = next(line for line in out.splitlines() if line.startswith("model"))
    assert "GiB a GPU" in head and "trained on" in head and "settings" not in head


def test_nothing_in_the_time_is_no_answer(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out = asked(store_path, capsys, "--gpu", "A6000", "--max-days", "0.0001")
    assert code == 1
    assert "trains none of" in out


@pytest.mark.parametrize(
    "words",
    [
        ["--gpu", "A7000"],
        ["--gpu", "A6000", "--count", "17"],
        ["--gpu", "A6000", "--train", "lota"],
        ["--gpu", "A6000", "--train", "lora", "--data", "many"],
        ["--gpu", "A6000", "--count", "none"],
        ["--gpu", "A6000", "--max-days", "0"],
        ["--gpu", "A6000", "--max-days", "soon"],
        ["--gpu", "A6000", "--format", "xml"],
    ],
)
def test_what_is_typed_wrongly_is_one_line(
    words: list[str], store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused(capsys, "--store", str(store_path), "reach", *words)
