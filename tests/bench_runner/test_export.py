"""The winner's files, where the recipe leaves out what the library knows."""

from __future__ import annotations

import ast
import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bench_runner import export
from bench_runner.__main__ import main
from bench_runner.arguments import find_recipe
from bench_runner.models.model_source import ModelSource
from bench_runner.recipes import load_recipes, recipe_hash
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement
from bench_runner.settings import batch_and_sharding, configure, exact_settings
from bench_runner.settings.obstacles import parse_settings

WINNER = Measurement(
    measurement_id="m",
    recipe_id="own",
    recipe_hash=None,
    gpu="NVIDIA H200",
    gpu_count=1,
    method="naive",
    settings=replace(
        batch_and_sharding.settings_for(free_lunch=False),
        micro_batch_size=1,
        gradient_accumulation_steps=1024,
    ),
    status="ok",
    reason=None,
    training_days=1.0,
    training_days_low=1.0,
    training_days_high=1.0,
    timing="synchronised",
    source_id="test",
    measured_on=None,
)


@pytest.mark.parametrize(
    ("config_class", "arguments", "vocabulary"),
    [
        ("GPT2Config", {"vocab_size": 512}, "512"),
        ("GPT2Config", {}, "50257"),
        ("MambaConfig", {}, "50280"),
        ("BloomConfig", {}, "250880"),
        ("DogeConfig", {}, "transformers.DogeConfig(**{'use_cache': False}).vocab_size"),
    ],
)
def test_the_random_tokens_are_of_the_model_s_vocabulary(
    tmp_path: Path, config_class: str, arguments: dict[str, Any], vocabulary: str
) -> None:
    pythia = next(recipe for recipe in load_recipes() if recipe.recipe_id == "pythia-160m")
    model = ModelSource(config_class=config_class, arguments=arguments)
    export.write(replace(pythia, model=model), WINNER, tmp_path)
    assert f"torch.randint({vocabulary}, (2049,))" in (tmp_path / "train.py").read_text()


def test_a_sharded_encoder_keeps_its_output_bias_and_a_script_for_cpus_says_that_it_shards_nothing(
    tmp_path: Path,
) -> None:
    assert WINNER.settings is not None
    settings = replace(WINNER.settings, sharding="fsdp-full-shard")
    for gpu in ("h200", "cpu"):
        winner = replace(WINNER, gpu=gpu, settings=settings)
        for model in ("pythia-160m", "roberta"):
            written = export.write(find_recipe(model), winner, tmp_path / gpu / model)
            script = (tmp_path / gpu / model / "train.py").read_text()
            helped = "model = one_bias(model)" in script
            assert helped == ("one_bias.py" in {path.name for path in written})
            assert helped == (model == "roberta")
            assert ("shards nothing by fsdp.json" in script) == (gpu == "cpu")


def test_the_end_of_a_cosine_is_a_share_of_its_peak() -> None:
    # DeepSpeed's optimiser does not tell the peak, which transformers asks for where it is given
    # the end as a learning rate: ZeRO-1 of Mamba failed by that.
    recipe = next(recipe for recipe in load_recipes() if recipe.recipe_id == "mamba")
    arguments = configure.training_arguments(
        recipe,
        parse_settings("zero-1"),
        micro_batch_size=1,
        accumulation_steps=128,
        device="cuda",
        compute_capability=(9, 0),
    )
    assert arguments["lr_scheduler_type"] == "cosine_with_min_lr"
    assert arguments["lr_scheduler_kwargs"] == {"min_lr_rate": pytest.approx(1e-5 / 8e-4)}


def test_no_name_of_somebody_else_s_becomes_code(tmp_path: Path) -> None:
    made = tmp_path / "made"
    code = f'x"""; open({str(made)!r}, "w"); """'
    pythia = next(recipe for recipe in load_recipes() if recipe.recipe_id == "pythia-160m")
    plain = tmp_path / "plain"
    export.write(pythia, WINNER, plain)
    for gpu, name in ((code, "x"), ("x", code), ("\\", "\\"), ('"', '"')):
        export.write(replace(pythia, name=name), replace(WINNER, gpu=gpu), tmp_path)
        told, *rest = ast.parse((tmp_path / "train.py").read_text()).body
        assert isinstance(told, ast.Expr)
        _, *own = ast.parse((plain / "train.py").read_text()).body
        assert list(map(ast.dump, rest)) == list(map(ast.dump, own))


