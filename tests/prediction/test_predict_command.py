"""The command `advisor predict`: what it prints, and every wrong input as one line."""

from __future__ import annotations

import argparse
import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.benchmark.recorder import MEASURED_HERE
from advisor.cli import predict_command as command
from advisor.cli.main import main
from advisor.parse import InputError
from advisor.prediction.fitted import Fitted
from advisor.prediction.shipped_predictions import own_cells, predicted_rows
from advisor.store import Store
from bench_runner import journal
from bench_runner.published import load_published
from bench_runner.recipes import load_recipes
from bench_runner.space import even_batch, micro_batch_sizes
from price_catalog.load import load_catalog

_stores: list[Store] = []


@pytest.fixture(scope="module", autouse=True)
def _store(store_path: Path) -> None:
    _stores[:] = [Store(store_path)]


def call(fitted: Fitted, *words: str) -> int:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    return command.run_with(parser.parse_args(words), lambda: fitted, _stores[0])


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
    assert out.index("38.5 days, measured elsewhere on 22 November 2026") < out.index("predicted")
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


OFFLOADED = ("--model", "decoder", "--parameters", "7B", "--tokens", "10B", "--gpu", "RTX 4090")


def test_what_needs_more_host_memory_than_is_assumed_is_told_with_it(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["predict", *OFFLOADED, "--store", str(own_store), "--format", "json"]
    assert main(asked) == 0  # 64 GiB are an assumption, and no reason for not fitting
    assumed = json.loads(capsys.readouterr().out)
    assert 64 < assumed["host_gib_needed"] < 128
    needed = f"{assumed['host_gib_needed']:.0f} GiB of host memory"
    assert f"with {needed} in" in assumed["verdict"]["sentence"]
    assert any(words.startswith(needed) for words in assumed["assumptions"])
    assert main([*asked, "--host-memory", "128GiB"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["training_days"] == assumed["training_days"]
    assert not any("host memory" in words for words in answer["assumptions"])  # it was told
    assert main([*asked, "--host-memory", "64GiB"]) == 1
    reason = json.loads(capsys.readouterr().out)["reason"]
    assert reason.startswith("does not fit: its optimiser states need at least 1")
    assert reason.endswith(" GiB of host memory, and 64 GiB are there")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (
            ("--sequence-length", "1M"),
            "a sequence of 1,000,000 tokens needs more than 80 GiB a GPU",
        ),
        (
            ("--sequence-length", "128k", "--micro-batch", "8"),
            "8 sequences of 128,000 tokens need more than 80 GiB a GPU",
        ),
        (("--sharding", "none"), "7B parameters need more than 80 GiB a GPU with the settings"),
        (("--offloading", "no", "--count", "1"), "were asked for; it fits on 2"),
    ],
)
def test_what_does_not_fit_is_told_for_what_it_is(
    own_store: Path, flags: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["--model", "decoder", "--parameters", "7B", "--tokens", "10B", "--gpu", "H100"]
    count = () if "--count" in flags else ("--count", "8")
    words = ["predict", *asked, *count, *flags, "--store", str(own_store), "--format", "json"]
    assert main(words) == 1
    reason = json.loads(capsys.readouterr().out)["reason"]
    assert said in reason and "host memory" not in reason


def test_more_host_memory_than_machines_have_is_not_assumed(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["predict", "--model", "decoder", "--parameters", "400B", "--tokens", "10B"]
    words += ["--gpu", "H100", "--count", "8", "--store", str(own_store), "--format", "json"]
    assert main(words) == 1
    reason = json.loads(capsys.readouterr().out)["reason"]
    assert reason.endswith("and 64 GiB are there (assumed: --host-memory states yours)")


def test_settings_are_as_asked_and_never_faster_than_the_best(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["predict", "--model", "pythia-1b", "--gpu", "A100", "--count", "4"]
    asked += ["--store", str(own_store), "--format", "json"]
    assert main(asked) == 0
    best = json.loads(capsys.readouterr().out)
    flags = ("--micro-batch", "2", "--sharding", "fsdp-full-shard", "--checkpointing", "yes")
    assert main([*asked, *flags, "--offloading", "no"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["training_days"] > best["training_days"]
    for words in answer["fitting"]:
        assert (words["micro_batch_size"], words["activation_checkpointing"]) == (2, True)


@pytest.mark.parametrize(
    ("flags", "name", "value"),
    [
        (("--micro-batch", "4"), "micro_batch_size", 4),
        (("--sharding", "zero-3"), "sharding", "zero-3"),
        (("--sharding", "FSDP full-shard"), "sharding", "fsdp-full-shard"),
        (("--checkpointing", "yes"), "activation_checkpointing", True),
        (("--offloading", "yes"), "offloading", True),
        (("--sharding", "ZeRO_2", "--precision", "FP16"), "sharding", "zero-2"),
        (("--checkpointing", "YES", "--method", "Optimal"), "activation_checkpointing", True),
        (("--method", "naive"), "free_lunch", False),
    ],
)
def test_settings_that_were_asked_for_are_kept_and_no_time_with_others_is_quoted(
    own_store: Path,
    flags: tuple[str, ...],
    name: str,
    value: object,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The paper's settings are faster here than the lean ones, and a time was measured with them.
    asked = ["predict", "--model", "roberta", "--gpu", "H200", "--count", "2"]
    asked += ["--store", str(own_store), "--format", "json"]
    assert main(asked) == 0
    assert json.loads(capsys.readouterr().out)["measured"]
    assert main([*asked, *flags]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["settings"][name] == value
    assert all(time["settings"][name] == value for time in answer["measured"])


def test_attention_is_fused_where_the_library_can_and_the_recipe_does_not(
    own_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["predict", "--store", str(own_store), "--gpu", "A100"]
    assert main([*asked, "--model", "roberta", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["settings"]["attention"] == "sdpa"
    assert answer["settings"]["compilation"] == "regional"
    assert answer["training_days"] < 0.9 * answer["paper_settings_days"]
    assert main([*asked, "--model", "roberta", "--details"]) == 0
    assert "fused attention (SDPA)" in " ".join(capsys.readouterr().out.split())
    assert main([*asked, "--model", "pythia-1b", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["settings"]["attention"] is None


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--host-memory", "1e999"), "host memory"),
        (("--host-memory", "64 days"), "not a number of GiB"),
        (("--sharding", "zero-9"), "--sharding 'zero-9' is not one of none, zero-1"),
        (("--checkpointing", "maybe"), "write yes or no"),
        (("--micro-batch", "0"), "not a whole number above 0"),
        (("--micro-batch", "1M"), "on 1 GPU is more than the batch"),
        (("--micro-batch", "3"), "does not divide the batch of 1,024 on 1 GPU: give one that does"),
        (("--micro-batch", "100", "--count", "3"), "1,008 on 3 GPUs, which they share instead"),
        (("--images", "1B"), "trained on text: give --tokens, not --images"),
        (("--image-size", "224"), "trained on text: leave --image-size out"),
        (("--method", "naive", "--sharding", "zero-2"), "no settings of the method naive"),
        (("--sharding", "none", "--offloading", "yes"), "give --sharding zero-1 or leave"),
        (("--precision", "fp8"), "fp8 changes what is learnt"),
    ],
)
def test_settings_that_are_none_are_one_line(
    own_store: Path, flags: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["predict", "--model", "pythia-1b", "--gpu", "A100", "--store", str(own_store)]
    assert main([*asked, *flags]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert said in err


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
    ("typed", "sharding"),
    [
        ("zero3", "zero-3"),
        ("ZeRO_3", "zero-3"),
        ("fsdp", "fsdp-full-shard"),
        ("FULL_SHARD", "fsdp-full-shard"),
        ("shard_grad_op", "fsdp-shard-grad-op"),
        ("DDP", None),
    ],
)
def test_what_is_sharded_by_the_words_of_each_library(
    fitted: Fitted, capsys: pytest.CaptureFixture[str], typed: str, sharding: str | None
) -> None:
    words = ("--model", "pythia-1b", "--gpu", "A100", "--count", "4", "--sharding", typed)
    assert call(fitted, *words, "--format", "json") == 0
    assert json.loads(capsys.readouterr().out)["settings"]["sharding"] == sharding


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
