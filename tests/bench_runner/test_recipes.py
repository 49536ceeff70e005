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

from bench_runner.recipes import RECIPES_FOLDER, Recipe, load_recipe, load_recipes, recipe_hash

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


class TestShippedRecipes:
    def test_the_paper_s_nine_their_siblings_and_models_that_many_train(self) -> None:
        pythias = ("14m", "31m", "70m", "160m", "410m", "1b", "1.4b", "2.8b", "6.9b", "12b")
        assert set(RECIPES) == {
            *(f"pythia-{size}" for size in pythias),
            "roberta",
            "mamba",
            "vit",
            "convnext-xlarge-22k",
            "convnext-large-22k",
            "convnext-large-1k",
            "qwen3-0.6b-shape",
            "qwen3-1.7b-shape",
            "modernbert-150m-shape",
            "modernbert-395m-shape",
            "bert-base",
            "bert-large",
            "convnext-base-22k",
            "gpt2-124m",
            "llama3.2-1b-shape",
            "mamba-790m",
            "resnet-50",
            "smollm2-135m-shape",
            "swin-base",
            "vit-base-16",
            "convnext-tiny-1k",
            "deit-small-16",
            "mamba-130m",
            "mamba-370m",
            "regnety-3.2gf",
            "resnet-101",
            "roberta-base",
            "swin-tiny",
            "deepseek-v2-1.2b-shape",
            "deepseekmoe-2b-shape",
            "granite-3.0-1b-a400m-shape",
            "mixtral-1.5b-shape",
            "t5-base",
            "t5-large",
            "timm-coatnet-0-rw-224",
            "timm-densenet121",
            "timm-efficientnet-b0",
            "timm-mixer-b16-224",
            "timm-mobilenetv3-large-100",
            "timm-resnext50-32x4d",
            "timm-vit-base-patch16-224",
            "albert-base",
            "bart-base",
            "bert-base-no-dropout",
            "bloom-560m",
            "codegen-350m",
            "deberta-v3-base",
            "dinov2-base-14",
            "distilbert-base",
            "electra-base",
            "eurobert-210m",
            "gemma-3-1b",
            "gpt-j-600m-shape",
            "llama-300m-16k-tokens",
            "llama-39m-256-tokens",
            "mamba-190m-shape",
            "mpt-760m-shape",
            "mt5-small",
            "nemotron-0.5b-shape",
            "nomic-bert-137m",
            "olmo-2-1b",
            "opt-125m",
            "opt-350m",
            "phi-1",
            "qwen2.5-0.5b",
            "qwen3-moe-0.7b-shape",
            "timm-beit-base-patch16-224",
            "timm-convnext-tiny",
            "timm-eva02-base-patch14-224",
            "timm-mobilenetv2-100",
            "timm-regnetx-032",
            "timm-resnet34",
            "timm-seresnet50",
            "timm-vit-small-patch16-224",
            "timm-wide-resnet50-2",
            "timm-xcit-small-12-p16-224",
            "bert-medium",
            "gemma-2-0.4b-shape",
            "gpt2-355m",
            "granite-0.3b-shape",
            "llama-350m-shape",
            "olmoe-0.8b-shape",
            "phi-3-mini-shape",
            "qwen2.5-1.5b",
            "qwen3-4b-shape",
            "smollm2-360m-shape",
            "stablelm-2-1.6b",
            "starcoder2-0.4b-shape",
            "t5-small",
            "timm-convnext-small",
            "timm-deit-tiny-patch16-224",
            "timm-efficientnet-b3",
            "timm-resnet152",
            "timm-resnet18",
            "timm-swin-small-patch4-window7-224",
            "timm-vit-base-patch32-224",
            "timm-vit-large-patch16-224",
            "tinyllama-1.1b",
            "xlm-roberta-base",
        }
        assert [RECIPES[name].name for name in ("pythia-160m", "mamba", "vit")] == [
            "Pythia 160M",
            "Mamba 2.8B",
            "ViT 325M",
        ]

    @pytest.mark.parametrize(
        ("recipe_id", "family", "batch", "steps", "length", "precision", "optimizer"),
        [  # Table 3 of the paper, steps in full
            ("pythia-160m", "decoder", 1024, 143000, 2049, "fp16", "adam"),
            ("pythia-410m", "decoder", 1024, 143000, 2049, "fp16", "adam"),
            ("pythia-1b", "decoder", 1024, 143000, 2049, "bf16", "adam"),
            ("pythia-2.8b", "decoder", 1024, 143000, 2049, "fp16", "adam"),
            ("pythia-6.9b", "decoder", 1024, 143000, 2049, "fp16", "adam"),
            ("roberta", "encoder", 8192, 500000, 512, "fp16", "adam"),
            ("mamba", "ssm", 128, 572204, 4096, "bf16", "adamw"),
            ("convnext-xlarge-22k", "convnet", 4096, 311940, 224, "fp32", "adamw"),
            ("vit", "vit", 4096, 311948, 224, "fp32", "adam"),
        ],
    )
    def test_table_3(
        self,
        recipe_id: str,
        family: str,
        batch: int,
        steps: int,
        length: int,
        precision: str,
        optimizer: str,
    ) -> None:
        recipe = RECIPES[recipe_id]
        training = recipe.training
        assert recipe.source == "paper-table3"
        assert recipe.family == family
        assert (training.batch_size, training.training_steps) == (batch, steps)
        assert (training.sequence_length or training.image_size) == length
        assert (training.precision, training.optimizer) == (precision, optimizer)
        assert training.learning_rate is not None

    def test_hyper_parameters_of_the_released_code(self) -> None:
        training = RECIPES["mamba"].training
        assert (training.learning_rate, training.beta2, training.weight_decay) == (8e-4, 0.95, 0.1)
        assert (training.scheduler, training.warmup_steps, training.min_lr) == (
            "cosine",
            57220,
            1e-5,
        )
        assert training.epsilon is None, "the paper's code leaves the library's default"
        assert RECIPES["roberta"].training.max_grad_norm == 0

    def test_what_the_code_of_each_model_supports(self) -> None:
        assert RECIPES["pythia-1b"].support.attention == "sdpa"
        assert RECIPES["roberta"].support.attention == "eager"
        assert not RECIPES["mamba"].support.compile
        assert RECIPES["vit"].support.fsdp_wrap == ("ViTLayer",)

    def test_what_is_inferred_says_so(self) -> None:
        for recipe in RECIPES.values():
            if recipe.source != "paper-table3":
                assert recipe.note is not None
                assert "inferred" in recipe.note

    def test_reading_needs_no_training_library(self) -> None:
        code = (
            "import sys, bench_runner.recipes as r\nassert 'tomllib' not in sys.modules\n"
            "r.load_recipes()\nassert not {'torch', 'transformers', 'numpy'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, timeout=60)

    @pytest.mark.torch
    def test_fsdp_wraps_layers_that_the_model_has(self) -> None:
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
        from bench_runner.recipe_model import MODEL_KEYS

        shown = set(re.findall(r"^    (\w+) = ", module.__doc__ or "", flags=re.MULTILINE))
        fields = {"id", "name", "family", "source", "note", "arguments", *MODEL_KEYS}
        fields |= set(module.Training.__dataclass_fields__) - {"min_lr_rate"}
        fields |= set(module.Support.__dataclass_fields__)
        assert shown == fields

    def test_a_folder_of_recipes(self, write: Write) -> None:
        path = write()
        assert [recipe.recipe_id for recipe in load_recipes(path.parent)] == ["my-model"]

    def test_two_recipes_with_one_id(self, write: Write) -> None:
        path = write()
        (path.parent / "zz.toml").write_text(OWN)
        with pytest.raises(ValueError, match=r"zz\.toml, key 'id': 'my-model' is the id of"):
            load_recipes(path.parent)


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

    def test_not_a_folder(self, tmp_path: Path) -> None:
        with pytest.raises(ValueError, match="is not a folder"):
            load_recipes(tmp_path / "nothing")

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


class TestHash:
    def test_is_the_same_in_another_process(self) -> None:
        code = (
            "from bench_runner.recipes import *\n"
            "print([recipe_hash(r) for r in load_recipes() if r.recipe_id == 'pythia-1b'][0])"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=60
        )
        assert done.stdout.strip() == recipe_hash(RECIPES["pythia-1b"])
        assert re.fullmatch("[0-9a-f]{12}", done.stdout.strip())

    def test_differs_between_recipes(self) -> None:
        assert len({recipe_hash(recipe) for recipe in RECIPES.values()}) == len(RECIPES)

    @given(
        st.sampled_from(["name", "source", "note", "recipe_id"]),
        st.text(min_size=1),
    )
    def test_words_do_not_count(self, field: str, text: str) -> None:
        recipe = RECIPES["vit"]
        reworded = replace(recipe, **{field: text})  # type: ignore[arg-type]
        assert recipe_hash(reworded) == recipe_hash(recipe)

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
    def test_what_changes_the_time_counts(self, field: str, value: object, counts: bool) -> None:
        recipe = RECIPES["pythia-1b"]
        changed: Recipe = replace(
            recipe,
            training=replace(recipe.training, **{field: value}),  # type: ignore[arg-type]
        )
        assert (recipe_hash(changed) != recipe_hash(recipe)) is counts

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


def test_shipped_files_carry_their_recipe_s_id() -> None:
    assert {path.stem for path in RECIPES_FOLDER.glob("*.toml")} == set(RECIPES)