def test_no_value_of_a_record_becomes_a_command(tmp_path: Path) -> None:
    # A record that was made by hand, not read: what is read is checked before.
    assert WINNER.settings is not None
    settings = replace(WINNER.settings, sharding="zero-1", offloading=True)
    about = {"capability": [9, f"0;touch {tmp_path / 'made'};"]}
    pythia = next(recipe for recipe in load_recipes() if recipe.recipe_id == "pythia-160m")
    export.write(pythia, replace(WINNER, settings=settings, environment={"about": about}), tmp_path)
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "torchrun").write_text("#!/bin/sh\nexit 7\n")
    (tools / "torchrun").chmod(0o755)
    done = subprocess.run(
        [tmp_path / "launch.sh"], env={"PATH": f"{tools}{os.pathsep}{os.defpath}"}, check=False
    )
    assert done.returncode == 7
    assert not (tmp_path / "made").exists()


def test_an_export_that_fails_leaves_no_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(export.os, "chmod", full)  # the last step
    for folder in (tmp_path / "new", tmp_path):
        with pytest.raises(OSError, match="No space left"):
            export.write(find_recipe("pythia-1b"), WINNER, folder)
    assert not (tmp_path / "new").exists() and tmp_path.exists()


def test_an_export_into_the_folder_of_another_is_that_of_its_own_settings(tmp_path: Path) -> None:
    """A deepspeed.json that an earlier winner left there shards nothing."""
    pythia = find_recipe("pythia-160m")
    used = []
    for words in ("zero-1", "fsdp-full-shard", "regional,fused"):
        settings = replace(
            parse_settings(words), micro_batch_size=1, gradient_accumulation_steps=1024
        )
        export.write(pythia, replace(WINNER, settings=settings), tmp_path)
        script = (tmp_path / "train.py").read_text()
        ast.parse(script)
        used.append([name for name in ("deepspeed.json", "fsdp.json") if name in script])
    assert used == [["deepspeed.json"], ["fsdp.json"], []]


def test_a_record_of_another_model_under_the_same_id_is_not_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pythia = find_recipe("pythia-160m")
    assert WINNER.settings is not None
    named = replace(WINNER, recipe_id=pythia.recipe_id)
    timed = {"step_s": 3.0, "sync_pass_s": (1.0,), "update_s": (1.0,)}
    slow = replace(named, recipe_hash=recipe_hash(pythia), **{**timed, "step_s": 9.0})
    other = replace(named, recipe_hash="of another", **timed)
    file = tmp_path / "r.jsonl"
    words = ["export", "--recipe", pythia.recipe_id, "--records", str(file), "--out"]
    journal.append(file, journal.with_id(other))
    assert main([*words, str(tmp_path / "no")]) == 2
    assert "no time of pythia-160m as it is defined now" in capsys.readouterr().err
    settings = replace(WINNER.settings, micro_batch_size=4, gradient_accumulation_steps=256)
    journal.append(file, journal.with_id(replace(slow, settings=settings)))
    assert main([*words, str(tmp_path / "yes")]) == 0
    arguments = json.loads((tmp_path / "yes" / "training_arguments.json").read_text())
    assert arguments["per_device_train_batch_size"] == 4


@pytest.mark.parametrize("name", ["pythia-160m", "roberta", "vit", "mamba"])
def test_no_two_settings_are_written_out_alike(name: str, tmp_path: Path) -> None:
    recipe = find_recipe(name)
    written: dict[str, str] = {}
    for at, settings in enumerate(exact_settings.whole_space(recipe, 2, flash=True)[::5]):
        full = replace(settings, micro_batch_size=8, gradient_accumulation_steps=2)
        attention = configure.attention(recipe, settings, flash="flash_attention_2")
        about = {"about": {"attention": attention, "capability": [9, 0]}}
        winner = replace(WINNER, settings=full, environment=about)
        files = export.write(recipe, winner, tmp_path / str(at))
        texts = {file.name: file.read_text() for file in files}
        # The script's head names the settings.
        texts["train.py"] = ast.unparse(ast.parse(texts["train.py"]).body[1:])
        said = written.setdefault(json.dumps(texts), batch_and_sharding.label(settings))
        assert said == batch_and_sharding.label(settings)
