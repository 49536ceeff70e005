"""fp8 and half-precision states: named by the user, marked everywhere, refused where absent."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bench_runner import export
from bench_runner.__main__ import main
from bench_runner.arguments import find_recipe, parse_settings
from bench_runner.records import journal
from bench_runner.records.measurement import Measurement
from bench_runner.settings import paper_space, settings_tried
from tests.bench_runner.test_export import WINNER

DECODER, IMAGES, CONVNET = (find_recipe(n) for n in ("pythia-160m", "vit", "convnext-large-1k"))
CHANGED = ("fp8", "half-states", "regional,fp8,half-states")


def record(words: str, step_s: float = 1.0) -> Measurement:
    settings = replace(parse_settings(words), micro_batch_size=4, gradient_accumulation_steps=256)
    return journal.with_id(
        replace(
            WINNER,
            recipe_id="pythia-160m",
            settings=settings,
            method=paper_space.method_name(settings),
            step_s=step_s,
            pass_s=(0.1,),
            sync_pass_s=(0.1,),
            update_s=(0.1,),
        )
    )


@pytest.mark.parametrize("recipe", [DECODER, IMAGES])
@pytest.mark.parametrize("gpus", [1, 4])
def test_no_search_holds_them(recipe: Any, gpus: int) -> None:
    whole = settings_tried.settings_of_methods(
        "naive,free-lunch,paper,all", recipe, gpus, flash=True
    )
    assert not any(settings.changes_training for settings in whole)
    for words in CHANGED:
        with_it = settings_tried.moves((*whole, parse_settings(words)), whole[-1])
        assert not any(settings.changes_training for settings in with_it)


@pytest.mark.parametrize(
    ("words", "method"), [("fp8", "optimal"), ("half-states", "free-lunch"), ("whole", None)]
)
def test_a_record_that_hides_or_feigns_it_is_refused(words: str, method: str | None) -> None:
    row = journal.to_json(record(words)) | {"method": method or "changes-training"}
    with pytest.raises(ValueError, match="change the training"):
        journal.from_json(row)


def test_the_command_refuses_fp8_on_a_cpu(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["trial", "--recipe", "pythia-160m", "--settings", "fp8", "--device", "cpu", "--yes"]
    assert main(words) == 2
    assert "fp8 products need a GPU" in capsys.readouterr().err


def test_the_winner_that_is_exported_is_never_one_of_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed, exact = record("fp8", 1.0), record("regional", 2.0)
    for each in (changed, exact):
        journal.append(tmp_path / "records.jsonl", each)
    words = ["export", "--recipe", "pythia-160m", "--records", str(tmp_path / "records.jsonl")]
    assert main([*words, "--out", str(tmp_path / "winner")]) == 0
    assert not (tmp_path / "winner" / "changed_training.py").exists()
    # By its own name it is.
    assert main([*words, "--out", str(tmp_path / "own"), "--id", changed.measurement_id]) == 0
    assert "fp8_products(model)" in (tmp_path / "own" / "train.py").read_text()
    assert (tmp_path / "own" / "changed_training.py").exists()


def test_half_precision_states_are_written_out(tmp_path: Path) -> None:
    export.write(DECODER, record("half-states"), tmp_path)
    script = (tmp_path / "train.py").read_text()
    compile(script, "train.py", "exec")
    assert "optimizer_cls_and_kwargs=(HalfStateAdam, {'decoupled': False, 'lr': 0.0006" in script


@pytest.mark.torch
def test_chance_keeps_the_mean_where_rounding_to_the_nearest_stands_still() -> None:
    torch = pytest.importorskip("torch")
    from bench_runner.worker.exported.changed_training import rounded_by_chance

    torch.manual_seed(1)
    wide = torch.full((40_000,), 1.0 + 2**-10)  # an eighth of bfloat16's last place above one
    rounded = rounded_by_chance(wide).float()
    assert set(rounded.tolist()) == {1.0, 1.0 + 2**-7}
    assert float((rounded > 1).float().mean()) == pytest.approx(1 / 8, abs=0.01)
    exact = torch.tensor([0.0, 1.5, -2.0, -0.0, 2.0**-120])
    assert torch.equal(rounded_by_chance(exact).float(), exact)


@pytest.mark.torch
@pytest.mark.parametrize("decoupled", [True, False])
def test_its_steps_are_adam_s_but_for_the_states_precision(decoupled: bool) -> None:
    torch = pytest.importorskip("torch")
    from bench_runner.worker.exported.changed_training import HalfStateAdam

    torch.manual_seed(3)
    start, keywords = torch.randn(64, 8), {"lr": 1e-2, "weight_decay": 0.1, "betas": (0.9, 0.95)}
    mine, theirs = (torch.nn.Parameter(start.clone()) for _ in range(2))
    ours = HalfStateAdam([mine], decoupled=decoupled, **keywords)
    kind = torch.optim.AdamW if decoupled else torch.optim.Adam
    reference = kind([theirs], **keywords)
    for _ in range(20):
        gradient = torch.randn_like(start)
        for parameter, optimiser in ((mine, ours), (theirs, reference)):
            parameter.grad = gradient.clone()
            optimiser.step()
    assert ours.state[mine]["exp_avg"].dtype == torch.bfloat16
    moved = (theirs - start).norm()
    assert (mine - theirs).norm() < 0.02 * moved


@pytest.mark.torch
def test_fp8_leaves_the_head_and_odd_sizes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    from bench_runner.worker.exported.changed_training import fp8_products

    asked: list[str] = []

    def convert(model: Any, module_filter_fn: Any) -> Any:
        asked.extend(
            name for name, module in model.named_modules() if module_filter_fn(module, name)
        )
        return model

    sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 64}
    model = transformers.AutoModelForCausalLM.from_config(
        transformers.GPTNeoXConfig(hidden_size=32, intermediate_size=40, **sizes)
    )
    odd = transformers.AutoModelForCausalLM.from_config(
        transformers.GPTNeoXConfig(hidden_size=24, intermediate_size=40, **sizes)
    )
    # After the library was imported, which looks for torchao by itself.
    torchao, float8 = ModuleType("torchao"), ModuleType("torchao.float8")
    float8.convert_to_float8_training = convert  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torchao", torchao)
    monkeypatch.setitem(sys.modules, "torchao.float8", float8)
    fp8_products(model)
    layer = "gpt_neox.layers.0.attention"
    assert asked == [f"{layer}.query_key_value", f"{layer}.dense"]
    with pytest.raises(ValueError, match="multiples of 16"):
        fp8_products(odd)
