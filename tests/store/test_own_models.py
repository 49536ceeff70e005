"""A model of a user's own: kept under a name, ranked and planned on predictions, forgotten."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.cli.main import main
from advisor.prediction.model.askable_models import Ask, target_of_size, target_of_timm
from advisor.prediction.model.own_model import from_text, own_model, to_text
from advisor.store import Store, StoreError, build_store, check_store
from advisor.store.own_rows import MEASURED_HERE
from price_catalog.builds import GPU_COUNTS
from tests.store_for_tests import look, record

LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 2048,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 8192,
    "vocab_size": 128256,
    "tie_word_embeddings": True,
    "max_position_embeddings": 131072,
    "torch_dtype": "bfloat16",
    "rope_scaling": {"factor": 32.0},
}
TOML = """\
id = "from-a-file"
name = "From a file"
family = "decoder"
source = "our lab"
note = "half of the data"
[architecture]
config_class = "GPTNeoXConfig"
arguments = { hidden_size = 1024, num_hidden_layers = 12, num_attention_heads = 16, \
intermediate_size = 4096, vocab_size = 50304 }
[training]
batch_size = 512
training_steps = 20000
sequence_length = 1024
precision = "bf16"
optimizer = "adamw"
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "llama.json"
    path.write_text(json.dumps(LLAMA))
    return path


