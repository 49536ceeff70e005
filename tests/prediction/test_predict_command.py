"""The command `advisor predict`: what it prints, and every wrong input as one line."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from advisor.benchmark.recorder import MEASURED_HERE
from advisor.cli.main import main
from advisor.parse import InputError
from advisor.prediction.fitted import Fitted
from advisor.prediction.shipped_predictions import own_cells, predicted_rows
from advisor.store import Store
from bench_runner.recipes import load_recipes
from bench_runner.records.measurement import journal
from bench_runner.records.published import load_published
from price_catalog.load import load_catalog
from tests.prediction.predict_for_tests import call

pytestmark = pytest.mark.usefixtures("asks_the_shipped_store")


def test_json_holds_the_promised_names(fitted: Fitted, capsys: pytest.CaptureFixture[str]) -> None:
    words = ("--model", "pythia-1b", "--gpu", "rtx 4090", "--count", "4", "--format", "json")
    assert call(fitted, *words) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert answer["training_days_low"] < answer["training_days"] < answer["training_days_high"]
    assert (answer["basis"], answer["gpu"], answer["gpu_count"]) == ("predicted", "RTX 4090", 4)
    assert answer["settings"]["micro_batch_size"] >= 1
    assert answer["analytic_days"] < answer["training_days"]


def test_a_measured_cell_is_quoted_before_any_prediction(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(fitted, "--model", "pythia-1b", "--gpu", "H100") == 0
    out = " ".join(capsys.readouterr().out.split())
    assert out.index("38.5 days (37.7–39.2), measured elsewhere on 22 November 2026") < out.index(
        "predicted"
    )
    assert re.search(r"measured, with the paper's settings +46\.3 +-", out)
    assert call(fitted, "--model", "pythia-1b", "--gpu", "H100", "--format", "json") == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["measured"][0]["training_days"] == pytest.approx(38.485, abs=0.01)
    # The prediction begins at what a search with the paper's settings took there.
    assert answer["paper_settings_days"] == pytest.approx(46.262, abs=0.01)
    predicted = answer["predicted"]
    assert predicted["training_days_low"] < predicted["training_days"]
    assert predicted["training_days"] < answer["paper_settings_days"]
    assert "not measured" not in answer["reason"]
    # A script that reads the promised names reads what the sentence says.
    assert answer["training_days"] == answer["verdict"]["days"]["training_days"]
    assert answer["training_days"] == answer["measured"][0]["training_days"]
    assert (answer["basis"], answer["settings"]) == ("measured", answer["measured"][0]["settings"])


@pytest.mark.parametrize(
    ("model", "gpu_id", "count"),
    [
        ("pythia-1b", "h200-sxm-141gb", 4),
        ("pythia-1b", "h100-sxm5-80gb", 1),
        ("pythia-6.9b", "h200-sxm-141gb", 1),
        ("pythia-410m", "h200-sxm-141gb", 4),
        ("mamba", "h200-sxm-141gb", 1),
        ("vit", "h200-sxm-141gb", 2),
    ],
)
def test_what_is_predicted_beside_a_measurement_is_what_is_ranked(
    fitted: Fitted, capsys: pytest.CaptureFixture[str], model: str, gpu_id: str, count: int
) -> None:
    words = ("--model", model, "--gpu", gpu_id, "--count", str(count), "--format", "json")
    assert call(fitted, *words) == 0
    predicted = json.loads(capsys.readouterr().out)["predicted"]
    (recipe,) = [r for r in load_recipes() if r.recipe_id == model]
    (gpu,) = [g for g in load_catalog().gpus if g.gpu_id == gpu_id]
    cells = own_cells(load_published(), [gpu])
    ranked = predicted_rows(fitted, [recipe], [gpu], counts=[count], measured=cells)[0]
    for name in ("training_days", "training_days_low", "training_days_high"):
        assert predicted[name] == pytest.approx(ranked[name], rel=1e-3)


def test_another_training_of_a_measured_model_is_not_measured(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(fitted, "--model", "pythia-1b", "--gpu", "H100", "--count", "4") == 0
    assert "measured elsewhere" not in capsys.readouterr().out


def test_words_say_that_it_was_not_measured(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(fitted, "--model", "vit", "--gpu", "L40S", "--count", "2") == 0
    out = capsys.readouterr().out
    assert "predicted" in out and "not measured" in out and "9 in 10" in out
    assert "the paper's estimate: all FLOPs at the peak" in out
    assert "physics" not in out
    assert call(fitted, "--model", "vit", "--gpu", "L40S", "--count", "2", "--details") == 0
    assert "physics fitted to" in capsys.readouterr().out
    assert call(fitted, "--model", "pythia-1b", "--gpu", "H100", "--method", "naive") == 0
    assert "in 38.5 days" not in capsys.readouterr().out  # which other settings took


def test_times_of_less_than_a_day_are_in_hours_as_the_sentence_has_them(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(fitted, "--model", "bert-large", "--gpu", "B200", "--count", "8") == 0
    out = capsys.readouterr().out
    (hours, low, high) = re.findall(r"in ≈([\d.]+) hours \(([\d.]+)–([\d.]+)\)", out)[0]
    assert re.search(r"^how +hours  9 in 10 such runs$", out, re.MULTILINE)
    assert f"settings that we write out  ≈{hours}  {low}–{high}\n" in out
    assert call(fitted, "--model", "pythia-1b", "--gpu", "B200", "--count", "8") == 0
    assert re.search(r"^how +days  9 in 10 such runs$", capsys.readouterr().out, re.MULTILINE)


def test_no_interval_is_told_where_its_ends_are_the_same(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    """What begins at a measurement of the same settings has the measurement's own doubt alone."""
    assert call(fitted, "--model", "vit", "--gpu", "H200", "--count", "2") == 0
    out = capsys.readouterr().out
    assert re.search(r"settings that we write out +≈15\.1  -\n", out)
    assert not re.search(r" ([\d.]+)–\1\n", out)


