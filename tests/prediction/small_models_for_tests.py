"""Small configs, and what is counted of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from advisor.prediction.model.hf_config import target_of_config
from advisor.prediction.model.targets import Ask, Target
from advisor.prediction.physics.columns import Columns, WorkloadTable
from advisor.prediction.physics.factors import TERMS
from advisor.prediction.physics.memory import Option
from bench_runner.recipes import Recipe, load_recipes
from tests.prediction.what_ships import CHIPS
from tools.fit.log_step import step_terms

TEXT = Ask(batch_size=64, tokens=1e9, sequence_length=512, precision="bf16")
BERT: dict[str, Any] = {
    "model_type": "bert",
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "intermediate_size": 3072,
    "vocab_size": 30522,
}
LLAMA: dict[str, Any] = {
    "model_type": "llama",
    "hidden_size": 1024,
    "num_hidden_layers": 4,
    "num_attention_heads": 16,
    "intermediate_size": 2816,
    "vocab_size": 32000,
}
OPT: dict[str, Any] = {
    "model_type": "opt",
    "hidden_size": 768,
    "num_hidden_layers": 12,
    "num_attention_heads": 12,
    "ffn_dim": 3072,
    "vocab_size": 50272,
}
GEMMA_3: dict[str, Any] = {
    "model_type": "gemma3_text",
    "hidden_size": 1152,
    "num_hidden_layers": 26,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "head_dim": 256,
    "intermediate_size": 6912,
    "vocab_size": 262144,
    "sliding_window": 512,
}


def target(tmp_path: Path, content: dict[str, Any], run: Ask = TEXT) -> Target:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(content))
    return target_of_config(path, run)


def changed(recipe_id: str, arguments: dict[str, Any]) -> Recipe:
    recipe = next(each for each in load_recipes() if each.recipe_id == recipe_id)
    told = {**recipe.model.arguments, **arguments}
    return replace(recipe, model=replace(recipe.model, arguments=told))


def columns(found: Target) -> Columns:
    table = WorkloadTable([found.workload], [CHIPS["H100"]])
    one = np.zeros(1, dtype=np.int64)
    return table.columns(one, one, one + 1)


def term(found: Target, name: str, option: Option) -> float:
    micro = np.full(1, 32.0)
    return float(step_terms(option, columns(found), micro)[0][TERMS.index(name)][0])


COMPILED = Option(free_lunch=True, checkpointing=False, stage=0, offloading=False, lean=True)
NOT_COMPILED = Option(free_lunch=True, checkpointing=False, stage=1, offloading=False)
