"""More GPUs that are faster than their number says are told so, and only they."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.cli.main import main


@pytest.mark.parametrize("model", ["mamba", "pythia-2.8b", "pythia-160m"])
def test_faster_than_linear_is_said_and_only_there(
    model: str, store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["rank", "--model", model, "--store", str(store_path)]
    assert main([*words, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["ranked"]
    said = 0
    for row in rows:
        if row["machines"] > 1 or row["power_limit_w"] is not None:
            continue
        fewer = [
            other
            for other in rows
            if other["gpu"] == row["gpu"]
            and other["gpu_count"] < row["gpu_count"]
            and (other["machines"], other["power_limit_w"]) == (1, None)
            and row["training_days"] * row["gpu_count"]
            < 0.999 * other["training_days"] * other["gpu_count"]
        ]
        told = row["faster_than_linear_of"]
        assert (told is not None) == bool(fewer), row
        if told is not None:
            said += 1
            (slowest,) = {
                json.dumps(other["settings"], sort_keys=True)
                for other in fewer
                if other["gpu_count"] == told
            }
            assert json.loads(slowest) != row["settings"]
    assert bool(said) == (model != "pythia-160m")
    assert main([*words, "--details"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert ("which needs other settings" in out or "which need other settings" in out) == bool(said)
