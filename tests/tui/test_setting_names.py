"""What settings are called on the benchmark's screen: words, not flags, and never two alike."""

from __future__ import annotations

from advisor.tui.benchmark.benchmark_rows import full_name, row_names, shared_words, spelled
from bench_runner.recipes import load_recipes
from bench_runner.settings import kernels, space, whole_search

RECIPE = next(recipe for recipe in load_recipes() if recipe.recipe_id == "pythia-160m")


def labels(gpu_count: int) -> list[str]:
    """Every setting of the whole space, as the runner names them."""
    return [
        space.label(settings)
        for settings in kernels.settings_of_methods("all", RECIPE, gpu_count, flash=False)
    ]


def test_no_setting_of_the_whole_space_is_named_by_a_flag_or_like_another() -> None:
    for gpu_count in (1, 4):
        every = labels(gpu_count)
        assert len(set(spelled(every))) == len(set(spelled(every, close=True))) == len(set(every))
        assert len(set(spelled(every, brief=True))) == len(set(every))
        said = " ".join(spelled(every))
        assert "fsdp-" not in said
        assert "zero-" not in said
        assert "ckpt" not in said


def test_what_most_rows_share_is_said_once() -> None:
    chosen = kernels.settings_of_methods("all", RECIPE, 4, flash=False)
    ahead = [space.label(settings) for settings in whole_search.named_ahead(chosen, "fast")]
    assert shared_words(ahead) == "Unless named: layers compiled, fused loss, trimmed input."
    names = spelled(ahead)
    for room in (31, 46):
        cut = row_names(ahead, room)
        assert len(set(cut.values())) == len(ahead)
        assert max(map(len, cut.values())) <= room
    assert "FSDP full shard + offloading + checkpointing" in names
    assert max(map(len, names)) == len("FSDP full shard + offloading + checkpointing")
    paper = [space.label(settings) for settings in space.space(4)]
    assert shared_words(paper) == ""
    assert spelled(paper) == list(map(full_name, paper))
    mixed = [*ahead, "naive", "zero-1 + offloading", "free lunch + not compiled"]
    assert spelled(mixed)[-3:] == [
        "naive",
        "ZeRO-1 + offloading + paper's kernels",
        "free lunch + not compiled",
    ]


def test_nothing_is_left_unsaid_where_each_row_has_kernels_of_its_own() -> None:
    found = [
        "free lunch + fused loss + trimmed",
        "free lunch + trimmed",
        "free lunch",
        "naive",
        "free lunch + layers compiled + eager attention + fused loss + trimmed",
    ]
    assert shared_words(found) == ""
    assert spelled(found) == found
    assert (
        row_names(found, 53)[found[-1]] == "layers compiled, eager attention, fused loss, trimmed"
    )
    assert list(row_names(found, 31).values()) == [
        "fused, trimmed",
        "trimmed",
        "free lunch",
        "naive",
        "layers, eager, fused, trimmed",
    ]
