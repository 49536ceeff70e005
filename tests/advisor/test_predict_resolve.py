"""From what somebody types to a target, and every cell of the grid that a store keeps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.predict import Fitted, chip_of, fitted_from, predict, workload_of
from advisor.predict.evidence import load_evidence
from advisor.predict.grid import predict_grid
from advisor.predict.resolve import Ask, resolve
from bench_runner.recipes import load_recipes
from price_catalog.load import load_catalog

RECIPES = load_recipes()
TINY = {
    "model_type": "llama",
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 688,
    "vocab_size": 32000,
}


def test_a_recipe_by_id_or_name_is_itself() -> None:
    for name in ("pythia-1b", "Pythia 1B", "PYTHIA-1B"):
        workload = resolve(name, Ask(), RECIPES).workload
        assert (workload.batch_size, workload.training_steps) == (1024, 143_000)


def test_other_data_and_batches_keep_the_amount() -> None:
    half = resolve("pythia-1b", Ask(tokens=1024 * 143_000 * 2049 / 2), RECIPES).workload
    assert half.training_steps == 71_500
    doubled = resolve("pythia-1b", Ask(batch_size=2048), RECIPES).workload
    assert (doubled.batch_size, doubled.training_steps) == (2048, 71_500)
    shorter = resolve("pythia-1b", Ask(sequence_length=1024), RECIPES).workload
    assert shorter.training_steps * shorter.tokens == pytest.approx(143_000 * 2049, rel=1e-3)
    small = resolve("vit", Ask(images=1.28e6 * 300), RECIPES).workload
    assert small.training_steps == 93_750


def test_a_file_or_its_folder(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(TINY))
    for name in (str(tmp_path), str(tmp_path / "config.json")):
        target = resolve(name, Ask(tokens=1e9, batch_size=64), RECIPES)
        assert target.workload.batch_size == 64
        assert target.workload.layers == 4


def test_a_timm_name() -> None:
    assert resolve("vit_base_patch16_224", Ask(images=1e9), RECIPES).workload.family == "vit"


@pytest.mark.parametrize(
    ("model", "ask", "words"),
    [
        ("pythia-1bb", Ask(), "did you mean pythia-1b"),
        ("", Ask(), "known: "),
        ("nowhere/config.json", Ask(tokens=1e9), "is not there"),
        ("pythia-1b", Ask(images=1e9), "give --tokens"),
        ("vit", Ask(tokens=1e9), "give --images"),
        ("vit_base_patch16_224", Ask(), "--images"),
    ],
)
def test_what_names_nothing_is_one_line(model: str, ask: Ask, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        resolve(model, ask, RECIPES)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("tokens", 0.0),
        ("tokens", float("nan")),
        ("tokens", 1e400),
        ("images", -5.0),
        ("batch_size", 0),
        ("sequence_length", -1),
        ("image_size", 10**18),
        ("precision", "int4"),
    ],
)
def test_a_wrong_number_is_one_line(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=r"give a number|is not one of"):
        Ask(**{name: value})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    return fitted_from(load_evidence())


def test_the_grid_has_every_cell_that_can_be_said(fitted: Fitted) -> None:
    workloads = [workload_of(recipe) for recipe in RECIPES]
    chips = [chip_of(gpu) for gpu in load_catalog().gpus]
    rows = predict_grid(workloads, chips, fitted)
    by_cell = {(r.workload_id, r.gpu_id, r.gpu_count): r for r in rows}
    assert len(by_cell) == len(rows)
    for row in rows[:: len(rows) // 40]:
        chip = next(c for c in chips if c.gpu_id == row.gpu_id)
        workload = next(w for w in workloads if w.workload_id == row.workload_id)
        answer = predict(workload, chip, row.gpu_count, fitted)
        assert (answer.fits, answer.settings) == (row.fits, row.settings)
        assert answer.training_days == pytest.approx(row.training_days)
    assert ("pythia-1b", "mi300x", 8) not in by_cell
    assert not by_cell["pythia-6.9b", "rtx-3090", 1].fits
    assert by_cell["pythia-1b", "rtx-4090", 2].training_days is not None
