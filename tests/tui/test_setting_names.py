"""What settings are called on the benchmark's screen: words, not flags, and never two alike."""

from __future__ import annotations

from advisor.tui.benchmark.benchmark_rows import spelled
from bench_runner.recipes import load_recipes
from bench_runner.settings import paper_space, settings_tried

RECIPE = next(recipe for recipe in load_recipes() if recipe.recipe_id == "pythia-160m")


def labels(gpu_count: int) -> list[str]:
    """Every setting of the whole space, as the runner names them."""
    return [
        paper_space.label(settings)
        for settings in settings_tried.settings_of_methods("all", RECIPE, gpu_count, flash=False)
    ]


def test_no_setting_of_the_whole_space_is_named_by_a_flag_or_like_another() -> None:
    for gpu_count in (1, 4):
        every = labels(gpu_count)
        assert len(set(spelled(every))) == len(set(spelled(every, brief=True))) == len(set(every))
        said = " ".join(spelled(every))
        assert "fsdp-" not in said
        assert "zero-" not in said
        assert "ckpt" not in said
