"""What `advisor predict` tells beside the answer: what is assumed, batches, odd numbers."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.costs.amounts import days_rounded
from advisor.parse import InputError
from advisor.prediction.fitted import Fitted
from bench_runner.settings.space import even_batch, micro_batch_sizes
from tests.prediction.predict_for_tests import call

pytestmark = pytest.mark.usefixtures("asks_the_shipped_store")


def test_what_is_assumed_comes_with_the_command_that_says_it(
    store_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["predict", "--model", "decoder", "--parameters", "3b", "--tokens", "300B"]
    words += ["--gpu", "RTX 4090", "--count", "4", "--format", "json", "--store", str(store_path)]
    monkeypatch.setattr("sys.argv", ["advisor", *words])
    assert main(words) == 0
    first = json.loads(capsys.readouterr().out)
    told = [doubt for doubt in first["verdict"]["doubts"] if doubt["about"] == "assumed"]
    assert "sequences of 2,048 tokens; batches of 512 sequences" in told[0]["words"]
    typed = shlex.split(told[0]["command"])
    written = typed[typed.index("--sequence-length") :]
    assert written == (
        [
            "--sequence-length",
            "2048",
            "--batch",
            "512",
            "--precision",
            "bf16",
            "--host-memory",
            "256GiB",
        ]
    )
    assert main(typed[1:]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["training_days"] == first["training_days"]
    assert "sequences of" not in "".join(doubt["words"] for doubt in again["verdict"]["doubts"])


def test_a_batch_that_the_gpus_do_not_share_is_told_with_one_that_can_be_measured(
    fitted: Fitted, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("--model", "pythia-1b", "--gpu", "H100", "--count", "3", "--format", "json")
    monkeypatch.setattr("sys.argv", ["advisor", "predict", *words])
    assert call(fitted, *words) == 0
    doubts = {
        doubt["about"]: doubt for doubt in json.loads(capsys.readouterr().out)["verdict"]["doubts"]
    }
    assert (
        "a batch of 1,008, which 3 GPUs share evenly, instead of 1,024"
        in doubts["assumed"]["words"]
    )
    assert doubts["assumed"]["command"].endswith("--batch 1008")
    assert doubts["time"]["command"].endswith("--batch 1008 --keep my-model")
    micro_batch_sizes(1008, 3)  # which a search tries: 1,024 would be refused
    monkeypatch.setattr("sys.argv", ["advisor", "predict", *words, "--batch", "1008"])
    assert call(fitted, *words, "--batch", "1008") == 0
    assert "share evenly" not in capsys.readouterr().out


@given(st.integers(1, 10**6), st.integers(1, 1024))
def test_an_even_batch_is_near_and_shared(batch: int, count: int) -> None:
    batch = max(batch, count)
    found = even_batch(batch, count)
    assert found % count == 0 and abs(found - batch) <= max(0.02 * batch, count / 2)


def test_what_was_counted_is_told(
    fitted: Fitted, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """So that a reader can hold it against what he knows of the model."""
    path = tmp_path / "config.json"
    mixtral = {"hidden_size": 4096, "num_hidden_layers": 32, "num_attention_heads": 32}
    mixtral |= {"num_key_value_heads": 8, "intermediate_size": 14336, "vocab_size": 32000}
    mixtral |= {"num_local_experts": 8, "num_experts_per_tok": 2}
    path.write_text(json.dumps({"model_type": "mixtral", **mixtral}))
    words = ("--model", str(path), "--tokens", "10B", "--gpu", "H100", "--count", "64")
    call(fitted, *words, "--format", "json")
    answer = json.loads(capsys.readouterr().out)
    assert (answer["parameters"], answer["active_parameters"]) == (46_702_792_704, 12_879_925_248)
    assert answer["training_flops"] == pytest.approx(6 * 12.75e9 * 10e9, rel=0.05)
    assert "batches of 512 sequences" in answer["assumptions"]
    call(fitted, *words, "--details")
    out = " ".join(capsys.readouterr().out.split())
    assert "model 46.7B parameters, 12.9B of them for a token" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--batch", "1M tokens"), "--batch '1M tokens' is in tokens: write samples"),
        (("--micro-batch", "8k tokens"), "is in tokens: write samples"),
        (("--gpu", "4 x H100"), 'says how many, too: write --gpu "H100" --count 4'),
        (("--gpu", "RTX 4090 x8"), 'write --gpu "RTX 4090" --count 8'),
        (("--gpu", "4 x nothing"), "GPU '4 x nothing' is not known"),
        (("--model", "resnet-50", "--batch", "4M"), "4,000,000 images, more than anybody trains"),
        (("--batch", "4M"), "for a batch of 4M tokens give --batch 2048"),
        (("--batch", "0.5M"), "--batch counts sequences, and 500,000 of 2,049 tokens are more"),
        (("--batch", "3.2M"), "for a batch of 3.2M tokens give --batch 1536"),
        (("--tokens", "3 epochs"), "is in epochs: write what is seen in all"),
        (("--tokens", "1,5e9"), "has a comma for the decimal point: write 1.5e9"),
        (("--count", "1", "--nodes", "2", "--fabric", "ethernet-25"), "1 GPU cannot be shared"),
    ],
)
def test_a_number_of_something_else_is_one_line(
    fitted: Fitted, words: tuple[str, ...], said: str
) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        call(fitted, "--model", "pythia-1b", "--gpu", "H100", *words)


def test_more_than_eight_gpus_are_measured_on_several_machines(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    """No machine has 64: the job names its nodes, and what differs is the network."""
    call(fitted, "--model", "pythia-1b", "--gpu", "H100", "--count", "64")
    said = " ".join(capsys.readouterr().out.replace("\\\n", "").split())
    assert "advisor bench --model pythia-1b --gpus 64 --nodes 8 --on slurm" in said
    assert "a 400 Gb/s port for each GPU; change what differs" in said
    assert "--nodes 8 --fabric infiniband-ndr" in said


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
    assert days_rounded(told["training_days_low"]) in told["verdict"]["sentence"]


def test_what_one_of_the_machines_takes_has_its_interval(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--count", "16", "--nodes", "2", "--fabric", "infiniband-ndr")
    call(fitted, "--model", "pythia-1b", "--gpu", "H100", *words)
    several = capsys.readouterr().out
    call(fitted, "--model", "pythia-1b", "--gpu", "H100", "--count", "8", "--format", "json")
    one = json.loads(capsys.readouterr().out)["predicted"]
    line = next(line for line in several.splitlines() if "on one of the machines" in line)
    for end in ("training_days", "training_days_low", "training_days_high"):
        assert days_rounded(one[end]) in line


@pytest.mark.parametrize("batch", ["4096", "32k", "65536"])
def test_large_batches_of_sequences_are_asked_about(
    fitted: Fitted, capsys: pytest.CaptureFixture[str], batch: str
) -> None:
    words = ("--model", "bert-large", "--gpu", "H100", "--count", "8", "--batch", batch)
    assert call(fitted, *words) == 0
    assert "BERT" in capsys.readouterr().out


def test_a_batch_in_tokens_is_told_of_every_model_of_text(fitted: Fitted, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(json.dumps({"model_type": "gpt2"}))
    for model in ((str(path),), ("decoder", "--parameters", "7B")):
        with pytest.raises(InputError, match="for a batch of 4M tokens give --batch"):
            call(fitted, "--tokens", "1B", "--gpu", "H100", "--batch", "4M", "--model", *model)


def test_numbers_may_name_what_they_count(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = ("--count", "4", "--batch", "512", "--sequence-length", "2048")
    named = ("--count", "4 GPUs", "--batch", "512 samples", "--sequence-length", "2,048 tokens")
    answers = []
    for words in (plain, named):
        assert call(fitted, "--model", "pythia-1b", "--gpu", "A100", *words) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


def test_a_batch_too_small_for_the_gpus_is_told_with_one_that_is_not(
    fitted: Fitted, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("--model", "decoder", "--parameters", "7B", "--tokens", "10B", "--gpu", "H100")
    assert call(fitted, *words, "--count", "1024") == 1
    assert "give --batch 1024 or more" in " ".join(capsys.readouterr().out.split())
    assert call(fitted, *words, "--count", "1024", "--batch", "1024") == 0


@pytest.mark.parametrize("details", [(), ("--details",)])
def test_no_command_is_suggested_twice(
    details: tuple[str, ...],
    fitted: Fitted,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What is assumed here no flag says, and keeping the model is told already."""
    words = ("--model", "pythia-1b", "--gpu", "v100-sxm2-32gb", "--count", "4")
    words += ("--precision", "fp16")
    monkeypatch.setattr("sys.argv", ["advisor", "predict", *words])
    assert call(fitted, *words, *details) == 0
    out = capsys.readouterr().out
    assert "  assumed  " in out and out.count("--keep my-model") == 1
    assert call(fitted, *words, "--format", "json") == 0
    doubts = json.loads(capsys.readouterr().out)["verdict"]["doubts"]
    commands = [doubt["command"] for doubt in doubts if doubt["command"]]
    assert len(commands) == len({*commands}) and len(doubts) > len(commands)
