"""What each room may load, seen in a fresh process: a laptop without torch stays fast."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TRAINING = {"torch", "transformers", "deepspeed", "accelerate", "timm", "mamba_ssm"}
LIGHT = TRAINING | {
    "textual",
    "scipy",
    "numpy",
    "pandas",
    "pyarrow",
    "tomllib",
    "platformdirs",
    "msgspec",
}


def loaded_by(code: str) -> set[str]:
    """The top-level modules that a fresh interpreter holds after running ``code``."""
    script = f"{code}\nimport json, sys\nprint(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=ROOT, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}


def every_module(package: str) -> list[str]:
    """Every importable module of a package."""
    files = sorted((ROOT / package).rglob("*.py"))
    names = [".".join(file.relative_to(ROOT).with_suffix("").parts) for file in files]
    return [name.removesuffix(".__init__") for name in names if not name.endswith("__main__")]


@pytest.mark.parametrize("package", ["advisor", "price_catalog"])
def test_no_module_of_the_advisor_or_the_catalogue_loads_torch(package: str) -> None:
    modules = every_module(package)
    assert len(modules) > 3
    assert not loaded_by("import " + ", ".join(modules)) & TRAINING


@pytest.mark.parametrize(
    "module",
    [
        "advisor.costs.cost_of_owning",
        "advisor.ranking.row_order",
        "advisor.store",
        "advisor.answers.ranking.rank_json_csv",
        "advisor.ranking.snapshot",
    ],
)
def test_what_answers_a_ranking_stays_light(module: str) -> None:
    assert not loaded_by(f"import {module}") & LIGHT


def test_a_whole_ranking_stays_light(own_store: Path) -> None:
    """Of a store that is known: a new one is compared with the text once, which loads more."""
    code = (
        "from advisor.cli.main import main\n"
        f"assert main(['rank', '--model', 'pythia-1b', '--store', {str(own_store)!r}]) == 0"
    )
    loaded = loaded_by(code)
    assert not loaded & LIGHT
    assert "_duckdb" in loaded and "duckdb" not in loaded  # the engine, not the package around it


def test_importing_predictions_loads_neither_numpy_nor_scipy() -> None:
    modules = ("fitted", "predict_one", "predict_many", "model.hf_config", "physics.chip")
    code = "\n".join(f"import advisor.prediction.{module}" for module in modules)
    assert not loaded_by(code) & {"numpy", "scipy", "torch", "duckdb", "csv"}


def test_predicting_loads_no_scipy() -> None:
    code = (
        "from advisor.prediction.shipped_predictions import shipped_fit\n"
        "from advisor.prediction.model.askable_models import Ask, target_of_size\n"
        "from advisor.prediction.physics.chip import chip_of\n"
        "from advisor.prediction.predict_one import predict\n"
        "from price_catalog.load import load_catalog\n"
        "fit = shipped_fit()\n"
        "gpu = next(g for g in load_catalog().gpus if g.name == 'H100')\n"
        "target = target_of_size('m', 'decoder', 1e9, Ask(batch_size=512, tokens=1e11))\n"
        "assert predict(target, chip_of(gpu), 4, fit).training_days > 0"
    )
    assert not loaded_by(code) & {"scipy", "torch", "duckdb"}


def test_the_runner_s_parent_process_never_loads_torch() -> None:
    modules = [
        name for name in every_module("bench_runner") if not name.startswith("bench_runner.worker")
    ]
    assert not loaded_by("import " + ", ".join(modules)) & TRAINING
