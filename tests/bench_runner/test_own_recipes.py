"""A recipe file of one's own: what it needs, and what is wrong with it in one line."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from bench_runner.recipes import load_recipe, load_recipes, recipe_hash

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


class TestOwnRecipe:
    def test_reads_the_least_that_is_needed(self, write: Write) -> None:
        recipe = load_recipe(write())
        assert recipe.recipe_id == "my-model"
        assert recipe.model.arguments == {"hidden_size": 64, "num_hidden_layers": 2}
        assert recipe.training.learning_rate is None
        assert recipe.support.activation_checkpointing
        assert recipe.support.attention is None
        assert recipe.note is None

    def test_a_hugging_face_config_beside_it(self, write: Write, tmp_path: Path) -> None:
        config = {"model_type": "llama", "hidden_size": 64}
        (tmp_path / "config.json").write_text(json.dumps(config))
        path = write(
            ('config_class = "GPTNeoXConfig"\n', 'hf_config_json = "config.json"\n'),
            ("arguments = { hidden_size = 64, num_hidden_layers = 2 }\n", ""),
        )
        architecture = load_recipe(path).model
        assert architecture.hf_config_json == tmp_path / "config.json"
        assert architecture.arguments == config
        assert architecture.config_class is None

    def test_a_timm_model(self, write: Write) -> None:
        path = write(
            ('"decoder"', '"vit"'),
            ('config_class = "GPTNeoXConfig"\n', 'timm = "vit_base_patch16_224"\n'),
            ("hidden_size = 64, num_hidden_layers = 2", "drop_rate = 0.1"),
            ("sequence_length = 32", "image_size = 224\nclasses = 1000"),
        )
        recipe = load_recipe(path)
        assert recipe.model.timm == "vit_base_patch16_224"
        assert recipe.model.arguments == {"drop_rate": 0.1}
        assert recipe.training.classes == 1000

    def test_every_key_of_the_schema_is_read(self) -> None:
        """The docstring is the schema: what it shows must be what is accepted."""
        import bench_runner.recipes as module
        from bench_runner.models.model_source import MODEL_KEYS

        shown = set(re.findall(r"^    (\w+) = ", module.__doc__ or "", flags=re.MULTILINE))
        fields = {"id", "name", "family", "source", "note", "arguments", *MODEL_KEYS}
        fields |= set(module.Training.__dataclass_fields__) - {"min_lr_rate"}
        fields |= set(module.Support.__dataclass_fields__)
        assert shown == fields

    def test_two_recipes_with_one_id(self, write: Write) -> None:
        path = write()
        (path.parent / "zz.toml").write_text(OWN)
        with pytest.raises(ValueError, match=r"zz\.toml, key 'id': 'my-model' is the id of"):
            load_recipes(path.parent)

    def test_the_place_of_a_config_does_not_count(self, write: Write, tmp_path: Path) -> None:
        hashes = set()
        for folder in ("a", "b"):
            (tmp_path / folder).mkdir()
            config = {"model_type": "llama", "hidden_size": 64, "_name_or_path": folder}
            (tmp_path / folder / "config.json").write_text(json.dumps(config))
            path = write(
                ('config_class = "GPTNeoXConfig"\n', f'hf_config_json = "{folder}/config.json"\n'),
                ("arguments = { hidden_size = 64, num_hidden_layers = 2 }\n", ""),
            )
            hashes.add(recipe_hash(load_recipe(path)))
        assert len(hashes) == 1


class TestWrongRecipe:
    @pytest.mark.parametrize(
        ("steps", "read"),
        [
            ("143_000", 143_000),
            ("1.43e5", 143_000),
            ('"143k"', 143_000),
            ('"143,000 steps"', 143_000),
            ('"0.143 million"', 143_000),
        ],
    )
    def test_a_number_is_read_as_a_flag_reads_it(self, write: Write, steps: str, read: int) -> None:
        changed = ("training_steps = 100", f"training_steps = {steps}")
        assert load_recipe(write(changed)).training.training_steps == read

    @pytest.mark.parametrize(
        ("steps", "said"),
        [
            ('"143k tokens"', "write a whole number of 1 or more"),
            ('"1,5k"', "'1,5k' has a comma for the decimal point: write 1.5k"),
            ('"143.000"', "could mean 143 or 143,000: write 143 or 143000"),
        ],
    )
    def test_a_number_that_is_none_or_two_is_one_line(
        self, write: Write, steps: str, said: str
    ) -> None:
        found = error(write(("training_steps = 100", f"training_steps = {steps}")))
        assert "key 'training.training_steps': " in found
        assert said in found

    @pytest.mark.parametrize(
        ("old", "new", "place", "remedy"),
        [
            ('"my-model"', '"My Model"', "key 'id'", "lower-case"),
            ('id = "my-model"\n', "", "key 'id'", "is missing"),
            ('name = "My model"', "name = 5", "key 'name'", "not text"),
            ('"decoder"', '"decodr"', "key 'family'", "did you mean 'decoder'"),
            ('source = "our lab"\n', "", "key 'source'", "is missing"),
            ("source", "sauce", "key 'sauce'", "did you mean 'source'"),
            ("batch_size = 8\n", "", "key 'training.batch_size'", "is missing"),
            ("batch_size = 8", "batch_size = 0", "key 'training.batch_size'", "1 or more"),
            ("batch_size = 8", "batch_size = true", "key 'training.batch_size'", "1 or more"),
            ("batch_size = 8", "batch_size = 8.5", "key 'training.batch_size'", "whole number"),
            ("batch_size", "batchsize", "key 'training.batchsize'", "did you mean 'batch_size'"),
            ("sequence_length = 32\n", "", "key 'training.sequence_length'", "a decoder needs"),
            ("= 32", "= 32\nclasses = 3", "key 'training.classes'", "remove it"),
            ('"bf16"', '"bfloat16"', "key 'training.precision'", "did you mean 'bf16'"),
            ('"adamw"', '"lion"', "key 'training.optimizer'", "adam, adamw, sgd"),
            ('"adamw"', '"adamw"\nbeta1 = 1.0', "key 'training.beta1'", "from 0 to less than 1"),
            ('"adamw"', '"adamw"\nbeta1 = nan', "key 'training.beta1'", "from 0 to less than 1"),
            ('"adamw"', '"adamw"\nepsilon = inf', "key 'training.epsilon'", "0 or more"),
            ('"adamw"', '"adamw"\nscheduler = "cos"', "key 'training.scheduler'", "cosine"),
            (
                '"adamw"',
                '"adamw"\nmin_lr = 1e-5\nmin_lr_rate = 0.1',
                "key 'training.min_lr'",
                "keep one",
            ),
            ('"GPTNeoXConfig"', '"gpt neox"', "key 'architecture.config_class'", "GPTNeoXConfig"),
            ('config_class = "GPTNeoXConfig"\n', "", "table [architecture]", "exactly one of"),
            ("config_class =", 'timm = "a"\nconfig_class =', "table [architecture]", "exactly one"),
            ("config_class", "hf_config_json", "key 'architecture.arguments'", "edit that file"),
            ("[architecture]", "[architektur]", "key 'architektur'", "did you mean 'architecture'"),
            (
                '"adamw"\n',
                '"adamw"\n[support]\ncompile = "yes"\n',
                "key 'support.compile'",
                "true or false",
            ),
            (
                '"adamw"\n',
                '"adamw"\n[support]\nfsdp_wrap = "Layer"\n',
                "key 'support.fsdp_wrap'",
                "a list",
            ),
            (
                '"adamw"\n',
                '"adamw"\n[support]\nattention = "flash"\n',
                "key 'support.attention'",
                "flash_attention_2",
            ),
        ],
    )
    def test_names_the_file_the_key_and_the_way_out(
        self, write: Write, old: str, new: str, place: str, remedy: str
    ) -> None:
        message = error(write((old, new)))
        assert message.startswith(f"own.toml, {place}")
        assert remedy in message

    def test_classes_that_contradict_the_architecture(self, write: Write) -> None:
        message = error(
            write(
                ('"decoder"', '"vit"'),
                ("hidden_size = 64, num_hidden_layers = 2", "num_labels = 10"),
                ("sequence_length = 32", "image_size = 224\nclasses = 1000"),
            )
        )
        assert "architecture.arguments.num_labels" in message
        assert "is 10 where [training] says 1000" in message

    def test_not_toml(self, write: Write) -> None:
        assert error(write(("[training]", "[training"))).startswith("own.toml is not valid TOML")

    def test_not_there(self, tmp_path: Path) -> None:
        assert "is not there" in error(tmp_path / "nothing.toml")

    def test_a_directory(self, tmp_path: Path) -> None:
        assert "cannot be read" in error(tmp_path)

    def test_not_text(self, tmp_path: Path) -> None:
        (tmp_path / "own.toml").write_bytes(b"id = '\xff'")
        assert "is not UTF-8" in error(tmp_path / "own.toml")

    @pytest.mark.parametrize(
        ("content", "problem"),
        [(None, "is not there"), ("{", "is not valid JSON"), ("[]", "no model_type")],
    )
    def test_wrong_hugging_face_config(
        self, write: Write, tmp_path: Path, content: str | None, problem: str
    ) -> None:
        if content is not None:
            (tmp_path / "config.json").write_text(content)
        message = error(
            write(
                ('config_class = "GPTNeoXConfig"\n', 'hf_config_json = "config.json"\n'),
                ("arguments = { hidden_size = 64, num_hidden_layers = 2 }\n", ""),
            )
        )
        assert message.startswith("own.toml, key 'architecture.hf_config_json'")
        assert problem in message