@pytest.fixture(scope="module")
def kept_once(store_path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("kept")
    (folder / "llama.json").write_text(json.dumps(LLAMA))
    store = Path(shutil.copy(store_path, folder))
    assert keep(store, folder / "llama.json") == 0
    return store


@pytest.fixture
def kept_store(kept_once: Path, tmp_path: Path) -> Path:
    """A store of one's own in which the model is kept."""
    return Path(shutil.copy(kept_once, tmp_path / "results.duckdb"))


def keep(store: Path, model: Path | str, *words: str, name: str = "Our Llama") -> int:
    length = () if {"--tokens", "--images"} & {*words} else ("--tokens", "300B")
    asked = ("predict", "--model", str(model), *length, "--keep", name, *words)
    return main([*asked, "--store", str(store)])


def rows(store: Path, recipe_id: str = "our-llama") -> dict[tuple[str, int], dict[str, Any]]:
    with duckdb.connect(str(store), read_only=True) as connection:
        answer = connection.execute(
            "FROM prediction WHERE recipe_id = ? AND host_memory_gib = 0", [recipe_id]
        )
        names = [column[0] for column in answer.description or ()]
        found = [dict(zip(names, row, strict=True)) for row in answer.fetchall()]
    return {(row["gpu_id"], row["gpu_count"]): row for row in found}


def asked(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    capsys.readouterr()
    assert main([*words, "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_a_kept_model_is_ranked_with_the_times_that_predict_gives(
    own_store: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert keep(own_store, config) == 0
    printed = capsys.readouterr()
    assert printed.out == ""
    assert f"now: advisor rank --model our-llama --store {own_store}\n" in printed.err
    assert "assumed: sequences of 2,048 tokens" in printed.err
    held = rows(own_store)
    assert {count for _, count in held} == set(GPU_COUNTS)
    assert {row["origin"] for row in held.values()} == {"local"}
    store = ("--store", str(own_store))
    for model in (str(config), "our llama", "our-llama"):
        length = ("--tokens", "300B") if model == str(config) else ()
        machine = ("--gpu", "RTX 4090", "--count", "2")
        answer = asked(capsys, "predict", "--model", model, *length, *machine, *store)
        cell = held["rtx-4090", 2]
        for name in ("training_days", "training_days_low", "training_days_high"):
            assert cell[name] == float(f"{answer[name]:.4g}")
        assert cell["micro_batch_size"] == answer["settings"]["micro_batch_size"]
    ranked = asked(capsys, "rank", "--model", "our-llama", "--budget", "40k", *store)
    times = {(b["gpu"], b["gpu_count"]): b["training_days"] for b in ranked["ranked"]}
    assert times["RTX 4090", 2] == held["rtx-4090", 2]["training_days"]
    with Store(own_store).reading() as reader:
        (model_row,) = (m for m in reader.models() if m.origin == "local")
    assert model_row.parameters == 1_235_814_400  # Llama 3.2 1B, as its publisher counts it
    assert model_row.training_steps == -(-(300 * 10**9) // (2048 * 512))
    assert (model_row.precision, model_row.sequence_length) == ("bf16", 2048)
    assert model_row.note == "assumed: sequences of 2,048 tokens; batches of 512 sequences"


def test_it_survives_a_rebuild_and_newer_text(kept_store: Path) -> None:
    held = rows(kept_store)
    build_store(kept_store)
    assert rows(kept_store) == held
    assert check_store(kept_store) == []
    with duckdb.connect(str(kept_store)) as connection:  # as a store of older text would be
        connection.execute("UPDATE meta SET value = 'older' WHERE key = 'shipped_digest'")
        connection.execute("DELETE FROM prediction WHERE recipe_id = 'our-llama'")
    look(Store(kept_store, note=lambda _: None)).models()
    assert rows(kept_store) == held


def test_an_own_model_stands_before_one_that_ships_later(kept_store: Path) -> None:
    with duckdb.connect(str(kept_store)) as connection:  # as if the next version had shipped its id
        connection.execute("DELETE FROM recipe WHERE recipe_id = 'pythia-1b'")
        connection.execute("UPDATE recipe SET recipe_id = 'pythia-1b' WHERE origin = 'local'")
    before = rows(kept_store)
    build_store(kept_store)
    assert rows(kept_store) == {}
    after = rows(kept_store, "pythia-1b")
    assert after.keys() <= before.keys() and {r["origin"] for r in after.values()} == {"local"}


def test_the_same_again_changes_nothing_and_another_needs_force(
    kept_store: Path, config: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    held = rows(kept_store)
    assert keep(kept_store, config) == 0
    assert rows(kept_store) == held
    capsys.readouterr()
    assert keep(kept_store, config, "--tokens", "30B") == 2
    assert "--force" in capsys.readouterr().err
    assert rows(kept_store) == held
    assert keep(kept_store, config, "--tokens", "30B", "--force") == 0
    cell = ("h200-sxm-141gb", 8)
    ratio = rows(kept_store)[cell]["training_days"] / held[cell]["training_days"]
    assert ratio == pytest.approx(0.1, rel=0.001)


def test_forgetting_leaves_the_store_as_it_was(
    store_path: Path, kept_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ("--store", str(kept_store))
    assert main(["predict", "--forget", "Our Llama", *store]) == 0
    assert rows(kept_store) == {}
    assert look(Store(kept_store)).models() == look(Store(store_path)).models()
    assert rows(kept_store, "pythia-1b") == rows(store_path, "pythia-1b")
    assert main(["rank", "--model", "our-llama", *store]) == 2
    capsys.readouterr()
    for name, said in (("our-llama", "kept none"), ("pythia-1b", "ships"), ("", "kept none")):
        assert main(["predict", "--forget", name, *store]) == 2
        assert said in capsys.readouterr().err


def test_times_of_an_own_model_stay_when_it_is_forgotten_and_move_it_before(
    kept_store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = rows(kept_store)
    slow = 1.4 * before["l40s", 1]["training_days"]
    store = Store(kept_store)
    values: dict[str, Any] = {"recipe_id": "our-llama", "gpu": "L40S", "gpu_count": 1}
    bounds = {"training_days_low": None, "training_days_high": None}
    store.add(
        measurement=[
            record("m-own", **values, **bounds, training_days=slow, source_id="measured-here")
        ],
        sources=[MEASURED_HERE],
    )
    store.update_predictions()
    after = rows(kept_store)["l40s", 4]
    assert 1.03 < after["training_days"] / before["l40s", 4]["training_days"] < 1.4
    assert "your own records" in after["reason"]
    asking = ("predict", "--model", "our-llama", "--gpu", "L40S", "--count", "4")
    answer = asked(capsys, *asking, "--store", str(kept_store))
    assert after["training_days"] == float(f"{answer['training_days']:.4g}")
    assert store.forget_model("our-llama") == 1
    assert [t.measurement_id for t in look(store).times(origin="local")] == ["m-own"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--keep", "pythia-1b"), "a model that ships"),
        (("--keep", "Pythia 1B"), "a model that ships"),
        (("--keep", "../../etc"), "no name for a model"),
        (("--keep", ""), "no name for a model"),
        (("--keep", ".hidden"), "no name for a model"),
        (("--keep", "Bär"), "no name for a model"),
        (("--keep", "x\x1b[2J"), "no name for a model"),
        (("--keep", "a" * 65), "no name for a model"),
        (("--keep", "mine.toml"), "taken for a file"),
        (("--keep", "mine", "--gpu", "A1000000"), "not known"),
        (("--keep", "mine", "--batch", "9999999999"), "give --batch 131072 or less"),
        (("--keep", "mine", "--forget", "mine"), "goes alone"),
        (("--gpu", "H100", "--force"), "--force goes with --keep"),
        ((), "--gpu is missing"),
    ],
)
def test_wrong_input_is_one_line_and_keeps_nothing(
    own_store: Path,
    config: Path,
    words: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    asking = ["predict", "--model", str(config), "--tokens", "300B", *words]
    assert main([*asking, "--store", str(own_store)]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.count("\n") == 1 and said in printed.err
    assert all(model.origin == "shipped" for model in look(Store(own_store)).models())


@pytest.mark.parametrize(
    ("model", "words"),
    [
        ("decoder", ("--parameters", "1.5B")),
        ("vit_base_patch16_224", ("--images", "1.28B")),
        ("convnext_base", ("--images", "1.28B")),
        ("pythia-1b", ("--tokens", "30B")),
        ("mine.toml", ("--tokens", "20B")),
    ],
)
def test_whatever_can_be_asked_can_be_kept(
    own_store: Path,
    tmp_path: Path,
    model: str,
    words: tuple[str, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text(TOML)
    assert keep(own_store, model, *words, name="kept") == 0
    cell = rows(own_store, "kept")["h200-sxm-141gb", 2]
    machine = ("--gpu", "H200", "--count", "2", "--store", str(own_store))
    answer = asked(capsys, "predict", "--model", "kept", *machine)
    assert cell["training_days"] == float(f"{answer['training_days']:.4g}")
    (kept,) = Store(own_store).own_definitions().models
    assert kept.recipe.recipe_id == "kept"
    (row,) = (m for m in look(Store(own_store)).models() if m.origin == "local")
    assert row.parameters == kept.workload.parameters


def test_own_models_are_handed_on_whole(store_path: Path, kept_store: Path, tmp_path: Path) -> None:
    lines = tmp_path / "mine.jsonl"
    assert Store(kept_store).export(lines) == (1, 0)
    for number, source in enumerate((lines, kept_store)):
        other = Path(shutil.copy(store_path, tmp_path / f"other{number}.duckdb"))
        assert Store(other).merge(source, mine=True).added == 1
        assert rows(other) == rows(kept_store)
        assert Store(other).merge(source, mine=True).added == 0


HOSTILE: list[Any] = [
    5,
    "",
    "[]",
    "{}",
    "[" * 100_000,
    "x" * 70_000,
    {"architecture": {"hf_config_json": "/etc/passwd"}},
    {"architecture": {"timm": "vit_base_patch16_224"}},
    {"architecture": {"config_class": "os.system"}},
    {"architecture": {"config_class": "T5Config"}},
    {"architecture": {"config_class": "LlamaConfig", "arguments": {"hidden_size": -4}}},
    {"architecture": {"config_class": "LlamaConfig", "arguments": {"hidden_size": "x"}}},
    {"architecture": {"config_class": "LlamaConfig", "arguments": {"hidden_size": 10**30}}},
    {"architecture": {"config_class": "LlamaConfig", "arguments": {"num_attention_heads": 0}}},
    {"training": {"batch_size": 2**40}},
    {"run": "import os"},
    {"id": "../x"},
    {"parameters": -1},
    {"parameters": 1e400},
    {"parameters": "1B"},
]


@pytest.mark.parametrize("wrong", HOSTILE)
def test_a_definition_from_somebody_else_is_checked(
    kept_store: Path, tmp_path: Path, wrong: Any
) -> None:
    lines = tmp_path / "mine.jsonl"
    Store(kept_store).export(lines)
    row = json.loads(lines.read_text())
    if isinstance(wrong, dict):
        row["definition"] = json.dumps(json.loads(row["definition"]) | wrong)
    else:
        row["definition"] = wrong
    row["recipe_id"] = "theirs"
    lines.write_text(json.dumps(row) + "\n")
    with pytest.raises(StoreError) as caught:
        Store(kept_store).merge(lines, mine=True)
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 500
    assert not rows(kept_store, "theirs")


@given(
    hidden=st.integers(1, 64),
    layers=st.integers(1, 80),
    tokens=st.floats(1e6, 1e14),
    batch=st.integers(1, 10_000),
)
def test_a_definition_holds_all_that_predicts(
    hidden: int, layers: int, tokens: float, batch: int
) -> None:
    size = 12 * layers * (64 * hidden) ** 2 + 1e8
    target = target_of_size("x", "decoder", size, Ask(batch_size=batch, tokens=tokens))
    images = target_of_timm("vit_large_patch14_224", Ask(batch_size=batch, images=tokens))
    for each in (target, images):
        own = own_model(each, "Mine")
        again = from_text(to_text(own))
        assert again.workload == own.workload
        assert replace(again.workload, workload_id="x") == replace(each.workload, workload_id="x")
