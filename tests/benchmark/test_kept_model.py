"""A model that a user keeps, measured by its name: its recipe file, its records, what it lacks."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.benchmark import runner_process
from advisor.benchmark.trained_recipe import recipe_text
from advisor.cli.main import main
from advisor.prediction.model.own_model import OwnModel
from advisor.store import Store
from bench_runner import export
from bench_runner.launch import hardware
from bench_runner.models.model_types import model_types
from bench_runner.recipes import Recipe, load_recipe, load_recipes, recipe_from
from bench_runner.records import journal
from bench_runner.records.measurement import Settings
from bench_runner.settings import batch_and_sharding, exact_settings
from tests import fake_runner
from tests.bench_runner.test_export import WINNER
from tests.store_for_tests import look

FAKE = Path(__file__).parents[1] / "fake_runner.py"
TINY = Path(__file__).parents[1] / "bench_runner" / "tiny.toml"
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "intermediate_size": 64,
    "vocab_size": 128,
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
    "rope_scaling": {"factor": 32.0},
}


@pytest.fixture(autouse=True)
def _scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware, "machine", fake_runner.machine)
    monkeypatch.setenv("FAKE_GPUS", "2:NVIDIA H200")
    monkeypatch.setenv("ADVISOR_STORE_WAIT", "5")
    monkeypatch.setattr(runner_process, "RUNNER", (sys.executable, str(FAKE), "good"))


def keep(store: Path, model: Path | str, *words: str, name: str = "Our Llama") -> None:
    asked = ("predict", "--model", str(model), *words, "--keep", name)
    assert main([*asked, "--store", str(store)]) == 0


def config(tmp_path: Path, **changes: Any) -> Path:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(LLAMA | changes))
    return path


def bench(store: Path, tmp_path: Path, *more: str, model: str = "our-llama") -> int:
    places = ["--records", str(tmp_path / "r.jsonl"), "--work", str(tmp_path / "w")]
    return main(["bench", "--model", model, "--store", str(store), *places, *more])


def kept_name(store: Path) -> str:
    (model,) = Store(store).own_definitions().models
    return model.recipe.name


def recipe_files(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "w" / "recipes").glob("*"))


@pytest.mark.parametrize("kind", ["config.json", "recipe"])
def test_a_kept_model_is_measured_by_its_name(
    own_store: Path, tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    if kind == "config.json":
        keep(own_store, config(tmp_path), "--tokens", "300B")
    else:
        keep(own_store, TINY)
    capsys.readouterr()
    assert bench(own_store, tmp_path, "--yes", "--format", "json", model="Our Llama") == 0
    printed = json.loads(capsys.readouterr().out)
    assert {row["model"] for row in printed["settings"]} == {"our-llama"}
    assert printed["verdict"]["sentence"].startswith(f"{kept_name(own_store)} trains on ")
    commands = {doubt["about"]: doubt["command"] for doubt in printed["verdict"]["doubts"]}
    assert commands["rank"].startswith("advisor rank --model 'Our Llama' --store ")
    store = Store(own_store)
    times = look(store).times("our-llama", origin="local")
    assert {time.status for time in times} == {"ok", "infeasible", "failed", "pruned"}
    (model,) = (m for m in look(store).models() if m.recipe_id == "our-llama")
    records = journal.read(tmp_path / "r.jsonl")
    # Of the very recipe that is ranked: a time of another would not stand for it.
    assert {record.recipe_hash for record in records} == {model.recipe_hash}
    (kept,) = store.own_definitions().models
    (file,) = recipe_files(tmp_path)
    assert load_recipe(file) == kept.recipe
    asking = ("rank", "--model", "our-llama", "--budget", "40k", "--format", "json")
    assert main([*asking, "--store", str(own_store)]) == 0
    ranked = json.loads(capsys.readouterr().out)["ranked"]
    (owned,) = (row for row in ranked if row["overall_cost_usd"] == 0)
    assert (owned["basis"], owned["training_days"]) == ("measured", 3.0)


def keep_toml_with_a_config(store: Path, tmp_path: Path) -> None:
    config(tmp_path)
    head, _, tail = TINY.read_text().partition("config_class")
    file = tmp_path / "mine.toml"
    file.write_text(f'{head}hf_config_json = "config.json"\n{tail[tail.index("[training]") :]}')
    keep(store, file)


def keep_gpt2_without_its_positions(store: Path, tmp_path: Path) -> None:
    head, _, tail = TINY.read_text().partition("config_class")
    said = 'config_class = "GPT2Config"\narguments = { n_embd = 64, n_layer = 2, n_head = 2 }\n'
    tail = tail[tail.index("[training]") :].replace("length = 32", "length = 2048")
    (tmp_path / "mine.toml").write_text(head + said + tail)
    keep(store, tmp_path / "mine.toml")


def keep_without_a_definition(store: Path, tmp_path: Path) -> None:
    keep(store, config(tmp_path), "--tokens", "1B")
    with duckdb.connect(str(store)) as connection:  # as stores of an earlier version have it
        connection.execute("UPDATE recipe SET definition = NULL WHERE origin = 'local'")


def test_what_is_counted_no_longer_is_told_with_the_reason(
    own_store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Experts in FP16, say, which an earlier version kept."""
    keep(own_store, config(tmp_path), "--tokens", "1B", "--precision", "bf16")
    with duckdb.connect(str(own_store)) as connection:
        connection.execute(
            "UPDATE recipe SET definition = replace(definition, 'LlamaConfig', 'NoLlamaConfig')"
            " WHERE origin = 'local'"
        )
    capsys.readouterr()
    assert bench(own_store, tmp_path, "--yes") == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "your model our-llama is counted no longer (" in told
    assert "a decoder, which it is not)" in told and "--keep our-llama --force" in told
    asked = ["predict", "--model", "our-llama", "--gpu", "H100", "--store", str(own_store)]
    assert main(asked) == 2
    told = capsys.readouterr().err
    assert told.count("\n") == 1 and "your model our-llama is counted no longer: " in told
    assert "a decoder, which it is not; keep it again" in told and "--keep our-llama" in told


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        (keep_gpt2_without_its_positions, "has 1,024 positions in its architecture and trains on"),
        (keep_toml_with_a_config, "was kept without all of its architecture"),
        (keep_without_a_definition, "was kept without its architecture"),
    ],
)
def test_what_a_measurement_lacks_is_one_line(
    own_store: Path,
    tmp_path: Path,
    kept: Any,
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kept(own_store, tmp_path)
    capsys.readouterr()
    assert bench(own_store, tmp_path, "--yes") == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"your model our-llama {said}" in err
    assert "advisor predict --model FILE --keep our-llama --force" in err
    assert "advisor bench --model FILE.toml" in err
    assert recipe_files(tmp_path) == []
    assert not (tmp_path / "r.jsonl").exists()


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)
plain = st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp", "Zs"], include_characters=" "), min_size=1
).filter(str.strip)
"""What a recipe may be called: any letters, but none that steer a terminal."""
READ = frozenset(key for keys in model_types()["gpt_neox"].keys.values() for key in keys)
values = st.one_of(
    st.integers(),
    st.booleans(),
    st.floats(allow_nan=False, allow_infinity=False),
    words,
    st.lists(st.integers()),
)


