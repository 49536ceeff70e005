"""Recipes: what those that ship say, what their hash is of, and what is wrong with one's own."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import bench_runner.recipes as module
from bench_runner.models.model_source import MODEL_KEYS
from bench_runner.recipes import RECIPES_FOLDER, load_recipe, load_recipes, recipe_hash

RECIPES = {recipe.recipe_id: recipe for recipe in load_recipes()}
OWN = """\
id = "my-model"
name = "My model"
family = "decoder"
source = "our lab"

[architecture]
config_class = "GPTNeoXConfig"
arguments = { hidden_size = 64, num_hidden_layers = 2 }

[training]
batch_size = 8
training_steps = 100
sequence_length = 32
precision = "bf16"
optimizer = "adamw"
"""
BY_CONFIG = (
    ('config_class = "GPTNeoXConfig"\n', 'hf_config_json = "config.json"\n'),
    ("arguments = { hidden_size = 64, num_hidden_layers = 2 }\n", ""),
)
OF_IMAGES = (
    ('"decoder"', '"vit"'),
    ("sequence_length = 32", "image_size = 224\nclasses = 1000"),
)
Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes the recipe above with some text replaced."""

    def write_it(*changes: tuple[str, str]) -> Path:
        text = OWN
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        path = tmp_path / "own.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write_it


def error(path: Path) -> str:
    with pytest.raises(ValueError) as caught:  # noqa: PT011 - the test looks at the message
        load_recipe(path)
    message = str(caught.value)
    assert "\n" not in message
    return message


# Those that ship


@pytest.mark.torch
def test_fsdp_wraps_layers_that_the_model_has() -> None:
    pytest.importorskip("transformers")
    torch = pytest.importorskip("torch")
    from bench_runner.worker.models import build_model

    for recipe in RECIPES.values():
        if recipe.model.timm is not None:
            assert not recipe.support.fsdp_wrap
            continue
        with torch.device("meta"):
            model = build_model(recipe, None)
        layers = {type(module).__name__ for module in model.modules()}
        assert set(recipe.support.fsdp_wrap) <= layers, recipe.recipe_id


