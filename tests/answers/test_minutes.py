"""How long measuring takes is one figure, whoever is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.cli.main import main
from advisor.costs.amount_words import minutes_words


@pytest.mark.parametrize(
    ("model", "budget"),
    [
        ("pythia-160m", "250k"),
        ("pythia-1b", "40k"),
        ("roberta", "200k"),
        ("timm-coatnet-0-rw-224", "100k"),
    ],
)
def test_rank_and_predict_say_the_same_minutes(
    model: str, budget: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    at = ("--store", str(store_path), "--format", "json")
    assert main(["rank", "--model", model, "--budget", budget, *at]) == 0
    measure = json.loads(capsys.readouterr().out)["verdict"]["measure"]
    assert measure is not None
    gpu = ("--gpu", measure["gpu"], "--count", str(measure["gpu_count"]))
    assert main(["predict", "--model", model, *gpu, *at]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert measure["minutes"] == pytest.approx(answer["bench_minutes"], abs=0.05)  # as rounded
    words = minutes_words(answer["bench_minutes"])
    assert f"about {words} there would settle it" in answer["verdict"]["doubts"][0]["words"]