@given(
    arguments=st.dictionaries(
        # What the kind reads itself is checked, so only keys that it passes over take any value.
        words.filter(lambda w: not w.startswith("_") and w not in READ),
        values,
        max_size=5,
    ),
    name=plain,
    rate=st.floats(0, 1, exclude_max=True),
)
def test_a_recipe_file_says_what_was_kept(
    arguments: dict[str, Any], name: str, rate: float
) -> None:
    content = tomllib.loads(TINY.read_text())
    content |= {"name": name, "note": name}
    content["architecture"]["arguments"] |= arguments
    content["training"]["beta2"] = rate
    own = OwnModel(recipe=recipe_from(content, TINY))
    assert recipe_from(tomllib.loads(recipe_text(own)), TINY) == own.recipe


def test_every_shipped_recipe_could_be_a_kept_one() -> None:
    for recipe in load_recipes():
        if recipe.model.config_class is not None:
            text = recipe_text(OwnModel(recipe=recipe))
            assert recipe_from(tomllib.loads(text), TINY) == recipe


TINY_SHAPE = {key: LLAMA[key] for key in LLAMA if key not in ("rope_scaling", "model_type")}
UNSHARED = ("gpt_neox", "albert", "esm", "t5", "mamba")
"""Kinds of which each head has keys and values of its own: the key for it would be refused."""
SMALL_IMAGES = ("--images", "1M", "--batch", "2", "--image-size", "32")
TEXTS = ("--tokens", "1M", "--batch", "2", "--sequence-length", "16")
KEPT: dict[str, tuple[dict[str, Any] | str, tuple[str, ...]]] = {
    **{
        name.replace("_", "-"): (
            {
                **{
                    key: value
                    for key, value in TINY_SHAPE.items()
                    if key != "num_key_value_heads" or name not in UNSHARED
                },
                "model_type": name,
                **more,
            },
            TEXTS,
        )
        for name, more in (
            ("gpt_neox", {}),
            (
                "granitemoehybrid",
                {"shared_intermediate_size": 64, "num_local_experts": 0}
                | {"layer_types": ["attention"] * 2},
            ),
            ("mixtral", {"num_local_experts": 4, "num_experts_per_tok": 2}),
            ("albert", {"max_position_embeddings": 32, "embedding_size": 16}),
            ("esm", {"position_embedding_type": "rotary", "pad_token_id": 0}),
            ("t5", {"d_model": 32, "d_ff": 64, "num_heads": 2, "num_layers": 2, "d_kv": 16}),
            ("mamba", {}),
        )
    },
    **{
        name: ({"model_type": name, "num_labels": 3, **more}, SMALL_IMAGES)
        for name, more in (
            ("swin", {"embed_dim": 8, "depths": [1, 1], "num_heads": [1, 2], "window_size": 4}),
            ("resnet", {"embedding_size": 8, "hidden_sizes": [16, 32], "depths": [1, 1]}),
            ("convnext", {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1]}),
        )
    },
    "timm": ("resnet10t", ("--images", "1M", "--batch", "2", "--image-size", "64")),
    "size": ("encoder", ("--parameters", "4M", *TEXTS)),
    "toml": (str(TINY), ()),
}


