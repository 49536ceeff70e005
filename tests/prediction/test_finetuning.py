"""Fine-tuning: what is frozen costs no gradients and no states, and adapters cost their casts."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from typing import Any

import pytest

from advisor.cli.main import main
from advisor.prediction.fitted import Fitted
from tools.fit.finetuning import load_tuned


def ask(store: Path, capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    command = ["predict", "--model", "pythia-1b", "--gpu", "A100", *words]
    assert main([*command, "--format", "json", "--store", str(store)]) == 0
    answer: dict[str, Any] = json.loads(capsys.readouterr().out)
    return answer


def test_what_others_and_we_timed_is_told_well(fitted: Fitted) -> None:
    every = [t for t in load_tuned(fitted) if t.row["source_id"] != "surogate-unsloth"]
    rows = [t for t in every if not math.isnan(t.step_s)]
    assert len(rows) >= 37
    assert statistics.median(abs(t.error) for t in rows) < 0.07
    inside = [t.low <= float(t.row["step_s"]) <= t.high for t in rows]
    assert statistics.fmean(inside) > 0.85
    memory = [t.gib / float(t.row["peak_gib"]) for t in rows if t.has_memory]
    assert all(0.65 < share < 1.25 for share in memory)
    ours = [t for t in rows if t.row["software"] == "ours"]
    assert len(ours) >= 15
    assert statistics.median(abs(t.error) for t in ours) < 0.05
    assert statistics.median(abs(t.gib / float(t.row["peak_gib"]) - 1) for t in ours) < 0.05


def test_adapters_take_less_time_and_memory_than_all_weights(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = ("--data", "50M", "--batch", "64")
    full, lora, qlora = (
        ask(store_path, capsys, "--train", kind, *data) for kind in ("full", "lora", "qlora")
    )
    same = ask(store_path, capsys, "--tokens", "50M", "--batch", "64")
    # A sample of fine-tuning has 2,048 tokens, one of Pythia's own training 2,049.
    assert full["training_days"] == pytest.approx(same["training_days"], rel=2e-3)
    # What times it belongs to this store, and the command behind -- to its user.
    assert qlora["verdict"]["doubts"][0]["command"].endswith(f"--store {store_path} -- COMMAND")
    frozen = [each["frozen_weights"] for each in (full, lora, qlora)]
    assert frozen == [None, "bf16", "nf4"]
    assert lora["training_days"] < qlora["training_days"]
    assert lora["training_days"] < 0.9 * full["training_days"]
    assert lora["parameters"] > full["parameters"]
    assert lora["training_flops"] < 0.75 * full["training_flops"]
    more = ask(store_path, capsys, "--train", "lora", "--rank", "256", *data)
    assert more["parameters"] > lora["parameters"]
    twice = ask(store_path, capsys, "--train", "lora", "--epochs", "2", *data)
    assert twice["training_days"] == pytest.approx(2 * lora["training_days"], rel=5e-3)
    # Examples of so many tokens are as many tokens.
    by_example = ask(store_path, capsys, "--train", "lora", "--data", "25kx2000", "--batch", "64")
    assert by_example["training_days"] == pytest.approx(lora["training_days"], rel=0.1)


@pytest.mark.parametrize(
    ("words", "keys", "called"),
    [
        (("--train", "lora"), 'train = "lora"', "LoRA on 50M tokens"),
        (
            ("--train", "full", "--data", "30000x1000", "--epochs", "3"),
            'train = "full"\nexamples = 30000\nlength = 1000\nepochs = 3',
            "full fine-tuning on 30M tokens, 3 epochs",
        ),
    ],
)
def test_a_ranking_a_prediction_and_a_grant_say_one_time(
    own_store: Path,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    keys: str,
    called: str,
    tmp_path: Path,
) -> None:
    def answer(*command: str) -> dict[str, Any]:
        assert main([*command, "--format", "json", "--store", str(own_store)]) == 0
        found: dict[str, Any] = json.loads(capsys.readouterr().out)
        return found

    ranked = answer("rank", "--model", "qwen2.5-1.5b", *words, "--gpus", "RTX 3090")
    assert called in ranked["verdict"]["sentence"]
    assert ranked["training"]["train"] == words[1]
    assert ranked["training"]["adapter_rank"] == (16 if words[1] == "lora" else None)
    row = ranked["ranked"][0]
    assert row["training_days_low"] < row["training_days"] < row["training_days_high"]
    assert 2 < row["memory_gib"] <= 24
    # Its name says the same in place of flags.
    named = answer("rank", "--model", ranked["model"], "--gpus", "RTX 3090")
    assert named["ranked"] == ranked["ranked"]
    there = ("--gpu", "RTX 3090", "--count", str(row["gpu_count"]))
    predicted = answer("predict", "--model", "qwen2.5-1.5b", *words, *there)
    assert predicted["training_days"] == pytest.approx(row["training_days"], rel=1e-3)
    grant = tmp_path / "grant.toml"
    grant.write_text(
        '[grant]\nstart = 2027-01-01\nyears = 1\n[budget]\ntotal = "40k"\n[rentals]\n'
        f'allowed = false\n[[experiments]]\nmodel = "qwen2.5-1.5b"\n{keys}\n'
        f'[[owned]]\ngpu = "RTX 3090"\ngpu_count = {row["gpu_count"]}\n'
    )
    (placed,) = answer("plan", str(grant), "--quick")["schedule"]
    assert placed["experiment"] == f"Qwen2.5 1.5B, {called}"
    grant.write_text(grant.read_text().replace("[[owned]]", "tokens = 1e9\n[[owned]]"))
    assert main(["plan", str(grant), "--store", str(own_store)]) == 2
    assert "experiments[1].tokens" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--data", "50M"], "add --train full, lora or qlora"),
        (["--train", "lora", "--data", "50M", "--rank", "5000"], "narrowest layer"),
        (["--train", "lora", "--data", "50M", "--tokens", "1B"], "leave one out"),
        (["--rank", "8"], "--train lora"),
        (["--train", "full", "--data", "50M", "--rank", "8"], "--rank"),
        (["--epochs", "3", "--train", "pretrain"], "--epochs is of fine-tuning"),
        (["--epochs", "0", "--train", "lora"], "the number of epochs '0' is out of range"),
        (["--epochs", "x", "--train", "lora"], "is not a number of epochs: write one such as 3\n"),
        (["--train", "lota", "--data", "50M"], "pretrain, full, lora or qlora"),
        (["--train", "lora", "--data", "many"], "--data"),
        (["--train", "lora", "--data", "1e10x1000000"], "at most 1,000T"),
        (["--train", "lora", "--data", "5x0"], "--data '0'"),
    ],
)
def test_what_cannot_be_is_one_line(
    store_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], says: str
) -> None:
    asked = ["predict", "--model", "pythia-1b", "--gpu", "A100", *words]
    assert main([*asked, "--store", str(store_path)]) == 2
    told = capsys.readouterr().err
    assert says in told and told.count("\n") == 1


@pytest.mark.parametrize("model", ["roberta", "pythia-2.8b", "llama-39m-256-tokens"])
def test_adapters_take_as_long_by_every_command(
    store_path: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    asked = ["--gpu", "H100", "--train", "lora", "--data", "50M", "--store", str(store_path)]
    assert main(["predict", "--model", model, *asked, "--format", "json"]) == 0
    days = json.loads(capsys.readouterr().out)["training_days"]
    assert main(["reach", *asked, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["models"]
    (found,) = [row["training_days"] for row in rows if row["model"].startswith(f"{model}+")]
    assert found == pytest.approx(days, rel=1e-3)


def test_adapters_of_experts_are_refused_with_what_times_them(
    store_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["predict", "--model", "granite-3.0-1b-a400m-shape", "--gpu", "A100"]
    words = [*asked, "--train", "lora", "--data", "50M", "--store", str(store_path)]
    assert main(words) == 2
    assert "advisor bench --name my-run -- COMMAND" in capsys.readouterr().err
