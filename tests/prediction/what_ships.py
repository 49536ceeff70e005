"""The GPUs of the catalogue and the models of the recipes that ship, by name."""

from __future__ import annotations

from advisor.prediction.model.workload import workload_of
from advisor.prediction.observed_times import chips_by_name
from bench_runner.recipes import load_recipes

CHIPS = chips_by_name()
WORKLOADS = {recipe.recipe_id: workload_of(recipe) for recipe in load_recipes()}