def keep_all(store: Path, tmp_path: Path) -> None:
    for name, (model, words) in KEPT.items():
        if isinstance(model, dict):
            (tmp_path / "config.json").write_text(json.dumps(model))
            model = str(tmp_path / "config.json")
        more = () if name in ("timm", "toml") else ("--precision", "fp32")
        keep(store, model, *words, *more, name=f"our-{name}")


@pytest.fixture(scope="module")
def kept_models(store_path: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[OwnModel, ...]:
    """One of every kind, as the store hands them out."""
    folder = tmp_path_factory.mktemp("kept")
    store = Path(shutil.copy(store_path, folder / "results.duckdb"))
    with pytest.MonkeyPatch.context() as patch:
        # What is predicted of them is asked elsewhere; here it would be made anew for each.
        patch.setattr("advisor.store.own_rows.update_predictions", lambda connection: None)
        keep_all(store, folder)
    return tuple(Store(store).own_definitions().models)


def exported_settings(recipe: Recipe) -> Iterator[Settings]:
    """Naive, all exact kernels that need no compiler, and with checkpointing."""
    yield batch_and_sharding.settings_for(free_lunch=False)
    lean = replace(exact_settings.most_promising(recipe), compilation="none")
    if recipe.support.compile:
        yield exact_settings.with_kernels(batch_and_sharding.settings_for(free_lunch=True), lean)
    if recipe.support.activation_checkpointing:
        yield batch_and_sharding.settings_for(free_lunch=False, activation_checkpointing=True)


@pytest.mark.torch
@pytest.mark.parametrize("name", KEPT)
def test_every_kind_of_kept_model_trains_a_step_and_is_exported_as_that(
    kept_models: tuple[OwnModel, ...], tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is measured has a loss and gradients; and the exported script's plain Trainer takes a
    step of that very model, on data of the same shapes and, where tokens are masked, with as many
    labels."""
    torch = pytest.importorskip("torch")
    from accelerate.state import AcceleratorState

    from bench_runner.settings.configure import attention
    from bench_runner.worker.models import RandomBatches, build_model

    (own,) = (own for own in kept_models if own.recipe.recipe_id == f"our-{name}")
    recipe = own.recipe
    assert recipe_from(tomllib.loads(recipe_text(own)), TINY) == recipe
    monkeypatch.chdir(tmp_path)
    for number, settings in enumerate(exported_settings(recipe)):
        settings = replace(settings, micro_batch_size=2, gradient_accumulation_steps=1)
        folder = tmp_path / str(number)
        used = attention(recipe, settings, flash=None)
        about = {"about": {"attention": used}}
        export.write(
            recipe, replace(WINNER, gpu="cpu", settings=settings, environment=about), folder
        )
        monkeypatch.setattr("sys.path", [str(folder), *sys.path])
        spec = importlib.util.spec_from_file_location("exported", folder / "train.py")
        assert spec is not None and spec.loader is not None
        train = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(train)
        assert not any(line.startswith("bench_runner") for line in vars(train))
        AcceleratorState._reset_state(reset_partial_state=True)
        trainer, result = train.main(max_steps=1)
        assert trainer.state.global_step == 1
        assert 0 < result.training_loss < float("inf")
        measured = build_model(recipe, used)
        plain = {
            each.replace("_checkpoint_wrapped_module.", ""): tuple(p.shape)
            for each, p in trainer.model.named_parameters()
        }
        assert plain == {each: tuple(p.shape) for each, p in measured.named_parameters()}
        batches = RandomBatches(recipe, 200, 1, torch.device("cpu"), 0)
        batches.micro_batch_size = 200
        (batch,) = iter(batches)
        two = {key: value[:2] for key, value in batch.items()}
        loss = measured.train()(**two)["loss"]
        loss.backward()
        assert torch.isfinite(loss)
        if trainer.model_accepts_loss_kwargs:
            # Else the Trainer would add up what it takes for shares of a mean: accumulated
            # gradients as many times too large.
            counted = measured(**two, num_items_in_batch=torch.tensor(10_000))["loss"]
            assert counted < loss / 10
        items = [train.RandomData()[index] for index in range(200)]
        drawn = {key: torch.stack([item[key] for item in items]) for key in items[0]}
        assert {key: value.shape for key, value in drawn.items()} == {
            key: value.shape for key, value in batch.items()
        }
        share = [(each["labels"] != -100).float().mean().item() for each in (drawn, batch)]
        assert share[0] == pytest.approx(share[1], abs=0.03)
