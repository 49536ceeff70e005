"""Loss curves of exact settings: real runs of a tiny decoder, and what is concluded from them."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import pytest

PATH = Path(__file__).parents[1] / "benchmarks" / "loss_curves.py"

TINY = """
id = "curve-tiny"
name = "Tiny"
family = "decoder"
source = "tests"
[architecture]
config_class = "GPTNeoXConfig"
[architecture.arguments]
hidden_size = 32
num_hidden_layers = 2
num_attention_heads = 2
intermediate_size = 64
vocab_size = 64
max_position_embeddings = 32
[training]
batch_size = 8
training_steps = 24
sequence_length = 17
precision = "bf16"
optimizer = "adamw"
learning_rate = 1e-2
max_grad_norm = 1.0
[support]
compile = true
attention = "sdpa"
"""


@pytest.fixture(scope="module")
def tool() -> Any:
    specification = importlib.util.spec_from_file_location("loss_curves", PATH)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def curve(words: str, seed: int, losses: list[float]) -> dict[str, Any]:
    return {"kind": "curve", "settings": words, "seed": seed, "losses": losses}


def judged(tool: Any, shift: float) -> dict[str, Any]:
    base = [5.0 - 0.02 * step for step in range(40)]
    lines = [curve("naive", seed, [loss + 0.1 * seed for loss in base]) for seed in range(3)]
    lines.append(curve("whole", 1, [loss + 0.1 + shift for loss in base]))
    (row,) = tool.verdicts(tool.curves(lines))
    return dict(row)


def test_a_curve_nearer_its_own_seed_than_seeds_are_to_one_another_is_within(tool: Any) -> None:
    row = judged(tool, 0.05)
    assert row["within"] is True
    assert row["scatter"] == pytest.approx((0.1 + 0.2 + 0.1) / 3)
    assert row["distance"] == pytest.approx(0.05)
    assert row["ratio"] == pytest.approx(0.375)


def test_a_curve_farther_off_is_not(tool: Any) -> None:
    assert judged(tool, 0.15)["within"] is False


def test_one_plain_seed_has_no_scatter_and_concludes_nothing(tool: Any) -> None:
    lines = [curve("naive", 0, [1.0] * 40), curve("whole", 0, [1.0] * 40)]
    assert tool.verdicts(tool.curves(lines)) == []


def test_what_the_file_holds_is_not_run_again(
    tool: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recipe, out = tmp_path / "tiny.toml", tmp_path / "curves.jsonl"
    recipe.write_text(TINY)
    about = {"recipe": str(recipe), "precision": None, "steps": 40, "device": "cpu", "passes": 4}
    lines = [
        {**curve(words, seed, [1.0 + 0.1 * seed] * 40), **about}
        for words in ("naive", "not-compiled,fused")
        for seed in range(2)
    ]
    out.write_text("".join(json.dumps(line) + "\n" for line in lines))
    words = ["loss_curves.py", "--out", str(out), "--recipe", str(recipe), "--device", "cpu"]
    words += ["--steps", "40", "--seeds", "2", "--settings", "not-compiled,fused"]
    monkeypatch.setattr(sys, "argv", words)
    monkeypatch.setattr(tool, "_start", lambda task: pytest.fail(f"{task} was run again"))
    assert tool.main() == 0
    assert json.loads(capsys.readouterr().out.splitlines()[-1])["within"] is True


@pytest.mark.torch
def test_real_runs_learn_and_exact_settings_follow_the_plain_one(tool: Any, tmp_path: Path) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("transformers")
    recipe = tmp_path / "tiny.toml"
    recipe.write_text(TINY)

    def losses(words: str, seed: int) -> list[float]:
        task = {"recipe": str(recipe), "precision": None, "steps": 24, "device": "cpu"}
        task |= {"passes": 2}
        found: list[float] = tool.train({**task, "settings": words, "seed": seed})
        return found

    plain, other = losses("naive", 0), losses("naive", 1)
    lean = losses("not-compiled,fused,trimmed", 0)
    half = losses("not-compiled,half-weights", 0)
    assert len(plain) == 24
    assert plain[0] == pytest.approx(4.16, abs=0.3)  # the logarithm of 64 words
    assert plain[-1] < plain[0] - 0.3
    scatter = tool.distance(plain, other, 1)
    assert scatter > 0
    assert tool.distance(lean, plain, 1) < scatter / 2
    assert tool.distance(half, plain, 1) < scatter
