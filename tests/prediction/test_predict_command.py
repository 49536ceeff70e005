"""The command `advisor predict`: what it prints, and every wrong input as one line."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.prediction.fitted import Fitted
from advisor.prediction.shipped_predictions import own_cells, predicted_rows
from advisor.typed_input import InputError
from bench_runner.recipes import load_recipes
from bench_runner.records.published import load_published
from bench_runner.settings.batch_and_sharding import even_batch
from price_catalog.load import load_catalog
from tests.prediction.predict_for_tests import call

pytestmark = pytest.mark.usefixtures("asks_the_shipped_store")


def test_a_measured_cell_is_quoted_before_any_prediction(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--model", "pythia-1b", "--gpu", "H100", "--format", "json")
    own = (
        "--tokens",
        "300B",
        "--batch",
        "1024",
        "--sequence-length",
        "2048",
        "--precision",
        "bf16",
    )
    assert call(fitted, *asked, *own) == 0  # as its recipe has it
    typed = json.loads(capsys.readouterr().out)
    assert call(fitted, *asked) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer == typed
    assert answer["measured"][0]["training_days"] == pytest.approx(38.485, abs=0.01)
    # The prediction begins at what a search with the paper's settings took there.
    assert answer["paper_settings_days"] == pytest.approx(46.262, abs=0.01)
    predicted = answer["predicted"]
    assert predicted["training_days_low"] < predicted["training_days"]
    assert predicted["training_days"] < answer["paper_settings_days"]
    assert "not measured" not in answer["reason"]
    # A script that reads the promised names reads what the sentence says.
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


@given(st.integers(1, 10**6), st.integers(1, 1024))
def test_an_even_batch_is_near_and_shared(batch: int, count: int) -> None:
    batch = max(batch, count)
    found = even_batch(batch, count)
    assert found % count == 0 and abs(found - batch) <= max(0.02 * batch, count / 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--gpu A1000000", "not known"),
        ("--gpu '4 x nothing'", "GPU '4 x nothing' is not known"),
        ("--count -1", "negative: write one such as 8"),
        ("--count 1.5", "--count"),
        ("--count 1025", "1 to 1024"),
        ("--count 1 --nodes 2 --fabric ethernet-25", "1 GPU cannot be shared"),
        ("--tokens ''", "--tokens"),
        ("--tokens '3 epochs'", "is in epochs: write what is seen in all"),
        ("--tokens 1,5e9", "has a comma for the decimal point: write 1.5e9"),
        ("--images 1B", "trained on text: give --tokens, not --images"),
        ("--image-size 224", "trained on text: leave --image-size out"),
        ("--method magic", "method"),
        ("--method naive --sharding zero-2", "no settings of the method naive"),
        ("--precision fp64", "precision"),
        ("--precision fp8", "fp8 changes what is learnt"),
        ("--model pythia-1c", "did you mean"),
        ("--model decoder --parameters x", "--parameters"),
        ("--model decoder --parameters 1B", "--tokens"),
        ("--model no/such/config.json", "is not there"),
        ("--batch '1M tokens'", "--batch '1M tokens' is in tokens: write samples"),
        ("--batch 4M", "for a batch of 4M tokens give --batch 2048"),
        ("--batch 0.5M", "--batch counts sequences, and 500,000 of 2,049 tokens are more"),
        ("--model resnet-50 --batch 4M", "4,000,000 images, more than anybody trains"),
        ("--micro-batch '8k tokens'", "is in tokens: write samples"),
        ("--micro-batch 0", "not a whole number above 0"),
        ("--micro-batch 1M", "on 1 GPU is more than the batch"),
        ("--micro-batch 3", "does not divide the batch of 1,024 on 1 GPU: give one that does"),
        ("--micro-batch 100 --count 3", "1,008 on 3 GPUs, which they share instead"),
        ("--host-memory 1e999", "host memory"),
        ("--host-memory '64 days'", "not a number of GiB"),
        ("--sharding zero-9", "--sharding 'zero-9' is not one of none, zero-1"),
        ("--sharding none --offloading yes", "give --sharding zero-1 or leave"),
        ("--checkpointing maybe", "write yes or no"),
    ],
)
def test_wrong_input_is_one_line(fitted: Fitted, words: str, said: str) -> None:
    asked = ("--model", "pythia-1b", "--gpu", "H100", *shlex.split(words))
    with pytest.raises(InputError, match=re.escape(said)) as caught:
        call(fitted, *asked)
    assert "\n" not in str(caught.value)


def test_a_time_measured_elsewhere_has_the_ends_that_the_ranking_gives_it(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(store_path), "--format", "json", "--model", "pythia-1b"]
    assert main(["predict", *store, "--gpu", "H100"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["rank", *store, "--prices", "paper", "--gpus", "H100"]) == 0
    ranked = json.loads(capsys.readouterr().out)["ranked"]
    (one,) = [row for row in ranked if row["gpu_count"] == 1]
    days = told["training_days"]
    assert told["basis"] == one["basis"] == "measured"
    assert told["training_days_low"] == pytest.approx(0.98 * days)
    assert told["training_days_high"] == pytest.approx(1.02 * days)
    for end in ("training_days", "training_days_low", "training_days_high"):
        assert told[end] == pytest.approx(one[end], rel=1e-4), end