def test_each_has_an_id_and_a_hash_of_its_own_in_any_process() -> None:
    assert sorted(path.stem for path in RECIPES_FOLDER.glob("*.toml")) == list(RECIPES)
    assert len({recipe_hash(recipe) for recipe in RECIPES.values()}) == len(RECIPES)
    code = (
        "from bench_runner.recipes import *\n"
        "print([recipe_hash(r) for r in load_recipes() if r.recipe_id == 'pythia-1b'][0])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == recipe_hash(RECIPES["pythia-1b"])


@given(st.sampled_from(["name", "source", "note", "recipe_id"]), st.text(min_size=1))
def test_words_do_not_count(field: str, text: str) -> None:
    reworded = replace(RECIPES["vit"], **{field: text})  # type: ignore[arg-type]
    assert recipe_hash(reworded) == recipe_hash(RECIPES["vit"])


@pytest.mark.parametrize(
    ("field", "value", "counts"),
    [
        ("batch_size", 2048, True),
        ("training_steps", 1, True),
        ("sequence_length", 2048, True),
        ("precision", "fp16", True),
        ("optimizer", "adamw", True),
        ("max_grad_norm", 0.0, True),
        ("max_grad_norm", 0.5, False),
        ("learning_rate", 1.0, False),
        ("scheduler", "linear", False),
    ],
)
def test_what_changes_the_time_counts(field: str, value: object, counts: bool) -> None:
    recipe = RECIPES["pythia-1b"]
    training = replace(recipe.training, **{field: value})  # type: ignore[arg-type]
    assert (recipe_hash(replace(recipe, training=training)) != recipe_hash(recipe)) is counts


# One's own


def test_the_least_that_is_needed_is_read(write: Write) -> None:
    recipe = load_recipe(write())
    assert recipe.recipe_id == "my-model"
    assert recipe.model.arguments == {"hidden_size": 64, "num_hidden_layers": 2}
    assert (recipe.training.learning_rate, recipe.support.attention, recipe.note) == (None,) * 3
    assert recipe.support.activation_checkpointing


def test_a_config_beside_it_is_read_and_its_place_does_not_count(
    write: Write, tmp_path: Path
) -> None:
    hashes = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        config = {"model_type": "llama", "hidden_size": 64, "_name_or_path": folder}
        (tmp_path / folder / "config.json").write_text(json.dumps(config))
        beside = (BY_CONFIG[0][0], BY_CONFIG[0][1].replace('"c', f'"{folder}/c'))
        recipe = load_recipe(write(beside, BY_CONFIG[1]))
        assert recipe.model.hf_config_json == tmp_path / folder / "config.json"
        assert (recipe.model.arguments, recipe.model.config_class) == (config, None)
        hashes.add(recipe_hash(recipe))
    assert len(hashes) == 1


def test_a_timm_model(write: Write) -> None:
    path = write(
        ('config_class = "GPTNeoXConfig"\n', 'timm = "vit_base_patch16_224"\n'),
        ("hidden_size = 64, num_hidden_layers = 2", "drop_rate = 0.1"),
        *OF_IMAGES,
    )
    recipe = load_recipe(path)
    assert recipe.model.timm == "vit_base_patch16_224"
    assert (recipe.model.arguments, recipe.training.classes) == ({"drop_rate": 0.1}, 1000)


def test_every_key_of_the_schema_is_read() -> None:
    """The docstring is the schema: what it shows must be what is accepted."""
    shown = set(re.findall(r"^    (\w+) = ", module.__doc__ or "", flags=re.MULTILINE))
    fields = {"id", "name", "family", "source", "note", "arguments", *MODEL_KEYS}
    fields |= set(module.Training.__dataclass_fields__) - {"min_lr_rate"}
    assert shown == fields | set(module.Support.__dataclass_fields__)


@pytest.mark.parametrize("steps", ["143_000", "1.43e5", '"143k"', '"143,000 steps"'])
def test_a_number_is_read_as_a_flag_reads_it(write: Write, steps: str) -> None:
    changed = ("training_steps = 100", f"training_steps = {steps}")
    assert load_recipe(write(changed)).training.training_steps == 143_000


ADAMW = '"adamw"\n'


@pytest.mark.parametrize(
    ("old", "new", "place", "remedy"),
    [
        ('"my-model"', '"My Model"', "key 'id'", "lower-case"),
        ('name = "My model"', "name = 5", "key 'name'", "not text"),
        ('"decoder"', '"decodr"', "key 'family'", "did you mean 'decoder'"),
        ('source = "our lab"\n', "", "key 'source'", "is missing"),
        ("source", "sauce", "key 'sauce'", "did you mean 'source'"),
        ("batch_size = 8", "batch_size = 0", "key 'training.batch_size'", "1 or more"),
        ("batch_size = 8", "batch_size = true", "key 'training.batch_size'", "1 or more"),
        ("steps = 100", 'steps = "143k tokens"', "key 'training.training_steps'", "write a whole"),
        ("steps = 100", 'steps = "1,5k"', "key 'training.training_steps'", "write 1.5k"),
        ("steps = 100", 'steps = "143.000"', "key 'training.training_steps'", "143 or 143,000"),
        ("sequence_length = 32\n", "", "key 'training.sequence_length'", "a decoder needs"),
        ("= 32", "= 32\nclasses = 3", "key 'training.classes'", "remove it"),
        ('"adamw"', '"lion"', "key 'training.optimizer'", "adam, adamw, sgd"),
        (ADAMW, ADAMW + "beta1 = nan", "key 'training.beta1'", "from 0 to less than 1"),
        (ADAMW, ADAMW + "epsilon = inf", "key 'training.epsilon'", "0 or more"),
        (ADAMW, ADAMW + "min_lr = 1\nmin_lr_rate = 0.1", "key 'training.min_lr'", "keep one"),
        ('"GPTNeoXConfig"', '"gpt neox"', "key 'architecture.config_class'", "GPTNeoXConfig"),
        ('config_class = "GPTNeoXConfig"\n', "", "table [architecture]", "exactly one of"),
        ("config_class", "hf_config_json", "key 'architecture.arguments'", "edit that file"),
        ("[architecture]", "[architektur]", "key 'architektur'", "did you mean 'architecture'"),
        (ADAMW, ADAMW + '[support]\ncompile = "yes"', "key 'support.compile'", "true or false"),
        (ADAMW, ADAMW + '[support]\nfsdp_wrap = "A"', "key 'support.fsdp_wrap'", "a list"),
    ],
)
def test_the_file_the_key_and_the_way_out_are_named(
    write: Write, old: str, new: str, place: str, remedy: str
) -> None:
    message = error(write((old, new)))
    assert message.startswith(f"own.toml, {place}")
    assert remedy in message


def test_classes_that_contradict_each_other(write: Write) -> None:
    labels = ("hidden_size = 64, num_hidden_layers = 2", "num_labels = 10")
    message = error(write(*OF_IMAGES, labels))
    assert "architecture.arguments.num_labels" in message
    assert "is 10 where [training] says 1000" in message


def test_what_is_no_recipe_file(write: Write, tmp_path: Path) -> None:
    assert error(write(("[training]", "[training"))).startswith("own.toml is not valid TOML")
    assert "is not there" in error(tmp_path / "nothing.toml")
    assert "cannot be read" in error(tmp_path)
    (tmp_path / "own.toml").write_bytes(b"id = '\xff'")
    assert "is not UTF-8" in error(tmp_path / "own.toml")
    for content, problem in ((None, "is not there"), ("{", "is not JSON"), ("[]", "no object")):
        if content is not None:
            (tmp_path / "config.json").write_text(content)
        message = error(write(*BY_CONFIG))
        assert message.startswith("own.toml, key 'architecture.hf_config_json'")
        assert problem in message