def test_what_cannot_be_answered_is_exit_code_1(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ("--gpu", "RTX 3090", "--host-memory", "64GiB")
    assert call(fitted, "--model", "pythia-6.9b", *small) == 1
    assert "does not fit" in capsys.readouterr().out
    far = ("--model", "pythia-1b", "--gpu", "MI325X", "--count", "8", "--format", "json")
    assert call(fitted, *far) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["training_days"] is None and "benchmark" in answer["measure"]


def test_a_config_and_a_size(
    fitted: Fitted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = {"model_type": "gpt2", "n_layer": 24, "n_embd": 1024, "n_head": 16}
    (tmp_path / "config.json").write_text(json.dumps(config))
    run = ("--gpu", "A100", "--count", "8", "--tokens", "300B", "--batch", "512")
    assert call(fitted, "--model", str(tmp_path), *run) == 0
    assert call(fitted, "--model", "decoder", "--parameters", "350M", *run) == 0
    assert "usual shape" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--model", "pythia-1c", "--gpu", "A100"), "did you mean"),
        (("--model", "pythia-1b", "--gpu", "A1000000"), "not known"),
        (("--model", "pythia-1b", "--gpu", "A100", "--count", "0"), "--count"),
        (
            ("--model", "pythia-1b", "--gpu", "A100", "--count", "-1"),
            "negative: write one such as 8$",
        ),
        (
            ("--model", "pythia-1b", "--gpu", "A100", "--count", "many"),
            "above 0: write one such as 8$",
        ),
        (("--model", "pythia-1b", "--gpu", "A100", "--count", "1.5"), "--count"),
        (("--model", "pythia-1b", "--gpu", "A100", "--count", "1025"), "1 to 1024"),
        (("--model", "pythia-1b", "--gpu", "A100", "--tokens", "nan"), "--tokens"),
        (("--model", "pythia-1b", "--gpu", "A100", "--tokens", "-3"), "--tokens"),
        (("--model", "pythia-1b", "--gpu", "A100", "--tokens", "1e400"), "--tokens"),
        (("--model", "pythia-1b", "--gpu", "A100", "--tokens", ""), "--tokens"),
        (("--model", "pythia-1b", "--gpu", "A100", "--images", "1B"), "--tokens"),
        (("--model", "pythia-1b", "--gpu", "A100", "--method", "magic"), "method"),
        (("--model", "pythia-1b", "--gpu", "A100", "--precision", "fp64"), "precision"),
        (("--model", "decoder", "--gpu", "A100", "--parameters", "x"), "--parameters"),
        (("--model", "decoder", "--gpu", "A100", "--parameters", "1B"), "--tokens"),
        (("--model", "no/such/config.json", "--gpu", "A100"), "is not there"),
    ],
)
def test_wrong_input_is_one_line(fitted: Fitted, words: tuple[str, ...], said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        call(fitted, *words)
    assert "\n" not in str(caught.value)


def test_the_answer_comes_first_and_is_the_same_in_json(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--model", "pythia-1b", "--gpu", "H100", "--count", "4")
    assert call(fitted, *words) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 100
    assert call(fitted, *words, "--format", "json") == 0
    answer = json.loads(capsys.readouterr().out)
    first = " ".join(out.partition("\n\n")[0].split())
    assert first == answer["verdict"]["sentence"]
    assert first.startswith("Pythia 1B trains on 4 × H100 in ≈")
    commands = [doubt["command"] for doubt in answer["verdict"]["doubts"]]
    assert commands == [
        "advisor bench --model pythia-1b --gpus 4",
        "advisor rank --model pythia-1b --gpus h100-sxm5-80gb",
    ]
    assert all(command in out for command in commands)
    assert answer["verdict"]["days"]["basis"] == "predicted"


def test_a_training_of_ones_own_is_kept_before_it_is_ranked_or_measured(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--model", "pythia-1b", "--gpu", "H100", "--tokens", "3e11", "--format", "json")
    assert call(fitted, *words) == 0
    doubts = json.loads(capsys.readouterr().out)["verdict"]["doubts"]
    assert [doubt["about"] for doubt in doubts] == ["time"]
    assert doubts[0]["command"].endswith("--keep my-model")


def test_what_trains_something_else_is_not_quoted_as_measured(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (record,) = [
        r
        for r in load_published()
        if (r.recipe_id, r.gpu_count, r.method) == ("pythia-160m", 1, "free-lunch")
        and r.settings is not None
        and (r.settings.micro_batch_size, r.settings.loss) == (128, "fused")
    ]
    assert record.settings is not None and record.training_days is not None
    changed = replace(
        record,
        settings=replace(record.settings, matmul="fp8"),
        method="changes-training",
        training_days=1.0,
        training_days_low=1.0,
        training_days_high=1.0,
        source_id=MEASURED_HERE.source_id,
    )
    assert Store(own_store).append_measurements([journal.with_id(changed)], [MEASURED_HERE]) == 1
    words = ["predict", "--store", str(own_store), "--model", "pythia-160m", "--gpu", "H200"]
    assert main([*words, "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    same = ("free-lunch", "memory-saving", "optimal")
    fastest = min(
        r.training_days
        for r in load_published()
        if (r.recipe_id, r.gpu, r.gpu_count) == ("pythia-160m", record.gpu, 1)
        and r.timing == "synchronised"
        and r.method in same
        and r.training_days is not None
    )
    assert answer["measured"][0]["training_days"] == pytest.approx(fastest)
    assert not any(time["here"] for time in answer["measured"])
